//! Requests that wait for a permit of a semaphore: `docs/deadlocks.md`.

use super::calls::{Call, CallIndex};
use anyorder_commute::{Counted, WaitRule, Waits};
use anyorder_trace::{EventId, EventKind, Trace};

/// The type of semaphores, and the method that waits.
const SEMAPHORE: &str = "semaphore";
const ACQUIRE: &str = "acquire";

/// A call that waits for a permit by one rule of its type.
pub(super) struct PermitWait<'c> {
    pub(super) call: Call<'c>,
    /// The place of the rule.
    pub(super) at: usize,
}

impl<'c> PermitWait<'c> {
    /// Returns the wait for a permit that an event is.
    pub(super) fn of(
        trace: &Trace,
        index: &'c CallIndex<'_>,
        id: EventId,
    ) -> Option<PermitWait<'c>> {
        let event = trace.event(id);
        if event.kind() != EventKind::Invoke {
            return None;
        }
        let invoked = trace.tables().invocations.get(event.operand as usize)?;
        let call = index.call(trace, id)?;
        let is_semaphore = call.waits.is_some_and(|waits| waits.name() == SEMAPHORE);
        let [at] = index.rules_of(&call, id)[..] else { return None };
        let wait = PermitWait { call, at };
        let is_one_way = |counted: &Counted| counted.helps != counted.hurts;
        (is_semaphore
            && trace.tables().name(invoked.method) == ACQUIRE
            && wait.rule()?.counted().iter().all(is_one_way))
        .then_some(wait)
    }

    fn rule(&self) -> Option<&WaitRule> {
        let rules = self.call.waits.map_or(&[][..], Waits::rules);
        rules.get(self.at).map(AsRef::as_ref)
    }

    /// Returns how many permits an event gives: 1, or -1 if it takes one.
    pub(super) fn change(&self, trace: &Trace, index: &CallIndex<'_>, id: EventId) -> i32 {
        let Some(other) = index.call(trace, id).filter(|other| other.object == self.call.object)
        else {
            return 0;
        };
        let counted = self.rule().map_or(&[][..], WaitRule::counted).iter();
        let counts = |counted: &&Counted| {
            counted.key_of(&other.invocation) == Some(counted.key_for(&self.call.invocation))
        };
        counted.filter(counts).map(|counted| if counted.helps { 1 } else { -1 }).next().unwrap_or(0)
    }
}
