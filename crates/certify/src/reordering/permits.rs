//! Requests that are calls which wait, such as one for a permit of a semaphore or a value of a
//! channel: `docs/deadlocks.md`.

use super::calls::{Call, CallIndex};
use anyorder_commute::{Counted, WaitRule, Waits};
use anyorder_trace::{EventId, EventKind, Trace};

/// A call that waits by one rule of its type.
pub(super) struct PermitWait<'c> {
    pub(super) call: Call<'c>,
    /// The place of the rule.
    pub(super) at: usize,
}

impl<'c> PermitWait<'c> {
    /// Returns the wait that an event is.
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
        let method = trace.tables().name(invoked.method);
        let fails = call.waits.is_some_and(|waits| waits.fails(method));
        let [at] = index.rules_of(&call, id)[..] else { return None };
        let wait = PermitWait { call, at };
        let counted = wait.rule()?.counted();
        let is_one_way = |counted: &Counted| counted.helps != counted.hurts;
        let waits = counted.iter().all(is_one_way) && counted.iter().any(|counted| counted.helps);
        (waits && !fails).then_some(wait)
    }

    fn rule(&self) -> Option<&WaitRule> {
        let rules = self.call.waits.map_or(&[][..], Waits::rules);
        rules.get(self.at).map(AsRef::as_ref)
    }

    /// Returns what an event does for the call: by place among the counted calls of the rule,
    /// whether it helps. Empty if nothing.
    fn effects(&self, trace: &Trace, index: &CallIndex<'_>, id: EventId) -> Vec<(usize, bool)> {
        let Some(other) = index.call(trace, id).filter(|other| other.object == self.call.object)
        else {
            return Vec::new();
        };
        let counted = self.rule().map_or(&[][..], WaitRule::counted).iter().enumerate();
        let counts = |(_, counted): &(usize, &Counted)| {
            counted.key_of(&other.invocation) == Some(counted.key_for(&self.call.invocation))
        };
        counted.filter(counts).map(|(at, counted)| (at, counted.helps)).collect()
    }

    /// Returns whether an event gives what the call waits for.
    pub(super) fn is_given(&self, trace: &Trace, index: &CallIndex<'_>, id: EventId) -> bool {
        self.effects(trace, index, id).iter().any(|(_, helps)| *helps)
    }

    /// Returns whether an event takes what the call waits for, and waits or fails where there is
    /// none.
    pub(super) fn is_taken(&self, trace: &Trace, index: &CallIndex<'_>, id: EventId) -> bool {
        let effects = self.effects(trace, index, id);
        if effects.is_empty() || effects.iter().any(|(_, helps)| *helps) {
            return false;
        }
        let rule_at = |at: &usize| self.call.waits.and_then(|waits| waits.rules().get(*at));
        let mut own = index.all_rules_of(id).iter().filter_map(rule_at);
        self.rule().is_some_and(|rule| own.any(|other| other.has_condition_of(rule)))
    }

    /// Returns whether some first ones of these events give more than they take, in one of the
    /// comparisons of the rule.
    pub(super) fn has_gift(
        &self,
        trace: &Trace,
        index: &CallIndex<'_>,
        events: impl Iterator<Item = EventId>,
    ) -> bool {
        let comparisons = self.rule().map(WaitRule::comparisons).unwrap_or_default();
        let mut sums = vec![0_i64; comparisons.len()];
        for event in events {
            let effects = self.effects(trace, index, event);
            for (sum, places) in sums.iter_mut().zip(&comparisons) {
                let mut of = effects.iter().filter(|(at, _)| places.contains(at)).peekable();
                if of.peek().is_some() {
                    *sum += if of.any(|(_, helps)| *helps) { 1 } else { -1 };
                }
                if *sum > 0 {
                    return true;
                }
            }
        }
        false
    }
}
