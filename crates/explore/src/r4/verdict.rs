//! What a reversal did: a run against the run it varies.

use super::footprint::Mode;
use super::names::{Book, TaskId};
use super::options::{Inputs, Options};
use super::step::Done;
use anyorder_system::{Difference, Hash128, Level, Observation, TaskRole};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The location that a failing step writes, and every other step reads, where a failure ends the
/// run.
pub const RUN_FAILED: &str = "run.failed";

/// How a run compares with its parent, which differs from it by one reversal, or by one
/// alternative. All but the last two are harmless.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Verdict {
    /// Both observations are equal.
    Equivalent,
    /// Only counters, caches and ids differ.
    Bookkeeping,
    /// Only pending timers differ, or nothing does but which timers ran: the program waits for a
    /// condition by looking again and again (ad-hoc synchronisation).
    Timers,
    /// An event came before the task that registers a handler for it, and so did nothing. The two
    /// tasks conflict only on locations that hold registered handlers: those whose text begins as
    /// one of [`Options::registrations`] says.
    LateRegistration,
    /// The observations differ, and a task takes another alternative than in the parent: so they
    /// should. A failure that came is [`Different`](Verdict::Different) all the same.
    Alternative,
    /// Both runs fail alike, and the pair is a task and the failure that ends the run: they differ
    /// in what ran before it, or conflict on nothing but [`RUN_FAILED`]. The failure is the
    /// finding.
    CutByFailure,
    /// The observations differ otherwise, or a failure came or went: harmful.
    Different,
    /// When the runs were repeated they gave something else: nothing can be said.
    Unstable,
}

impl Verdict {
    /// Returns the words for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Equivalent => "equivalent",
            Verdict::Bookkeeping => "equivalent but for bookkeeping",
            Verdict::Timers => "equivalent but for timers",
            Verdict::LateRegistration => "late registration",
            Verdict::CutByFailure => "cut by a failure",
            Verdict::Alternative => "another alternative",
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

/// A run against its parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// The class.
    pub verdict: Verdict,
    /// Where the observations differ, in the order of paths.
    pub differences: Vec<Difference>,
    /// Failures that the parent does not have, in the order in which they came.
    pub failures_new: Vec<String>,
    /// Failures of the parent that are not there.
    pub failures_gone: Vec<String>,
}

/// A run as it is compared.
pub(crate) struct Side<'a> {
    pub(crate) steps: &'a [Arc<Done>],
    pub(crate) observation: &'a Observation,
    pub(crate) hash: Hash128,
}

/// The failures of a run, in order.
pub(crate) fn failures(steps: &[Arc<Done>]) -> Vec<String> {
    steps.iter().flat_map(|step| step.failures.iter().cloned()).collect()
}

/// Compares a run with its parent.
pub(crate) fn compare(
    parent: &Side<'_>,
    child: &Side<'_>,
    pair: (TaskId, TaskId),
    (book, inputs, options): (&Book, &Inputs, &Options),
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
    let verdict = if is_same && only(&[]) {
        if other_timers(parent, child, book) { Verdict::Timers } else { Verdict::Equivalent }
    } else if is_same && only(&[Level::Bookkeeping]) {
        Verdict::Bookkeeping
    } else if is_same
        && only(&[Level::PendingTimers, Level::Bookkeeping])
        && odd_tasks(parent, child).iter().all(|task| is_timer(book, *task, parent, child))
    {
        Verdict::Timers
    } else if failures_new.is_empty()
        && late_registration(parent, child, pair, (book, inputs, options))
    {
        Verdict::LateRegistration
    } else if failures_new.is_empty() && book.base(pair.0) == book.base(pair.1) {
        Verdict::Alternative
    } else if failures_new.is_empty()
        && failures_gone.is_empty()
        && cut_by_failure(parent, pair, book)
    {
        Verdict::CutByFailure
    } else {
        Verdict::Different
    };
    Comparison { verdict, differences, failures_new, failures_gone }
}

