//! Programs of events and their tasks, run by the rules of their handlers.

use crate::async_system::{AsyncSystem, InvocationId, InvocationStep};
use crate::run_error::RunError;
use anyorder_common::hash::Hash128;
use anyorder_trace::LocationId;

/// A step that the rules of handlers and of events allow in a state.
#[derive(Clone, Debug)]
pub struct InterleavedStep<S> {
    /// The event that the step starts; `None` for a step of a task, or of an event that runs.
    pub event: Option<u32>,
    /// Which alternative of its choices it takes, from 0.
    pub alternative: u32,
    /// The step.
    pub step: InvocationStep<S>,
}

/// Who takes a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taker {
    /// An event starts.
    Event(u32),
    /// An invocation begins or goes on.
    Invocation(InvocationId),
}

/// A program of events and tasks by the multi-thread semantics: each handler runs one task at a
/// time, in the order of its mailbox, and events start when they may.
///
/// Its states are not those of [`AsyncSystem::start`] and [`AsyncSystem::advance`], which keep none
/// of these rules; the tables are.
pub trait InterleavedSystem: AsyncSystem {
    /// Returns the states in which the program can begin, as [`AsyncSystem::initial`].
    ///
    /// # Errors
    ///
    /// Fails if the program cannot begin, and if the job is stopped.
    fn begin(&mut self) -> Result<Vec<InvocationStep<Self::State>>, RunError>;

    /// Returns every step that is possible in a state.
    ///
    /// # Errors
    ///
    /// Fails if the job is stopped.
    fn steps(&mut self, state: &Self::State)
    -> Result<Vec<InterleavedStep<Self::State>>, RunError>;

    /// Returns the steps of an event or of an invocation, one for each alternative. The caller
    /// knows that the mailbox delivers the invocation.
    ///
    /// # Errors
    ///
    /// Fails if the job is stopped.
    fn take(
        &mut self,
        state: &Self::State,
        taker: Taker,
    ) -> Result<Vec<InvocationStep<Self::State>>, RunError>;

    /// Returns a hash that equal states share.
    fn fingerprint(&self, state: &Self::State) -> Hash128;

    /// Returns a hash of the numbers by which locations name the objects of a state. States with
    /// the same fingerprint and the same numbers have the same locations.
    fn objects(&self, state: &Self::State) -> Hash128;

    /// Returns the invocation whose fate a location stands for: whether it has been taken back.
    fn fate(&self, location: LocationId) -> Option<InvocationId>;

    /// Returns whether some post goes to the front of its mailbox.
    fn posts_to_the_front(&self) -> bool;
}
