//! Locks: exclusive and shared, and re-entrant.

use super::machine::Machine;
use anyorder_common::random::Random;
use anyorder_trace::{EventKind, LockId, Mode, Op};

/// The locks, and their holders.
#[derive(Debug, Default)]
pub(super) struct Locks {
    pub(super) all: Vec<LockId>,
    /// Each hold: the agent, the lock and the mode of its acquire.
    holds: Vec<(usize, LockId, Mode)>,
}

impl Locks {
    /// Whether an agent can take a lock now without waiting.
    fn is_free(&self, agent: usize, lock: LockId, shared: bool) -> bool {
        let mut holds = self.holds.iter().filter(|(_, held, _)| *held == lock);
        if shared {
            // Not for its exclusive holder either: no lock grants both modes to one thread.
            holds.all(|(_, _, mode)| mode.is_shared())
        } else {
            holds.all(|(holder, _, mode)| *holder == agent && !mode.is_shared())
        }
    }

    pub(super) fn holds_any(&self, agent: usize) -> bool {
        self.holds.iter().any(|(holder, _, _)| *holder == agent)
    }
}

impl Machine {
    /// Takes a random lock, if one is available.
    pub(super) fn acquire(&mut self, agent: usize) -> bool {
        if self.locks.all.is_empty() {
            return false;
        }
        let lock = self.rng.pick(&self.locks.all);
        let modes =
            [Mode::EXCLUSIVE, Mode::EXCLUSIVE, Mode::SHARED, Mode::TRY_EXCLUSIVE, Mode::TRY_SHARED];
        let mode = self.rng.pick(&modes);
        let again = self.locks.holds.iter().any(|(a, l, _)| (*a, *l) == (agent, lock));
        if !self.locks.is_free(agent, lock, mode.is_shared()) || (again && mode.is_shared()) {
            return false;
        }
        self.locks.holds.push((agent, lock, mode));
        self.emit(agent, Op::new(EventKind::Acquire, mode), lock.0);
        true
    }

    /// Releases a random lock that the agent holds, if any.
    pub(super) fn release(&mut self, agent: usize) -> bool {
        let own: Vec<usize> =
            (0..self.locks.holds.len()).filter(|i| self.locks.holds[*i].0 == agent).collect();
        if own.is_empty() {
            return false;
        }
        let (_, lock, mode) = self.locks.holds.remove(self.rng.pick(&own));
        let mode = if mode.is_shared() { Mode::SHARED } else { Mode::EXCLUSIVE };
        self.emit(agent, Op::new(EventKind::Release, mode), lock.0);
        true
    }

    /// Releases a random lock in a mode in which the agent does not hold it. If it holds the lock
    /// in the other mode, that ends.
    pub(super) fn stray_release(&mut self, agent: usize) -> bool {
        if self.locks.all.is_empty() {
            return false;
        }
        let lock = self.rng.pick(&self.locks.all);
        let mode = self.rng.pick(&[Mode::EXCLUSIVE, Mode::SHARED]);
        let own = |(a, l, _): &(usize, LockId, Mode)| (*a, *l) == (agent, lock);
        let same = |(_, _, held): &(usize, LockId, Mode)| held.is_shared() == mode.is_shared();
        if self.locks.holds.iter().any(|hold| own(hold) && same(hold)) {
            return false;
        }
        if let Some(at) = self.locks.holds.iter().rposition(own) {
            self.locks.holds.remove(at);
        }
        self.emit(agent, Op::new(EventKind::Release, mode), lock.0);
        true
    }
}
