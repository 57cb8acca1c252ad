//! A thread of a model in an execution, and what threads share.

use anyorder_threads::{Act, ThreadId};
use anyorder_vm::{Attempt, LoneThread, SharedPlace};
use std::collections::VecDeque;
use std::rc::Rc;

/// What threads share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Thing {
    Place(SharedPlace),
    Lock(u32),
    Condition(u32),
    /// The end of a thread.
    End(ThreadId),
    /// The object whose invocations are a thread's steps of several operations.
    Steps(ThreadId),
    /// What a thread waits for that never comes, at a position.
    Never(ThreadId, u32),
    /// What a thread waits for that has failed.
    Failed(ThreadId),
    /// A position in the code, as a mark.
    Position(u32),
    /// An object with a specification.
    Object(u32),
    /// Nothing, for operations of the thread alone.
    Nothing,
}

/// What a thread found, by numbers.
pub(super) type Found = Vec<(SharedPlace, u64)>;

/// A thread in an execution.
pub(super) struct Live {
    pub(super) id: ThreadId,
    pub(super) code: Code,
    pub(super) found: Found,
    /// The invocation that it is in.
    pub(super) inside: Option<(Thing, u64)>,
    pub(super) queue: VecDeque<Todo>,
    pub(super) then: Then,
    pub(super) forks: u32,
    pub(super) children: Vec<(u32, ThreadId)>,
}

/// An operation to perform, whose result says nothing.
pub(super) type Todo = (Thing, Act);

pub(super) enum Code {
    /// The thread that starts the declared ones, and looks at the end.
    Main {
        started: u32,
        joined: u32,
    },
    Of(LoneThread),
    /// Never ends, so that a run in which a lock is never given back does not.
    Ghost,
}

/// What the result of the last operation means.
pub(super) enum Then {
    /// Nothing: the next step.
    Step,
    /// The value of a place.
    Value(SharedPlace),
    /// Which way the step goes.
    Way(Rc<Attempt>),
    /// Nothing: the step is done in this way.
    Commit(Rc<Attempt>, usize),
    /// Something changed of what the step found.
    Anew,
    /// The thread was notified.
    Woken,
    /// A forked thread ended.
    Joined(u32),
    /// Nothing: nothing ever happens.
    Never,
    /// Nothing: the thread has failed.
    Failed,
    /// Nothing: the thread ends.
    Exit,
}

/// Whether a step may have several operations.
pub(super) fn is_long(attempt: &Attempt) -> bool {
    attempt.is_section || attempt.is_split
}

impl Live {
    pub(super) fn change(&mut self, change: impl FnOnce(&LoneThread) -> LoneThread) {
        if let Code::Of(lone) = &self.code {
            self.code = Code::Of(change(lone));
        }
    }
}
