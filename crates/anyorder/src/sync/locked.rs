//! Data behind a lock: what [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock) are.

use crate::runtime::{self, Contents, Slot};
use anyorder_threads::{Act, LockMode, Object, ObjectId, Patience};
use std::cell::Cell;
use std::panic::Location;
use std::sync::{PoisonError, TryLockError};
use std::thread;

/// A lock and its data. The data is last, so that it may be of unknown size.
pub(crate) struct Locked<T: ?Sized> {
    lock: Slot,
    data: Slot,
    contents: Contents<T>,
}

/// What a holder of a lock did with the data.
pub(crate) struct Section {
    mode: LockMode,
    is_used: Cell<bool>,
    is_altered: bool,
    /// Whether the thread was in a panic when it took the lock.
    was_panicking: bool,
    at: &'static Location<'static>,
}

impl Section {
    /// The same, but for a lock that a panic does not poison.
    pub(crate) fn without_poison(self) -> Section {
        Section { was_panicking: true, ..self }
    }
}

impl<T> Locked<T> {
    /// Makes a lock and its data, of a type that reports name.
    #[track_caller]
    pub(crate) const fn of(value: T, type_name: fn() -> &'static str) -> Locked<T> {
        let data = Slot::of(std::any::type_name::<T>);
        Locked { lock: Slot::of(type_name), data, contents: Contents::new(value) }
    }

    #[track_caller]
    pub(crate) fn into_inner(mut self) -> Result<T, PoisonError<T>> {
        let is_poisoned = self.begin_exclusive();
        // What the lock hands over is what it has in this execution.
        let value = self.contents.into_inner();
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Locked<T> {
    #[inline]
    pub(crate) fn lock_id(&self) -> ObjectId {
        self.lock.id(|| Object::LOCK)
    }

    fn data_id(&self) -> ObjectId {
        self.data.id(|| {
            // SAFETY: whoever names the data has the lock, or an exclusive borrow.
            let version = runtime::version_of_model(unsafe { &*self.contents.get() });
            Object::Data(version)
        })
    }

    pub(crate) fn data(&self) -> *mut T {
        self.contents.get()
    }

    /// Takes the lock. Returns the section, and whether it is poisoned; `None` if it could not.
    #[track_caller]
    pub(crate) fn enter(&self, mode: LockMode, patience: Patience) -> Option<(Section, bool)> {
        let at = Location::caller();
        let result = runtime::perform(self.lock_id(), Act::Lock(mode, patience), at);
        let (is_used, is_altered) = (Cell::new(false), false);
        let was_panicking = thread::panicking();
        let mut section = Section { mode, is_used, is_altered, was_panicking, at };
        if result & 1 == 0 {
            return None;
        }
        self.begin(&mut section);
        Some((section, result & 2 == 2))
    }

    /// Notes that the lock was taken: if what it protects is elsewhere, that may be read and
    /// changed.
    pub(crate) fn begin(&self, section: &mut Section) {
        runtime::note_lock();
        if runtime::guards_unseen() {
            section.is_used.set(true);
            runtime::perform(self.data_id(), Act::Use, section.at);
            section.is_altered = section.mode != LockMode::Shared;
        }
    }

    /// Notes that the data is read.
    #[track_caller]
    #[inline]
    pub(crate) fn read(&self, section: &Section) {
        if !section.is_used.replace(true) {
            runtime::perform(self.data_id(), Act::Use, Location::caller());
        }
    }

    /// Notes that the data is changed.
    #[track_caller]
    #[inline]
    pub(crate) fn change(&self, section: &mut Section) {
        self.read(section);
        section.is_altered = true;
    }

    /// Tells the engine what the data is now.
    pub(crate) fn publish(&self, section: &mut Section) {
        section.is_used.set(false);
        if std::mem::take(&mut section.is_altered) {
            let version = match runtime::guards_unseen() {
                true => runtime::fresh_version(),
                // SAFETY: the caller has the lock.
                false => runtime::version_of(unsafe { &*self.contents.get() }),
            };
            runtime::perform_in_drop(self.data_id(), Act::Alter(version), section.at);
        }
    }

    /// Gives the lock back.
    pub(crate) fn leave(&self, section: &mut Section) {
        self.publish(section);
        let lock = self.lock_id();
        let panicked = thread::panicking() && !section.was_panicking && !runtime::is_stopping();
        if panicked && section.mode == LockMode::Exclusive {
            runtime::perform_in_drop(lock, Act::Poison(true), section.at);
        }
        runtime::perform_in_drop(lock, Act::Unlock(section.mode), section.at);
    }

    /// Changes the mode in which the lock is held, to one that never has to wait.
    pub(crate) fn downgrade(&self, section: &mut Section, to: LockMode) {
        self.publish(section);
        let act = Act::Convert { from: section.mode, to, patience: Patience::Wait };
        runtime::perform_in_drop(self.lock_id(), act, section.at);
        section.mode = to;
        self.begin(section);
    }

    /// Becomes the only holder. Returns whether it did.
    #[track_caller]
    pub(crate) fn upgrade(&self, section: &mut Section, patience: Patience) -> bool {
        self.publish(section);
        let act = Act::Convert { from: section.mode, to: LockMode::Exclusive, patience };
        let is_done = runtime::perform(self.lock_id(), act, Location::caller()) & 1 == 1;
        if is_done {
            section.mode = LockMode::Exclusive;
        }
        self.begin(section);
        is_done
    }

    #[track_caller]
    pub(crate) fn is_poisoned(&self) -> bool {
        runtime::perform(self.lock_id(), Act::IsPoisoned, Location::caller()) == 1
    }

    /// Returns whether the lock could be taken now in a mode.
    #[track_caller]
    pub(crate) fn is_free(&self, mode: LockMode) -> bool {
        runtime::perform(self.lock_id(), Act::IsFree(mode), Location::caller()) == 1
    }

    #[track_caller]
    pub(crate) fn clear_poison(&self) {
        runtime::perform(self.lock_id(), Act::Poison(false), Location::caller());
    }

    /// Makes it new data that the caller may change as it likes. Returns whether it is poisoned.
    #[track_caller]
    fn begin_exclusive(&mut self) -> bool {
        if !runtime::is_checking() {
            return false;
        }
        let is_poisoned = self.is_poisoned();
        runtime::perform(self.data_id(), Act::Use, Location::caller());
        self.data = Slot::of(std::any::type_name::<T>);
        is_poisoned
    }

    #[track_caller]
    pub(crate) fn get_mut(&mut self) -> Result<&mut T, PoisonError<&mut T>> {
        let is_poisoned = self.begin_exclusive();
        let value = self.contents.get_mut();
        if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// Returns a guard, or the error that has it.
pub(crate) fn poisonable<G>((guard, is_poisoned): (G, bool)) -> Result<G, PoisonError<G>> {
    if is_poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

/// Returns the result of an attempt.
pub(crate) fn attempted<G>(taken: Option<(G, bool)>) -> Result<G, TryLockError<G>> {
    match taken {
        Some(taken) => poisonable(taken).map_err(TryLockError::Poisoned),
        None => Err(TryLockError::WouldBlock),
    }
}
