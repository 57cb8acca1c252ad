//! Programs as a set of pending tasks, from which an engine picks the next to run.

use crate::capabilities::Capabilities;
use crate::failure::Failure;
use crate::observation::Observation;
use crate::run_error::RunError;
use crate::schedule::{Choice, ProgramIdentity};
use crate::task_name::TaskName;
use anyorder_common::hash::Hash128;
use anyorder_trace::{Location, LocationId, SiteId, Tables};

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
    /// The kind of access.
    pub kind: AccessKind,
    /// The source position, in the same tables.
    pub site: SiteId,
    /// The value read (in a set: the first one), if the system reports values.
    pub read: Option<u64>,
    /// The value written (in a set: the last one), if the system reports values.
    pub written: Option<u64>,
}

/// The class of the locations that stand for the status of a task: whether it exists, and may run.
/// A front end reports such a location as [`Location::Static`], with this class and the name of the
/// task as its field. A variable of any name is another location.
pub const TASK_STATUS: &str = "task";

/// Returns whether a location stands for the status of a task.
#[must_use]
pub fn is_task_status(tables: &Tables, location: LocationId) -> bool {
    let known = tables.locations.get(location.index());
    matches!(known, Some(Location::Static { class, .. }) if tables.name(*class) == TASK_STATUS)
}

/// The accesses of one task, in the detail that the system's capabilities declare. Enabling and
/// disabling a task are accesses to that task's shadow location ([`TASK_STATUS`]), which the front
/// end reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// The system does not report accesses.
    Unknown,
    /// One entry per location and kind, in no order.
    Set(Vec<Access>),
    /// All accesses, in order.
    List(Vec<Access>),
}

impl Accesses {
    /// Returns the known accesses, in order if the system reports an order.
    #[must_use]
    pub fn as_slice(&self) -> &[Access] {
        match self {
            Accesses::Unknown => &[],
            Accesses::Set(accesses) | Accesses::List(accesses) => accesses,
        }
    }
}

/// A task that can run next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnabledTask {
    /// Its name.
    pub task: TaskName,
    /// The name of the handler that will run it.
    pub handler: String,
    /// The number of alternatives it has, at least 1.
    pub alternatives: u32,
}

/// The locations that decide whether a pending task can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Awaited {
    /// The task.
    pub task: TaskName,
    /// The locations, in the system's [`tables`](TaskSystem::tables); repetitions allowed.
    pub locations: Vec<LocationId>,
}

/// The role of a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum TaskRole {
    /// Any other task.
    #[default]
    Task,
    /// An action of the user. Explorers that keep the order of user actions use this role.
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
    /// The queue that it waits in, if its place there depends on the order of the posts: it waits
    /// for the tasks of its queue that were posted before it with no longer delay, whatever tasks
    /// posted them. Where these can also come in another order, so can the tasks of the queue.
    pub queue: Option<u64>,
}

/// The effect of running one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The task that ran.
    pub task: TaskName,
    /// Its accesses.
    pub accesses: Accesses,
    /// The tasks it created.
    pub posted: Vec<Posted>,
    /// Pending tasks that it cancelled.
    pub cancelled: Vec<TaskName>,
    /// Failures of the program in this step: assertions, exceptions.
    pub failures: Vec<Failure>,
}

impl Step {
    /// Makes the step of a task without any effect.
    #[must_use]
    pub fn of(task: TaskName) -> Step {
        let (posted, cancelled, failures) = (Vec::new(), Vec::new(), Vec::new());
        Step { task, accesses: Accesses::Unknown, posted, cancelled, failures }
    }
}

/// A program whose runs are sequences of tasks. It may be slow and it may fail. Engines may rely
/// only on its declared capabilities.
pub trait TaskSystem {
    /// Returns the capabilities of this system; they never change.
    fn capabilities(&self) -> Capabilities;

    /// Returns the identity of this program.
    fn program(&self) -> &ProgramIdentity;

    /// Returns the tables of locations and sites for steps. They only grow, even over resets, so an
    /// id has the same meaning in all runs of one instance. Instances do not share ids.
    fn tables(&self) -> &Tables;

    /// Returns the text that a value of an access stands for, if the value is not a number but the
    /// hash of a text, and the text is known.
    fn value_text(&self, _value: u64) -> Option<&str> {
        None
    }

    /// Returns the role of a task, always the same for one name. By default all tasks are
    /// [`TaskRole::Task`].
    fn role(&self, _task: &TaskName) -> TaskRole {
        TaskRole::Task
    }

    /// Resets the program to its start.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started.
    fn reset(&mut self) -> Result<(), RunError>;

    /// Returns the tasks that can run next, in the order of the system's default scheduler. The
    /// capabilities declare how exact the list is.
    ///
    /// # Errors
    ///
    /// Fails if the program ended unexpectedly.
    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError>;

    /// Runs one task to its end.
    ///
    /// # Errors
    ///
    /// Fails with [`RunError::Diverged`] if the task does not exist, and if the program does not
    /// answer.
    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError>;

    /// Returns, for each pending task, the locations that decide in this state whether it can run
    /// and how many alternatives it has: its guard's reads, the lock that it wants, the task that
    /// it joins. Enabled tasks are listed in the same way.
    ///
    /// The contract: a step that makes a pending task able or unable to run, or changes the number
    /// of its alternatives, writes one of the locations reported for the task before the step. A
    /// step that makes a task pending writes one of the locations reported for the task after it. A
    /// task that is not listed waits only for its own shadow location: see [`Accesses`].
    ///
    /// # Errors
    ///
    /// Fails if the capabilities do not declare it ([`Capabilities::awaits`]), and if the program
    /// ended unexpectedly.
    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        Err(RunError::Unsupported("telling what tasks wait for"))
    }

    /// Returns the observation of the run so far.
    ///
    /// # Errors
    ///
    /// Fails if the program ended unexpectedly.
    fn observe(&mut self) -> Result<Observation, RunError>;

    /// Returns the part that saves and restores states, if the capabilities declare it.
    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        None
    }
}

/// A saved state; valid in the instance that made it until it is deleted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SnapshotId(pub u64);

/// Saving and restoring states.
pub trait Snapshots {
    /// Saves the state.
    ///
    /// # Errors
    ///
    /// Fails if no memory is left.
    fn save(&mut self) -> Result<SnapshotId, RunError>;

    /// Restores a saved state, which stays saved.
    ///
    /// # Errors
    ///
    /// Fails if the saved state does not exist.
    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError>;

    /// Deletes a saved state. Unknown ones are ignored.
    fn forget(&mut self, snapshot: SnapshotId);

    /// Returns a hash of the canonical form of the state: equal states have equal fingerprints, and
    /// unequal ones have unequal fingerprints except for collisions.
    fn fingerprint(&mut self) -> Hash128;
}

/// Creates systems: one for each worker.
pub trait SystemFactory: Sync {
    /// The type of system.
    type System;

    /// Creates a system.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started.
    fn make(&self) -> Result<Self::System, RunError>;
}

impl<S, F: Fn() -> Result<S, RunError> + Sync> SystemFactory for F {
    type System = S;

    fn make(&self) -> Result<S, RunError> {
        self()
    }
}
