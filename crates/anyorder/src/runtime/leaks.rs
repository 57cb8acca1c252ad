//! What is left when all threads have ended: owners of shared data, and memory of
//! [`alloc`](crate::alloc).
//!
//! Each thread notes what it makes. When the main thread is through, it waits for all others and
//! reads how many owners each object has left. It must do the same after the same results, so what
//! a thread made and did not itself destroy is part of the number that it leaves for its join.

use super::core::{self, Core, Phase};
use super::failure::Panic;
use super::names::Place;
use super::strand::Strand;
use super::version::mix;
use anyorder_threads::{Act, Object, ObjectId, Op, ThreadId};
use std::panic::Location;

/// Notes that the running thread made an object that must have no owner in the end.
pub(crate) fn track(object: ObjectId, at: &'static Location<'static>) {
    core::with(|core| {
        if core.setting.leaks_are_failures && core.phase() == Phase::Running {
            core.with_current(|strand| strand.owed.push((object, at)));
        }
    });
}

/// Notes an allocation at an address.
pub(crate) fn allocated(address: usize, at: &'static Location<'static>) {
    let object = core::with(|core| {
        let object = core.make(Object::Count(1));
        core.state.borrow_mut().allocated.insert(address, object);
        object
    });
    if let Some(object) = object {
        track(object, at);
    }
}

/// Returns the allocation at an address, which ends.
pub(crate) fn freed(address: usize) -> Option<ObjectId> {
    core::with(|core| core.state.borrow_mut().allocated.remove(&address)).flatten()
}

impl Strand {
    /// The object is gone: its creator saw it.
    pub(super) fn settle(&mut self, object: ObjectId) {
        if let Some(at) = self.owed.iter().rposition(|owed| owed.0 == object) {
            self.owed.remove(at);
        }
    }

    /// Returns the number that the exit leaves: also for what the thread made.
    pub(super) fn exit_with_leaks(&self, exit: u64) -> u64 {
        self.owed.iter().fold(exit, |number, owed| mix(number, u64::from(owed.0.0)))
    }
}

impl Core {
    /// Waits for all threads, and fails for each object that has owners left. Not after a panic:
    /// that leaves what it likes.
    pub(super) fn find_leaks(&self) {
        let here = Location::caller();
        let (mut threads, mut next) = (vec![ThreadId::MAIN], 0);
        while let Some(thread) = threads.get(next).copied() {
            next += 1;
            if thread != ThreadId::MAIN {
                seen(|core| {
                    let end = core.only_object(Place::End(thread), Object::End(None));
                    core.perform(Op::new(end, Act::Join), here)
                });
            }
            let (spawned, has_failed) =
                self.with_strand(thread, |strand| (strand.spawned, strand.has_failed));
            if has_failed {
                return;
            }
            threads.extend(
                (0..spawned).map(|ordinal| {
                    seen(|core| core.state.borrow_mut().names.thread(thread, ordinal))
                }),
            );
        }
        for thread in threads {
            for (object, at) in self.with_strand(thread, |strand| strand.owed.clone()) {
                let left = seen(|core| core.perform(Op::new(object, Act::Use), at));
                if left > 0 {
                    let message = format!("leak: made here, and {left} not dropped");
                    seen(|core| core.fail_at(message, at));
                }
            }
        }
    }

    fn fail_at(&self, message: String, at: &'static Location<'static>) {
        let panic = Panic { thread: ThreadId::MAIN, message, position: Some(at.into()) };
        let number = self.state.borrow_mut().panics.number(panic);
        self.perform(Op::new(ObjectId::NONE, Act::Fail(number)), at);
    }
}

/// As [`core::with`], in a check.
fn seen<R>(f: impl FnOnce(&Core) -> R) -> R {
    core::with(f).expect("a thread runs in a check")
}
