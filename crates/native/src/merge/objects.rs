//! Conditions, barriers and semaphores: what allows a thread to continue.

use crate::recording::{Event, kind};
use hashbrown::HashMap;

/// A condition: who waits, and for whom a signal has come.
#[derive(Clone, Debug, Default)]
struct Condition {
    waiters: Vec<usize>,
    /// Those whom a broadcast has woken.
    woken: Vec<usize>,
    /// Signals that have woken nobody yet; no more than there are waiters.
    signals: usize,
}

/// A barrier of `count` threads.
#[derive(Clone, Debug, Default)]
struct Barrier {
    count: u64,
    /// How many have arrived in this round.
    arrived: u64,
    /// The threads that have arrived and not left, with their round.
    inside: Vec<(usize, u64)>,
    round: u64,
}

/// All of them, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    conditions: HashMap<u64, Condition>,
    barriers: HashMap<u64, Barrier>,
    /// The permits of semaphores whose beginning was recorded.
    permits: HashMap<u64, u64>,
}

impl Objects {
    pub(super) fn wait(&mut self, condition: u64, lane: usize) {
        self.conditions.entry(condition).or_default().waiters.push(lane);
    }

    /// Returns whether a signal has come that can have woken a thread.
    pub(super) fn may_wake(&self, condition: u64, lane: usize) -> bool {
        let Some(condition) = self.conditions.get(&condition) else { return true };
        let waits = condition.waiters.contains(&lane);
        (waits && condition.signals > 0) || condition.woken.contains(&lane)
    }

    pub(super) fn wake(&mut self, condition: u64, lane: usize, timed_out: bool) {
        let Some(condition) = self.conditions.get_mut(&condition) else { return };
        if let Some(at) = condition.woken.iter().position(|one| *one == lane) {
            condition.woken.swap_remove(at);
            return;
        }
        condition.waiters.retain(|one| *one != lane);
        let used = usize::from(!timed_out);
        condition.signals = condition.signals.saturating_sub(used).min(condition.waiters.len());
    }

    /// Returns whether all have arrived whom a thread at a barrier waits for.
    pub(super) fn may_leave(&self, barrier: u64, lane: usize) -> bool {
        let Some(barrier) = self.barriers.get(&barrier) else { return true };
        let inside = barrier.inside.iter().find(|(one, _)| *one == lane);
        barrier.count == 0 || inside.is_none_or(|(_, round)| *round < barrier.round)
    }

    /// Returns whether a semaphore has a permit, as far as is known.
    pub(super) fn has_permit(&self, semaphore: u64) -> bool {
        self.permits.get(&semaphore).is_none_or(|permits| *permits > 0)
    }

    /// Applies an event that is no wait. Returns whether a thread may continue by it.
    pub(super) fn apply(&mut self, lane: usize, event: &Event) -> bool {
        let object = event.address;
        match event.kind {
            kind::COND_SIGNAL => {
                if let Some(condition) = self.conditions.get_mut(&object) {
                    condition.signals = (condition.signals + 1).min(condition.waiters.len());
                }
                true
            }
            kind::COND_BROADCAST => {
                if let Some(condition) = self.conditions.get_mut(&object) {
                    condition.woken.append(&mut condition.waiters);
                    condition.signals = 0;
                }
                true
            }
            kind::BARRIER_INIT => {
                self.barriers.insert(object, Barrier { count: event.third, ..Barrier::default() });
                true
            }
            kind::BARRIER_ARRIVE => self.arrive(object, lane),
            kind::BARRIER_LEAVE => {
                if let Some(barrier) = self.barriers.get_mut(&object) {
                    barrier.inside.retain(|(one, _)| *one != lane);
                }
                false
            }
            kind::SEM_INIT => {
                self.permits.insert(object, event.third);
                true
            }
            kind::SEM_POST => {
                if let Some(permits) = self.permits.get_mut(&object) {
                    *permits = permits.saturating_add(1);
                }
                true
            }
            kind::SEM_WAIT => {
                if let Some(permits) = self.permits.get_mut(&object) {
                    *permits = permits.saturating_sub(1);
                }
                false
            }
            _ => false,
        }
    }

    fn arrive(&mut self, barrier: u64, lane: usize) -> bool {
        let barrier = self.barriers.entry(barrier).or_default();
        barrier.inside.push((lane, barrier.round));
        barrier.arrived += 1;
        let is_full = barrier.arrived == barrier.count;
        if is_full {
            barrier.arrived = 0;
            barrier.round += 1;
        }
        is_full
    }
}
