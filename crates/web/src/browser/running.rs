//! The browsers of this process that run: each ends when its owner is dropped, and all of them
//! before the process ends in the middle of its work.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The browsers that run.
struct Running {
    /// The process ids of browsers that are not yet collected, with the folders of their profiles.
    /// Each is the id of its process group too.
    browsers: BTreeMap<u32, PathBuf>,
    /// Whether no more browsers may start.
    is_over: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { browsers: BTreeMap::new(), is_over: false });

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a browser and lists it for [`end_all_browsers`].
///
/// # Errors
///
/// Fails when the system cannot start it, and after [`end_all_browsers`].
pub(super) fn spawn(command: &mut Command, profile: PathBuf) -> io::Result<Child> {
    // Under the lock: no browser starts after the last look at the list.
    let mut running = running();
    if running.is_over {
        return Err(io::Error::other("this process is about to end"));
    }
    let child = command.spawn()?;
    running.browsers.insert(child.id(), profile);
    Ok(child)
}

/// Kills a browser's process group and collects its exit status. It does not wait: a killed process
/// ends at once.
pub(super) fn end(child: &mut Child) {
    kill_group(child.id());
    let _ = child.kill();
    // Until it is collected, no other process gets its number.
    running().browsers.remove(&child.id());
    let _ = child.wait();
}

/// Kills all browsers of this process, with all processes in their groups, and removes their
/// profiles. No browser can be started afterwards: a program calls it before it ends in the middle
/// of its work, for example on Ctrl-C. Callable from any thread at any time.
pub fn end_all_browsers() {
    let mut running = running();
    running.is_over = true;
    for (id, profile) in &running.browsers {
        kill_group(*id);
        let _ = std::fs::remove_dir_all(profile);
    }
}

#[cfg(unix)]
pub(super) fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
pub(super) fn kill_group(_id: u32) {}
