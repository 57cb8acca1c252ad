//! Runs a command, and measures its time and memory.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a run took, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// From its start to its end.
    pub(crate) time: Duration,
    /// The largest resident memory, in bytes.
    pub(crate) peak: u64,
    /// The exit status, or the signal that ended it.
    pub(crate) end: Result<i32, String>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How often the peak is read. The kernel keeps it, so that only growth in the last moment of a run
/// is missed.
const POLL: Duration = Duration::from_millis(2);

/// Runs a command to its end, or kills it after `patience`. Its output goes through files, which
/// cannot block it.
pub(crate) fn measure(command: &mut Command, folder: &Path, patience: Duration) -> Ran {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let create = |path: &Path| File::create(path).expect("the folder can be written");
    command.stdout(create(&out)).stderr(create(&err)).stdin(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().expect("the binary runs");
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let mut signal = None;
    let status = loop {
        peak = peak.max(peak_of(&status_file).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            break status;
        }
        if started.elapsed() > patience {
            signal = Some("killed: no end in sight".to_owned());
            let _ = child.kill();
        }
        thread::sleep(POLL);
    };
    let time = started.elapsed();
    let text = |path: &Path| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    };
    let end = status.code().ok_or_else(|| signal.unwrap_or_else(|| status.to_string()));
    Ran { time, peak, end, stdout: text(&out), stderr: text(&err) }
}

/// Returns the largest resident memory of a process so far.
fn peak_of(status_file: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status_file).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kb: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kb * 1024)
}
