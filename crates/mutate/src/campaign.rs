//! Many cases, with counts, and the faults stored. A campaign can be stopped and go on later.

use crate::case::Case;
use crate::command;
use crate::grammar::{self, CommandOf};
use crate::judge::{Fault, Judge};
use crate::process::{self, Ran};
use crate::seeds::Seeds;
use crate::stage::Stage;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Cases of one round of a worker. The summary is written between rounds.
const ROUND: u64 = 200;

/// Stored cases of one signature; further ones are counted only.
const STORED_MAX: u64 = 2;

/// Runs of a shrinking.
const SHRINK_RUNS: usize = 120;

/// What runs, and where.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The binary.
    pub binary: PathBuf,
    /// The checkout with the examples.
    pub root: PathBuf,
    /// The folder of the campaign: its summary and its failures.
    pub folder: PathBuf,
    /// A folder for runs; one in memory is fastest.
    pub scratch: PathBuf,
    /// By how much a busy machine stretches times.
    pub stretch: u32,
}

/// All that cases need: the seeds, the grammar, the judge.
#[derive(Debug)]
pub struct Bench {
    /// The setup.
    pub setup: Setup,
    /// The inputs.
    pub seeds: Seeds,
    /// The commands.
    pub commands: Vec<CommandOf>,
    /// The judge.
    pub judge: Judge,
}

impl Bench {
    /// Asks the binary for its grammar and its schema, and makes the seeds.
    ///
    /// # Errors
    ///
    /// When the binary does not do these, or files cannot be written.
    pub fn new(setup: Setup) -> io::Result<Bench> {
        fs::create_dir_all(&setup.folder)?;
        fs::create_dir_all(&setup.scratch)?;
        let commands = grammar::learn(&setup.binary)?;
        let seeds = Seeds::collect(&setup.binary, &setup.root, &setup.scratch)?;
        let arguments = ["schema".to_owned()];
        let streams = setup.scratch.join("streams");
        let patience = Duration::from_secs(60);
        let idle =
            process::run(&setup.binary, &arguments, &setup.scratch, None, &streams, patience)?;
        let judge = Judge::new(&idle.stdout, &idle, setup.stretch)?;
        Ok(Bench { setup, seeds, commands, judge })
    }

    /// Returns a place for the runs of one worker.
    ///
    /// # Errors
    ///
    /// When its folders cannot be made.
    pub fn stage(&self, worker: usize) -> io::Result<Stage<'_>> {
        let folder = self.setup.scratch.join(worker.to_string());
        Stage::new(&self.setup.binary, &self.judge, &folder)
    }
}

/// What a campaign did so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The seed.
    pub seed: u64,
    /// The number of the next case.
    pub next: u64,
    /// Milliseconds so far.
    pub elapsed_ms: u64,
    /// Runs by `command kind status`.
    pub counts: BTreeMap<String, u64>,
    /// Runs with a fault, by signature.
    pub faults: BTreeMap<String, u64>,
}

impl Summary {
    /// Reads the summary of a campaign; an empty one if there is none.
    ///
    /// # Errors
    ///
    /// When the file is no summary.
    pub fn load(folder: &Path, seed: u64) -> io::Result<Summary> {
        let path = folder.join("summary.json");
        if !path.exists() {
            return Ok(Summary { seed, ..Summary::default() });
        }
        let stored: Value = serde_json::from_slice(&fs::read(path)?)?;
        let number = |name: &str| stored[name].as_u64().unwrap_or_default();
        let map = |name: &str| {
            let entries = stored[name].as_object().into_iter().flatten();
            entries.map(|(key, count)| (key.clone(), count.as_u64().unwrap_or(0))).collect()
        };
        Ok(Summary {
            seed: number("seed"),
            next: number("next"),
            elapsed_ms: number("elapsed_ms"),
            counts: map("counts"),
            faults: map("faults"),
        })
    }

    fn store(&self, folder: &Path) -> io::Result<()> {
        let stored = json!({
            "seed": self.seed,
            "next": self.next,
            "elapsed_ms": self.elapsed_ms,
            "counts": self.counts,
            "faults": self.faults,
        });
        let part = folder.join("summary.json.part");
        fs::write(&part, format!("{stored:#}\n"))?;
        fs::rename(part, folder.join("summary.json"))
    }

