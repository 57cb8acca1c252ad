//! Paths through a system: replay, comparison, checks.

use crate::error::SearchError;
use anyorder_system::{Failure, Hash128, JobWatch, StateSystem, Successor};

/// One step of a path.
pub struct PathStep<S: StateSystem> {
    /// Its action.
    pub action: S::Action,
    /// Its position among the successors of the state before it; `None` in the path of a reduced
    /// search, which does not ask for all successors.
    pub place: Option<u32>,
    /// The state after it.
    pub state: S::State,
    /// The failure, if it failed.
    pub failure: Option<Failure>,
}

/// A path through a system from an initial state.
pub struct Path<S: StateSystem> {
    /// The position of the initial state among the initial states.
    pub start: u32,
    /// The initial state.
    pub initial: S::State,
    /// The steps.
    pub steps: Vec<PathStep<S>>,
    /// The number of steps after which it repeats for ever; `None` for a path that ends.
    pub repeats_from: Option<usize>,
}

impl<S: StateSystem> Clone for Path<S> {
    fn clone(&self) -> Path<S> {
        let steps = self.steps.iter().map(|step| PathStep {
            action: step.action.clone(),
            place: step.place,
            state: step.state.clone(),
            failure: step.failure.clone(),
        });
        Path {
            start: self.start,
            initial: self.initial.clone(),
            steps: steps.collect(),
            repeats_from: self.repeats_from,
        }
    }
}

impl<S: StateSystem> Path<S> {
    /// Starts a path in an initial state, if the system has it.
    #[must_use]
    pub fn begin(system: &S, start: u32) -> Option<Path<S>> {
        let initial = system.initial().into_iter().nth(start as usize)?;
        Some(Path { start, initial, steps: Vec::new(), repeats_from: None })
    }

    /// Adds a step: a successor of the last state, and its position if known.
    pub fn push(&mut self, place: Option<u32>, successor: Successor<S::State, S::Action>) {
        let Successor { action, state, failure } = successor;
        self.steps.push(PathStep { action, place, state, failure });
    }

    /// Returns the choices that [`replay`] it: the position of the initial state, then of each
    /// successor. `None` for the path of a reduced search.
    #[must_use]
    pub fn choices(&self) -> Option<Vec<u32>> {
        let places = self.steps.iter().map(|step| step.place);
        std::iter::once(Some(self.start)).chain(places).collect()
    }

    /// Returns the state after `steps` steps.
    #[must_use]
    pub fn state(&self, steps: usize) -> Option<&S::State> {
        match steps.checked_sub(1) {
            None => Some(&self.initial),
            Some(index) => self.steps.get(index).map(|step| &step.state),
        }
    }

    /// Returns the last state.
    #[must_use]
    pub fn last(&self) -> &S::State {
        self.steps.last().map_or(&self.initial, |step| &step.state)
    }

    /// Returns a description of each step.
    #[must_use]
    pub fn describe(&self, system: &S) -> Vec<String> {
        let before =
            std::iter::once(&self.initial).chain(self.steps.iter().map(|step| &step.state));
        let steps = self.steps.iter().zip(before);
        steps.map(|(step, state)| system.describe(state, &step.action)).collect()
    }
}

/// Runs choices: the position of the initial state, then of each successor. Linear in their number.
///
/// # Errors
///
/// Fails with [`SearchError::NoSuchChoice`] at the first choice that does not exist, and with
/// [`SearchError::Stopped`] once the job of this thread is stopped.
pub fn replay<S: StateSystem>(system: &S, choices: &[u32]) -> Result<Path<S>, SearchError> {
    let (start, rest) =
        choices.split_first().ok_or(SearchError::NoSuchChoice { step: 0, among: 0 })?;
    let mut path = Path::begin(system, *start)
        .ok_or_else(|| SearchError::NoSuchChoice { step: 0, among: system.initial().len() })?;
    for place in rest {
        let successor = successor_at(system, path.last(), *place)
            .map_err(|among| SearchError::NoSuchChoice { step: path.steps.len() + 1, among });
        JobWatch::current().check().map_err(|stopped| SearchError::Stopped(stopped.0))?;
        let successor = successor?;
        path.push(Some(*place), successor);
    }
    Ok(path)
}

