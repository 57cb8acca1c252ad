//! The cost of a process: processor time, wall time, memory.

#![allow(dead_code, unreachable_pub, clippy::print_stdout, reason = "each bench uses some of it")]

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Ticks of `/proc/*/stat` in a second, on all usual Linux systems.
const TICKS: f64 = 100.0;

/// Reads a whole number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The processor time of this thread in seconds, or wall time where the system does not report it:
/// other programs do not count.
pub fn processor_seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    match text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok()) {
        Some(nanoseconds) => nanoseconds as f64 / 1e9,
        None => start.elapsed().as_secs_f64(),
    }
}

/// Runs a function; returns the seconds of processor time that it used.
pub fn timed<R>(run: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let before = processor_seconds(start);
    let result = run();
    (processor_seconds(start) - before, result)
}

/// The largest and the present resident memory of a process, in KiB; `None` where the system does
/// not report it.
pub fn memory_kib(process: &str) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some((field("VmHWM:")?, field("VmRSS:")?))
}

/// The cost of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub user: f64,
    pub system: f64,
    pub wall: f64,
    pub memory_kib: u64,
    pub success: bool,
}

impl Cost {
    /// Processor time, of the user and of the system for it.
    pub fn processor(self) -> f64 {
        self.user + self.system
    }
}

/// User and system seconds of all children that have ended.
fn children() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let ticks = |at: usize| -> f64 {
        after.split_whitespace().nth(at).and_then(|text| text.parse().ok()).unwrap_or(0.0)
    };
    (ticks(13) / TICKS, ticks(14) / TICKS)
}

/// Runs a program with its output in a file.
pub fn run_process(command: &mut Command, output: &Path) -> io::Result<Cost> {
    let before = children();
    let start = Instant::now();
    let file = File::create(output)?;
    let mut child = command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).spawn()?;
    let process = child.id().to_string();
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        memory = memory.max(memory_kib(&process).map_or(0, |(peak, _)| peak));
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = start.elapsed().as_secs_f64();
    let after = children();
    let (user, system) = (after.0 - before.0, after.1 - before.1);
    Ok(Cost { user, system, wall, memory_kib: memory, success: status.success() })
}

/// Prints how much else the machine does.
pub fn print_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    println!("load over 1, 5, 15 minutes: {}", load.join(", "));
}
