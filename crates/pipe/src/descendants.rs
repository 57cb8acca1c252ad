//! Processes that a program started and left: of another session, or with another parent.
//!
//! A program is ended with its process group. A process that made a group or a session of its own
//! is in neither. So the command adopts orphans ([`adopt_orphans`]): every process that a program
//! started stays below this process, and those whose parents have ended are its own children. They
//! are known by a variable of their environment, which a program passes on.

use anyorder_common::files::read_system;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, waitid,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable of a program and of what it starts.
pub(crate) const MARK: &str = "ANYORDER_PROGRAM";

/// How often the tree of processes is read until nothing is left of a program. A process may start
/// others while it is read.
const ROUNDS_MAX: u32 = 64;

static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Makes this process the parent of all processes that programs leave behind, so that they end with
/// their programs. A process that uses other children calls it with care: it gets their orphans,
/// too, and does not collect them.
pub fn adopt_orphans() {
    ADOPTS.store(set_child_subreaper(Some(getpid())).is_ok(), Ordering::Relaxed);
}

/// Returns whether orphans are adopted.
pub(crate) fn adopts() -> bool {
    ADOPTS.load(Ordering::Relaxed)
}

/// Returns the processes below a program; none if orphans are not adopted.
pub(crate) fn started_by(program: u32) -> BTreeSet<u32> {
    if adopts() { below(program).into_iter().collect() } else { BTreeSet::new() }
}

/// Kills what an ended program had started: orphans with its mark, those that were `below` it, and
/// what these have started. `own` are the children of this process that are programs.
pub(crate) fn end_those_of(program: u32, mark: &str, below_it: BTreeSet<u32>, own: &BTreeSet<u32>) {
    if !adopts() {
        return;
    }
    let mut killed = below_it;
    for _ in 0..ROUNDS_MAX {
        let mut found = below(program);
        for orphan in children(getpid().as_raw_pid().unsigned_abs()) {
            let is_marked = || killed.contains(&orphan) || has_mark(orphan, mark);
            if !own.contains(&orphan) && orphan != program && is_marked() {
                found.push(orphan);
                found.extend(below(orphan));
            }
        }
        if !end(&found, &mut killed) {
            return;
        }
    }
}

/// Kills everything below this process.
pub(crate) fn end_all() {
    if !adopts() {
        return;
    }
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        if !end(&below(getpid().as_raw_pid().unsigned_abs()), &mut killed) {
            return;
        }
    }
}

/// Kills processes, and collects those that were adopted. Returns whether some of them still run.
fn end(found: &[u32], killed: &mut BTreeSet<u32>) -> bool {
    let mut runs = false;
    for id in found {
        let Some(pid) = pid(*id) else { continue };
        // Until the descriptor is closed, no other process gets the number.
        if let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
            && !is_zombie(*id)
        {
            let _ = pidfd_send_signal(&process, Signal::KILL);
            killed.insert(*id);
            runs = true;
        }
        if killed.contains(id) {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
    runs
}

/// Returns all processes below one, parents first.
fn below(id: u32) -> Vec<u32> {
    let mut found = children(id);
    let mut at = 0;
    while at < found.len() {
        let more = children(found[at]);
        let new: Vec<u32> = more.into_iter().filter(|id| !found.contains(id)).collect();
        found.extend(new);
        at += 1;
    }
    found
}

/// Returns the children of all threads of a process; none where the system does not list them.
fn children(id: u32) -> Vec<u32> {
    let threads = fs::read_dir(folder(id).join("task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| read_system(&thread.path().join("children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Whether a process was started by the program with a mark.
fn has_mark(id: u32, mark: &str) -> bool {
    let environment = fs::read(folder(id).join("environ")).unwrap_or_default();
    let wanted = format!("{MARK}={mark}");
    environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
}

/// Whether a process has ended, and waits to be collected.
fn is_zombie(id: u32) -> bool {
    let stat = read_system(&folder(id).join("stat")).unwrap_or_default();
    // The name in parentheses may have any characters in it.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().next());
    matches!(state, None | Some("Z" | "X"))
}

fn folder(id: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{id}"))
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
