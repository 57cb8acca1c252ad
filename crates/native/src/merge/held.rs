//! Who holds which lock.

use hashbrown::HashMap;

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Exclusive,
    Shared,
}

impl Mode {
    /// Returns the mode that the flags of a lock operation give.
    pub(crate) const fn of(flags: u8) -> Mode {
        if flags & 1 != 0 { Mode::Shared } else { Mode::Exclusive }
    }
}

/// The holders of one lock.
#[derive(Clone, Debug, Default)]
struct Holders {
    exclusive: Option<usize>,
    /// Each thread as often as it reads.
    shared: Vec<usize>,
}

/// The holders of all locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    held: HashMap<u64, Holders>,
}

impl Locks {
    /// Returns whether a thread can take a lock now.
    pub(crate) fn may_take(&self, lock: u64, lane: usize, mode: Mode) -> bool {
        let Some(holders) = self.held.get(&lock) else { return true };
        let is_own = holders.exclusive.is_none_or(|holder| holder == lane);
        let others_read = || holders.shared.iter().any(|reader| *reader != lane);
        is_own && (mode == Mode::Shared || !others_read())
    }

    /// Returns whether nobody holds a lock.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Returns the threads that hold a lock.
    pub(crate) fn holders(&self, lock: u64) -> impl Iterator<Item = usize> + '_ {
        let holders = self.held.get(&lock).into_iter();
        holders.flat_map(|one| one.exclusive.iter().chain(&one.shared).copied())
    }

    /// Returns how a thread holds a lock, if it does.
    pub(crate) fn held(&self, lock: u64, lane: usize) -> Option<Mode> {
        let holders = self.held.get(&lock)?;
        if holders.exclusive == Some(lane) {
            return Some(Mode::Exclusive);
        }
        holders.shared.contains(&lane).then_some(Mode::Shared)
    }

    pub(crate) fn take(&mut self, lock: u64, lane: usize, mode: Mode) {
        let holders = self.held.entry(lock).or_default();
        match mode {
            Mode::Exclusive => holders.exclusive = Some(lane),
            Mode::Shared => holders.shared.push(lane),
        }
    }

    /// Gives a lock back. Does nothing if the thread does not hold it.
    pub(crate) fn give(&mut self, lock: u64, lane: usize) {
        let Some(holders) = self.held.get_mut(&lock) else { return };
        if holders.exclusive == Some(lane) {
            holders.exclusive = None;
        } else if let Some(at) = holders.shared.iter().position(|reader| *reader == lane) {
            holders.shared.swap_remove(at);
        }
        if holders.exclusive.is_none() && holders.shared.is_empty() {
            self.held.remove(&lock);
        }
    }

    /// Gives a lock back that a thread does not hold: it is free then, whoever had it.
    pub(crate) fn give_of_others(&mut self, lock: u64, lane: usize) {
        if self.held(lock, lane).is_none() {
            self.held.remove(&lock);
        }
    }

    /// Forgets a lock that is made or destroyed.
    pub(crate) fn forget(&mut self, lock: u64) {
        self.held.remove(&lock);
    }
}
