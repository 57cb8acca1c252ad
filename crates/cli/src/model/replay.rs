//! Runs a schedule again and says whether it shows the same.

use super::finding::{REPEATS, SHOWS};
use super::load::Model;
use super::schedule::choices_of;
use super::steps::End;
use super::updates::{SHOWS_CONFLICT, conflicts};
use anyorder_search::{Path, SearchError};
use anyorder_system::{Divergence, Schedule, StateSystem, Successor};
use anyorder_vm::{Action, Machine, State};

/// What a schedule shows when it runs again.
pub(crate) struct Replayed {
    /// The path, as far as it goes.
    pub(crate) path: Path<Machine>,
    /// What is wrong at its end; `None` where nothing is.
    pub(crate) shows: Option<End>,
    /// Whether that is what the schedule says that it shows.
    pub(crate) same: bool,
    /// Where the schedule could not be followed.
    pub(crate) divergence: Option<Divergence>,
}

/// Runs a schedule.
pub(crate) fn replay(model: &Model, schedule: &Schedule) -> Result<Replayed, SearchError> {
    let machine = &model.machine;
    let (places, divergence) = choices_of(machine, schedule);
    let mut path = anyorder_search::replay(&**machine, &places)?;
    if divergence.is_none() {
        path.repeats_from = schedule.options.get(REPEATS).and_then(|from| from.parse().ok());
    }
    let wanted = schedule.options.get(SHOWS).map(String::as_str);
    let (shows, same) = match path.steps.iter().find_map(|step| step.failure.clone()) {
        Some(message) => {
            let same = wanted.is_none_or(|wanted| {
                wanted
                    .strip_prefix("failure ")
                    .is_some_and(|other| alike(other, &message.to_string()))
            });
            // The last step says it.
            (Some(End::default()), same)
        }
        None if divergence.is_some() => (None, false),
        None => at_end(machine, &path, wanted),
    };
    Ok(Replayed { path, shows, same, divergence })
}

/// Whether two failures are of one kind; positions and values may have changed with the model.
pub(crate) fn alike(a: &str, b: &str) -> bool {
    let word = |text: &str| text.split([':', ' ']).next().map(str::to_owned);
    word(a) == word(b)
}

/// What is wrong in the last state of a path, or in the states that it repeats.
fn at_end(machine: &Machine, path: &Path<Machine>, wanted: Option<&str>) -> (Option<End>, bool) {
    let state = path.last();
    let broken = |index: &usize| !machine.holds(*index, state);
    let names = machine.invariants();
    let invariant = |index: usize| End {
        text: format!("invariant `{}` does not hold", names[index]),
        condition: machine.program().invariants.get(index).map(|one| one.holds),
    };
    if let Some(name) = wanted.and_then(|wanted| wanted.strip_prefix("invariant ")) {
        let index = names.iter().position(|one| one == name).filter(broken);
        return (index.map(invariant), index.is_some());
    }
    if let Some(name) = wanted.and_then(|wanted| wanted.strip_prefix("response ")) {
        let index = machine.responses().iter().position(|one| one == name);
        let missing = index.is_some_and(|index| never_answered(machine, path, index));
        let end = || End::from(format!("response `{name}` never comes"));
        return (missing.then(end), missing);
    }
    if let Some(words) = wanted.and_then(|wanted| wanted.strip_prefix(SHOWS_CONFLICT)) {
        let attribute = words.split(' ').next().unwrap_or_default();
        let end = || End::from(format!("update conflict on `{attribute}`"));
        let again = conflicts(machine, path, words);
        return (again.then(end), again);
    }
    let mut successors = Vec::new();
    machine.successors(state, &mut successors);
    if successors.is_empty() && !machine.is_final(state) {
        let stuck = machine.is_stuck(state);
        let word = if stuck { "deadlock" } else { "final" };
        if wanted.is_none_or(|wanted| wanted == word) {
            let condition = if stuck { None } else { machine.program().final_ };
            let text = if stuck {
                "nothing can happen any more, and something still waits"
            } else {
                "all is done, and `final` does not hold"
            };
            return (Some(End { text: text.to_owned(), condition }), true);
        }
    }
    // A schedule that does not say what it shows shows anything.
    let any = (0..names.len()).find(broken).filter(|_| wanted.is_none());
    (any.map(invariant), any.is_some())
}

/// Whether a response is missing on a path that repeats itself, or that stays in its last state, and whether that is fair.
fn never_answered(machine: &Machine, path: &Path<Machine>, index: usize) -> bool {
    let states: Vec<&State> = (0..=path.steps.len()).filter_map(|at| path.state(at)).collect();
    let from = path.repeats_from.unwrap_or(path.steps.len()).min(path.steps.len());
    let told: Vec<(bool, bool)> =
        states.iter().map(|state| machine.response(index, state)).collect();
    let asked = (0..told.len()).any(|at| {
        let in_loop = told[from..].iter().all(|(_, response)| !response);
        told[at].0 && told[at..].iter().all(|(_, response)| !response) && in_loop
    });
    let closes = machine.fingerprint(states[from]) == machine.fingerprint(path.last());
    asked && closes && is_fair(machine, path, &states, from)
}

/// Whether every fairness class takes a step in the loop, or cannot take one in some state of it.
fn is_fair(machine: &Machine, path: &Path<Machine>, states: &[&State], from: usize) -> bool {
    let taken: Vec<usize> =
        path.steps[from..].iter().filter_map(|step| machine.fair_class(&step.action)).collect();
    let mut always: Vec<bool> = vec![true; machine.fair_classes().len()];
    for state in &states[from..] {
        let mut successors: Vec<Successor<State, Action>> = Vec::new();
        machine.successors(state, &mut successors);
        let here: Vec<usize> =
            successors.iter().filter_map(|one| machine.fair_class(&one.action)).collect();
        for (class, still) in always.iter_mut().enumerate() {
            *still &= here.contains(&class);
        }
    }
    always.iter().enumerate().all(|(class, always)| !always || taken.contains(&class))
}
