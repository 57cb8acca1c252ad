//! What is done once.

use crate::runtime::{self, Slot};
use anyorder_threads::{Act, LockMode, MemoryOrder, Object, ObjectId, Patience};
use std::fmt;
use std::panic::Location;
use std::thread;

/// The states of what is done once; all other numbers are versions of what was made.
const PENDING: u64 = 0;
const POISONED: u64 = 1;

/// Whether something was done, and a lock for who does it. Whoever finds it done also learns which
/// version of it.
pub(super) struct Completion {
    state: Slot,
    lock: Slot,
}

/// The right to do it.
pub(super) struct Turn<'c> {
    completion: &'c Completion,
    /// Whether somebody failed at it before.
    pub(super) was_poisoned: bool,
    /// What it will be.
    outcome: u64,
    /// Whether it is what it was: nothing is to be done.
    is_over: bool,
    at: &'static Location<'static>,
}

impl Completion {
    #[track_caller]
    pub(super) const fn new(type_name: fn() -> &'static str) -> Completion {
        Completion { state: Slot::of(type_name), lock: Slot::of(type_name) }
    }

    fn state(&self) -> ObjectId {
        self.state.id(|| Object::Register(PENDING))
    }

    fn load(&self, at: &'static Location<'static>) -> u64 {
        runtime::perform(self.state(), Act::Load(MemoryOrder::Acquire), at)
    }

    /// Returns whether it is done.
    #[track_caller]
    pub(super) fn is_done(&self) -> bool {
        self.load(Location::caller()) > POISONED
    }

    /// Returns the right to do it, once nobody has it; `None` if it is done.
    #[track_caller]
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        let at = Location::caller();
        if self.load(at) > POISONED {
            return None;
        }
        let act = Act::Lock(LockMode::Exclusive, Patience::Wait);
        runtime::perform(self.lock.id(|| Object::LOCK), act, at);
        let state = self.load(at);
        let was_poisoned = state == POISONED;
        let is_over = state > POISONED;
        let turn = Turn { completion: self, was_poisoned, outcome: PENDING, is_over, at };
        if is_over { None } else { Some(turn) }
    }

    /// Makes it new. Nobody else uses it.
    pub(super) fn renew(&mut self) {
        *self = Completion::new(std::any::type_name::<Once>);
    }
}

impl Turn<'_> {
    /// It was done, in this version.
    pub(super) fn complete(&mut self, version: u64) {
        self.outcome = runtime::mix(version, 2).max(POISONED + 1);
    }

    fn finish(&self) {
        let outcome = match self.outcome {
            PENDING if thread::panicking() && !runtime::is_stopping() => POISONED,
            PENDING if self.was_poisoned => POISONED,
            outcome => outcome,
        };
        if outcome != PENDING && !self.is_over {
            let act = Act::Store(outcome, MemoryOrder::Release);
            runtime::perform_in_drop(self.completion.state(), act, self.at);
        }
        let lock = self.completion.lock.id(|| Object::LOCK);
        runtime::perform_in_drop(lock, Act::Unlock(LockMode::Exclusive), self.at);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

/// As [`std::sync::Once`].
pub struct Once {
    completion: Completion,
}

/// As [`std::sync::OnceState`].
pub struct OnceState {
    is_poisoned: bool,
}

impl OnceState {
    /// Returns whether an earlier attempt panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned).finish()
    }
}

impl std::panic::UnwindSafe for Once {}
impl std::panic::RefUnwindSafe for Once {}

impl Once {
    /// Makes something that was not done.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Once {
        Once { completion: Completion::new(std::any::type_name::<Once>) }
    }

    /// Calls `f` unless it was called before. Returns when it was called.
    ///
    /// # Panics
    ///
    /// If an earlier call panicked.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if let Some(mut turn) = self.completion.turn() {
            assert!(!turn.was_poisoned, "Once instance has previously been poisoned");
            f();
            turn.complete(runtime::fresh_version());
        }
    }

    /// As [`call_once`](Self::call_once), also after a panic.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        if let Some(mut turn) = self.completion.turn() {
            f(&OnceState { is_poisoned: turn.was_poisoned });
            turn.complete(runtime::fresh_version());
        }
    }

    /// Returns whether it was called.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.completion.is_done()
    }

    /// Waits until it was called.
    #[track_caller]
    pub fn wait(&self) {
        while !self.completion.is_done() {
            runtime::give_way(Location::caller());
        }
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
