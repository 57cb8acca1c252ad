//! Compares a run with its parent.

use super::footprint::Mode;
use super::names::{NO_TASK, NameCache, TaskId};
use super::options::{Inputs, ReversalOptions};
use super::refused::{refused_input, taken_away};
use super::reversal::Pair;
use super::step::{ExecutedStep, Steps};
use crate::location_name::LocationName;
use anyorder_system::{Difference, Failure, Hash128, Level, Observation, TaskRole};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The location that a failing step writes, and every other step reads, if a failure ends the run.
/// It is reported as a static of class `run`.
pub const RUN_FAILED: &str = "run.failed";
const RUN: &str = "run";

/// The result of comparing a run with its parent, which differs from it by one reversal or one
/// alternative. All but the last two are harmless.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Verdict {
    /// Both observations are equal.
    Equivalent,
    /// Only counters, caches and ids differ.
    Bookkeeping,
    /// Only pending timers differ, or only which timers ran: the program polls for a condition
    /// (ad-hoc synchronisation). A timer may have sent a safe request
    /// ([`ReversalOptions::safe_requests`]) that the other run does not send: it asks once more.
    Timers,
    /// An event came before the task that registers a handler for it, and so had no effect. The two
    /// tasks conflict only on locations that hold registered handlers: their text begins with one
    /// of [`ReversalOptions::registrations`].
    LateRegistration,
    /// The observations differ, as expected, because a task takes another alternative than in the
    /// parent. A new failure is [`Different`](Verdict::Different) all the same.
    Alternative,
    /// An input event of an impatient user came while the program was busy, and was refused: the
    /// control was disabled, or it was the same input once more. Only with
    /// [`ReversalOptions::patient_user`].
    RefusedInput,
    /// Input events come in another order than in the parent, and the observations differ. That is
    /// the choice of whoever causes them. A new failure is [`Different`](Verdict::Different) all
    /// the same.
    InputOrder,
    /// Both runs have the same failures, and the pair consists of a task and the failure that ends
    /// the run. The runs differ in the tasks before the failure, or conflict only on
    /// [`RUN_FAILED`]. The failure itself is the finding.
    CutByFailure,
    /// The observations differ otherwise, or a failure appeared or disappeared: harmful.
    Different,
    /// The repeated runs gave other results, so no verdict is possible.
    Unstable,
}

impl Verdict {
    /// Returns its description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Equivalent => "equivalent",
            Verdict::Bookkeeping => "equivalent but for bookkeeping",
            Verdict::Timers => "equivalent but for timers",
            Verdict::LateRegistration => "late registration",
            Verdict::CutByFailure => "cut by a failure",
            Verdict::Alternative => "another alternative",
            Verdict::RefusedInput => "refused input",
            Verdict::InputOrder => "another order of inputs",
            Verdict::Different => "different",
            Verdict::Unstable => "unstable",
        }
    }

    /// Returns whether the reversal is harmful.
    #[must_use]
    pub const fn is_harmful(self) -> bool {
        matches!(self, Verdict::Different)
    }
}

/// The comparison of a run with its parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The differences of the observations, in the order of paths.
    pub differences: Vec<Difference>,
    /// Failures that the parent does not have, in the order of occurrence.
    pub failures_new: Vec<Failure>,
    /// Failures that only the parent has.
    pub failures_gone: Vec<Failure>,
}

/// One of the two runs to compare.
pub(crate) struct ComparedRun<'a> {
    pub(crate) steps: &'a Steps,
    pub(crate) observation: &'a Observation,
    pub(crate) hash: Hash128,
}

/// The failures of a run, in order.
pub(crate) fn failures(steps: &Steps) -> Vec<Failure> {
    steps.iter().flat_map(|step| step.failures.iter().cloned()).collect()
}

