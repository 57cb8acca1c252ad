//! Inputs that a busy program refuses.
//!
//! **Problem.** The default scheduler is a user who waits until the program is at rest. A reversal
//! may be a user who acts while the program is busy. Many programs refuse that on purpose: by a
//! disabled control, or by a flag for the second click. Then the outcomes differ because the input
//! has no effect in one of them, and no repair is needed. **Method.** Of the pair, one is an input
//! event, which has no effect in the run in which it comes first. The other one follows from the
//! same input at the same target, or it is what makes the control usable. A failure that only one
//! run has is never harmless, nor is a request that is only sent where the input is refused.
//!
//! An input may also be impossible for good after the other task, which has taken its control away:
//! the button that cancels a request is hidden when the response comes. Then the outcomes differ by
//! what the user wanted, in one of them too late, and each is as it has to be. That holds unless
//! the input sends a request: a button that only the response takes away is clicked twice.
//! **Guarantee.** None: a program that loses the second of two equal inputs by mistake looks like
//! one that refuses it. So the class is in the result.

use super::footprint::Mode;
use super::names::{NO_TASK, NameCache, TaskId};
use super::options::ReversalOptions;
use super::outcome::ReversalKind;
use super::reversal::Pair;
use super::step::ExecutedStep;
use super::verdict::{ComparedRun, conflicts};
use anyorder_system::{Difference, Level, TaskRole};

/// The end of the text of a location that says whether a control accepts input.
const DISABLED: &str = ".@disabled";

/// The names, and what the caller says of inputs.
type Known<'a> = (&'a NameCache, &'a ReversalOptions);

/// Returns whether two runs differ only because one of them refuses an input.
pub(crate) fn refused_input(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    Pair { first, second, .. }: Pair,
    known: Known<'_>,
    differences: &[Difference],
) -> bool {
    let fails = differences.iter().any(|one| one.level == Level::Failure);
    if !known.1.patient_user || fails {
        return false;
    }
    is_refused((child, parent), (second, first), known, differences)
        || is_refused((parent, child), (first, second), known, differences)
}

/// Returns whether one task of a pair takes away the control of the other one: an input event,
/// which only the run has in which it comes first.
pub(crate) fn taken_away(
    parent: &ComparedRun<'_>,
    child: &ComparedRun<'_>,
    Pair { first, second, kind }: Pair,
    (name_cache, options): Known<'_>,
    differences: &[Difference],
) -> bool {
    let has = |run: &ComparedRun<'_>, task| run.steps.iter().any(|step| step.task == task);
    let is_taken = |input, other, with: &ComparedRun<'_>, without: &ComparedRun<'_>| {
        let sends = |one: &Difference| {
            one.level == Level::Request && with.observation.part(&one.path).is_some()
        };
        name_cache.task(input).role == TaskRole::Input
            && !differences.iter().any(sends)
            && has(with, input)
            && !has(without, input)
            && has(without, other)
    };
    options.patient_user
        && kind == ReversalKind::Disabling
        && !differences.iter().any(|one| one.level == Level::Failure)
        && (is_taken(second, first, child, parent) || is_taken(first, second, parent, child))
}

/// Whether an input event has no effect in the busy one of two runs, in which it comes before the
/// other task of the pair.
fn is_refused(
    (busy, patient): (&ComparedRun<'_>, &ComparedRun<'_>),
    (input, other): (TaskId, TaskId),
    known: Known<'_>,
    differences: &[Difference],
) -> bool {
    let name_cache = known.0;
    if name_cache.task(input).role != TaskRole::Input {
        return false;
    }
    let find = |run: &ComparedRun<'_>, task| run.steps.iter().position(|step| step.task == task);
    let places = (find(busy, input), find(patient, other), find(patient, input));
    let (Some(early), Some(usable), Some(late)) = places else { return false };
    if late < usable || find(busy, other).is_some_and(|place| place < early) {
        return false;
    }
    let sends_more = differences
        .iter()
        .any(|one| one.level == Level::Request && patient.observation.part(&one.path).is_none());
    let (early, usable, late) = (&busy.steps[early], &patient.steps[usable], &patient.steps[late]);
    let makes_usable = || {
        let text = |location| name_cache.names.location_text(location);
        conflicts(usable, late).any(|location| text(location).ends_with(DISABLED))
    };
    !sends_more
        && is_idle(early, known)
        && !is_idle(late, known)
        && (makes_usable() || follows_from_equal(name_cache, other, input))
}

/// Whether an input event has no effect: it writes nothing but the marks of inputs and the status
/// of other inputs, whose names have no creator in them.
fn is_idle(step: &ExecutedStep, (name_cache, options): Known<'_>) -> bool {
    let is_mark = |location: u32| {
        let text = name_cache.names.location_text(location);
        options.marks_of_inputs.iter().any(|mark| **mark == *text)
            || name_cache.names.is_task_status(location) && !text.contains('/')
    };
    step.posted.is_empty()
        && step.cancelled.is_empty()
        && step.failures.is_empty()
        && step.footprint.iter().all(|(location, mode)| *mode == Mode::Read || is_mark(*location))
}

/// Whether a task follows from an input event of the same kind at the same target as another one.
fn follows_from_equal(name_cache: &NameCache, task: TaskId, input: TaskId) -> bool {
    let wanted = name_cache.task(input).name.segment();
    let mut at = task;
    while at != NO_TASK {
        let info = name_cache.task(at);
        let segment = info.name.segment();
        let is_equal = (&segment.kind, &segment.label) == (&wanted.kind, &wanted.label);
        if info.role == TaskRole::Input && at != input && is_equal {
            return true;
        }
        at = info.creator;
    }
    false
}
