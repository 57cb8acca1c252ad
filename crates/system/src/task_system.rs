//! A program as a set of pending tasks, of which an engine picks the next to run.

use crate::capabilities::Capabilities;
use crate::hash::Hash128;
use crate::observation::Observation;
use crate::run_error::RunError;
use crate::schedule::{Choice, Program};
use crate::task_name::TaskName;
use anyorder_trace::{LocationId, SiteId, Tables};

/// How a task accesses a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum AccessKind {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one step.
    Rmw,
}

/// An access of a task to a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The location, in the system's [`tables`](TaskSystem::tables).
    pub location: LocationId,
    /// How.
    pub kind: AccessKind,
    /// Where in the source, in the same tables.
    pub site: SiteId,
    /// The value read (in a set: the first one), where the system tells values.
    pub read: Option<u64>,
    /// The value written (in a set: the last one), where the system tells values.
    pub written: Option<u64>,
}

/// The accesses of one task, in the detail that the system's capabilities declare. Enabling and
/// disabling a task are accesses to that task's shadow location, which the front end reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// The system does not tell.
    Unknown,
    /// One entry per location and kind, in no order.
    Set(Vec<Access>),
    /// All accesses, in order.
    List(Vec<Access>),
}

impl Accesses {
    /// Returns the accesses known, in order where there is one.
    #[must_use]
    pub fn as_slice(&self) -> &[Access] {
        match self {
            Accesses::Unknown => &[],
            Accesses::Set(accesses) | Accesses::List(accesses) => accesses,
        }
    }
}

/// A task that could run next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnabledTask {
    /// Its name.
    pub task: TaskName,
    /// The name of the handler that would run it.
    pub handler: String,
    /// The number of alternatives it has, at least 1.
    pub alternatives: u32,
}

/// What decides whether a pending task can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Awaited {
    /// The task.
    pub task: TaskName,
    /// The locations, in the system's [`tables`](TaskSystem::tables); repetitions allowed.
    pub locations: Vec<LocationId>,
}

/// What a task stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum TaskRole {
    /// None of the others.
    #[default]
    Task,
    /// Something that a user does: explorers that take users as they are keep the order of these.
    Input,
    /// The work of a timer.
    Timer,
}

/// A task that a step created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Posted {
    /// Its name.
    pub task: TaskName,
    /// The name of the handler it was posted to.
    pub handler: String,
    /// Its delay in the system's virtual time, 0 for none.
    pub delay: u64,
}

/// What running one task did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The task that ran.
    pub task: TaskName,
    /// What it accessed.
    pub accesses: Accesses,
    /// The tasks it created.
    pub posted: Vec<Posted>,
    /// Pending tasks that it cancelled.
    pub cancelled: Vec<TaskName>,
    /// Failures of the program in this step: assertions, exceptions.
    pub failures: Vec<String>,
}

impl Step {
    /// Makes the step of a task that did nothing.
    #[must_use]
    pub fn of(task: TaskName) -> Step {
        let (posted, cancelled, failures) = (Vec::new(), Vec::new(), Vec::new());
        Step { task, accesses: Accesses::Unknown, posted, cancelled, failures }
    }
}

/// A program whose runs are sequences of tasks. It may be slow and it may fail; only what its
/// capabilities declare may be relied on.
pub trait TaskSystem {
    /// Returns what this system can do; never changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns which program this is.
    fn program(&self) -> &Program;

    /// Returns the tables that locations and sites of steps point into. They only grow, also over
    /// resets, so that an id means the same in all runs of one instance. Instances do not share
    /// ids.
    fn tables(&self) -> &Tables;

    /// Returns what a task stands for, always the same for one name. Unless overridden, nothing is
    /// known: [`TaskRole::Task`].
    fn role(&self, _task: &TaskName) -> TaskRole {
        TaskRole::Task
    }

    /// Goes back to the start.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn reset(&mut self) -> Result<(), RunError>;

    /// Returns the tasks that could run next, in the order of the system's default scheduler; as
    /// exact as the capabilities say.
    ///
    /// # Errors
    ///
    /// Fails when the program went away.
    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError>;

    /// Runs one task to its end.
    ///
    /// # Errors
    ///
    /// Fails with [`RunError::Diverged`] when the task is not there, and when the program fails to
    /// come back.
    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError>;

    /// Returns what decides in this state, for each pending task, whether it can run and how many
    /// alternatives it has: its guard's reads, the lock that it wants, the task that it joins.
    /// Enabled tasks are listed like those that are not.
    ///
    /// The contract: no step makes a pending task able to run, ends that, or changes the number of
    /// its alternatives, unless it writes one of the locations told of the task before the step. A
    /// task becomes pending by a step that writes one of the locations told of it then. A task that
    /// is not listed waits for its own shadow location alone: see [`Accesses`].
    ///
    /// # Errors
    ///
    /// Fails where the capabilities do not declare it ([`Capabilities::awaits`]), and when the
    /// program went away.
    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        Err(RunError::Unsupported("telling what tasks wait for"))
    }

    /// Returns what the run amounts to so far.
    ///
    /// # Errors
    ///
    /// Fails when the program went away.
    fn observe(&mut self) -> Result<Observation, RunError>;

    /// Returns the part that saves and restores states, where the capabilities declare it.
    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        None
    }
}

/// A saved state; valid in the instance that made it until it is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SnapshotId(pub u64);

/// Saving and restoring states.
pub trait Snapshots {
    /// Saves the state.
    ///
    /// # Errors
    ///
    /// Fails when there is no room.
    fn save(&mut self) -> Result<SnapshotId, RunError>;

    /// Goes back to a saved state, which stays saved.
    ///
    /// # Errors
    ///
    /// Fails when the state is not there.
    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError>;

    /// Gives up a saved state. Unknown ones are ignored.
    fn forget(&mut self, snapshot: SnapshotId);

    /// Returns a hash of the canonical form of the state: equal states have equal fingerprints, and
    /// unequal ones have unequal fingerprints but for collisions.
    fn fingerprint(&mut self) -> Hash128;
}

/// Makes systems: one a worker.
pub trait SystemFactory: Sync {
    /// What it makes: a [`TaskSystem`] or a [`ThreadSystem`](crate::ThreadSystem).
    type System;

    /// Makes one.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn make(&self) -> Result<Self::System, RunError>;
}

impl<S, F: Fn() -> Result<S, RunError> + Sync> SystemFactory for F {
    type System = S;

    fn make(&self) -> Result<S, RunError> {
        self()
    }
}