/// Whether one of a pair fails in the parent, and the other has to do with it only because the
/// failure ends the run.
fn cut_by_failure(parent: &Side<'_>, (first, second): (TaskId, TaskId), book: &Book) -> bool {
    let find = |task| parent.steps.iter().find(|step| step.task == task);
    let fails = |step: &Arc<Done>| !step.failures.is_empty();
    match (find(first), find(second)) {
        (Some(first), Some(second)) => {
            let mut shared = conflicts(first, second).peekable();
            (fails(first) || fails(second))
                && shared.peek().is_some()
                && shared.all(|location| &*book.names.location_text(location) == RUN_FAILED)
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
pub(crate) fn conflicts<'d>(a: &'d Done, b: &'d Done) -> impl Iterator<Item = u32> + 'd {
    a.footprint.iter().filter_map(|(location, mode)| {
        let at = b.footprint.binary_search_by_key(location, |(other, _)| *other).ok()?;
        (!mode.commutes_with(b.footprint[at].1)).then_some(*location)
    })
}

/// The entries of `these` beyond those in `others`, counting repetitions.
fn without(these: &[String], others: &[String]) -> Vec<String> {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for other in others {
        *counts.entry(other).or_default() += 1;
    }
    let is_extra = |text: &&String| match counts.get_mut(text.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    these.iter().filter(is_extra).cloned().collect()
}

/// The tasks that only one of the two ran.
fn odd_tasks(parent: &Side<'_>, child: &Side<'_>) -> Vec<TaskId> {
    let of = |side: &Side<'_>| side.steps.iter().map(|step| step.base).collect::<FxHashSet<_>>();
    let (left, right) = (of(parent), of(child));
    let gone = parent.steps.iter().map(|step| step.base).filter(|task| !right.contains(task));
    let new = child.steps.iter().map(|step| step.base).filter(|task| !left.contains(task));
    gone.chain(new).collect()
}

/// Whether the two differ in which tasks they ran, and all of those are timers.
fn other_timers(parent: &Side<'_>, child: &Side<'_>, book: &Book) -> bool {
    let odd = odd_tasks(parent, child);
    !odd.is_empty() && odd.iter().all(|task| is_timer(book, *task, parent, child))
}

/// Whether a task is a timer's: its role says so, or somebody posted it with a delay.
fn is_timer(book: &Book, task: TaskId, parent: &Side<'_>, child: &Side<'_>) -> bool {
    let mut posted = parent.steps.iter().chain(child.steps).flat_map(|step| &step.posted);
    book.task(task).role == TaskRole::Timer || posted.any(|posted| *posted == (task, true))
}

/// Whether the second of the pair now comes first, does nothing, and would have found in the
/// locations of registered handlers what the other puts there.
fn late_registration(
    parent: &Side<'_>,
    child: &Side<'_>,
    (first, second): (TaskId, TaskId),
    (book, inputs, options): (&Book, &Inputs, &Options),
) -> bool {
    let find = |side: &Side<'_>, task| side.steps.iter().position(|step| step.task == task);
    let (Some(registers), Some(event)) = (find(child, first), find(child, second)) else {
        return false;
    };
    let (Some(was), Some(earlier)) = (find(parent, second), find(parent, first)) else {
        return false;
    };
    if event > registers || was < earlier || inputs.is_input(first, book.task(first)) {
        return false;
    }
    let (event, registers, was) = (&child.steps[event], &parent.steps[earlier], &parent.steps[was]);
    let idle = |step: &Done| {
        step.footprint.iter().all(|(_, mode)| *mode == Mode::Read)
            && step.posted.is_empty()
            && step.cancelled.is_empty()
    };
    let is_registration = |location: u32| {
        let text = book.names.location_text(location);
        options.registrations.iter().any(|start| text.starts_with(start.as_str()))
    };
    let written: FxHashSet<u32> = registers
        .footprint
        .iter()
        .filter(|(_, mode)| *mode != Mode::Read)
        .map(|(location, _)| *location)
        .collect();
    let mut shared =
        was.footprint.iter().filter(|(location, _)| written.contains(location)).peekable();
    idle(event)
        && !idle(was)
        && shared.peek().is_some()
        && shared.all(|(location, _)| is_registration(*location))
}
