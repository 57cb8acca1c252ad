//! All reorderings of a small trace, and the witnesses among them: `docs/witnesses.md` by brute
//! force.
//!
//! **Problem.** Given a trace of at most 64 events (10 to 14 are feasible) and pairs `a`, `b` of
//! its events: find the strongest form of witness that each pair has, and the length of the
//! shortest one of that form.
//!
//! **Idea.** Every prefix of a reordering is a reordering. So adding one event after another finds
//! all of them, shortest first. Two sequences of the same events have the same continuations if
//! they have the same last writes, and the same order of all events that conditions and invocations
//! can distinguish. One of them is enough.
//!
//! Callers can drop rules, to see whether a comparison notices.

pub use rules::{Observes, ReorderRule};

mod bound_reads;
mod components;
mod facts;
mod rules;
mod sections;

use crate::naive::Rules;
use anyorder_trace::Trace;
use components::Components;
use facts::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// How a witness reverses two actions, strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReorderForm {
    /// Both occur, reversed, and every event observes what it observed.
    Reversed,
    /// The same, but the first action, last of all, may observe something else.
    Last,
    /// They are the last two events, the second before the first, and may observe something else.
    CoEnabled,
    /// The last event is the `get` of the second's task. The first's task is posted and has not
    /// begun.
    Overtakes,
}

/// The best witness of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Best {
    /// The strongest form.
    pub form: ReorderForm,
    /// A shortest sequence of this form.
    pub run: Vec<usize>,
}

/// The reorderings of a trace.
#[derive(Debug)]
pub struct Reorderings {
    facts: Facts,
    skipped: Option<ReorderRule>,
}

/// A reordering in which each event observes the same events as in the trace.
#[derive(Clone, Debug, Default)]
struct State {
    run: Vec<usize>,
    done: u64,
}

impl Reorderings {
    /// Prepares a trace; `observes` defines the observations of invocations.
    ///
    /// # Panics
    ///
    /// Panics for a trace of more than 64 events.
    #[must_use]
    pub fn new(trace: &Trace, observes: &dyn Observes) -> Reorderings {
        Reorderings { facts: Facts::new(trace, observes), skipped: None }
    }

    /// The same, with those rules of Android components that `rules` has.
    ///
    /// # Panics
    ///
    /// As [`Reorderings::new`].
    #[must_use]
    pub fn with_components(
        trace: &Trace,
        observes: &dyn Observes,
        rules: Rules<'_>,
    ) -> Reorderings {
        let mut all = Reorderings::new(trace, observes);
        all.facts.set_components(trace, Components::new(trace, rules));
        all
    }

    fn checks_ends(&self) -> bool {
        self.skipped != Some(ReorderRule::Ended)
    }

    /// Visits sequences of the same events once for each order of their signals, and of the waits
    /// that these end.
    pub fn tell_signals(&mut self) {
        self.facts.tells_signals = true;
    }

    /// Drops a rule.
    pub fn skip(&mut self, rule: Option<ReorderRule>) {
        self.skipped = rule;
    }

    /// Returns the rule that a sequence breaks first, with the place. The events in `exempt` may
    /// observe anything.
    #[must_use]
    pub fn broken(
        &self,
        observes: &dyn Observes,
        run: &[usize],
        exempt: &[usize],
    ) -> Option<(usize, ReorderRule)> {
        (0..run.len()).find_map(|place| {
            let is_exempt = exempt.contains(&run[place]);
            let (run, event) = (&run[..place], run[place]);
            let loose = run.last().copied().filter(|last| exempt.contains(last));
            let rule = self.facts.broken_by(observes, (run, loose), event, is_exempt);
            let counts = |rule: &ReorderRule| Some(*rule) != self.skipped;
            rule.into_iter().find(counts).map(|rule| (place, rule))
        })
    }

    /// Returns all rules that an event breaks after a sequence.
    #[must_use]
    pub fn all_broken(
        &self,
        observes: &dyn Observes,
        run: &[usize],
        event: usize,
        exempt: &[usize],
    ) -> Vec<ReorderRule> {
        let loose = run.last().copied().filter(|last| exempt.contains(last));
        self.facts.broken_by(observes, (run, loose), event, exempt.contains(&event))
    }

    /// Returns whether a sequence is a witness of a form for two events, `a` before `b` in the
    /// trace.
    #[must_use]
    pub fn is_witness(
        &self,
        observes: &dyn Observes,
        run: &[usize],
        form: ReorderForm,
        (a, b): (usize, usize),
    ) -> bool {
        let exempt: &[usize] = match form {
            ReorderForm::Reversed => &[],
            ReorderForm::Last => &[a],
            ReorderForm::CoEnabled => &[a, b],
            ReorderForm::Overtakes => {
                let Some((post, waits, get)) = self.facts.overtaking(a, b) else { return false };
                let is_so =
                    run.last() == Some(&get) && run.contains(&post) && !run.contains(&waits);
                let is_so = is_so && (!self.checks_ends() || !self.facts.is_ended_by(run, (a, b)));
                return a < b && is_so && self.broken(observes, run, &[]).is_none();
            }
        };
        let place = |event: usize| run.iter().position(|other| *other == event);
        let (Some(at_a), Some(at_b)) = (place(a), place(b)) else { return false };
        let has_form = match form {
            ReorderForm::Reversed => at_b < at_a,
            ReorderForm::Last => at_b < at_a && at_a + 1 == run.len(),
            ReorderForm::CoEnabled | ReorderForm::Overtakes => {
                at_b + 1 == at_a && at_a + 1 == run.len()
            }
        };
        a < b && has_form && self.broken(observes, run, exempt).is_none()
    }

