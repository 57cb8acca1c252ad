//! What runs.

use anyorder::thread;

/// A thread or task of a test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(usize);

impl From<usize> for TaskId {
    fn from(id: usize) -> TaskId {
        TaskId(id)
    }
}

impl From<TaskId> for usize {
    fn from(id: TaskId) -> usize {
        id.0
    }
}

/// Returns who calls.
#[must_use]
pub fn me() -> TaskId {
    TaskId(thread::current().id().into())
}

/// Returns who calls.
#[must_use]
pub fn get_current_task() -> Option<TaskId> {
    Some(me())
}

/// Has no effect: there is no limit that it would move.
pub fn reset_step_count() {}
