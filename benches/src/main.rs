//! The same programs under anyorder, loom and shuttle, in one run:
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml [SECONDS [PROGRAM...]]
//! cargo run --release --manifest-path benches/Cargo.toml -- --samplers
//! ```
//!
//! Each line is one program of one size: for each library the executions, the processor time, and a
//! mark if it did not come to an end within SECONDS (10). The last lines are executions a second on
//! one core. Each run is a process of its own, which tells how much memory it took at most. With
//! `--samplers`, how many random executions anyorder needs until it meets a bug.

use std::io::{self, Write as _};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

mod bugs;
mod with_anyorder {
    use anyorder::sync::{Arc, Mutex, RwLock, atomic::AtomicUsize};
    use anyorder::thread;
    include!("programs.rs");
}
mod with_loom {
    use loom::sync::{Arc, Mutex, RwLock, atomic::AtomicUsize};
    use loom::thread;
    include!("programs.rs");
}
mod with_shuttle {
    use shuttle::sync::{Arc, Mutex, RwLock, atomic::AtomicUsize};
    use shuttle::thread;
    include!("programs.rs");
}

/// How often the closure of a test was called.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

const LIBRARIES: [&str; 3] = ["anyorder", "loom", "shuttle"];

/// Sizes of each program: those that all end, and those that show where each gives up.
const SIZES: &[(&str, &[usize])] = &[
    ("counter", &[2, 3, 4, 7]),
    ("ainc", &[3, 4, 7]),
    ("set", &[3, 4, 7]),
    ("mxread", &[3, 4, 7]),
    ("rwread", &[3, 4, 7]),
    ("atread", &[3, 4, 7]),
    ("disjoint", &[3, 4, 7]),
    ("readers", &[2, 3, 4, 10]),
    ("mxreaders", &[2, 3, 7]),
    ("samewrite", &[2, 3, 8]),
    ("lastzero", &[2, 3, 6]),
    ("indexer", &[2, 3, 4, 8]),
    ("fkp", &[2, 3, 6]),
    ("demo", &[2, 4, 8]),
];

fn body(library: &str, program: &str) -> Option<fn(usize)> {
    let all = match library {
        "loom" => with_loom::ALL,
        "shuttle" => with_shuttle::ALL,
        _ => with_anyorder::ALL,
    };
    all.iter().find(|one| one.0 == program).map(|one| one.1)
}

/// The most memory that this process took, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The processor time of the main thread, in seconds: others may use the machine, too.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Tells how a run ended, and ends the process.
fn tell(ending: &str) -> ! {
    let mut out = io::stdout();
    let (count, seconds) = (EXECUTIONS.load(Relaxed), processor());
    // The parent reads what came.
    let _ = writeln!(out, "{count} {seconds} {} {ending}", peak());
    let _ = out.flush();
    std::process::exit(0)
}

/// Runs one program under one library, as a process of its own.
fn one(library: &str, program: &str, size: usize, limit: Duration) -> ! {
    let begun = Instant::now();
    std::thread::spawn(move || {
        while processor() < limit.as_secs_f64() && begun.elapsed() < limit * 10 {
            std::thread::sleep(Duration::from_millis(20));
        }
        tell("limit");
    });
    std::panic::set_hook(Box::new(|_| tell("gives-up")));
    let run = body(library, program).expect("a program");
    let test = move || {
        EXECUTIONS.fetch_add(1, Relaxed);
        run(size);
    };
    match library {
        "anyorder" => drop(anyorder::Builder::new().check(test)),
        "plain" => plain(test),
        "loom" => {
            let mut builder = loom::model::Builder::new();
            builder.max_branches = 1_000_000;
            builder.check(test);
        }
        _ => shuttle::check_dfs(test, None),
    }
    tell("ends")
}

/// Every interleaving, one after another: anyorder without any reduction.
fn plain(test: impl Fn() + Send + Sync + 'static) {
    let mut program = anyorder::Program::new(test);
    anyorder_threads::every_execution(&mut program, (100_000, 200), |_, _, _| {
        std::ops::ControlFlow::Continue(())
    });
}

/// How a run went.
struct Outcome {
    executions: u64,
    seconds: f64,
    mib: u64,
    ending: String,
}

fn outcome(library: &str, program: &str, size: usize, limit: u64) -> Outcome {
    let own = std::env::current_exe().expect("the path of this program");
    let arguments = ["--one", library, program, &size.to_string(), &limit.to_string()];
    let output = Command::new(own).args(arguments).output().expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_default();
    let mut words = last.split_whitespace();
    let mut next = || words.next().unwrap_or("0").to_owned();
    Outcome {
        executions: next().parse().unwrap_or(0),
        seconds: next().parse().unwrap_or(0.0),
        mib: next().parse().unwrap_or(0),
        ending: next(),
    }
}

impl Outcome {
    fn cells(&self) -> String {
        let more = if self.ending == "ends" { "" } else { "> " };
        match self.ending.as_str() {
            "gives-up" => "gives up | ".to_owned(),
            _ => format!("{more}{} | {:.3}", self.executions, self.seconds),
        }
    }
}

fn compare(limit: u64, programs: &[String]) {
    println!("| program | n | anyorder: executions | s | loom | s | shuttle DFS | s |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (program, sizes) in SIZES {
        if !programs.is_empty() && !programs.iter().any(|one| one == program) {
            continue;
        }
        for size in *sizes {
            let all = LIBRARIES.map(|library| outcome(library, program, *size, limit).cells());
            println!("| {program} | {size} | {} |", all.join(" | "));
        }
    }
    println!("\n| executions a second on one core | program | n | of them | MiB |");
    println!("| --- | --- | --- | --- | --- |");
    let speeds = [
        ("anyorder, every interleaving", "plain", "atread", 4),
        ("anyorder, every interleaving", "plain", "readers", 3),
        ("anyorder, every interleaving", "plain", "counter", 3),
        ("anyorder", "anyorder", "readers", 14),
        ("anyorder", "anyorder", "mxreaders", 12),
        ("anyorder", "anyorder", "fkp", 40),
        ("loom", "loom", "counter", 4),
        ("shuttle DFS", "shuttle", "readers", 4),
        ("shuttle DFS", "shuttle", "counter", 4),
    ];
    for (words, library, program, size) in speeds {
        let outcome = outcome(library, program, size, limit);
        let speed = outcome.executions as f64 / outcome.seconds.max(1e-9);
        let (executions, mib) = (outcome.executions, outcome.mib);
        println!("| {words}: {speed:.0} | {program} | {size} | {executions} | {mib} |");
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mark, library, program, size, limit] = arguments.as_slice()
        && mark == "--one"
    {
        let (Ok(size), Ok(limit)) = (size.parse(), limit.parse()) else {
            return ExitCode::FAILURE;
        };
        one(library, program, size, Duration::from_secs(limit));
    }
    if arguments.first().is_some_and(|first| first == "--samplers") {
        bugs::compare();
        return ExitCode::SUCCESS;
    }
    let limit = match arguments.first().map(|text| text.parse()) {
        None => 10,
        Some(Ok(limit)) => limit,
        Some(Err(_)) => {
            eprintln!("usage: anyorder-beside [SECONDS [PROGRAM...]]");
            return ExitCode::FAILURE;
        }
    };
    compare(limit, arguments.get(1..).unwrap_or_default());
    ExitCode::SUCCESS
}
