//! What invocations wait for.

use anyorder_commute::{Invocation, Value, WaitRule, Waits};
use std::collections::HashMap;

/// The places of the rules that are asked of an invocation, among those of its type.
pub(super) type Asked = Vec<usize>;

/// How many invocations of an object count for what: by rule, place among what the rule counts, and
/// key.
#[derive(Default)]
pub(super) struct Numbers(HashMap<(usize, usize, Vec<Value>), i64>);

impl Numbers {
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

    /// The numbers that a rule asks for; `behind` counts by what does not depend on its result.
    fn of(
        &self,
        (at, rule): (usize, &WaitRule),
        call: &Invocation,
        behind: Option<&Invocation>,
    ) -> Vec<i64> {
        let number = |(place, counted): (usize, &anyorder_commute::Counted)| {
            let key = counted.key_for(call);
            let is_one = |other: &Invocation| {
                !counted.asks_result() && counted.key_of(other).as_ref() == Some(&key)
            };
            let more = i64::from(behind.is_some_and(is_one));
            self.0.get(&(at, place, key)).copied().unwrap_or_default() + more
        };
        rule.counted().iter().enumerate().map(number).collect()
    }

    /// Returns whether a rule lets a call return here, or before `loose`.
    pub(super) fn let_return(
        &self,
        rule: (usize, &WaitRule),
        (call, loose): (&Invocation, Option<&Invocation>),
        open: i64,
    ) -> bool {
        [None, loose].into_iter().any(|behind| rule.1.holds(&self.of(rule, call, behind), open))
    }
}

/// Returns the rules that hold for a call where it stands in the trace, and the least number left
/// open with which they do.
pub(super) fn asked(waits: &Waits, numbers: &Numbers, call: &Invocation) -> (Asked, i64) {
    let (mut asked, mut open) = (Vec::new(), 0);
    for (at, rule) in waits.rules().iter().enumerate().filter(|(_, rule)| rule.applies(call)) {
        if let Some(least) = rule.least(&numbers.of((at, rule), call, None)) {
            asked.push(at);
            open = least.max(open);
        }
    }
    (asked, open)
}
