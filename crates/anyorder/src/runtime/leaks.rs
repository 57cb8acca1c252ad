//! Values of [`Arc`](crate::sync::Arc) that an execution leaves behind: their owners are in a
//! cycle, or were forgotten. So with memory of [`alloc`](crate::alloc).

use super::core;
use super::slot::About;
use anyorder_threads::{Object, ObjectId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::panic::Location;

/// What was performed: a thread, its operation, the result.
pub(crate) type Log = Vec<(ThreadId, Op, u64)>;

/// Values that an execution left behind.
#[derive(Clone, Debug)]
pub(crate) struct Leaked {
    /// Where they were made.
    pub(crate) made: Vec<&'static Location<'static>>,
    /// The execution, without the ends of threads.
    pub(crate) log: Log,
}

/// The values that have owners, and those that were left behind.
#[derive(Debug, Default)]
pub(super) struct Leaks {
    owned: FxHashMap<ObjectId, &'static Location<'static>>,
    /// Whether the execution failed: then nothing is expected of it.
    is_excused: bool,
    found: Vec<Leaked>,
    /// By file, line and column: the places of each leak that was found.
    known: FxHashSet<Vec<(&'static str, u32, u32)>>,
}

impl Leaks {
    pub(super) fn note(&mut self, owners: ObjectId, made: &'static Location<'static>) {
        self.owned.insert(owners, made);
    }

    pub(super) fn forget(&mut self, owners: ObjectId) {
        self.owned.remove(&owners);
    }

    /// The execution failed: what it leaves behind is no leak.
    pub(super) fn excuse(&mut self) {
        self.is_excused = true;
    }

    /// Returns whether nothing is expected of the execution.
    pub(super) fn is_excused(&self) -> bool {
        self.is_excused
    }

    /// Notes what is left of an execution. Only a complete one should leave nothing.
    pub(super) fn end_execution(&mut self, is_complete: bool, log: &Log) {
        let is_excused = std::mem::take(&mut self.is_excused);
        if self.owned.is_empty() {
            return;
        }
        let mut left: Vec<(ObjectId, &'static Location<'static>)> = self.owned.drain().collect();
        if is_excused || !is_complete {
            return;
        }
        left.sort_unstable_by_key(|(owners, _)| owners.0);
        let made: Vec<_> = left.into_iter().map(|(_, made)| made).collect();
        let mut places: Vec<_> =
            made.iter().map(|made| (made.file(), made.line(), made.column())).collect();
        places.sort_unstable();
        places.dedup();
        if self.known.insert(places) {
            self.found.push(Leaked { made, log: log.clone() });
        }
    }

    /// Returns how many different leaks were found.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    pub(super) fn take(&mut self) -> Vec<Leaked> {
        self.known.clear();
        std::mem::take(&mut self.found)
    }
}

/// Gives an allocation at an address an object, which has one owner.
pub(crate) fn allocated(address: usize, made: &'static Location<'static>) {
    core::with(|core| {
        let about = About { type_name: None, made, is_use: false };
        let object = core.make(Object::Count(1), about);
        let state = &mut *core.state.borrow_mut();
        state.allocated.insert(address, object);
        state.leaks.note(object, made);
    });
}

/// Returns the object of the allocation at an address, which ends.
pub(crate) fn freed(address: usize) -> Option<ObjectId> {
    let object = core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        let object = state.allocated.remove(&address)?;
        state.leaks.forget(object);
        Some(object)
    });
    object.flatten()
}
