//! What an exploration remembers of one task's execution.

use super::footprint::Footprint;
use super::names::{Book, TaskId};

/// One executed task. Runs share the steps in which they agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Done {
    pub(crate) task: TaskId,
    /// The task, whichever of its alternatives ran.
    pub(crate) base: TaskId,
    /// How many alternatives it had, where that was asked; else 0.
    pub(crate) alternatives: u32,
    pub(crate) footprint: Footprint,
    /// What it created, and whether with a delay.
    pub(crate) posted: Box<[(TaskId, bool)]>,
    pub(crate) cancelled: Box<[TaskId]>,
    pub(crate) failures: Box<[String]>,
    /// What became enabled and what no longer was, where that was asked.
    pub(crate) flips: Option<Flips>,
}

/// How the set of enabled tasks changed by a step, but for the task that ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flips {
    pub(crate) opened: Box<[TaskId]>,
    pub(crate) closed: Box<[TaskId]>,
}

impl Done {
    /// Makes the step of a task that did nothing.
    pub(crate) fn of(task: TaskId, book: &Book) -> Done {
        Done {
            task,
            base: book.base(task),
            alternatives: 0,
            footprint: Box::default(),
            posted: Box::default(),
            cancelled: Box::default(),
            failures: Box::default(),
            flips: None,
        }
    }

    /// Returns whether the two did the same; flips count only where both know them.
    pub(crate) fn is_same(&self, other: &Done) -> bool {
        self.task == other.task
            && self.footprint == other.footprint
            && self.posted == other.posted
            && self.cancelled == other.cancelled
            && self.failures == other.failures
            && (self.alternatives == other.alternatives
                || self.alternatives == 0
                || other.alternatives == 0)
            && match (&self.flips, &other.flips) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            }
    }

    /// The bytes it takes, as they are accounted for.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let failures: usize = self.failures.iter().map(String::len).sum();
        let flips = self.flips.as_ref().map_or(0, |flips| flips.opened.len() + flips.closed.len());
        let words = self.footprint.len() * 3 + self.posted.len() + self.cancelled.len() + flips;
        (size_of::<Done>() + 16 + words * 8 + failures) as u64
    }
}
