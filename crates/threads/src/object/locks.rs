//! What operations do to locks, condition variables, tokens and semaphores.

use super::Object;
use crate::ids::ThreadId;
use crate::op::{LockMode, Patience};

/// The fields of a lock.
struct Holders<'o> {
    exclusive: &'o mut Option<ThreadId>,
    upgradable: &'o mut bool,
    shared: &'o mut u32,
    poisoned: &'o mut bool,
}

impl Holders<'_> {
    fn take(&mut self, mode: LockMode, thread: ThreadId) {
        match mode {
            LockMode::Exclusive => *self.exclusive = Some(thread),
            LockMode::Shared => *self.shared += 1,
            LockMode::Upgradable => *self.upgradable = true,
        }
    }

    fn give(&mut self, mode: LockMode) {
        match mode {
            LockMode::Exclusive => *self.exclusive = None,
            LockMode::Shared => *self.shared = self.shared.saturating_sub(1),
            LockMode::Upgradable => *self.upgradable = false,
        }
    }
}

/// What an attempt gives that is not possible now: `None` if it waits.
#[inline]
pub(super) fn refused(patience: Patience) -> Option<u64> {
    (patience != Patience::Wait).then_some(0)
}

impl Object {
    /// Whether it is a lock that can be taken in a mode.
    pub(super) fn is_free(&self, mode: LockMode) -> bool {
        let Object::Lock { exclusive, upgradable, shared, .. } = self else { return false };
        match mode {
            LockMode::Exclusive => exclusive.is_none() && !upgradable && *shared == 0,
            LockMode::Shared => exclusive.is_none(),
            LockMode::Upgradable => exclusive.is_none() && !upgradable,
        }
    }

    fn holders(&mut self) -> Option<Holders<'_>> {
        match self {
            Object::Lock { exclusive, upgradable, shared, poisoned } => {
                Some(Holders { exclusive, upgradable, shared, poisoned })
            }
            _ => None,
        }
    }

    pub(super) fn lock(
        &mut self,
        thread: ThreadId,
        mode: LockMode,
        patience: Patience,
    ) -> Option<u64> {
        if !self.is_free(mode) {
            return refused(patience);
        }
        let mut holders = self.holders()?;
        holders.take(mode, thread);
        Some(1 | u64::from(*holders.poisoned) << 1)
    }

    pub(super) fn poison(&mut self, poisoned: bool) -> Option<u64> {
        *self.holders()?.poisoned = poisoned;
        Some(0)
    }

    pub(super) fn is_poisoned(&mut self) -> Option<u64> {
        Some(u64::from(*self.holders()?.poisoned))
    }

    pub(super) fn unlock(&mut self, mode: LockMode) -> Option<u64> {
        self.holders()?.give(mode);
        Some(0)
    }

    pub(super) fn convert(
        &mut self,
        thread: ThreadId,
        (from, to): (LockMode, LockMode),
        wait: Patience,
    ) -> Option<u64> {
        self.holders()?.give(from);
        let is_free = self.is_free(to);
        self.holders()?.take(if is_free { to } else { from }, thread);
        if is_free {
            return Some(1);
        }
        refused(wait)
    }

    pub(super) fn wait(&mut self, thread: ThreadId) -> Option<u64> {
        let Object::Condition { waiting, .. } = self else { return None };
        waiting.push(thread);
        waiting.sort_unstable();
        Some(0)
    }

    pub(super) fn wake(&mut self, thread: ThreadId, patience: Patience) -> Option<u64> {
        let Object::Condition { waiting, notified } = self else { return None };
        if let Ok(at) = notified.binary_search(&thread) {
            notified.remove(at);
            return Some(1);
        }
        let timed_out = refused(patience)?;
        waiting.retain(|other| *other != thread);
        Some(timed_out)
    }

    /// Notifies the waiting thread of that number, or all.
    pub(super) fn notify(&mut self, all: bool, which: u32, counted: bool) -> Option<u64> {
        let Object::Condition { waiting, notified } = self else { return None };
        let count = if all { waiting.len() } else { waiting.len().min(1) };
        if all {
            notified.append(waiting);
        } else if count == 1 {
            notified.push(waiting.remove(which as usize % waiting.len()));
        }
        notified.sort_unstable();
        Some(if counted { count as u64 } else { 0 })
    }

    pub(super) fn park(&mut self, patience: Patience) -> Option<u64> {
        let Object::Token(token) = self else { return None };
        if !*token {
            return refused(patience);
        }
        *token = false;
        Some(1)
    }

    pub(super) fn unpark(&mut self) -> Option<u64> {
        let Object::Token(token) = self else { return None };
        *token = true;
        Some(0)
    }

    pub(super) fn acquire(&mut self, count: u32, patience: Patience) -> Option<u64> {
        let Object::Semaphore { permits, closed } = self else { return None };
        if *closed {
            return Some(2);
        }
        let Some(left) = permits.checked_sub(u64::from(count)) else { return refused(patience) };
        *permits = left;
        Some(1)
    }

    pub(super) fn release(&mut self, count: u32) -> Option<u64> {
        let Object::Semaphore { permits, .. } = self else { return None };
        *permits = permits.saturating_add(u64::from(count));
        Some(0)
    }

    pub(super) fn close(&mut self) -> Option<u64> {
        let Object::Semaphore { closed, .. } = self else { return None };
        *closed = true;
        Some(0)
    }

    pub(super) fn arrive(&mut self) -> Option<u64> {
        let Object::Barrier { size, arrived, generation } = self else { return None };
        let own = *generation;
        *arrived += 1;
        let is_last = *arrived >= *size;
        if is_last {
            *arrived = 0;
            *generation += 1;
        }
        Some(own << 1 | u64::from(is_last))
    }

    pub(super) fn pass(&self, of: u64) -> Option<u64> {
        let Object::Barrier { generation, .. } = self else { return None };
        (*generation > of).then_some(0)
    }
}
