//! The true definitions: what global states are reached, whatever conflicts with what.

use super::pivot::Options;
use super::run::{RunStep, run_steps};
use super::sim::{Next, Sim};
use anyorder_system::{
    AsyncSystem, Control, Failure, Hash128, InvocationStep, RunError, StateSystem, Successor,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// A global state that the events reach one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerialOutcome {
    /// The events, in their order.
    pub events: Vec<u32>,
    /// The run.
    pub run: Vec<RunStep>,
    /// The shared memory: names and values.
    pub memory: Vec<(String, String)>,
}

/// The global states that are reached when events run one after another, each with all its tasks,
/// in the order of the single-thread semantics (`R_s`, section 3.3), after any number of events.
#[derive(Clone, Debug, Default)]
pub struct SerialOutcomes {
    outcomes: FxHashMap<Hash128, SerialOutcome>,
    /// The failures of serial runs.
    failures: FxHashSet<String>,
    /// Whether these are all.
    pub complete: bool,
}

impl SerialOutcomes {
    /// Runs the events in all orders that the program allows.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot begin.
    pub fn of<A: AsyncSystem>(
        system: &mut A,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<SerialOutcomes, RunError> {
        let mut found = SerialOutcomes::default();
        let mut seen: FxHashSet<(Hash128, Vec<u32>)> = FxHashSet::default();
        let mut open: Vec<Sim<A::State>> =
            system.initial()?.into_iter().rev().map(Sim::new).collect();
        let mut steps = 0;
        while let Some(sim) = open.pop() {
            if control.check().is_err() || steps >= options.steps {
                return Ok(found);
            }
            steps += 1;
            let (begin, invocation) = match sim.next(&*system) {
                Next::Begin(invocation) | Next::Continue(invocation) => (false, invocation),
                Next::Over => (true, 0),
            };
            if !begin {
                let id = sim.invocations[invocation as usize].id;
                let ran = system.advance(&sim.state, id);
                let Some(ran) = unless_stopped(ran)? else { return Ok(found) };
                found.note_failures(&ran);
                let ran = (0..).zip(&ran).filter(|(_, step)| step.failure.is_none());
                let at = open.len();
                open.extend(
                    ran.map(|(alternative, step)| sim.clone().take(invocation, alternative, step)),
                );
                open[at..].reverse();
                continue;
            }
            let events: Vec<u32> = sim.events.iter().map(|one| one.event).collect();
            let mut counts = events.clone();
            counts.sort_unstable();
            let memory = system.memory(&sim.state);
            if !seen.insert((memory, counts)) {
                continue;
            }
            let shown = || system.show(&sim.state);
            let order: Vec<u32> = (0..sim.steps.len() as u32).collect();
            let run = || run_steps(&*system, &sim, &order);
            let outcome = || SerialOutcome { events: events.clone(), run: run(), memory: shown() };
            found.outcomes.entry(memory).or_insert_with(outcome);
            let at = open.len();
            for event in 0..system.events().len() as u32 {
                let info = &system.events()[event as usize];
                let happened = events.iter().filter(|one| **one == event).count() as u32;
                let most = if info.once { 1 } else { options.repeat };
                let wanted = info.started.iter().chain(&info.after);
                if happened >= most || !wanted.clone().all(|other| events.contains(other)) {
                    continue;
                }
                let ran = system.start(&sim.state, event);
                let Some(ran) = unless_stopped(ran)? else { return Ok(found) };
                found.note_failures(&ran);
                for (alternative, step) in (0..).zip(&ran) {
                    if step.failure.is_none() {
                        open.push(sim.clone().start(&*system, event, (alternative, step)));
                    }
                }
            }
            open[at..].reverse();
        }
        found.complete = true;
        Ok(found)
    }

    fn note_failures<S>(&mut self, ran: &[InvocationStep<S>]) {
        let failures = ran.iter().filter_map(|step| step.failure.as_ref());
        self.failures.extend(failures.map(ToString::to_string));
    }

    /// Returns whether a global state is one of them.
    #[must_use]
    pub fn contains(&self, memory: Hash128) -> bool {
        self.outcomes.contains_key(&memory)
    }

    /// Returns the number of global states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Returns the outcome of the same events that differs from a memory in the fewest variables;
    /// any outcome if none is of the same events. `happened` has the events in any order.
    #[must_use]
    pub fn nearest(&self, memory: &[(String, String)], happened: &[u32]) -> Option<&SerialOutcome> {
        let mut happened = happened.to_vec();
        happened.sort_unstable();
        let key = |outcome: &&SerialOutcome| {
            let mut events = outcome.events.clone();
            events.sort_unstable();
            let same = outcome.memory.iter().filter(|part| memory.contains(part)).count();
            let length = outcome.memory.len().max(memory.len());
            (events != happened, length - same, outcome.events.clone())
        };
        self.outcomes.values().min_by_key(key)
    }
}

/// Whether runs from a state reach a global state that no serial run reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence<S, A> {
    /// They do: by these actions, to this state.
    Reached {
        /// The actions from the first state.
        path: Vec<A>,
        /// The state, in which nothing is left to run, or before the last action fails.
        state: S,
        /// The failure of the last action.
        failure: Option<Failure>,
    },
    /// No run does.
    Never,
    /// The search was cut before it found one.
    Undecided,
}

