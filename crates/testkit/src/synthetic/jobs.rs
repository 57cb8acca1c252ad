//! The tasks of large traces, and the behaviour of each kind.
//!
//! A session is a row of trees of tasks, each begun by the environment:
//!
//! ```text
//! environment --post--> Request --post--> Work (a pool, in any order) --post--> Answer --enable--> the next Request
//!                          |--post--> Step, on its own handler --post--> Log, on another handler
//!                          |--post, delayed--> Timer
//! ```
//!
//! The trees of one session are ordered; those of different sessions are not. So the number of
//! pairwise unordered tasks is about the number of sessions at any time.

use super::places::Group;
use anyorder_trace::TaskId;

/// What kind of task it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum JobKind {
    /// Begins a tree.
    Request,
    /// Runs on a pool's handler, and answers.
    Work,
    /// Ends the session's turn.
    Answer,
    /// Posted by a request to its own handler.
    Step,
    /// Posted by a step or a plain thread to some handler.
    Log,
    /// Posted with a delay.
    Timer,
}

impl JobKind {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [JobKind; 6] = [
        JobKind::Request,
        JobKind::Work,
        JobKind::Answer,
        JobKind::Step,
        JobKind::Log,
        JobKind::Timer,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            JobKind::Request => "request",
            JobKind::Work => "work",
            JobKind::Answer => "answer",
            JobKind::Step => "step",
            JobKind::Log => "log",
            JobKind::Timer => "timer",
        }
    }
}

/// A posted task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Job {
    pub(super) task: TaskId,
    pub(super) kind: JobKind,
    pub(super) session: u32,
}

/// A task that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) job: Job,
    pub(super) own: Group,
    /// Accesses before it posts.
    pub(super) before: u64,
    /// Whether it still has to post.
    pub(super) posts_due: bool,
    /// Accesses after its posts.
    pub(super) behind: u64,
}

/// The handlers for the tasks of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    /// Of requests, answers and steps.
    pub(super) main: usize,
    pub(super) pool: usize,
    pub(super) timers: usize,
    /// Of logs.
    pub(super) log: usize,
    /// Whether a tree was answered, so that the next one is triggered.
    pub(super) answered: bool,
}
