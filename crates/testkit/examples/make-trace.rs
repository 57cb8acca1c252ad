//! Writes a large synthetic trace in the native binary format, for benchmarks.

#![forbid(unsafe_code)]

use anyorder_formats::native_binary::BinaryWriter;
use anyorder_testkit::synthetic::{EventDriven, Fixpoint, event_driven, fixpoint};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
usage: make-trace event-driven [--events N] [--tasks N] [--handlers N] [--sessions N] [--seed N] OUT
       make-trace fixpoint [--events N] [--rungs N] [--lanes N] [--accesses N] [--seed N] OUT
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let mut stderr = io::stderr();
    match run(&arguments) {
        Ok(events) => {
            let _ = writeln!(stderr, "{events} events in {} ms", start.elapsed().as_millis());
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(stderr, "make-trace: {message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<u64, String> {
    let (command, rest) = arguments.split_first().ok_or("no command")?;
    let (out, options) = rest.split_last().ok_or("no output file")?;
    let options = Options::parse(options)?;
    let file = BufWriter::new(File::create(out).map_err(|e| format!("{out}: {e}"))?);
    let mut sink = BinaryWriter::new(file).map_err(|e| format!("{out}: {e}"))?;
    let events = match command.as_str() {
        "event-driven" => {
            let default = EventDriven::default();
            let config = EventDriven {
                events: options.get("events", default.events)?,
                tasks: options.get("tasks", default.tasks)?,
                handlers: options.get("handlers", default.handlers)?,
                sessions: options.get("sessions", default.sessions)?,
                seed: options.get("seed", default.seed)?,
            };
            options.all_known(&["events", "tasks", "handlers", "sessions", "seed"])?;
            event_driven(&config, &mut sink)
        }
        "fixpoint" => {
            let default = Fixpoint::default();
            let config = Fixpoint {
                events: options.get("events", default.events)?,
                rungs: options.get("rungs", default.rungs)?,
                lanes: options.get("lanes", default.lanes)?,
                accesses: options.get("accesses", default.accesses)?,
                seed: options.get("seed", default.seed)?,
            };
            options.all_known(&["events", "rungs", "lanes", "accesses", "seed"])?;
            fixpoint(&config, &mut sink)
        }
        other => return Err(format!("`{other}` is no command")),
    }
    .map_err(|e| format!("{out}: {e}"))?;
    sink.into_inner().flush().map_err(|e| format!("{out}: {e}"))?;
    Ok(events)
}

/// Options and their values, in the order given.
struct Options(Vec<(String, String)>);

impl Options {
    fn parse(words: &[String]) -> Result<Options, String> {
        words
            .chunks(2)
            .map(|pair| match pair {
                [key, value] if key.starts_with("--") => {
                    Ok((key.trim_start_matches('-').to_owned(), value.clone()))
                }
                _ => Err(format!("`{}` is no option with a value", pair[0])),
            })
            .collect::<Result<_, _>>()
            .map(Options)
    }

    fn get<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((_, value)) => {
                value.parse().map_err(|_| format!("--{name}: `{value}` is no number that fits"))
            }
            None => Ok(default),
        }
    }

    fn all_known(&self, names: &[&str]) -> Result<(), String> {
        match self.0.iter().find(|(key, _)| !names.contains(&key.as_str())) {
            Some((key, _)) => Err(format!("`--{key}` is no option here")),
            None => Ok(()),
        }
    }
}
