//! The recorded execution of one task, and sleep sets of such steps.

use super::footprint::Footprint;
use super::kept::KeptStep;
use super::names::{NameCache, TaskId};
use anyorder_system::Failure;
use std::sync::Arc;

/// The steps of a run, or of a part of it.
pub(crate) type Steps = [Arc<ExecutedStep>];

/// One executed task. Runs share equal steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ExecutedStep {
    pub(crate) task: TaskId,
    /// The task, independent of the alternative that ran.
    pub(crate) base: TaskId,
    /// The number of its alternatives; 0 if unknown.
    pub(crate) alternatives: u32,
    pub(crate) footprint: Footprint,
    /// The tasks that it created, and whether each has a delay.
    pub(crate) posted: Box<[(TaskId, bool)]>,
    /// Those of them that wait in a queue whose order is that of the posts; the queue, and the
    /// delay.
    pub(crate) queued: Box<[(TaskId, u64, u64)]>,
    pub(crate) cancelled: Box<[TaskId]>,
    pub(crate) failures: Box<[Failure]>,
    /// The tasks that it enabled and disabled, if known.
    pub(crate) enabled_change: Option<EnabledChange>,
    /// What it did in the words of the program, if that is kept. Steps that differ only here are
    /// the same.
    pub(crate) kept: Option<Arc<KeptStep>>,
}

/// The change of the set of enabled tasks by a step, without the task that ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct EnabledChange {
    pub(crate) enables: Box<[TaskId]>,
    pub(crate) closed: Box<[TaskId]>,
}

impl ExecutedStep {
    /// Returns the step of a task without any effect.
    pub(crate) fn of(task: TaskId, name_cache: &NameCache) -> ExecutedStep {
        ExecutedStep {
            task,
            base: name_cache.base(task),
            alternatives: 0,
            footprint: Box::default(),
            posted: Box::default(),
            queued: Box::default(),
            cancelled: Box::default(),
            failures: Box::default(),
            enabled_change: None,
            kept: None,
        }
    }

    /// Returns whether two steps are equal. Alternatives, and changes of the enabled tasks, count
    /// only if both steps know them.
    pub(crate) fn is_same(&self, other: &ExecutedStep) -> bool {
        self.task == other.task
            && self.footprint == other.footprint
            && self.posted == other.posted
            && self.cancelled == other.cancelled
            && self.failures == other.failures
            && (self.alternatives == other.alternatives
                || self.alternatives == 0
                || other.alternatives == 0)
            && match (&self.enabled_change, &other.enabled_change) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            }
    }

    /// The bytes that it counts towards the memory limit.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let failures: usize = self.failures.iter().map(|failure| failure.message.len()).sum();
        let change = self.enabled_change.as_ref();
        let changed = change.map_or(0, |change| change.enables.len() + change.closed.len());
        let words = self.footprint.len() * 3 + self.posted.len() + self.cancelled.len() + changed;
        let words = words + self.queued.len() * 3;
        let kept = self.kept.as_ref().map_or(0, |kept| kept.memory_bytes());
        (size_of::<ExecutedStep>() + 16 + words * 8 + failures) as u64 + kept
    }
}

/// Removes from a sleep set the tasks that depend on an executed step. A sleep set holds tasks that
/// need not run next, because sequences that begin with them are covered elsewhere.
pub(crate) fn wake(asleep: &mut Vec<Arc<ExecutedStep>>, done: &ExecutedStep) {
    asleep.retain(|sleeping| !depends(sleeping, done));
}

/// Returns whether the order of two tasks, both enabled before either ran, may matter.
fn depends(a: &ExecutedStep, b: &ExecutedStep) -> bool {
    let (mut left, mut right) = (a.footprint.iter().peekable(), b.footprint.iter().peekable());
    while let (Some((x, mode)), Some((y, other))) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal if !mode.commutes_with(*other) => return true,
            std::cmp::Ordering::Equal => drop((left.next(), right.next())),
        }
    }
    let touches = |one: &ExecutedStep, other: &ExecutedStep| {
        one.cancelled.contains(&other.base)
            || one.posted.iter().any(|(task, _)| *task == other.base)
            || one.enabled_change.as_ref().is_some_and(|change| {
                change.closed.contains(&other.base) || change.enables.contains(&other.base)
            })
    };
    // The order of their posts is that of the queue.
    let share = |(_, queue, _): &(TaskId, u64, u64)| b.queued.iter().any(|one| one.1 == *queue);
    a.base == b.base || touches(a, b) || touches(b, a) || a.queued.iter().any(share)
}
