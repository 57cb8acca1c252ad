//! The browsers of this process that run: each ends when its owner is dropped, and all of them
//! before the process ends in the middle of its work.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The browsers that run.
struct Running {
    /// The process ids of browsers that are not yet collected, with the folders of their profiles.
    /// Each is the id of its process group too.
    browsers: BTreeMap<u32, PathBuf>,
    /// Whether no more browsers may start.
    is_over: bool,
}

/// How often, and how long apart, it is tried to remove a profile that a dying process may still
/// write into.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// How long [`end_all_browsers`] waits.
const END_MAX: Duration = Duration::from_millis(600);

/// The browsers that were killed and are not collected yet.
static ENDING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

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

/// Kills a browser's process group. The rest is done beside all other work: its exit status is
/// collected, and its profile removed. A browser takes a while to die on a loaded machine, and
/// whoever stops a job waits for its result.
pub(super) fn end(child: Child, profile: Option<PathBuf>) {
    let id = child.id();
    kill_group(id);
    let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    ending.retain(|thread| !thread.is_finished());
    let rest = Arc::new(Mutex::new(Some((child, profile))));
    let theirs = Arc::clone(&rest);
    let thread = Builder::new().name("browser, ending".to_owned());
    match thread.spawn(move || collect(&theirs)) {
        Ok(thread) => ending.push(thread),
        Err(_) => collect(&rest),
    }
}

/// Collects a killed browser, and removes its profile.
fn collect(rest: &Mutex<Option<(Child, Option<PathBuf>)>>) {
    let taken = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((mut child, profile)) = taken else { return };
    let id = child.id();
    let _ = child.kill();
    // Until it is collected, no other process gets its number.
    running().browsers.remove(&id);
    let _ = child.wait();
    collect_group(id);
    if let Some(profile) = profile {
        remove(&profile);
    }
}

fn remove(profile: &Path) {
    for _ in 0..TRIES {
        match std::fs::remove_dir_all(profile) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// Waits until the browsers that were ended are gone, with their profiles, but not for longer than
/// a process may take to end. The next browser that is started removes what is left.
fn await_ended() {
    let ending = std::mem::take(&mut *ENDING.lock().unwrap_or_else(PoisonError::into_inner));
    let until = Instant::now() + END_MAX;
    while Instant::now() < until && ending.iter().any(|thread| !thread.is_finished()) {
        std::thread::sleep(PAUSE);
    }
}

/// Kills all browsers of this process, with all processes in their groups, and removes their
/// profiles. No browser can be started afterwards: a program calls it before it ends in the middle
/// of its work, for example on Ctrl-C. Callable from any thread at any time.
pub fn end_all_browsers() {
    let mut running = running();
    running.is_over = true;
    running.browsers.keys().for_each(|id| kill_group(*id));
    let profiles: Vec<PathBuf> = running.browsers.values().cloned().collect();
    drop(running);
    // They die one after the other meanwhile.
    profiles.iter().for_each(|profile| remove(profile));
    await_ended();
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

/// Collects the killed processes of a group whose parents have ended: in a process that adopts
/// orphans, as the command does, they are its children now, and would stay until it ends.
#[cfg(unix)]
fn collect_group(id: u32) {
    use rustix::process::{Pid, WaitOptions, waitpgid};
    let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    for _ in 0..TRIES {
        loop {
            match waitpgid(group, WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // There is none.
                Err(_) => return,
            }
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(not(unix))]
fn collect_group(_id: u32) {}
