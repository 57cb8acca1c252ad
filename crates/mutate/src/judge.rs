//! What a run must not do, whatever its input.

use crate::case::Case;
use crate::kind::Kind;
use crate::process::Ran;
use crate::{repair, schema};
use anyorder_common::text::is_hostile;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What a run did wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The class: one word.
    pub class: &'static str,
    /// What was seen.
    pub text: String,
}

/// How a run is judged.
#[derive(Debug)]
pub struct Judge {
    /// The JSON Schema of results.
    schema: Value,
    /// The peak memory of a process that does nothing, in bytes.
    idle_bytes: u64,
    /// By how much a busy machine stretches times: 1 for an idle one.
    pub stretch: u32,
}

/// The time that a command without `--time-limit` may take for inputs as small as ours.
const UNLIMITED: Duration = Duration::from_secs(10);

/// The memory that a command without `--memory-limit` may take for inputs as small as ours.
const UNLIMITED_BYTES: u64 = 1 << 30;

/// Memory of threads and of code that an idle process does not touch yet.
const SLACK_BYTES: u64 = 16 << 20;

impl Judge {
    /// Judges by the schema that the binary prints; `idle` is a run that did nothing.
    ///
    /// # Errors
    ///
    /// When the schema is not JSON.
    pub fn new(schema: &[u8], idle: &Ran, stretch: u32) -> io::Result<Judge> {
        Ok(Judge { schema: serde_json::from_slice(schema)?, idle_bytes: idle.peak_bytes, stretch })
    }

    /// Returns the time after which a run is late: its limit and a second.
    #[must_use]
    pub fn time(&self, case: &Case) -> Duration {
        let limit = case.stated.time_ms.map(Duration::from_millis);
        limit.map_or(UNLIMITED, |limit| limit + Duration::from_secs(1)) * self.stretch
    }

    /// Returns the memory that a run may take: 1.5 times its limit, and what an idle one takes.
    #[must_use]
    pub fn memory(&self, case: &Case) -> u64 {
        let limit = case.stated.memory_bytes.map(|bytes| bytes + bytes / 2);
        limit.unwrap_or(UNLIMITED_BYTES).max(self.idle_bytes + SLACK_BYTES)
    }

    /// Returns all that is wrong with a run. `folder` is where it ran, `streams` where its
    /// temporary files would be.
    ///
    /// # Errors
    ///
    /// When the folders cannot be read.
    pub fn faults(
        &self,
        case: &Case,
        ran: &Ran,
        folder: &Path,
        streams: &Path,
    ) -> io::Result<Vec<Fault>> {
        let mut faults = Faults(Vec::new());
        self.end(case, ran, &mut faults);
        if !ran.killed {
            shown(case, ran, &mut faults);
            self.results(case, ran, folder, &mut faults);
            left_behind(case, folder, streams, &mut faults)?;
        }
        Ok(faults.0)
    }

    /// How it ended, when, and what it took.
    fn end(&self, case: &Case, ran: &Ran, faults: &mut Faults) {
        if ran.killed {
            faults.add("hang", format!("killed after {:?}", ran.wall));
        } else if let Some(signal) = ran.signal {
            faults.add("signal", format!("ended by signal {signal}"));
        }
        match ran.status {
            Some(70) => faults.add("bug", "status 70".to_owned()),
            Some(0..=3) | None => {}
            Some(other) => faults.add("status", format!("status {other}")),
        }
        if String::from_utf8_lossy(&ran.stderr).contains("panicked at") {
            faults.add("panic", "a panic on standard error".to_owned());
        }
        if !ran.killed && ran.wall > self.time(case) {
            faults.add("late", format!("{:?}, of which {:?} busy", ran.wall, ran.processor));
        }
        if ran.peak_bytes > self.memory(case) {
            faults.add("memory", format!("{} MiB", ran.peak_bytes >> 20));
        }
    }

    /// The machine formats: whole, valid, and in agreement with the status.
    fn results(&self, case: &Case, ran: &Ran, folder: &Path, faults: &mut Faults) {
        let stored = case.writes.iter().find(|name| *name == "output");
        let stored = stored.and_then(|name| fs::read(folder.join(name)).ok());
        let text = stored.as_deref().unwrap_or(&ran.stdout);
        // `why` and `info` have no answer when a limit ends them.
        let expected = match ran.status {
            Some(0 | 1) => case.command() != "graph",
            Some(3) => !["graph", "why", "info"].contains(&case.command()),
            _ => false,
        };
        match case.value_of("--format") {
            Some("json" | "sarif") if !text.is_empty() || expected => {
                match serde_json::from_slice::<Value>(text) {
                    Err(error) => faults.add("json", error.to_string()),
                    Ok(value) if value.get("tool") == Some(&Value::from("anyorder")) => {
                        for problem in schema::check(&self.schema, &value).into_iter().take(3) {
                            faults.add("schema", problem);
                        }
                        verdict(&value, ran, faults);
                    }
                    Ok(_) => {}
                }
            }
            Some("jsonl") => {
                for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    if let Err(error) = serde_json::from_slice::<Value>(line) {
                        faults.add("json", error.to_string());
                    }
                }
            }
            Some("junit") if !text.is_empty() && !text.trim_ascii_end().ends_with(b">") => {
                faults.add("xml", "the document is cut".to_owned());
            }
            _ => {}
        }
    }
}

struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, class: &'static str, text: String) {
        self.0.push(Fault { class, text });
    }
}

/// The status says what the verdict says.
fn verdict(value: &Value, ran: &Ran, faults: &mut Faults) {
    let Some(verdict) = value.get("verdict").and_then(Value::as_str) else { return };
    let complete = value["complete"] != Value::Bool(false);
    let found = value["findings"].as_array().is_some_and(|findings| !findings.is_empty());
    let status = ran.status.unwrap_or(-1);
    let fits = match verdict {
        "ok" => status == 0 && complete,
        // An answer about a part of the input is an answer, but not a complete one.
        "consistent" => status == if complete { 0 } else { 3 },
        // Of a model it is proved within the bounds, of which `complete` knows nothing.
        "robust" => status == 0,
        "findings" => status == 1,
        // Findings that are suppressed do not count.
        "inconsistent" | "not_robust" => status == 1 || (found && [0, 3].contains(&status)),
        _ => status == 3,
    };
    if !fits {
        faults.add("verdict", format!("`{verdict}`, complete {complete}, status {status}"));
    }
}

/// No character for the terminal reaches a stream, and text is text.
fn shown(case: &Case, ran: &Ran, faults: &mut Faults) {
    // What these print is the user's data in a format that keeps it as it is.
    let data = matches!(case.command(), "convert" | "generate" | "fmt");
    for (name, bytes, data) in [("stdout", &ran.stdout, data), ("stderr", &ran.stderr, false)] {
        if data {
            continue;
        }
        match std::str::from_utf8(bytes) {
            Err(_) => faults.add("text", format!("{name} is not UTF-8")),
            Ok(text) => {
                let raw = text.chars().find(|c| is_hostile(*c) && *c != '\n');
                if let Some(raw) = raw {
                    faults.add("hostile", format!("{name} holds U+{:04X}", u32::from(raw)));
                }
            }
        }
    }
}

/// Inputs are as they were, outputs are whole, and nothing else is there.
fn left_behind(case: &Case, folder: &Path, streams: &Path, faults: &mut Faults) -> io::Result<()> {
    for input in &case.inputs {
        let now = fs::read(folder.join(&input.name)).ok();
        if !case.writes.contains(&input.name) && now.as_ref() != Some(&input.bytes) {
            faults.add("changed", format!("the input {} is not as it was", input.name));
        }
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_input = case.inputs.iter().any(|input| input.name == name);
        if !is_input && !case.writes.contains(&name) {
            faults.add("left", format!("{name} is left behind"));
        }
        if !is_input && path.is_dir() {
            for entry in fs::read_dir(&path)? {
                torn(case, &name, &entry?.path(), faults)?;
            }
        } else if !is_input {
            torn(case, &name, &path, faults)?;
        }
    }
    for entry in fs::read_dir(streams)? {
        faults.add("left", format!("{} is left behind", entry?.path().display()));
    }
    Ok(())
}

/// A file that the run wrote is whole.
fn torn(case: &Case, output: &str, path: &Path, faults: &mut Faults) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let extension = path.extension().and_then(|part| part.to_str()).unwrap_or_default();
    let is_whole = match (output, extension) {
        (_, "part" | "tmp") => false,
        (_, "html") => bytes.trim_ascii_end().ends_with(b"</html>"),
        ("write-baseline", _) | (_, "json") => serde_json::from_slice::<Value>(&bytes).is_ok(),
        ("checkpoint", _) => {
            let mut repaired = bytes.clone();
            repair::repair(Kind::Checkpoint, &mut repaired);
            repaired == bytes
        }
        ("converted", _) if case.value_of("--to") == Some("binary") => bytes.ends_with(b"AOTE"),
        ("certificate" | "witness" | "run", _) => bytes.is_empty() || bytes.ends_with(b"\n"),
        _ => true,
    };
    if !is_whole {
        faults.add("torn", format!("{} is not whole", path.display()));
    }
    Ok(())
}
