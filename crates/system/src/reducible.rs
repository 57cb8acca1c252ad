//! Programs whose states are values and whose tasks report the places that they touch: the input of
//! reduction.

use crate::state_system::{StateSystem, Successor};
use crate::update::Updates;

/// The identity of a task over all states: the same key is the same code with the same arguments.
/// An external event is one task however often it happens. A step of a thread is one task for each
/// position in its code.
///
/// Keys below [`TaskKey::DENSE`] are small numbers that a system assigns from 0; others are hashes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskKey(pub u64);

impl TaskKey {
    /// Below this, keys are numbers from 0.
    pub const DENSE: u64 = 1 << 20;
}

/// A place of shared state: a variable, an element, a lock, a mailbox, a flag that enables an
/// event. Numbered like keys: from 0 below [`TaskKey::DENSE`], else hashes. Two places may share a
/// number; that costs reduction, never a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(pub u64);

/// How a task touches a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TouchKind {
    /// Reads it.
    Read,
    /// Writes the value that it holds already, without reading it: see [`Reducible::run`].
    SilentWrite,
    /// Writes it, or reads and writes it.
    Write,
}

/// An access of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Touched {
    /// The place.
    pub place: Place,
    /// The kind of access.
    pub kind: TouchKind,
}

/// The result of running a task in a state; a reusable buffer.
#[derive(Clone, Debug)]
pub struct Effects<S, A> {
    /// One for each alternative, in a fixed order. Empty: the task is blocked (by a guard, a lock,
    /// an assumption).
    pub successors: Vec<Successor<S, A>>,
    /// The accesses of all alternatives, even if there is no successor. In any order, repetitions
    /// allowed.
    pub touched: Vec<Touched>,
    /// The updates of each alternative, including failing ones; only if the system has
    /// [`components`](StateSystem::components).
    pub updates: Updates,
}

impl<S, A> Default for Effects<S, A> {
    fn default() -> Effects<S, A> {
        Effects { successors: Vec::new(), touched: Vec::new(), updates: Updates::default() }
    }
}

impl<S, A> Effects<S, A> {
    /// Empties all lists and keeps their memory.
    pub fn clear(&mut self) {
        self.successors.clear();
        self.touched.clear();
        self.updates.clear();
    }
}

/// A [`StateSystem`] whose transitions are made by tasks that report the places they touch. The
/// transitions of a state are those of all its ready tasks, so full search and reduced search run
/// on the same graph.
/// [`successors`](StateSystem::successors) may call
/// [`successors_of_tasks`](Self::successors_of_tasks).
///
/// The example of [`check_contract`](crate::check_contract) breaks the contract on purpose. A
/// protocol that keeps it is `examples/rust/src/bin/protocol.rs`.
///
/// The contract, on which the soundness of every reduction rests:
///
/// 1. The effect of a task is a function of the task and of the contents of the places that it
///    touches, in the order of its accesses. Places that it writes count, because a write may hide
///    a read. The effect includes whether it has successors, how many, their failures, and which
///    places it touches and how. If a task stands for several messages or threads, alternatives
///    that lead to one state may count as one. Names of objects, handles and posts are not part of
///    a state, and tasks must not depend on them; contents of places are understood with these
///    names.
/// 2. Whether a task is [`ready`](Self::ready) depends only on the places it
///    [`awaits`](Self::awaits): a step that makes it ready or not ready has a
///    [`TouchKind::Write`] to one of them. Running a task counts as reading what it awaits.
/// 3. A step changes only places that it reports as written. Equal contents of all places mean
///    equal fingerprints. So two steps can be swapped, and lead to the same state, if neither
///    writes a place that the other touches.
/// 4. A task that awaits several places is listed in advance by [`tasks`](Self::tasks), or
///    [`pending`](Self::pending) lists it in each state where one of these places marks it as
///    present. This place is always the same for one key, and only its contents decide. Such a task
///    is ready only in states where it is listed.
/// 5. An invariant depends only on the places that it [`watches`](crate::Invariant::watches), and
///    so does this list of places.
/// 6. A step that reports updates has a [`TouchKind::Write`] to each updated attribute, or to
///    another place that every step which updates that attribute reads or writes. The updates
///    depend only on what the step reads, and on the contents of the places that it writes.
/// 7. The transitions of a task are all [optional](StateSystem::is_optional), in every state, or
///    none is.
pub trait Reducible: StateSystem {
    /// Appends the tasks that may be able to run: each key once, in a fixed order. Cheap:
    /// [`run`](Self::run) checks guards and locks.
    fn ready(&self, state: &Self::State, out: &mut Vec<TaskKey>);

    /// Runs every alternative of a ready task. `out` was cleared.
    ///
    /// A write of the value that the place holds already may be reported as
    /// [`TouchKind::SilentWrite`]. A system that cannot detect this reports `Write`. An engine
    /// treats a silent write as a write, or, if values count, as a read: the task has the same
    /// effect as one that compares first.
    fn run(&self, state: &Self::State, task: TaskKey, out: &mut Effects<Self::State, Self::Action>);

    /// Appends the transitions of all ready tasks, in their order: an implementation of
    /// [`successors`](StateSystem::successors).
    fn successors_of_tasks(
        &self,
        state: &Self::State,
        out: &mut Vec<Successor<Self::State, Self::Action>>,
    ) {
        let (mut tasks, mut effects) = (Vec::new(), Effects::default());
        self.ready(state, &mut tasks);
        for task in tasks {
            effects.clear();
            self.run(state, task, &mut effects);
            out.append(&mut effects.successors);
        }
    }

    /// Appends the places that decide whether a task is ready. Always the same for one key.
    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>);

    /// Appends tasks that are known before the first run. Tasks that await one place are optional:
    /// an engine learns of them when they are ready in some state. Tasks that await several places
    /// are required here or in [`pending`](Self::pending). Otherwise one step may write the first
    /// place and an independent one the second, and each alone could keep the task from being ready
    /// in all states that the engine explores.
    fn tasks(&self, _out: &mut Vec<TaskKey>) {}

    /// Appends tasks that exist but may not be ready, such as messages behind others or of a busy
    /// handler. May include ready tasks. In any order, repetitions allowed. Required for tasks that
    /// await several places and cannot be listed in advance.
    fn pending(&self, _state: &Self::State, _out: &mut Vec<TaskKey>) {}

    /// Returns the task that makes a transition of [`successors`](StateSystem::successors), if the
    /// system can compute it cheaply. Then an engine without reduction need not run tasks one by
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
