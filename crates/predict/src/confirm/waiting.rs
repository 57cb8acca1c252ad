//! Goes through an order of events and collects which calls could not return, and which waits and
//! attempts would have ended otherwise.

use super::blocking::{CallRule, CounterId, Raise, first_missing, last_come};
use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::past::Past;

/// The numbers of calls so far, in one round of a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// For each counter: in which round it was raised last, and to what.
    counts: Vec<(u32, i64)>,
    round: u32,
    start: u32,
    /// The first of the last events, whose communication is not asked for, and what it raises or
    /// could raise.
    before: u32,
    last: Vec<Raise>,
}

impl Counts {
    pub(super) fn new(past: &Past) -> Counts {
        Counts { counts: vec![(0, 0); past.blocking.counters()], ..Counts::default() }
    }

    /// Begins a round, behind what happened before `start`.
    pub(super) fn begin(&mut self, round: u32, start: u32) {
        (self.round, self.start, self.before) = (round, start, NONE);
        self.last.clear();
        if round == 1 {
            self.counts.fill((0, 0));
        }
    }

    fn count(&self, past: &Past, counter: CounterId) -> i64 {
        let (round, count) = self.counts[counter as usize];
        if round == self.round { count } else { past.blocking.before(counter, self.start) }
    }

    /// Takes the next event. `is_tail`: its communication is not asked for, and neither are its
    /// results.
    pub(super) fn take(
        &mut self,
        past: &Past,
        event: u32,
        is_tail: bool,
        has_come: &dyn Fn(u32) -> bool,
        broken: &mut Vec<Clause>,
    ) {
        for asked in past.blocking.asked(event, !is_tail) {
            if !self.holds(past, asked, false) && !self.holds(past, asked, true) {
                broken.push(self.clause(past, asked, event, has_come));
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

    /// Returns whether a rule holds before the first of the last events, or behind it: there it
    /// counts by what does not depend on its result.
    fn holds(&self, past: &Past, asked: &CallRule, behind: bool) -> bool {
        asked.holds(|counter| {
            let of_last = self.last.iter().any(|raise| raise.counter == counter && !raise.asks);
            self.count(past, counter) + i64::from(behind && of_last)
        })
    }

    fn clause(
        &self,
        past: &Past,
        asked: &CallRule,
        event: u32,
        has_come: &dyn Fn(u32) -> bool,
    ) -> Clause {
        let mut clause = vec![Atom::Out(event)];
        for helpers in past.blocking.helpers(asked) {
            let missing = first_missing(helpers, |helper| helper != event && has_come(helper));
            if missing != NONE && missing != event {
                clause.push(Atom::Before(missing, event));
            }
        }
        for takers in past.blocking.takers(asked) {
            let last = last_come(takers, |taker| {
                taker != event && taker != self.before && has_come(taker)
            });
            if last != NONE {
                clause.push(Atom::Before(event, last));
            }
        }
        clause
    }

    /// Returns whether the last event waits for ever behind the one before it: it could return
    /// before that, not behind it, and `may_come` lets none of the calls come that could help it.
    /// To be called when that one has been taken, with what has come so far.
    pub(super) fn is_lost(
        &self,
        past: &Past,
        event: u32,
        has_come: &dyn Fn(u32) -> bool,
        may_come: &dyn Fn(u32) -> bool,
    ) -> bool {
        past.blocking.asked(event, false).any(|asked| {
            // Against it, the one before counts with whatever result.
            let hurts: Vec<CounterId> = asked.takers().collect();
            let holds = asked.holds(|counter| {
                let counts = |raise: &Raise| {
                    raise.counter == counter && (!raise.asks || hurts.contains(&counter))
                };
                self.count(past, counter) + i64::from(self.last.iter().any(counts))
            });
            let mut helpers = past.blocking.helpers(asked).flatten();
            !holds && helpers.all(|helper| has_come(*helper) || !may_come(*helper))
        })
    }
}