/// Searches for a state in which nothing is left to run, and whose memory is not among the outcomes
/// of serial runs (Definition 1), or for a failure that no serial run has. `quiet` returns the
/// memory of a state in which nothing is left to run. Goes through at most `most` states, the
/// nearest first.
pub fn diverging<S: StateSystem>(
    system: &S,
    start: S::State,
    quiet: impl Fn(&S::State) -> Option<Hash128>,
    serial: &SerialOutcomes,
    (most, control): (usize, &Control<'_>),
) -> Divergence<S::State, S::Action> {
    let strange = |state: &S::State| quiet(state).is_some_and(|memory| !serial.contains(memory));
    let mut seen: FxHashSet<Hash128> = FxHashSet::default();
    seen.insert(system.fingerprint(&start));
    // For each state the one before it, with the action.
    let mut from: Vec<Option<(usize, S::Action)>> = vec![None];
    let mut open = VecDeque::from([(start, 0)]);
    let mut successors = Vec::new();
    let path_to = |mut place: usize, from: &[Option<(usize, S::Action)>]| {
        let mut path = Vec::new();
        while let Some((before, action)) = &from[place] {
            path.push(action.clone());
            place = *before;
        }
        path.reverse();
        path
    };
    while let Some((state, at)) = open.pop_front() {
        if strange(&state) {
            return Divergence::Reached { path: path_to(at, &from), state, failure: None };
        }
        if control.check().is_err() || from.len() > most {
            return Divergence::Undecided;
        }
        system.successors(&state, &mut successors);
        for Successor { action, state: next, failure } in successors.drain(..) {
            if let Some(failure) = failure {
                if serial.complete && !serial.failures.contains(&failure.to_string()) {
                    let mut path = path_to(at, &from);
                    path.push(action);
                    return Divergence::Reached { path, state, failure: Some(failure) };
                }
                continue;
            }
            if seen.insert(system.fingerprint(&next)) {
                from.push(Some((at, action)));
                open.push_back((next, from.len() - 1));
            }
        }
    }
    // A job that was stopped inside a step has too few successors.
    if control.check().is_err() || !serial.complete {
        return Divergence::Undecided;
    }
    Divergence::Never
}

/// Returns `None` if the job was stopped.
fn unless_stopped<T>(ran: Result<T, RunError>) -> Result<Option<T>, RunError> {
    match ran {
        Ok(ran) => Ok(Some(ran)),
        Err(RunError::Stopped(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