/// Compares a run with its parent.
pub(crate) fn compare(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    pair: Pair,
    (name_cache, inputs, options): (&NameCache, &Inputs, &ReversalOptions),
) -> Comparison {
    let differences = if parent.hash == child.hash {
        Vec::new()
    } else {
        parent.observation.difference(child.observation)
    };
    let (before, after) = (failures(parent.steps), failures(child.steps));
    let (failures_new, failures_gone) = (without(&after, &before), without(&before, &after));
    let only = |levels: &[Level]| differences.iter().all(|d| levels.contains(&d.level));
    let is_same = failures_new.is_empty() && failures_gone.is_empty();
    let odd = || tasks_of_one_run(parent, child);
    let is_timer = |task: &TaskId| is_timer(name_cache, *task, parent, child);
    let verdict = if is_same && differences.is_empty() {
        let odd = odd();
        let timers = !odd.is_empty() && odd.iter().all(is_timer);
        if timers { Verdict::Timers } else { Verdict::Equivalent }
    } else if is_same && only(&[Level::Bookkeeping]) {
        Verdict::Bookkeeping
    } else if is_same
        && (only(&[Level::PendingTimers, Level::Bookkeeping]) && odd().iter().all(is_timer)
            || asks_once_more(parent, child, &differences, (name_cache, options)))
    {
        Verdict::Timers
    } else if !failures_new.is_empty() {
        Verdict::Different
    } else if other_inputs(parent, child, (name_cache, inputs)) {
        if fails_anew(parent, child, &differences) {
            Verdict::Different
        } else {
            Verdict::InputOrder
        }
    } else if late_registration(parent, child, pair, (name_cache, inputs, options)) {
        Verdict::LateRegistration
    } else if refused_input(parent, child, pair, (name_cache, options), &differences)
        || taken_away(parent, child, pair, (name_cache, options), &differences)
    {
        Verdict::RefusedInput
    } else if name_cache.base(pair.first) == name_cache.base(pair.second) {
        Verdict::Alternative
    } else if is_same && cut_by_failure(parent, pair, name_cache) {
        Verdict::CutByFailure
    } else {
        Verdict::Different
    };
    Comparison { verdict, differences, failures_new, failures_gone }
}

/// Whether only timers ran in one of the two runs, with what follows from them, and no more came of
/// it than safe requests that the other run does not send.
fn asks_once_more(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    differences: &[Difference],
    (name_cache, options): (&NameCache, &ReversalOptions),
) -> bool {
    let is_safe = |difference: &Difference| match difference.level {
        Level::PendingTimers | Level::Bookkeeping => true,
        Level::Request => {
            let name = difference.path.names().last().map_or("", String::as_str);
            let [before, after] = [parent, child].map(|run| run.observation.part(&difference.path));
            before.is_some() != after.is_some()
                && options.safe_requests.iter().any(|start| name.starts_with(start.as_str()))
        }
        _ => false,
    };
    let odd = tasks_of_one_run(parent, child);
    let only_odd: FxHashSet<TaskId> = odd.iter().copied().collect();
    let follows_from_timer = |task: &TaskId| {
        let mut at = *task;
        while at != NO_TASK {
            if is_timer(name_cache, at, parent, child) {
                return true;
            }
            // A timer that runs in both may ask in one of them only.
            at = if only_odd.contains(&at) { name_cache.task(at).creator } else { NO_TASK };
        }
        false
    };
    differences.iter().all(is_safe) && odd.iter().all(follows_from_timer)
}

/// The input events of a run whose order is free, in the order in which they ran.
pub(crate) fn free_inputs<'s>(
    steps: &'s Steps,
    (name_cache, inputs): (&'s NameCache, &'s Inputs),
) -> impl Iterator<Item = TaskId> + 's {
    let is_free = |task: &TaskId| inputs.is_free(name_cache.task(*task));
    steps.iter().map(|step| step.base).filter(is_free)
}

/// Whether input events whose order is free came in another order, or others came.
fn other_inputs(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    tables: (&NameCache, &Inputs),
) -> bool {
    !free_inputs(parent.steps, tables).eq(free_inputs(child.steps, tables))
}

/// Whether the child has a part that reports a failure which the parent does not have so.
fn fails_anew(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    differences: &[Difference],
) -> bool {
    differences.iter().any(|difference| {
        let part = child.observation.part(&difference.path);
        let before = parent.observation.part(&difference.path);
        part.is_some_and(|part| {
            part.level == Level::Failure && before.is_none_or(|before| before.hash != part.hash)
        })
    })
}

