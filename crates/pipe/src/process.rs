//! Ends a process and all processes it started, without waiting for ever and without leaving
//! zombies.

use crate::descendants::{MARK, end_all, end_those_of, started_by};
use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Waits for the process to exit, then kills its whole group, and collects its exit status. Returns
/// a description of its end.
pub(crate) fn end(child: &mut Child, patience: Duration) -> String {
    let left_by_itself = wait_without_reaping(child, patience);
    let id = child.id();
    let below_it = started_by(id);
    kill_group(child);
    let (mark, own) = {
        let running = running();
        (running.children.get(&id).cloned(), running.children.keys().copied().collect())
    };
    if let Some(mark) = mark {
        end_those_of(id, &mark, below_it, &own);
    }
    // Until it is collected, no other process gets its number.
    running().children.remove(&id);
    // The process has exited or was killed: this does not block.
    match child.wait() {
        Ok(status) if left_by_itself => status.to_string(),
        Ok(_) => "killed".to_owned(),
        Err(error) => format!("its exit status is not known: {error}"),
    }
}

/// The children that run.
struct Running {
    /// The process ids of children that are not yet collected, with their marks. Each is the id of
    /// its process group too, and no other process can have it.
    children: BTreeMap<u32, String>,
    /// The number of children that were started.
    started: u64,
    /// Whether no more children may start.
    is_over: bool,
}

static RUNNING: Mutex<Running> =
    Mutex::new(Running { children: BTreeMap::new(), started: 0, is_over: false });

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a child, and lists it for [`end_all_children`].
///
/// # Errors
///
/// Fails when the system cannot start it, and after [`end_all_children`].
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    // Under the lock: no child starts after the last look at the list.
    let mut running = running();
    if running.is_over {
        return Err(io::Error::other("this process is about to end"));
    }
    running.started += 1;
    let mark = format!("{}.{}", std::process::id(), running.started);
    let child = command.env(MARK, &mark).spawn()?;
    running.children.insert(child.id(), mark);
    Ok(child)
}

/// Kills all children of this process that are still running, with all processes in their process
/// groups, and with all that they left behind if orphans are adopted. No child can be started
/// afterwards: a program calls it before it ends in the middle of its work. Callable from any
/// thread at any time. It waits only for a thread that starts a child at this moment.
pub fn end_all_children() {
    let mut running = running();
    running.is_over = true;
    for id in running.children.keys() {
        kill_group_of(*id);
    }
    end_all();
}

/// Returns whether a child has ended. It stays a zombie.
pub(crate) fn is_over(child: &mut Child) -> bool {
    has_ended(child)
}

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
    let Some(pid) = pid(child.id()) else { return false };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)))
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    // Fails if the child left its group; then it alone is killed below.
    kill_group_of(child.id());
    let _ = child.kill();
}

#[cfg(unix)]
fn kill_group_of(id: u32) {
    use rustix::process::{Signal, kill_process, kill_process_group};
    if let Some(pid) = pid(id) {
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(_)))
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(not(unix))]
fn kill_group_of(_id: u32) {}
