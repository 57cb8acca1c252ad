//! Bombs: small inputs that cost much. Whatever the input, every command ends within its limits.
//!
//! By default one family in six meets a few commands, under short limits. The whole table, every
//! command with every family in two sizes, is printed by
//!
//! ```text
//! ANYORDER_BOMBS=all cargo test --release -p anyorder-cli --test bombs -- --nocapture
//! ```
//!
//! `ANYORDER_BOMB` picks the families whose names contain its value, `ANYORDER_BINARY` another
//! binary to compare with.

#![allow(clippy::print_stdout, reason = "the tests print tables of what they ran")]

#[path = "../common/mod.rs"]
mod common;
mod families_engines;
mod families_models;
mod families_tasks;
mod families_threads;
mod measure;

use common::{file, folder, run, workspace};
use families_threads::Family;
use measure::{Ran, measure};
use serde_json::Value;
use std::env;
use std::process::Command;
use std::time::Duration;

/// The contract: a command ends this long after its time limit.
const GRACE: Duration = Duration::from_secs(1);

/// A busy machine may take longer. A command without a limit takes minutes.
const GRACE_OF_TESTS: Duration = Duration::from_secs(4);

/// A command that is still running is killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// The commands for traces. `IN` is the input, `OUT` a file or folder that does not exist.
const FOR_TRACES: &[&str] = &[
    "check IN --format json",
    "check IN --no-predict --format json",
    "predict IN --format json",
    "predict IN --analysis hb --no-confirm --format json",
    "predict IN --analysis wdc --format sarif",
    "predict IN --analysis edc --max-events 1000 --format json",
    "predict IN --pairs all --schedules OUT --format json",
    "check IN --report OUT --format junit",
    "check IN --max-findings 1000000",
    "robust IN --format json",
    "why IN 10 1000 --format json",
    "info IN --format json",
    "convert IN OUT --to text",
    "convert IN OUT --to binary",
];

/// The commands for models.
const FOR_MODELS: &[&str] = &[
    "check IN --format json",
    "check IN --no-reduction --format json",
    "check IN --report OUT --format json",
    "explore IN --format json",
    "simulate IN --format json",
    "graph IN --output OUT",
    "fmt --check IN",
];

/// The commands for partial traces.
const FOR_CONSISTENCY: &[&str] = &[
    "consistency IN --format json",
    "consistency IN --witness OUT --format json",
    "check IN --format json",
    "info IN --format json",
    "convert IN OUT --to binary",
];

/// The commands for files that are no traces.
const FOR_FILES: &[&str] = &[
    "check IN --input-format std --format json",
    "info IN --input-format text --format json",
    "predict IN --input-format std --format json",
    "consistency IN --input-format edtrace --format json",
    "check IN --input-format droidracer --format json",
    "check IN --format json",
    "convert IN OUT --to binary --input-format std",
    "check examples/notes-app.trace --baseline IN --format json",
    "check examples/notes-app.trace --config IN --format json",
    "predict examples/traces/uaf_pred.std --spec IN --format json",
    "check examples/traces/uaf_pred.std --sites IN --format json",
    "replay examples/models/news.any IN",
    "certify examples/notes-app.trace IN --format json",
    "check examples/models/news.any --no-reduction --resume IN --format json",
    "fmt --check IN",
];

/// Generated traces whose consistency is hard to decide, with the arguments of `generate`.
const GENERATED: &[(&str, &str)] = &[
    ("random 3-SAT", "sat3 --size 250"),
    ("random satisfiability", "bi3sat --size 120"),
    ("knots", "knot --size 3000"),
    ("shuffled chains", "shuffle --size 20000"),
    ("counting", "counting --size 60"),
    ("flat", "flat --size 40000 --mailbox bag"),
    ("message loop", "messageloop --size 60"),
];

/// What a run breaks that is only late: it took too long, or the guard ended it.
const LATE: [&str; 2] = ["time", "ended by the guard"];

struct Table {
    all: bool,
    only: Option<String>,
    time_limit: Duration,
    memory_limit: u64,
    rows: Vec<Row>,
}

struct Row {
    family: String,
    command: String,
    ran: Ran,
    broken: Vec<String>,
}

