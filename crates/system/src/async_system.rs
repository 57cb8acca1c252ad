//! Programs of events and their tasks, run invocation by invocation.

use crate::failure::Failure;
use crate::run_error::RunError;
use crate::task_name::TaskName;
use crate::task_system::Access;
use anyorder_common::hash::Hash128;
use anyorder_trace::Tables;
use std::fmt::Debug;

/// In which order a handler takes its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandlerOrder {
    /// In the order of their posts.
    Fifo,
    /// In any order.
    Bag,
    /// By their due times.
    Delayed,
}

/// A handler: a thread that runs tasks one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandlerInfo {
    /// Its name.
    pub name: String,
    /// The order of its tasks.
    pub order: HandlerOrder,
}

/// Where an invocation runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lane {
    /// On a handler: its position in [`AsyncSystem::handlers`].
    Handler(u32),
    /// On a thread of its own.
    Own,
}

/// A position in the source at which a task waits: line and column.
pub type WaitPlace = (u32, u32);

/// An event that the outside may cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventInfo {
    /// Its name.
    pub name: String,
    /// Its name in schedules, without the number of its occurrence.
    pub task: TaskName,
    /// Where its code runs.
    pub lane: Lane,
    /// Whether it happens at most once.
    pub once: bool,
    /// Events whose code must have ended before it starts.
    pub after: Vec<u32>,
    /// Events that must have started before it does.
    pub started: Vec<u32>,
}

/// Identifies an invocation in the states of one run: the code of an event, or a posted task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InvocationId(pub u64);

/// An invocation that a step posted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostedInvocation {
    /// The invocation.
    pub invocation: InvocationId,
    /// The name of its task.
    pub task: String,
    /// Where it is to run.
    pub lane: Lane,
    /// Whether it goes before all that its handler has.
    pub front: bool,
    /// Its delay in virtual time, 0 for none.
    pub delay: u64,
}

/// A step of one invocation: up to its next access to shared memory, or its next post.
#[derive(Clone, Debug)]
pub struct InvocationStep<S> {
    /// The state after it.
    pub state: S,
    /// The invocation.
    pub invocation: InvocationId,
    /// Its accesses, in order. Positions of tasks and the contents of mailboxes are none.
    pub accesses: Vec<Access>,
    /// What it posted, in order.
    pub posted: Vec<PostedInvocation>,
    /// Pending invocations that it took back.
    pub cancelled: Vec<InvocationId>,
    /// Whether the invocation has ended.
    pub ended: bool,
    /// The failure of the program in this step. Nothing runs after it.
    pub failure: Option<Failure>,
}

/// A program of events and tasks in which each invocation can take its next step at any time.
///
/// The system does not keep the rules of handlers: two tasks of one handler may be half-way at the
/// same time, in any order, and events may start in any order. It tells the rules, and who runs the
/// program keeps them or proves that it need not (`docs/robustness.md`). It keeps all other rules:
/// guards, locks, assumptions, events that happen once.
pub trait AsyncSystem {
    /// A state: cheap to copy.
    type State: Clone + Debug;

    /// Returns the handlers.
    fn handlers(&self) -> &[HandlerInfo];

    /// Returns the events, one for each member of a family.
    fn events(&self) -> &[EventInfo];

    /// Returns the tables of the locations and sites in steps. They only grow.
    fn tables(&self) -> &Tables;

    /// Returns the states in which the program can begin, each as the step that leads there:
    /// `init`, with what it posted. It has no invocation of its own.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot begin, and if the job is stopped.
    fn initial(&mut self) -> Result<Vec<InvocationStep<Self::State>>, RunError>;

    /// Returns whether `init` is a step in schedules: it is if it has several alternatives.
    fn init_is_step(&self) -> bool;

    /// Starts an event, up to its first access. Returns one step for each alternative of its
    /// choices, and none if its guard does not hold.
    ///
    /// # Errors
    ///
    /// Fails if the job is stopped.
    fn start(
        &mut self,
        state: &Self::State,
        event: u32,
    ) -> Result<Vec<InvocationStep<Self::State>>, RunError>;

    /// Lets an invocation take its next step. Returns one step for each alternative, and none if it
    /// cannot continue in this state, or does not exist.
    ///
    /// # Errors
    ///
    /// Fails if the job is stopped.
    fn advance(
        &mut self,
        state: &Self::State,
        invocation: InvocationId,
    ) -> Result<Vec<InvocationStep<Self::State>>, RunError>;

    /// Returns the invocations that are pending or running in a state, each with a hash of its
    /// code, its position and its values, and of its place among others where that matters.
    fn live(&self, state: &Self::State) -> Vec<(InvocationId, Hash128)>;

    /// Returns where an invocation waits that cannot continue, as a site of the tables.
    fn waits_at(&mut self, state: &Self::State, invocation: InvocationId) -> Option<WaitPlace>;

    /// Returns a hash of the shared memory, with which events have happened.
    fn memory(&self, state: &Self::State) -> Hash128;

    /// Returns the shared memory in words: names and values.
    fn show(&self, state: &Self::State) -> Vec<(String, String)>;
}
