//! How threads begin, and how what they return is handed over.

use super::handle::Thread;
use crate::runtime::{self, Place};
use anyorder_threads::{Act, Object, ObjectId, ThreadId};
use std::any::Any;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::{mem, thread};

/// What a thread leaves for who joins it.
pub(super) struct Packet<T>(Mutex<Option<thread::Result<T>>>);

/// A thread that was spawned.
pub(super) struct Spawned<T> {
    pub(super) id: ThreadId,
    pub(super) thread: Thread,
    pub(super) end: ObjectId,
    packet: Arc<Packet<T>>,
}

/// Why nothing can be joined in an execution that is cut short.
#[derive(Debug)]
struct Stopped;

impl<T> Spawned<T> {
    /// Waits until the thread has ended.
    pub(super) fn join(self, at: &'static Location<'static>) -> thread::Result<T> {
        runtime::perform(self.end, Act::Join, at);
        let left = self.packet.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        left.unwrap_or_else(|| Err(Box::new(Stopped) as Box<dyn Any + Send>))
    }

    pub(super) fn is_finished(&self, at: &'static Location<'static>) -> bool {
        runtime::perform(self.end, Act::IsFinished, at) == 1
    }
}

/// Spawns a thread. Whoever calls it sees to it that the thread ends before what it borrows.
#[track_caller]
pub(super) fn spawn<'a, F, T>(f: F, name: Option<String>) -> Spawned<T>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    let packet = Arc::new(Packet(Mutex::new(None)));
    let theirs = Arc::clone(&packet);
    let body: Box<dyn FnOnce() -> u64 + 'a> = Box::new(move || {
        let result = runtime::run_to_end(f);
        let version = match &result {
            Ok(value) => runtime::version_of(value),
            Err(_) => runtime::fresh_version(),
        };
        *theirs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        version
    });
    // SAFETY: only the lifetime changes; a `scope` waits for its threads, and an execution that is
    // cut short ends threads before those that spawned them.
    let body: Box<dyn FnOnce() -> u64 + 'static> = unsafe { mem::transmute(body) };
    let (id, end, thread) = begin(body, name, Location::caller());
    Spawned { id, thread, end, packet }
}

/// Begins a thread. Compiled once, and not for each closure.
fn begin(
    body: Box<dyn FnOnce() -> u64>,
    name: Option<String>,
    at: &'static Location<'static>,
) -> (ThreadId, ObjectId, Thread) {
    let name: Option<Arc<str>> = name.map(Arc::from);
    let spawned = runtime::with(|core| core.spawn(body, name.clone()));
    let (id, end, is_given) = spawned.expect("threads are spawned in a check");
    give(id, is_given, at);
    runtime::perform(end, Act::Spawn(id), at);
    (id, end, Thread::new(id, name))
}

/// Tells the engine what a thread has from its creator, if that is not always the same.
fn give(thread: ThreadId, is_given: bool, at: &'static Location<'static>) {
    if is_given {
        let given = runtime::with(|core| core.only_object(Place::Given(thread), Object::Data(0)));
        let given = given.expect("threads are spawned in a check");
        runtime::perform(given, Act::Alter(runtime::fresh_version()), at);
    }
}