impl Table {
    fn new() -> Table {
        let all = env::var("ANYORDER_BOMBS").is_ok_and(|value| value == "all");
        let only = env::var("ANYORDER_BOMB").ok();
        let time_limit = Duration::from_millis(if all { 2_000 } else { 1_000 });
        Table { all, only, time_limit, memory_limit: 200 << 20, rows: Vec::new() }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    /// Runs the commands of a class over its families.
    fn families(&mut self, families: &[(&str, Family, usize)], ending: &str, commands: &[&str]) {
        for (at, (name, family, size)) in families.iter().enumerate() {
            let sizes: &[usize] = if self.all { &[*size, *size * 10] } else { &[*size] };
            // A push takes a sixth of the families: others on another day.
            let is_due = self.all || self.only.is_some() || anyorder_testkit::effort::is_due(at, 6);
            for size in sizes.iter().filter(|_| is_due) {
                let name = format!("{name}, {size}");
                if self.wants(&name) {
                    self.input(&name, &family(*size), ending, at, commands);
                }
            }
        }
    }

    /// Runs the commands over one input: all, or the two that are due.
    fn input(&mut self, family: &str, input: &str, ending: &str, turn: usize, commands: &[&str]) {
        let folder = folder();
        let path = file(&folder, &format!("in.{ending}"), input);
        let due = |at: &usize| self.all || at % commands.len() == turn % commands.len() || *at == 0;
        let due: Vec<usize> = (0..commands.len()).filter(due).collect();
        for at in due {
            self.run(family, commands[at], &path, &folder);
        }
    }

    fn run(&mut self, family: &str, words: &str, input: &str, folder: &tempfile::TempDir) {
        let out = folder.path().join(format!("out{}", self.rows.len()));
        let binary = env::var("ANYORDER_BINARY")
            .unwrap_or_else(|_| env!("CARGO_BIN_EXE_anyorder").to_owned());
        let mut command = Command::new(binary);
        for word in words.split(' ') {
            match word {
                "IN" => command.arg(input),
                "OUT" => command.arg(&out),
                word => command.arg(word),
            };
        }
        command.arg(format!("--time-limit={}ms", self.time_limit.as_millis()));
        command.arg(format!("--memory-limit={}", self.memory_limit));
        command.current_dir(workspace()).env("COLUMNS", "100").env("NO_COLOR", "1");
        let mut ran = measure(&mut command, folder.path(), PATIENCE);
        let mut broken = self.broken(&ran, words);
        // Other programs can make a run late; the guard then ends a job that would have stopped.
        for _ in 0..2 {
            if broken.is_empty() || broken.iter().any(|one| !LATE.contains(&one.as_str())) {
                break;
            }
            ran = measure(&mut command, folder.path(), PATIENCE);
            broken = self.broken(&ran, words);
        }
        self.rows.push(Row { family: family.to_owned(), command: words.to_owned(), ran, broken });
    }

    /// Returns what of the contract a run broke.
    fn broken(&self, ran: &Ran, words: &str) -> Vec<String> {
        let mut broken = Vec::new();
        let grace = if self.all { GRACE } else { GRACE_OF_TESTS };
        if ran.time > self.time_limit + grace {
            broken.push(LATE[0].to_owned());
        }
        if ran.peak > self.memory_limit * 3 / 2 {
            broken.push("memory".to_owned());
        }
        match &ran.end {
            Ok(0 | 1 | 3) => {}
            // A bomb may be refused, with a message.
            Ok(2) if ran.stderr.contains("error") => {}
            Ok(status) => broken.push(format!("status {status}")),
            Err(signal) => broken.push(signal.clone()),
        }
        if words.contains("--format json") && ran.end != Ok(2) {
            match serde_json::from_str::<Value>(&ran.stdout) {
                Ok(value) if ran.end == Ok(3) && value.get("complete") == Some(&true.into()) => {
                    broken.push("complete, with status 3".to_owned());
                }
                Ok(_) => {}
                Err(_) if ran.stdout.is_empty() && ran.stderr.contains("error: ") => {}
                Err(error) => broken.push(format!("no JSON: {error}")),
            }
        }
        // At night, with an optimised binary. The tests of polls say how soon a job stops.
        if self.all && ran.stderr.contains("did not stop in time") {
            broken.push(LATE[1].to_owned());
        }
        broken
    }

    /// Prints the table, and returns the rows that broke the contract.
    fn print(&self) -> Vec<String> {
        let mut bad = Vec::new();
        for Row { family, command, ran, broken } in &self.rows {
            let end = ran.end.as_ref().map_or_else(Clone::clone, i32::to_string);
            let line = format!(
                "{family:<45} {command:<62} {:>6.2} s {:>5} MB  {end:>3}  {}",
                ran.time.as_secs_f64(),
                ran.peak >> 20,
                broken.join(", ")
            );
            println!("{line}");
            if !broken.is_empty() {
                let last = ran.stderr.lines().last().unwrap_or_default();
                bad.push(format!("{line}\n    {last}"));
            }
        }
        let cut = self.rows.iter().filter(|row| row.ran.end == Ok(3)).count();
        println!("{} runs, {cut} of them cut, {} broken", self.rows.len(), bad.len());
        bad
    }

    fn assert(&self) {
        let bad = self.print();
        assert!(bad.is_empty(), "{} runs broke the contract:\n{}", bad.len(), bad.join("\n"));
        assert!(self.only.is_some() || self.rows.len() > 1, "the table is empty");
    }
}

#[test]
fn traces_of_threads() {
    let mut table = Table::new();
    table.families(families_threads::FAMILIES, "std", FOR_TRACES);
    table.assert();
}

#[test]
fn traces_of_tasks() {
    let mut table = Table::new();
    table.families(families_tasks::FAMILIES, "trace", FOR_TRACES);
    table.assert();
}

#[test]
fn models() {
    let mut table = Table::new();
    table.families(families_models::FAMILIES, "any", FOR_MODELS);
    table.families(families_engines::MODELS, "any", FOR_MODELS);
    table.assert();
}

#[test]
fn files_that_are_no_traces() {
    let mut table = Table::new();
    table.families(families_engines::FILES, "txt", FOR_FILES);
    let folder = folder();
    for words in FOR_FILES {
        table.run("zeros without an end", words, "/dev/zero", &folder);
    }
    table.assert();
}

#[test]
fn partial_traces() {
    let mut table = Table::new();
    table.families(families_engines::PARTIAL, "edt", FOR_CONSISTENCY);
    for (turn, (name, words)) in GENERATED.iter().enumerate() {
        if table.wants(name) {
            let arguments: Vec<&str> = ["generate"].into_iter().chain(words.split(' ')).collect();
            let generated = run(&arguments);
            assert_eq!(generated.status, 0, "{}", generated.stderr);
            table.input(
                &format!("{name}: {words}"),
                &generated.stdout,
                "edt",
                turn,
                FOR_CONSISTENCY,
            );
        }
    }
    table.assert();
}
