//! What a search for deadlocks finds.

use super::requests::Class;
use super::signals::Signals;
use crate::confirm::answer::{GaveUp, Witness};
use crate::confirm::past::Past;
use anyorder_system::StopReason;
use anyorder_trace::{ConditionId, EventId, HandlerId, LockId, NameId};

/// Limits on the search for deadlocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlockOptions {
    /// The most cycles of requests that are listed.
    pub cycles_max: usize,
    /// The most steps of the search for cycles.
    pub steps_max: u64,
    /// The most choices of requests of one cycle that the order solver is asked for.
    pub tries_max: u64,
    /// The most events that the search visits.
    pub work_max: u64,
}

impl Default for DeadlockOptions {
    fn default() -> DeadlockOptions {
        DeadlockOptions {
            cycles_max: 10_000,
            steps_max: 50_000_000,
            tries_max: 200,
            work_max: 1_000_000_000,
        }
    }
}

/// Why a cycle is undecided, or not all cycles are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeadlockCut {
    /// The trace has more edges than are kept.
    Trace,
    /// There may be more cycles.
    Cycles,
    /// There are more choices of threads and requests than are tried.
    Tries,
    /// The search visited as many events as it may.
    Work,
    /// The search gave up.
    GaveUp(GaveUp),
    /// The job was stopped.
    Stopped,
}

/// The deadlocks of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deadlocks {
    /// The confirmed and undecided cycles of requests, the shortest first.
    pub found: Vec<Deadlock>,
    /// The number of cycles listed.
    pub cycles: u64,
    /// The number of cycles that no run of the recorded events ends in.
    pub impossible: u64,
    /// The number of cycles left undecided.
    pub undecided: u64,
    /// What left cycles undecided or unlisted.
    pub cuts: Vec<DeadlockCut>,
    /// Why the search ended early.
    pub stopped: Option<StopReason>,
}

impl Deadlocks {
    pub(super) fn cut(&mut self, cut: DeadlockCut) {
        if !self.cuts.contains(&cut) {
            self.cuts.push(cut);
        }
    }
}

/// A cycle of requests: each thread waits for the next one, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// One choice of requests.
    pub requests: Vec<DeadlockRequest>,
    /// What is known of it.
    pub evidence: DeadlockEvidence,
    /// Of each semaphore that a request waits for: how many permits it has.
    pub permits: Vec<Permits>,
    /// The number of choices of recorded requests that have this shape; most are not tried.
    pub choices: u64,
}

/// How many permits a semaphore has in the beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Permits {
    /// The name of the object.
    pub object: NameId,
    /// The least number with which the trace is possible.
    pub least: i64,
    /// Whether there cannot be more. If there are, there may be no deadlock.
    pub is_known: bool,
}

/// A request of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockRequest {
    /// The event that does not happen.
    pub event: EventId,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// The locks that its thread holds, each with the event that acquired it, in this order.
    pub held: Vec<(LockId, EventId)>,
}

/// What a request waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WaitsFor {
    /// A lock.
    Lock(LockId),
    /// The end of a thread.
    End(HandlerId),
    /// A signal of a condition.
    Signal(ConditionId),
    /// What a call of an object waits for, such as a permit of a semaphore or a value of a channel.
    Call {
        /// The name of the object.
        object: NameId,
        /// The name of the method that waits.
        method: NameId,
    },
    /// Those who have yet to arrive at a barrier.
    Barrier(ConditionId),
}

/// What is known of a cycle of requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeadlockEvidence {
    /// There is a run that ends in it.
    Confirmed {
        /// The run, which ends before all requests.
        witness: Witness,
        /// Whether it was found without the order solver: it can take all locks in their recorded
        /// order.
        in_order: bool,
    },
    /// The check refused the run, for this reason. This is a bug.
    Rejected(String),
    /// It is undecided.
    Open(DeadlockCut),
}

impl DeadlockEvidence {
    /// Returns whether it is neither shown nor refuted.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !matches!(self, DeadlockEvidence::Confirmed { .. })
    }
}

impl Deadlock {
    /// Returns its witness, if it has one.
    #[must_use]
    pub const fn witness(&self) -> Option<&Witness> {
        match &self.evidence {
            DeadlockEvidence::Confirmed { witness, .. } => Some(witness),
            _ => None,
        }
    }

    /// Returns the events that do not happen.
    #[must_use]
    pub fn events(&self) -> Vec<EventId> {
        self.requests.iter().map(|request| request.event).collect()
    }
}

/// Describes a cycle by one choice of requests.
pub(super) fn deadlock(
    past: &Past<'_>,
    (of_cycle, signals): (&[&Class], &Signals),
    requests: &[u32],
    evidence: DeadlockEvidence,
) -> Deadlock {
    let locks = past.trace.tables().locks.len() as u32;
    let handlers = past.trace.tables().handlers.len() as u32;
    let awaited = of_cycle.iter().filter_map(|class| {
        let number = class.target.number.checked_sub(locks)?.checked_sub(handlers)?;
        let is_condition = (number as usize) < signals.conditions();
        if is_condition { signals.permits(past, number) } else { None }
    });
    let permits: Vec<Permits> = awaited.collect();
    let requests = of_cycle.iter().zip(requests).map(|(class, request)| {
        let number = class.target.number;
        let waits_for = match number.checked_sub(locks) {
            None => WaitsFor::Lock(LockId(number)),
            Some(other) => match other.checked_sub(handlers) {
                None => WaitsFor::End(HandlerId(other)),
                Some(number) => signals.waits_for(number),
            },
        };
        let sections = past.holding.held(&past.chain, *request).into_iter();
        let sections = sections.map(|section| past.holding.sections[section as usize]);
        let held = sections.filter(|section| section.acquire != *request && section.lock < locks);
        let mut held: Vec<_> = held.map(|s| (LockId(s.lock), EventId(s.acquire))).collect();
        held.sort_unstable_by_key(|(_, acquire)| *acquire);
        DeadlockRequest { event: EventId(*request), waits_for, held }
    });
    let of_class = |class: &&Class| {
        class.members.iter().fold(0_u64, |sum, (_, list)| sum.saturating_add(list.len() as u64))
    };
    let choices = of_cycle.iter().map(of_class).fold(1, u64::saturating_mul);
    Deadlock { requests: requests.collect(), evidence, permits, choices }
}