    /// Returns the counts as a table: a line for each command and status, a column for each kind.
    #[must_use]
    pub fn table(&self) -> String {
        let mut cells: BTreeMap<(&str, &str), BTreeMap<&str, u64>> = BTreeMap::new();
        let mut kinds: Vec<&str> = Vec::new();
        for (key, count) in &self.counts {
            let parts: Vec<&str> = key.split(' ').collect();
            let [command, kind, status] = parts[..] else { continue };
            *cells.entry((command, status)).or_default().entry(kind).or_default() += count;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.sort_unstable();
        let mut out = format!("{:<12} {:>6}", "command", "status");
        kinds.iter().for_each(|kind| out += &format!(" {kind:>8}"));
        out.push('\n');
        for ((command, status), row) in &cells {
            out += &format!("{command:<12} {status:>6}");
            for kind in &kinds {
                out += &format!(" {:>8}", row.get(kind).copied().unwrap_or(0));
            }
            out.push('\n');
        }
        out += &format!("{} runs in {} s, seed {}\n", self.next, self.elapsed_ms / 1000, self.seed);
        for (signature, count) in &self.faults {
            out += &format!("FAULT {count:>6}  {signature}\n");
        }
        out
    }
}

/// Runs cases until `runs` are done or `until` has passed, on `jobs` workers, from where the
/// campaign in the folder stopped. `told` hears the summary after each round.
///
/// # Errors
///
/// When files cannot be written or the binary not be started.
pub fn run(
    bench: &Bench,
    seed: u64,
    runs: u64,
    jobs: usize,
    until: Option<Instant>,
    mut told: impl FnMut(&Summary),
) -> io::Result<Summary> {
    let folder = &bench.setup.folder;
    let mut summary = Summary::load(folder, seed)?;
    let before = Duration::from_millis(summary.elapsed_ms);
    let start = Instant::now();
    while summary.next < runs && until.is_none_or(|until| Instant::now() < until) {
        let first = summary.next;
        let last = runs.min(first + ROUND * jobs as u64);
        let next = Mutex::new(first);
        let shared = Mutex::new(&mut summary);
        let worker = |number: usize| -> io::Result<()> {
            let stage = bench.stage(number)?;
            while let Some(number) = claimed(&next, last)? {
                one(bench, &stage, number, &shared)?;
            }
            Ok(())
        };
        thread::scope(|scope| -> io::Result<()> {
            let worker = &worker;
            let workers: Vec<_> =
                (0..jobs.max(1)).map(|number| scope.spawn(move || worker(number))).collect();
            for worker in workers {
                worker.join().map_err(|_| io::Error::other("a worker panicked"))??;
            }
            Ok(())
        })?;
        summary.next = last;
        summary.elapsed_ms = (before + start.elapsed()).as_millis() as u64;
        summary.store(folder)?;
        told(&summary);
    }
    Ok(summary)
}

/// Takes the next number below `last`.
fn claimed(next: &Mutex<u64>, last: u64) -> io::Result<Option<u64>> {
    let mut next = next.lock().map_err(|_| io::Error::other("a worker panicked"))?;
    let number = *next;
    if number == last {
        return Ok(None);
    }
    *next += 1;
    Ok(Some(number))
}

/// Runs one case, counts it, and stores it if it is at fault.
fn one(
    bench: &Bench,
    stage: &Stage<'_>,
    number: u64,
    summary: &Mutex<&mut Summary>,
) -> io::Result<()> {
    let seed = summary.lock().map_err(|_| io::Error::other("a worker panicked"))?.seed;
    let case = command::case(seed, number, &bench.seeds, &bench.commands);
    let (ran, faults) = stage.confirmed(&case)?;
    let status = match (ran.killed, ran.status) {
        (true, _) => "killed".to_owned(),
        (_, Some(status)) => status.to_string(),
        _ => "signal".to_owned(),
    };
    let kind = case.inputs.first().map_or("-", |input| input.kind.name());
    let mut new = Vec::new();
    {
        let mut summary = summary.lock().map_err(|_| io::Error::other("a worker panicked"))?;
        *summary.counts.entry(format!("{} {kind} {status}", case.command())).or_default() += 1;
        for fault in faults {
            let count = summary.faults.entry(signature(&case, &fault, &ran)).or_default();
            *count += 1;
            if *count <= STORED_MAX {
                new.push(fault);
            }
        }
    }
    for fault in new {
        let small = stage.shrunk(&case, fault.class, SHRINK_RUNS)?;
        let name = format!("{}-{}-{number}", fault.class, case.command());
        let folder = bench.setup.folder.join("failures").join(name);
        let (again, _) = stage.once(&small)?;
        let note = json!({
            "seed": seed,
            "number": number,
            "fault": fault.text,
            "arguments_before": case.arguments,
            "status": again.status,
            "signal": again.signal,
            "wall_ms": again.wall.as_millis() as u64,
            "processor_ms": again.processor.as_millis() as u64,
            "peak_bytes": again.peak_bytes,
        });
        small.save(&folder, &note)?;
        fs::write(folder.join("stdout"), &again.stdout)?;
        fs::write(folder.join("stderr"), &again.stderr)?;
    }
    Ok(())
}

/// Returns a text that is equal for runs with probably the same mistake.
fn signature(case: &Case, fault: &Fault, ran: &Ran) -> String {
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let place = stderr.lines().find(|line| line.contains("panicked at")).unwrap_or("");
    let text: String = match fault.class {
        "late" | "memory" | "hang" | "json" => String::new(),
        _ => fault.text.chars().filter(|c| !c.is_ascii_digit()).take(80).collect(),
    };
    let kind = case.inputs.first().map_or("-", |input| input.kind.name());
    let shown = format!("{} {} {kind} {text} {place}", fault.class, case.command());
    anyorder_common::text::escape(shown.trim()).into_owned()
}
