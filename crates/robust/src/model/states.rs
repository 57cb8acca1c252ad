//! The search of all states for an outcome that no serial run has (Definition 1).

use super::overlap::mix;
use super::serial::SerialOutcomes;
use anyorder_system::{Control, Failure, Hash128, StateSystem, Successor, WaitPlace};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// What a program says about its states.
pub struct Views<'a, S: StateSystem> {
    /// Returns the memory of a state in which nothing runs and nothing is pending.
    pub quiet: &'a dyn Fn(&S::State) -> Option<Hash128>,
    /// Returns the event that an action starts.
    pub started: &'a dyn Fn(&S::Action) -> Option<u32>,
    /// Returns where tasks wait that must not wait for ever, in a state without steps; `None` if
    /// nothing waits there.
    pub waiting: &'a dyn Fn(&S::State) -> Option<Vec<WaitPlace>>,
    /// How often each event may happen.
    pub most: Vec<u8>,
    /// Whether the first step of a run is its beginning.
    pub init_is_step: bool,
}

/// What ends a run that no serial run ends in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strange {
    /// A global state.
    State,
    /// A failure of the last action.
    Failure(Failure),
    /// A deadlock, with the places at which tasks wait.
    Deadlock(Vec<WaitPlace>),
}

/// A run to an outcome that no serial run has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome<S, A> {
    /// The actions from the first state.
    pub path: Vec<A>,
    /// The last state; of a failure, the one before it.
    pub state: S,
    /// What it is.
    pub what: Strange,
}

/// Whether runs from a state reach an outcome that no serial run has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence<S, A> {
    /// They do.
    Reached(Outcome<S, A>),
    /// No run does.
    Never,
    /// The search was cut before it found one, or not all serial outcomes are known.
    Undecided,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Searched<S, A> {
    /// The answer.
    pub divergence: Divergence<S, A>,
    /// Whether some event could have happened more often than it may.
    pub repeats: bool,
    /// Whether some run ends: not its beginning, if nothing is left to run there.
    pub ends: bool,
    /// Whether something can run after the beginning.
    pub runs: bool,
    /// The events that happen in some run.
    pub begun: Vec<bool>,
    /// The events that happen in some run that ends.
    pub ended: Vec<bool>,
    /// The number of states.
    pub states: usize,
}

impl<S, A> Searched<S, A> {
    /// Returns whether no run with some event ends, although all states are known.
    #[must_use]
    pub fn has_endless_event(&self) -> bool {
        let endless = self.begun.iter().zip(&self.ended).any(|(begun, ended)| *begun && !*ended);
        endless && matches!(self.divergence, Divergence::Never)
    }
}

/// A state with how often each event has happened.
struct Open<S> {
    state: S,
    happened: Vec<u8>,
    at: usize,
}

struct Search<'a, S: StateSystem> {
    serial: &'a SerialOutcomes,
    views: &'a Views<'a, S>,
    seen: FxHashSet<Hash128>,
    /// For each state the one before it, with the action.
    from: Vec<Option<(usize, S::Action)>>,
    open: VecDeque<Open<S::State>>,
    found: Searched<S::State, S::Action>,
}

/// Searches the runs from a state, after these events, for an outcome that no serial run has. Goes
/// through at most `most` states, the nearest first. Nothing is found while some serial outcomes
/// are not known.
pub fn diverging<S: StateSystem>(
    system: &S,
    (start, happened): (S::State, Vec<u8>),
    views: &Views<'_, S>,
    serial: &SerialOutcomes,
    (most, control): (usize, &Control<'_>),
) -> Searched<S::State, S::Action> {
    let events = happened.len();
    let mut search = Search {
        serial,
        views,
        seen: FxHashSet::default(),
        from: vec![None],
        open: VecDeque::new(),
        found: Searched {
            divergence: Divergence::Undecided,
            repeats: false,
            ends: false,
            runs: false,
            begun: vec![false; events],
            ended: vec![false; events],
            states: 0,
        },
    };
    search.seen.insert(key(system.fingerprint(&start), &happened));
    search.open.push_back(Open { state: start, happened, at: 0 });
    let mut successors = Vec::new();
    while let Some(one) = search.open.pop_front() {
        if control.check().is_err() || search.from.len() > most || !serial.complete {
            return search.found;
        }
        system.successors(&one.state, &mut successors);
        if control.check().is_err() {
            // A job that was stopped inside a step has too few successors.
            return search.found;
        }
        search.expand(system, one, &mut successors);
        search.found.states = search.from.len();
        if matches!(search.found.divergence, Divergence::Reached(_)) {
            return search.found;
        }
    }
    search.found.divergence = Divergence::Never;
    search.found
}

fn key(fingerprint: Hash128, happened: &[u8]) -> Hash128 {
    Hash128(happened.iter().fold(fingerprint.0, |hash, count| mix(hash, u128::from(*count))))
}

impl<S: StateSystem> Search<'_, S> {
    /// Returns whether a run begins in a state: nothing has run but `init`.
    fn is_beginning(&self, one: &Open<S::State>) -> bool {
        match &self.from[one.at] {
            None => !self.views.init_is_step,
            Some((before, _)) => self.views.init_is_step && *before == 0,
        }
    }

    fn expand(
        &mut self,
        system: &S,
        one: Open<S::State>,
        successors: &mut Vec<Successor<S::State, S::Action>>,
    ) {
        let begins = self.is_beginning(&one);
        self.found.runs |= begins && !successors.is_empty();
        if let Some(memory) = (self.views.quiet)(&one.state) {
            self.note_end(&one, !begins);
            if !self.serial.contains(memory, &one.happened) {
                self.report(&one, Strange::State, None);
            }
        } else if successors.is_empty()
            && let Some(places) = (self.views.waiting)(&one.state)
        {
            self.note_end(&one, true);
            if places.iter().all(|place| !self.serial.stuck.contains(place)) {
                self.report(&one, Strange::Deadlock(places), None);
            }
        }
        for Successor { action, state: next, failure } in successors.drain(..) {
            if matches!(self.found.divergence, Divergence::Reached(_)) {
                return;
            }
            let mut happened = one.happened.clone();
            if let Some(event) = (self.views.started)(&action) {
                let event = event as usize;
                if happened[event] >= self.views.most[event] {
                    self.found.repeats = true;
                    continue;
                }
                happened[event] += 1;
                self.found.begun[event] = true;
            }
            if let Some(failure) = failure {
                self.note_end(&Open { state: next, happened, at: one.at }, true);
                if !self.serial.fails(&failure) {
                    self.report(&one, Strange::Failure(failure), Some(action));
                }
                continue;
            }
            if self.seen.insert(key(system.fingerprint(&next), &happened)) {
                self.from.push(Some((one.at, action)));
                let at = self.from.len() - 1;
                self.open.push_back(Open { state: next, happened, at });
            }
        }
    }

    fn note_end(&mut self, one: &Open<S::State>, counts: bool) {
        self.found.ends |= counts;
        for (ended, count) in self.found.ended.iter_mut().zip(&one.happened) {
            *ended |= *count > 0;
        }
    }

    fn report(&mut self, one: &Open<S::State>, what: Strange, last: Option<S::Action>) {
        // Without a serial run that ends, there is nothing to compare with.
        if !self.serial.ends {
            return;
        }
        let (mut path, mut place) = (Vec::new(), one.at);
        while let Some((before, action)) = &self.from[place] {
            path.push(action.clone());
            place = *before;
        }
        path.reverse();
        path.extend(last);
        self.found.divergence =
            Divergence::Reached(Outcome { path, state: one.state.clone(), what });
    }
}
