//! The conditions for which invocations wait.

use anyorder_commute::{Invocation, Value, WaitRule, Waits};
use std::collections::HashMap;

/// The positions of the active rules of an invocation, among those of its type.
pub(super) type ActiveRules = Vec<usize>;

/// The counts of the wait rules for an object: by rule, position among what the rule counts, and
/// key.
#[derive(Default)]
pub(super) struct Counts(HashMap<(usize, usize, Vec<Value>), i64>);

impl Counts {
    /// Counts an invocation.
    pub(super) fn add(&mut self, waits: &Waits, call: &Invocation) {
        for (at, rule) in waits.rules().iter().enumerate() {
            for (place, counted) in rule.counted().iter().enumerate() {
                if let Some(key) = counted.key_of(call) {
                    *self.0.entry((at, place, key)).or_default() += 1;
                }
            }
        }
    }

    /// The counts that a rule uses; `behind` is counted too where its result does not matter.
    fn of(
        &self,
        (at, rule): (usize, &WaitRule),
        call: &Invocation,
        behind: Option<&Invocation>,
    ) -> Vec<i64> {
        let number = |(place, counted): (usize, &anyorder_commute::Counted)| {
            let key = counted.key_for(call);
            let is_one = |other: &Invocation| {
                !counted.uses_result() && counted.key_of(other).as_ref() == Some(&key)
            };
            let more = i64::from(behind.is_some_and(is_one));
            self.0.get(&(at, place, key)).copied().unwrap_or_default() + more
        };
        rule.counted().iter().enumerate().map(number).collect()
    }

    /// Returns whether a rule allows a call to return here, or before `loose`.
    pub(super) fn may_return(
        &self,
        rule: (usize, &WaitRule),
        (call, loose): (&Invocation, Option<&Invocation>),
        open: i64,
    ) -> bool {
        [None, loose].into_iter().any(|behind| rule.1.holds(&self.of(rule, call, behind), open))
    }
}

/// Returns the rules that hold for a call at its position in the trace, and the least open number
/// with which they do.
pub(super) fn active_rules(
    waits: &Waits,
    counts: &Counts,
    call: &Invocation,
) -> (ActiveRules, i64) {
    let (mut active_rules, mut open) = (Vec::new(), 0);
    for (at, rule) in waits.rules().iter().enumerate().filter(|(_, rule)| rule.applies(call)) {
        if let Some(least) = rule.least(&counts.of((at, rule), call, None)) {
            active_rules.push(at);
            open = least.max(open);
        }
    }
    (active_rules, open)
}
