//! Runs mutated cases for a night; see `docs/testing.md`.

#![forbid(unsafe_code)]

use anyorder_mutate::campaign::{self, Bench, Setup};
use anyorder_mutate::case::Case;
use anyorder_mutate::climb;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: anyorder-mutate BINARY [--runs N] [--jobs N] [--minutes N] [--seed N] [--stretch N]
                       [--folder DIR] [--scratch DIR]
       anyorder-mutate BINARY --climb MINUTES [--seed N] [--folder DIR] [--scratch DIR]
       anyorder-mutate BINARY --again FAILURE [--stretch N]

Runs the binary on mutated inputs and writes DIR/summary.json (default: target/mutated) and
DIR/failures. The same command goes on where it stopped. --stretch N allows N times the time on a
busy machine. --climb looks for costly inputs. --again runs a stored failure once more.
The exit status is 0 without faults, 1 with faults, 2 for bad usage.
";

struct Options {
    setup: Setup,
    runs: u64,
    jobs: usize,
    minutes: Option<u64>,
    seed: u64,
    climb: Option<u64>,
    again: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(message) => {
            let _ = write!(io::stderr(), "anyorder-mutate: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "anyorder-mutate: {error}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let (binary, rest) = arguments.split_first().ok_or("which binary?")?;
    let binary = Path::new(binary).canonicalize().map_err(|error| format!("{binary}: {error}"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut options = Options {
        setup: Setup {
            binary,
            folder: root.join("target/mutated"),
            root,
            scratch: scratch(),
            stretch: 1,
        },
        runs: u64::MAX,
        jobs: 1,
        minutes: None,
        seed: 1,
        climb: None,
        again: None,
    };
    let mut rest = rest.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--runs" => options.runs = number()?,
            "--jobs" => options.jobs = number()? as usize,
            "--minutes" => options.minutes = Some(number()?),
            "--seed" => options.seed = number()?,
            "--stretch" => options.setup.stretch = number()?.clamp(1, 1_000) as u32,
            "--folder" => options.setup.folder = value.into(),
            "--scratch" => options.setup.scratch = value.into(),
            "--climb" => options.climb = Some(number()?),
            "--again" => options.again = Some(value.into()),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

/// A folder in memory where there is one.
fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    place.join(format!("anyorder-mutate-{}", std::process::id()))
}

/// Returns whether nothing was at fault.
fn run(options: &Options) -> io::Result<bool> {
    let bench = Bench::new(options.setup.clone())?;
    let answer = work(&bench, options);
    std::fs::remove_dir_all(&options.setup.scratch)?;
    answer
}

fn work(bench: &Bench, options: &Options) -> io::Result<bool> {
    let mut out = io::stdout();
    if let Some(folder) = &options.again {
        let (ran, faults) = bench.stage(0)?.once(&Case::load(folder)?)?;
        writeln!(
            out,
            "status {:?}, signal {:?}, {:?}, {} MiB",
            ran.status,
            ran.signal,
            ran.wall,
            ran.peak_bytes >> 20
        )?;
        for fault in &faults {
            writeln!(out, "{}: {}", fault.class, fault.text)?;
        }
        return Ok(faults.is_empty());
    }
    let after = |minutes: u64| Instant::now() + Duration::from_secs(minutes.saturating_mul(60));
    if let Some(minutes) = options.climb {
        for costly in climb::run(bench, options.seed, after(minutes))? {
            writeln!(
                out,
                "{:<6} {:<12} {:>12} for {:>8} bytes: {}",
                costly.of, costly.command, costly.took, costly.input_bytes, costly.folder
            )?;
        }
        return Ok(true);
    }
    writeln!(out, "{} seeds, {} commands", bench.seeds.len(), bench.commands.len())?;
    let until = options.minutes.map(after);
    let (seed, runs, jobs) = (options.seed, options.runs, options.jobs);
    let mut last = Instant::now();
    let summary = campaign::run(bench, seed, runs, jobs, until, |summary| {
        if last.elapsed() > Duration::from_secs(60) {
            last = Instant::now();
            let faults: u64 = summary.faults.values().sum();
            let _ = writeln!(io::stderr(), "{} runs, {faults} at fault", summary.next);
        }
    })?;
    write!(out, "{}", summary.table())?;
    Ok(summary.faults.is_empty())
}