    /// Returns the best witness of each pair that has one; `None` if there are more than
    /// `states_max` reorderings that differ.
    #[must_use]
    pub fn best(
        &self,
        observes: &dyn Observes,
        pairs: &BTreeSet<(usize, usize)>,
        states_max: usize,
    ) -> Option<BTreeMap<(usize, usize), Best>> {
        self.best_of(observes, pairs, states_max, None)
    }

    /// The same; of one form only, if one is given.
    #[must_use]
    pub fn best_of(
        &self,
        observes: &dyn Observes,
        pairs: &BTreeSet<(usize, usize)>,
        states_max: usize,
        only: Option<ReorderForm>,
    ) -> Option<BTreeMap<(usize, usize), Best>> {
        let mut found: BTreeMap<(usize, usize), Best> = BTreeMap::new();
        let mut note = |state: &State| self.witnesses(observes, state, (pairs, only), &mut found);
        let is_whole = self.states(observes, states_max, &mut note);
        is_whole.then_some(found)
    }

    /// Calls `each` with a sequence for each state that reorderings reach, the shortest first.
    /// Returns whether there are at most `states_max`; else some are left out.
    pub fn visit(
        &self,
        observes: &dyn Observes,
        states_max: usize,
        each: &mut dyn FnMut(&[usize]),
    ) -> bool {
        self.states(observes, states_max, &mut |state| each(&state.run))
    }

    fn states(
        &self,
        observes: &dyn Observes,
        states_max: usize,
        each: &mut dyn FnMut(&State),
    ) -> bool {
        let mut known = BTreeSet::new();
        let mut layer = vec![State::default()];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for state in layer {
                each(&state);
                for event in self.facts.missing(state.done) {
                    if self.can_follow(observes, &state.run, event, false) {
                        let mut child = state.clone();
                        child.run.push(event);
                        child.done |= 1 << event;
                        if known.insert(self.facts.key(&child.run, child.done)) {
                            next.push(child);
                        }
                    }
                }
            }
            if known.len() > states_max {
                return false;
            }
            layer = next;
        }
        true
    }

    fn can_follow(
        &self,
        observes: &dyn Observes,
        run: &[usize],
        event: usize,
        is_exempt: bool,
    ) -> bool {
        self.can_end(observes, (run, None), event, is_exempt)
    }

    /// The same; the last event of the sequence may be one that may observe something else.
    fn can_end(
        &self,
        observes: &dyn Observes,
        run: (&[usize], Option<usize>),
        event: usize,
        is_exempt: bool,
    ) -> bool {
        let rules = self.facts.broken_by(observes, run, event, is_exempt);
        rules.into_iter().all(|rule| Some(rule) == self.skipped)
    }

    /// Records the witnesses that a state and one or two events give.
    fn witnesses(
        &self,
        observes: &dyn Observes,
        state: &State,
        (pairs, only): (&BTreeSet<(usize, usize)>, Option<ReorderForm>),
        found: &mut BTreeMap<(usize, usize), Best>,
    ) {
        let mut note = |pair, form, events: &[usize]| {
            let better =
                |old: &Best| (form, state.run.len() + events.len()) < (old.form, old.run.len());
            if only.is_none_or(|only| form == only) && found.get(&pair).is_none_or(better) {
                let run = state.run.iter().chain(events).copied().collect();
                found.insert(pair, Best { form, run });
            }
        };
        let has = |event: usize| state.done >> event & 1 == 1;
        for &(a, b) in pairs {
            if let Some((post, waits, get)) = self.facts.overtaking(a, b)
                && has(post)
                && !has(waits)
                && self.can_follow(observes, &state.run, get, false)
                && (!self.checks_ends() || !self.facts.is_ended_by(&state.run, (a, b)))
            {
                note((a, b), ReorderForm::Overtakes, &[get]);
            }
            if has(a) {
                continue;
            }
            if has(b) {
                if self.can_follow(observes, &state.run, a, false) {
                    note((a, b), ReorderForm::Reversed, &[a]);
                } else if self.can_follow(observes, &state.run, a, true) {
                    note((a, b), ReorderForm::Last, &[a]);
                }
            } else if self.can_follow(observes, &state.run, b, true) {
                let mut run = state.run.clone();
                run.push(b);
                if self.can_end(observes, (&run, Some(b)), a, true) {
                    note((a, b), ReorderForm::CoEnabled, &[b, a]);
                }
            }
        }
    }
}