/// Whether one of the pair fails in the parent, and the other is related to it only because the
/// failure ends the run.
fn cut_by_failure(parent: &ComparedRun<'_>, pair: Pair, name_cache: &NameCache) -> bool {
    let run_failed = LocationName::of_class(RUN, RUN_FAILED);
    let find = |task| parent.steps.iter().find(|step| step.task == task);
    let fails = |step: &Arc<ExecutedStep>| !step.failures.is_empty();
    match (find(pair.first), find(pair.second)) {
        (Some(first), Some(second)) => {
            let mut shared = conflicts(first, second).peekable();
            (fails(first) || fails(second))
                && shared.peek().is_some()
                && shared.all(|location| name_cache.names.is_location(location, &run_failed))
        }
        // The failure disabled it.
        (Some(first), None) => {
            let last = parent.steps.last();
            fails(first) && last.is_some_and(|last| last.task == first.task)
        }
        _ => false,
    }
}

/// The locations on which two steps conflict.
pub(crate) fn conflicts<'d>(
    a: &'d ExecutedStep,
    b: &'d ExecutedStep,
) -> impl Iterator<Item = u32> + 'd {
    a.footprint.iter().filter_map(|(location, mode)| {
        let at = b.footprint.binary_search_by_key(location, |(other, _)| *other).ok()?;
        (!mode.commutes_with(b.footprint[at].1)).then_some(*location)
    })
}

/// The entries of `these` beyond those in `others`, counting repetitions.
fn without(these: &[Failure], others: &[Failure]) -> Vec<Failure> {
    let mut others: Vec<&Failure> = others.iter().collect();
    let is_extra = |failure: &&Failure| match others.iter().position(|other| other == failure) {
        Some(at) => {
            others.swap_remove(at);
            false
        }
        None => true,
    };
    these.iter().filter(is_extra).cloned().collect()
}

/// The tasks that only one of the two runs executed.
fn tasks_of_one_run(parent: &ComparedRun<'_>, child: &ComparedRun<'_>) -> Vec<TaskId> {
    let of =
        |side: &ComparedRun<'_>| side.steps.iter().map(|step| step.base).collect::<FxHashSet<_>>();
    let (left, right) = (of(parent), of(child));
    let gone = parent.steps.iter().map(|step| step.base).filter(|task| !right.contains(task));
    let new = child.steps.iter().map(|step| step.base).filter(|task| !left.contains(task));
    gone.chain(new).collect()
}

/// Whether a task is a timer: its role is timer, or some task posted it with a delay.
fn is_timer(
    name_cache: &NameCache,
    task: TaskId,
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
) -> bool {
    let mut posted = parent.steps.iter().chain(child.steps).flat_map(|step| &step.posted);
    name_cache.task(task).role == TaskRole::Timer || posted.any(|posted| *posted == (task, true))
}

/// Whether the second of the pair now comes first, has no effect, and reads a location of
/// registered handlers that the other writes.
fn late_registration(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    Pair { first, second, .. }: Pair,
    (name_cache, inputs, options): (&NameCache, &Inputs, &ReversalOptions),
) -> bool {
    let find = |side: &ComparedRun<'_>, task| side.steps.iter().position(|step| step.task == task);
    let (Some(registers), Some(event)) = (find(child, first), find(child, second)) else {
        return false;
    };
    let (Some(was), Some(earlier)) = (find(parent, second), find(parent, first)) else {
        return false;
    };
    if event > registers || was < earlier || inputs.is_input(name_cache.task(first)) {
        return false;
    }
    let (event, registers, was) = (&child.steps[event], &parent.steps[earlier], &parent.steps[was]);
    let idle = |step: &ExecutedStep| {
        step.footprint.iter().all(|(_, mode)| *mode == Mode::Read)
            && step.posted.is_empty()
            && step.cancelled.is_empty()
    };
    let is_registration = |location: u32| {
        let text = name_cache.names.location_text(location);
        options.registrations.iter().any(|start| text.starts_with(start.as_str()))
    };
    let writes = |location: &u32| {
        let mut used = registers.footprint.iter();
        used.any(|(other, mode)| other == location && *mode != Mode::Read)
    };
    let touched = was.footprint.iter().map(|(location, _)| *location);
    let mut shared = touched.filter(writes).peekable();
    // On a page, these are the listeners for what a user does in passing on the way to a click.
    let has_no_effect = options.patient_user || idle(event) && !idle(was);
    has_no_effect && shared.peek().is_some() && shared.all(is_registration)
}
