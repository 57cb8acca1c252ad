//! Replays the schedules of paths, and compares the runs of two.

use super::conflicts::is_conflict;
use super::program::{RunEnd, StateProgram, offers_of, wrong_end};
use crate::Failure;
use crate::schedules::{Shows, repeats_from};
use crate::states::full::failure;
use anyorder_finding::run::Run;
use anyorder_search::{Path, PathDifference, Property};
use anyorder_system::{Choice, Divergence, Response, Schedule, StateSystem, Successor};

/// A replayed schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The run, up to the last step that could be followed.
    pub run: Run,
    /// Whether the finding of the schedule occurs again.
    pub verdict: ReplayVerdict,
}

/// Whether the finding of a schedule occurs again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReplayVerdict {
    /// It occurs again.
    Reproduced,
    /// Another violation occurs.
    OtherViolation,
    /// A step of the schedule is not enabled in the program.
    Diverged,
    /// The finding does not occur, nor any other violation.
    NotReproduced,
    /// The schedule names no finding, the run is possible, and no violation occurs.
    Possible,
}

impl ReplayVerdict {
    /// Returns it as a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            ReplayVerdict::Reproduced => "it occurs again",
            ReplayVerdict::OtherViolation => "something else goes wrong",
            ReplayVerdict::Diverged => "the schedule cannot be followed to its end",
            ReplayVerdict::NotReproduced => "it does not occur",
            ReplayVerdict::Possible => "the run is possible; the schedule names no finding",
        }
    }
}

/// The path of a schedule.
struct Followed<S: StateSystem> {
    path: Path<S>,
    /// The violation at its end, if any.
    end: Option<RunEnd>,
    /// Whether this is the finding of the schedule.
    same: bool,
    /// The point at which the schedule could not be followed, if any.
    divergence: Option<Divergence>,
}

/// Runs a schedule on a program given as states.
///
/// # Errors
///
/// Fails when the program is not deterministic.
pub fn replay_path<P: StateProgram>(program: &P, schedule: &Schedule) -> Result<Replayed, Failure> {
    let followed = follow(program, schedule)?;
    let verdict = match (followed.same, &followed.end, &followed.divergence) {
        (true, _, _) => ReplayVerdict::Reproduced,
        (false, Some(_), _) => ReplayVerdict::OtherViolation,
        (false, None, Some(_)) => ReplayVerdict::Diverged,
        (false, None, None) if Shows::of(schedule).is_none() => ReplayVerdict::Possible,
        (false, None, None) => ReplayVerdict::NotReproduced,
    };
    let lost = || followed.divergence.as_ref().map(|lost| RunEnd::from(lost.to_string()));
    let end = followed.end.clone().or_else(lost).unwrap_or_default();
    Ok(Replayed { run: program.run(&followed.path, &end), verdict })
}

/// Returns the path of choices, as far as the program has it.
pub(crate) fn path_of<P: StateProgram>(program: &P, choices: &[Choice]) -> Option<Path<P::System>> {
    let mut schedule = Schedule::new(program.program().clone());
    schedule.choices = choices.to_vec();
    let (places, _) = program.follow(&schedule);
    anyorder_search::replay(program.system(), &places).ok()
}

/// The comparison of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Both runs.
    pub runs: [Run; 2],
    /// For each run, the point at which its schedule could not be followed, as text.
    pub lost: [Option<String>; 2],
    /// The first difference; `None` if the runs are equal.
    pub parting: Option<PathDifference>,
}

/// Compares the runs of two schedules.
///
/// # Errors
///
/// Fails when the program is not deterministic.
pub fn compare<P: StateProgram>(
    program: &P,
    a: &Schedule,
    b: &Schedule,
) -> Result<Compared, Failure> {
    let followed = [follow(program, a)?, follow(program, b)?];
    let [one, two] = &followed;
    let parting = anyorder_search::diff(program.system(), &one.path, &two.path);
    let run =
        |one: &Followed<P::System>| program.run(&one.path, &one.end.clone().unwrap_or_default());
    let lost = |one: &Followed<P::System>| one.divergence.as_ref().map(ToString::to_string);
    Ok(Compared { runs: [run(one), run(two)], lost: [lost(one), lost(two)], parting })
}

/// Follows a schedule, and determines the violation.
fn follow<P: StateProgram>(
    program: &P,
    schedule: &Schedule,
) -> Result<Followed<P::System>, Failure> {
    let (places, divergence) = program.follow(schedule);
    let path = anyorder_search::replay(program.system(), &places);
    let mut path = path.map_err(|error| failure(program, error))?;
    if divergence.is_none() {
        path.repeats_from = repeats_from(schedule);
    }
    let wanted = Shows::of(schedule);
    let (end, same) = match path.steps.iter().find_map(|step| step.failure.clone()) {
        Some(failure) => {
            let same = match &wanted {
                None => true,
                Some(Shows::Failure(other)) => other.has_kind_of(&failure),
                Some(_) => false,
            };
            // The last step describes the failure.
            (Some(RunEnd::default()), same)
        }
        None if divergence.is_some() => (None, false),
        None => at_end(program, &path, wanted.as_ref()),
    };
    Ok(Followed { path, end, same, divergence })
}

