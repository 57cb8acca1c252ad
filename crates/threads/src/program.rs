//! The door of a multithreaded program.

use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::object::Object;
use crate::op::Op;

/// An operation at which a thread stopped, and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Next {
    /// The operation.
    pub op: Op,
    /// The position in the source. A function of what the thread has seen, as the operation is.
    pub site: SiteId,
}

/// A program whose threads do nothing but operations on shared objects, one at a time.
///
/// An execution begins with [`start`](Self::start). A thread runs when it is resumed, up to its
/// next operation, which it does not perform: the engine performs it on the objects, when it likes,
/// and resumes the thread with the result.
///
/// The contract, on which the engines rely and which they check where they can: what a thread does
/// next is a function of the results that it got since its start, in this execution and in every
/// other one.
pub trait ThreadProgram {
    /// Begins an execution, in which only [`ThreadId::MAIN`] exists.
    fn start(&mut self);

    /// Runs a thread to its next operation. At first, with any result, this is its first operation.
    /// Not called for a thread whose last operation was [`Act::Exit`](crate::Act::Exit).
    fn resume(&mut self, thread: ThreadId, result: u64) -> Next;

    /// As [`resume`](Self::resume), to where the engine keeps the operation. A program that writes
    /// it there spares copies of it, which cost more than the rest of a step.
    fn resume_to(&mut self, thread: ThreadId, result: u64, next: &mut Next) {
        *next = self.resume(thread, result);
    }

    /// Ends the execution, wherever it is.
    fn stop(&mut self);

    /// From now on until [`stop`](Self::stop), the execution is one that the program need not have
    /// as far as the engine's answer is concerned: a thread goes on alone, to see whether its loop
    /// gives up. What happens is no finding.
    fn begin_trial(&mut self) {}

    /// Returns an object as it is when it is made. Always the same for one number.
    fn initial(&self, object: ObjectId) -> Object;

    /// Returns whether two calls of an object with a specification commute: in every state where
    /// both can be made, both orders leave the same for all later calls and return the same.
    /// Symmetric; called for a call with itself, too, which stands for two threads that make it.
    fn commute(&self, object: ObjectId, call: u64, other: u64) -> bool {
        let _ = (object, call, other);
        false
    }

    /// Returns whether threads may share data that is no object, so that what they do would be no
    /// function of their results: then an engine tries some executions more than it needs, to
    /// notice. Called after an exploration.
    fn may_hide_data(&self) -> bool {
        false
    }

    /// Returns whether executions so far had something in common with other ones that an engine
    /// does not see, so that they must not run at the same time as those of another program of the
    /// same kind. From where a program notices, it need not go on.
    fn is_bound(&self) -> bool {
        false
    }

    /// Returns whether something is to be explored after the engine, as executions so far say.
    fn has_more(&self) -> bool {
        false
    }

    /// Returns how much executions so far have shown that the engine does not see.
    fn beside(&self) -> Beside {
        Beside::default()
    }
}

/// Findings of a program that its engine does not see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    /// How many different leaks there were.
    pub leaks: usize,
    /// How many different misuses of memory there were, or may be in other executions.
    pub misuses: usize,
    /// Whether misuses are looked for no more.
    pub is_tired: bool,
}
