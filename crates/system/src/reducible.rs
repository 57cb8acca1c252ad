//! A program whose states are values and whose tasks report what they touch: what reduction works
//! on.

use crate::state_system::{StateSystem, Successor};
use crate::update::Updates;

/// The identity of a task over all states: the same key is the same code with the same arguments.
/// An external event is one task however often it happens; a step of a thread is one task for each
/// place in its code.
///
/// Keys below [`TaskKey::DENSE`] are small numbers that a system hands out from 0; others are
/// hashes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskKey(pub u64);

impl TaskKey {
    /// Below this, keys are numbers from 0.
    pub const DENSE: u64 = 1 << 20;
}

/// A place of shared state: a variable, an element, a lock, a mailbox, a flag that says whether an
/// event is on. Numbered as keys are: below [`TaskKey::DENSE`] from 0, else hashes. Two places may
/// share a number: that costs reduction, never a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(pub u64);

/// How a task touches a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TouchKind {
    /// Reads it.
    Read,
    /// Writes what it holds already, and has not read it: see [`Reducible::run`].
    SilentWrite,
    /// Writes it, or reads and writes it.
    Write,
}

/// What a task touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Touched {
    /// The place.
    pub place: Place,
    /// How.
    pub kind: TouchKind,
}

/// What running a task in a state gives; a buffer that is used again.
#[derive(Clone, Debug)]
pub struct Effects<S, A> {
    /// One for each alternative, in a fixed order. None: the task could not go on (a guard, a lock,
    /// an assumption).
    pub successors: Vec<Successor<S, A>>,
    /// What was touched over all alternatives; also when there is no successor. In any order,
    /// repetitions allowed.
    pub touched: Vec<Touched>,
    /// The updates of each alternative, a failing one included; only where there are
    /// [`components`](StateSystem::components).
    pub updates: Updates,
}

impl<S, A> Default for Effects<S, A> {
    fn default() -> Effects<S, A> {
        Effects { successors: Vec::new(), touched: Vec::new(), updates: Updates::default() }
    }
}

impl<S, A> Effects<S, A> {
    /// Empties all lists and keeps their room.
    pub fn clear(&mut self) {
        self.successors.clear();
        self.touched.clear();
        self.updates.clear();
    }
}

/// A [`StateSystem`] whose transitions are made by tasks that tell what they touch. The transitions
/// of a state are those of all its ready tasks, so that full search and reduced search run on the
/// same graph. So [`successors`](StateSystem::successors) may call [`ready`](Self::ready), and
/// [`run`](Self::run) for each of them: five lines, which the example of
/// [`check_contract`](crate::check_contract) shows.
///
/// That example breaks the contract on purpose. A protocol that keeps it is
/// `examples/rust/src/bin/protocol.rs`.
///
/// The contract, on which the soundness of every reduction rests:
///
/// 1. What a task does, including whether it has successors, how many, what they fail with, and
///    which places it touches and how, is a function of the task and of what the places hold that
///    it touches, in the order in which it comes to them: with places that it writes, as a write
///    may hide a read. Of a task that stands for several messages or threads, alternatives that
///    lead to one state may be one. Names of objects, handles and posts are not part of a state,
///    and are not to be seen by tasks: contents of places are thought of with them.
/// 2. Whether a task is [`ready`](Self::ready) depends only on the places it
///    [`awaits`](Self::awaits): no step makes it ready, or ends that, without a
///    [`TouchKind::Write`] to one of them. Running a task counts as reading what it awaits.
/// 3. A step changes only places that it reports as written. Equal contents of all places mean
///    equal fingerprints; so two steps none of which writes what the other touches can be swapped,
///    and lead to the same state.
/// 4. A task that awaits several places is told by [`tasks`](Self::tasks) before anything is run,
///    or it is told by [`pending`](Self::pending) in each state in which one of these places,
///    always the same for one key and by its contents alone, says that it is there; and is ready
///    nowhere else.
/// 5. An invariant depends only on the places that it [`watches`](crate::Invariant::watches), and
///    so do these.
/// 6. A step whose updates are reported writes to each attribute, or to another place that every
///    step reads or writes which updates that attribute, with [`TouchKind::Write`]; and which
///    updates it makes depends on what it reads and on what the places hold that it writes.
pub trait Reducible: StateSystem {
    /// Appends the tasks that may be able to run: each key once, in a fixed order. Cheap: guards
    /// and locks are left to [`run`](Self::run).
    fn ready(&self, state: &Self::State, out: &mut Vec<TaskKey>);

    /// Runs every alternative of a ready task. `out` was cleared.
    ///
    /// A write of the value that the place holds already may be told as [`TouchKind::SilentWrite`]
    /// (a system that cannot tell says `Write`): an engine treats it as a write, or, where values
    /// count, as a read: such a task does the same as one that compares first.
    fn run(&self, state: &Self::State, task: TaskKey, out: &mut Effects<Self::State, Self::Action>);

    /// Appends the places that decide whether a task is ready. For one key always the same.
    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>);

    /// Appends tasks that are known before anything is run. Those that await one place need not be
    /// among them: an engine learns of a task when it is ready somewhere. Those that await several
    /// must be, or be [`pending`](Self::pending): otherwise one step may write the first of them
    /// and an independent one the second, each enough to keep the task from ever being ready where
    /// the engine looks.
    fn tasks(&self, _out: &mut Vec<TaskKey>) {}

    /// Appends tasks that are there and may not be ready, such as messages behind others or of a
    /// busy handler; ready ones may be among them. In any order, repetitions allowed. Needed of
    /// tasks that await several places and cannot be told in advance.
    fn pending(&self, _state: &Self::State, _out: &mut Vec<TaskKey>) {}

    /// Returns the task that makes a transition of [`successors`](StateSystem::successors), if the
    /// system can tell cheaply: then an engine that leaves nothing out need not run tasks one by
    /// one. The transitions of one task come in the order of its alternatives.
    fn task_of(&self, _state: &Self::State, _action: &Self::Action) -> Option<TaskKey> {
        None
    }

    /// Returns the name of a task that is ready in a state, for people.
    fn task_name(&self, _state: &Self::State, task: TaskKey) -> String {
        format!("task {}", task.0)
    }

    /// Returns the name of a place, for people.
    fn place_name(&self, place: Place) -> String {
        format!("place {}", place.0)
    }
}