/// Returns the violation in the last state of a path, or in its loop.
fn at_end<P: StateProgram>(
    program: &P,
    path: &Path<P::System>,
    wanted: Option<&Shows>,
) -> (Option<RunEnd>, bool) {
    let (system, state) = (program.system(), path.last());
    let properties = system.properties();
    let invariants = &properties.invariants;
    let broken = |index: &usize| !invariants[*index].holds(state);
    let invariant = |index: usize| {
        let text = format!("invariant `{}` does not hold", invariants[index].name);
        RunEnd { text, property: Some(Property::Invariant(index)) }
    };
    let found = |end: Option<RunEnd>| {
        let same = end.is_some();
        (end, same)
    };
    match wanted {
        Some(Shows::Invariant(name)) => {
            let index = invariants.iter().position(|one| one.name == *name).filter(broken);
            return found(index.map(invariant));
        }
        Some(Shows::Response(name)) => {
            let response = properties.responses.iter().find(|one| one.name == *name);
            let missing = response.is_some_and(|one| never_answered(system, path, one));
            return found(missing.then(|| format!("response `{name}` never comes").into()));
        }
        Some(Shows::Livelock) => {
            let goes_on = path.repeats_from.filter(|_| never_ends(system, path));
            return found(goes_on.map(|from| livelock_claim(from).into()));
        }
        Some(Shows::State(wanted)) => {
            let shown = system.show(state);
            let same = !wanted.is_empty() && wanted.iter().all(|part| shown.contains(part));
            return found(same.then(|| state_claim(wanted).into()));
        }
        Some(Shows::Conflict(attribute, components)) => {
            let repeated = is_conflict(program, path, attribute, components);
            return found(repeated.then(|| format!("update conflict on `{attribute}`").into()));
        }
        _ => {}
    }
    let offers = offers_of(system, state);
    if let Some(reached) = Property::at_end(&properties, state, offers) {
        let (shows, end) = if reached == Property::Final {
            let text = wrong_end(program, offers).to_owned();
            (Shows::Final, RunEnd { text, property: Some(Property::Final) })
        } else {
            let text = "nothing can happen any more, and something still waits".to_owned();
            (Shows::Deadlock, RunEnd::from(text))
        };
        if wanted.is_none_or(|wanted| *wanted == shows) {
            return found(Some(end));
        }
    }
    // A schedule without a finding accepts any violation.
    found((0..invariants.len()).find(broken).filter(|_| wanted.is_none()).map(invariant))
}

/// Returns whether a response is missing on a path that loops and is fair, or that may end in its
/// last state.
fn never_answered<S: StateSystem>(
    system: &S,
    path: &Path<S>,
    response: &Response<'_, S::State>,
) -> bool {
    let states: Vec<&S::State> = (0..=path.steps.len()).filter_map(|at| path.state(at)).collect();
    let from = path.repeats_from.unwrap_or(path.steps.len()).min(path.steps.len());
    let answers: Vec<(bool, bool)> = states.iter().map(|state| response.holds(state)).collect();
    let triggered = (0..answers.len()).any(|at| {
        let in_loop = answers[from..].iter().all(|(_, response)| !response);
        answers[at].0 && answers[at..].iter().all(|(_, response)| !response) && in_loop
    });
    if from == path.steps.len() {
        return triggered && offers_of(system, path.last()).is_end();
    }
    let closes = system.fingerprint(states[from]) == system.fingerprint(path.last());
    triggered && closes && is_fair(system, path, &states, from)
}

/// Returns whether a path closes a loop which is fair and in which no run may end.
fn never_ends<S: StateSystem>(system: &S, path: &Path<S>) -> bool {
    let from = path.repeats_from.unwrap_or(path.steps.len());
    let states: Vec<&S::State> = (0..=path.steps.len()).filter_map(|at| path.state(at)).collect();
    let Some(inside) = states.get(from..).filter(|states| states.len() > 1) else { return false };
    system.fingerprint(inside[0]) == system.fingerprint(path.last())
        && !inside.iter().any(|state| offers_of(system, state).is_end())
        && is_fair(system, path, &states, from)
}

/// Returns what a replay shows of a state.
fn state_claim(values: &[(String, String)]) -> String {
    let values: Vec<String> =
        values.iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
    values.join(", ")
}

/// Returns what a replay shows of a livelock, and what it does not.
fn livelock_claim(repeats_from: usize) -> String {
    let from = if repeats_from == 0 { "the start" } else { &format!("step {repeats_from}") };
    format!(
        "back in the state after {from}, fairly and with no end on the way (that no other run from there ends is known from the search of all states)"
    )
}

/// Whether every fairness class takes a step in the loop, or is disabled in some state of it.
fn is_fair<S: StateSystem>(system: &S, path: &Path<S>, states: &[&S::State], from: usize) -> bool {
    let classes = system.fairness();
    let taken: Vec<usize> =
        path.steps[from..].iter().filter_map(|step| classes.of(&step.action)).collect();
    let mut always: Vec<bool> = vec![true; classes.len()];
    for state in &states[from..] {
        let mut successors: Vec<Successor<S::State, S::Action>> = Vec::new();
        system.successors(state, &mut successors);
        let here: Vec<usize> =
            successors.iter().filter_map(|one| classes.of(&one.action)).collect();
        for (class, still) in always.iter_mut().enumerate() {
            *still &= here.contains(&class);
        }
    }
    always.iter().enumerate().all(|(class, always)| !always || taken.contains(&class))
}