fn successor_at<S: StateSystem>(
    system: &S,
    state: &S::State,
    place: u32,
) -> Result<Successor<S::State, S::Action>, usize> {
    let mut successors = Vec::new();
    system.successors(state, &mut successors);
    let among = successors.len();
    successors.into_iter().nth(place as usize).ok_or(among)
}

/// Like [`replay`], for choices made among representatives: follows real states that have these
/// representatives. Fails with [`SearchError::Symmetry`] if the program's representatives are
/// wrong.
pub(crate) fn replay_represented<S: StateSystem>(
    system: &S,
    choices: &[u32],
) -> Result<Path<S>, SearchError> {
    let represent =
        |state: &S::State| system.representative(state).unwrap_or_else(|| state.clone());
    let start = *choices.first().ok_or(SearchError::Symmetry)?;
    let mut path = Path::begin(system, start).ok_or(SearchError::Symmetry)?;
    let mut representative = represent(&path.initial);
    for place in &choices[1..] {
        let wanted = successor_at(system, &representative, *place);
        let wanted = wanted.map_err(|_| SearchError::Symmetry)?;
        representative = represent(&wanted.state);
        let target = encoding(system, &representative);
        let mut successors = Vec::new();
        system.successors(path.last(), &mut successors);
        let found = successors.into_iter().zip(0..).find(|(one, _)| {
            is_same_failure(one.failure.as_ref(), wanted.failure.as_ref())
                && encoding(system, &represent(&one.state)) == target
        });
        let (successor, place) = found.ok_or(SearchError::Symmetry)?;
        path.push(Some(place), successor);
    }
    Ok(path)
}

/// Whether two steps fail in the same way. Their messages may name different instances.
fn is_same_failure(one: Option<&Failure>, other: Option<&Failure>) -> bool {
    let parts = |failure: &Failure| (failure.kind, failure.site.clone());
    one.map(parts) == other.map(parts)
}

fn encoding<S: StateSystem>(system: &S, state: &S::State) -> (Hash128, Vec<u8>) {
    let mut bytes = Vec::new();
    system.encode(state, &mut bytes);
    (system.fingerprint(state), bytes)
}

/// The point where two paths diverge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathDifference {
    /// The number of common steps. The comparison includes the initial state.
    pub common: usize,
    /// A description of the next step of each, if it has one.
    pub next: [Option<String>; 2],
    /// The values shown by the states after the diverging step, if they differ: name, and the value
    /// in each state.
    pub values: Vec<(String, Option<String>, Option<String>)>,
}

/// Compares two paths of one system step by step; `None` if they have the same states and steps.
/// Linear in their lengths.
#[must_use]
pub fn diff<S: StateSystem>(system: &S, a: &Path<S>, b: &Path<S>) -> Option<PathDifference> {
    let same = |x: &S::State, y: &S::State| encoding(system, x) == encoding(system, y);
    let words = |path: &Path<S>, at: usize| {
        let (before, step) = (path.state(at)?, path.steps.get(at)?);
        Some(system.describe(before, &step.action))
    };
    if !same(&a.initial, &b.initial) {
        let values = differing(system.show(&a.initial), system.show(&b.initial));
        return Some(PathDifference { common: 0, next: [None, None], values });
    }
    let longest = a.steps.len().max(b.steps.len());
    for at in 0..longest {
        let next = [words(a, at), words(b, at)];
        let states = (a.state(at + 1), b.state(at + 1));
        let equal = matches!(states, (Some(x), Some(y)) if same(x, y)) && next[0] == next[1];
        if !equal {
            let show = |state: Option<&S::State>, path: &Path<S>| {
                system.show(state.unwrap_or_else(|| path.last()))
            };
            let values = differing(show(states.0, a), show(states.1, b));
            return Some(PathDifference { common: at, next, values });
        }
    }
    None
}

fn differing(
    a: Vec<(String, String)>,
    b: Vec<(String, String)>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let mut values = Vec::new();
    for (name, value) in &a {
        let other = b.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        if other.as_ref() != Some(value) {
            values.push((name.clone(), Some(value.clone()), other));
        }
    }
    for (name, value) in b {
        if !a.iter().any(|(other, _)| *other == name) {
            values.push((name, None, Some(value)));
        }
    }
    values
}
