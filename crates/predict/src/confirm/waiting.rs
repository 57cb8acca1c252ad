//! Replays an order of events. Collects the calls that could not return, and the waits and attempts
//! that would have ended differently.

use super::blocking::{CallRule, CounterId, Raise, first_missing, last_come};
use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::past::Past;

/// The numbers of calls so far, in one round of a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// For each counter: the round in which it was last raised, and its value.
    counts: Vec<(u32, i64)>,
    round: u32,
    start: u32,
    /// The first event of the tail whose communication is not required, and the counters that it
    /// raises or could raise.
    before: u32,
    last: Vec<Raise>,
}

impl Counts {
    pub(super) fn new(past: &Past<'_>) -> Counts {
        Counts { counts: vec![(0, 0); past.blocking.counters()], ..Counts::default() }
    }

    /// Begins a round after the events before `start`.
    pub(super) fn begin(&mut self, round: u32, start: u32) {
        (self.round, self.start, self.before) = (round, start, NONE);
        self.last.clear();
        if round == 1 {
            self.counts.fill((0, 0));
        }
    }

    fn count(&self, past: &Past<'_>, counter: CounterId) -> i64 {
        let (round, count) = self.counts[counter as usize];
        if round == self.round { count } else { past.blocking.before(counter, self.start) }
    }

    /// Processes the next event. With `is_tail`, neither its communication nor its result is
    /// required.
    pub(super) fn take(
        &mut self,
        past: &Past<'_>,
        event: u32,
        is_tail: bool,
        has_come: &dyn Fn(u32) -> bool,
        broken: &mut Vec<Clause>,
    ) {
        for call_rule in past.blocking.call_rules(event, !is_tail) {
            if !self.holds(past, call_rule, false) && !self.holds(past, call_rule, true) {
                broken.push(self.clause(past, call_rule, event, has_come));
            }
        }
        if !is_tail {
            for raise in past.blocking.raises(event).iter().filter(|raise| raise.counts) {
                let count = self.count(past, raise.counter);
                self.counts[raise.counter as usize] = (self.round, count + 1);
            }
        } else if self.before == NONE {
            self.last.extend(past.blocking.raises(event));
            self.before = event;
        }
    }

    /// Returns whether a rule holds before the first event of the tail, or behind it. Behind it,
    /// that event counts only independently of its result.
    fn holds(&self, past: &Past<'_>, call_rule: &CallRule, behind: bool) -> bool {
        call_rule.holds(|counter| {
            let of_last =
                self.last.iter().any(|raise| raise.counter == counter && !raise.depends_on_result);
            self.count(past, counter) + i64::from(behind && of_last)
        })
    }

    fn clause(
        &self,
        past: &Past<'_>,
        call_rule: &CallRule,
        event: u32,
        has_come: &dyn Fn(u32) -> bool,
    ) -> Clause {
        let mut clause = vec![Atom::Out(event)];
        for helpers in past.blocking.helpers(call_rule) {
            let missing = first_missing(helpers, |helper| helper != event && has_come(helper));
            if missing != NONE && missing != event {
                clause.push(Atom::Before(missing, event));
            }
        }
        for takers in past.blocking.takers(call_rule) {
            let last = last_come(takers, |taker| {
                taker != event && taker != self.before && has_come(taker)
            });
            if last != NONE {
                clause.push(Atom::Before(event, last));
            }
        }
        clause
    }

    /// Returns the clause that a permit is left at the end of a round, where none may be: another
    /// call that takes one must come before the tail, which has `request`, or one that gives one
    /// must not come. `None` if none is left.
    pub(super) fn permit_left(
        &self,
        past: &Past<'_>,
        (call_rule, request): (&CallRule, u32),
        has_come: &dyn Fn(u32) -> bool,
        is_tail: &dyn Fn(u32) -> bool,
    ) -> Option<Clause> {
        if !call_rule.holds(|counter| self.count(past, counter)) {
            return None;
        }
        let takers = past.blocking.takers(call_rule);
        let missing = takers.map(|of| first_missing(of, has_come));
        let missing = missing.filter(|taker| *taker != NONE && !is_tail(*taker));
        let given = past.blocking.helpers(call_rule).map(|of| last_come(of, has_come));
        let given = given.filter(|giver| *giver != NONE).map(Atom::Out);
        Some(missing.map(|taker| Atom::Before(taker, request)).chain(given).collect())
    }

    /// Returns whether the last event waits for ever after the previous one. It could return before
    /// the previous event but not after it, and `may_come` allows no call that could help it. Call
    /// this after the previous event, with the events so far.
    pub(super) fn is_lost(
        &self,
        past: &Past<'_>,
        event: u32,
        has_come: &dyn Fn(u32) -> bool,
        may_come: &dyn Fn(u32) -> bool,
    ) -> bool {
        past.blocking.call_rules(event, false).any(|call_rule| {
            // The previous event counts against the rule with any result.
            let hurts: Vec<CounterId> = call_rule.takers().collect();
            let holds = call_rule.holds(|counter| {
                let counts = |raise: &Raise| {
                    raise.counter == counter
                        && (!raise.depends_on_result || hurts.contains(&counter))
                };
                self.count(past, counter) + i64::from(self.last.iter().any(counts))
            });
            let mut helpers = past.blocking.helpers(call_rule).flatten();
            !holds && helpers.all(|helper| has_come(*helper) || !may_come(*helper))
        })
    }
}
