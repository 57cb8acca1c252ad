//! Classes of actions on an object, and their commutativity.
//!
//! **Idea.** The actions on one object belong to at most 32 classes (read, write, wait, ...). The
//! *table* of the object defines the meaning of the classes. Whether two actions commute depends on
//! their classes only. The *cell* expresses conditions on values: an `add(v)` of a set touches the
//! cell "value `v` of that set". This is the access-point form `<X, eta, C>` with a point = (cell,
//! class). An action may touch several cells. It conflicts with another if they conflict in one of
//! the cells.

use crate::analysis::StreamEvent;
use anyorder_trace::{EventKind, Op, Tables};

/// A class of actions of one table: below 32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class(pub u8);

impl Class {
    /// A plain read.
    pub const READ: Class = Class(0);
    /// A plain write.
    pub const WRITE: Class = Class(1);
    /// An atomic read.
    pub const ATOMIC_READ: Class = Class(2);
    /// An atomic write or read-modify-write.
    pub const ATOMIC_WRITE: Class = Class(3);
    /// A plain read-modify-write: a write that observes the value that it replaces.
    pub const UPDATE: Class = Class(4);
    /// An atomic read-modify-write.
    pub const ATOMIC_UPDATE: Class = Class(5);
    /// The end of the memory: like a write, but later writes do not represent it.
    pub const FREE: Class = Class(6);
    /// Number of the classes of memory.
    const MEMORY_COUNT: u8 = 7;

    /// Returns the class of a memory access.
    #[inline]
    #[must_use]
    pub const fn of_access(op: Op) -> Class {
        let atomic = op.mode().is_atomic();
        match (op.kind(), atomic) {
            (EventKind::Read, false) => Class::READ,
            (EventKind::Read, true) => Class::ATOMIC_READ,
            (EventKind::Rmw, false) => Class::UPDATE,
            (EventKind::Rmw, true) => Class::ATOMIC_UPDATE,
            (EventKind::Free, _) => Class::FREE,
            (_, false) => Class::WRITE,
            (_, true) => Class::ATOMIC_WRITE,
        }
    }

    #[inline]
    const fn index(self) -> usize {
        (self.0 & 31) as usize
    }
}

/// The classes that do not commute, the pairs to report, and the classes that observe each other.
#[derive(Clone, Debug)]
pub struct ClassTable {
    /// For each class, the classes that do not commute with it, a bit each.
    pub(crate) conflicts: [u32; 32],
    /// The same for the pairs that are reported.
    pub(crate) reported: [u32; 32],
    observes: [u32; 32],
    /// The transpose of `observes`.
    observers: [u32; 32],
    /// The classes that no other class represents.
    kept: u32,
}

impl Default for ClassTable {
    fn default() -> ClassTable {
        ClassTable::memory()
    }
}

impl ClassTable {
    /// Returns a table in which all actions commute.
    #[must_use]
    pub const fn new() -> ClassTable {
        let none = [0; 32];
        ClassTable { conflicts: none, reported: none, observes: none, observers: none, kept: 0 }
    }

    /// Returns the table of memory accesses. Two accesses commute if both only read. They are not
    /// reported if both are atomic. A read observes the write before it.
    #[must_use]
    pub fn memory() -> ClassTable {
        let mut table = ClassTable::new();
        let writes = |c: u8| matches!(c, 1 | 3..=6);
        let atomic = |c: u8| matches!(c, 2 | 3 | 5);
        let reads = |c: u8| matches!(c, 0 | 2 | 4 | 5);
        for a in 0..Class::MEMORY_COUNT {
            for b in 0..Class::MEMORY_COUNT {
                if writes(a) || writes(b) {
                    table.conflicts[usize::from(a)] |= 1 << b;
                    if !(atomic(a) && atomic(b)) {
                        table.reported[usize::from(a)] |= 1 << b;
                    }
                }
                if reads(a) && writes(b) {
                    table.observe(Class(a), Class(b));
                }
            }
        }
        table.keep(Class::FREE);
        table
    }

    /// Returns, for each class, the classes that do not commute with it, a bit each.
    #[must_use]
    pub const fn conflict_rows(&self) -> [u32; 32] {
        self.conflicts
    }

    /// Returns the same for the pairs that are reported.
    #[must_use]
    pub const fn reported_rows(&self) -> [u32; 32] {
        self.reported
    }

    /// Declares that actions of two classes on one object do not commute, and that violations are
    /// reported.
    pub fn conflict(&mut self, a: Class, b: Class) -> &mut ClassTable {
        for (x, y) in [(a, b), (b, a)] {
            self.conflicts[x.index()] |= 1 << y.index();
            self.reported[x.index()] |= 1 << y.index();
        }
        self
    }

    /// Declares that an action of class `later` communicates with the last earlier action of class
    /// `earlier`: the order COMM. Such a pair must conflict.
    pub fn observe(&mut self, later: Class, earlier: Class) -> &mut ClassTable {
        self.observes[later.index()] |= 1 << earlier.index();
        self.observers[earlier.index()] |= 1 << later.index();
        self
    }

    /// Declares that an action of this class is kept until the next action of the same class,
    /// whatever the conflicts of other classes.
    pub fn keep(&mut self, class: Class) -> &mut ClassTable {
        self.kept |= 1 << class.index();
        self
    }

    /// Returns whether two actions on one object do not commute.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, a: Class, b: Class) -> bool {
        self.conflicts[a.index()] >> b.index() & 1 != 0
    }

    /// Returns the classes that do not commute with a class, one bit each.
    #[inline]
    pub(crate) fn conflicting(&self, class: Class) -> u32 {
        self.conflicts[class.index()]
    }

    /// Returns the classes with which a class is reported, one bit each.
    #[inline]
    pub(crate) fn reported_with(&self, class: Class) -> u32 {
        self.reported[class.index()]
    }

    /// Returns the classes that a class observes, one bit each.
    #[inline]
    pub(crate) fn observed_by(&self, class: Class) -> u32 {
        self.observes[class.index()]
    }

    /// Returns whether violations by two such actions are reported.
    #[inline]
    #[must_use]
    pub fn is_reported(&self, a: Class, b: Class) -> bool {
        self.reported[a.index()] >> b.index() & 1 != 0
    }

    /// Returns whether `later` communicates with the last action of class `earlier`.
    #[inline]
    #[must_use]
    pub fn observes(&self, later: Class, earlier: Class) -> bool {
        self.observes[later.index()] >> earlier.index() & 1 != 0
    }

    /// Returns whether `new` represents `old`: every class that conflicts with `old` or observes it
    /// also conflicts with `new` or observes it.
    #[inline]
    pub(crate) fn covers(&self, new: Class, old: Class) -> bool {
        let (n, o) = (new.index(), old.index());
        n == o
            || (self.kept >> o & 1 == 0
                && self.conflicts[o] & !self.conflicts[n] == 0
                && self.reported[o] & !self.reported[n] == 0
                && self.observers[o] & !self.observers[n] == 0)
    }
}

/// A cell that an action other than a memory access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The number of the object that reports name, dense from 0.
    pub object: u32,
    /// The number of the cell, dense from 0 over all objects of the specification. Only points of
    /// one cell conflict, and all of them share one table.
    pub cell: u32,
    /// Number of the table in [`Specification::classes`].
    pub table: u16,
    /// The class of the action.
    pub class: Class,
}

/// Turns events other than memory accesses into actions on objects. This is the interface for
/// commutativity specifications.
pub trait Specification {
    /// Whether [`hides`](Specification::hides) may ever be true.
    const HIDES: bool = false;

    /// Whether accesses to memory may have points.
    const ACCESSES: bool = false;

    /// Returns the tables of classes that its points name; the first is that of memory accesses.
    fn classes(&self) -> Vec<ClassTable>;

    /// Adds the points that an event touches to `points`; all are of one object. Called for each
    /// event that is not a memory access and not hidden.
    fn points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>);

    /// Adds the points that a memory access touches besides its location, each of an object of its
    /// own. Called for each access that is not hidden, if there are [`ACCESSES`](Self::ACCESSES).
    fn access_points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        let _ = (tables, step, points);
    }

    /// Returns whether two events commute although they touch conflicting points, because a
    /// condition is more precise than points. Each event is given as an operation with its operand.
    fn commute(&mut self, tables: &Tables, first: (Op, u32), second: (Op, u32)) -> bool {
        let _ = (tables, first, second);
        false
    }

    /// Returns whether to ignore a memory access or a lock operation because it is inside an
    /// invocation. The event is given by its task, kind and operand. The engine calls it once for
    /// each such event, in trace order.
    fn hides(&mut self, task: u32, kind: EventKind, operand: u32) -> bool {
        let _ = (task, kind, operand);
        false
    }
}

/// No actions except memory accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryOnly;

impl Specification for MemoryOnly {
    fn classes(&self) -> Vec<ClassTable> {
        vec![ClassTable::memory()]
    }

    fn points(&mut self, _: &Tables, _: StreamEvent, _: &mut Vec<Point>) {}
}

/// Condition variables. Waiting does not commute with signals or broadcasts; these commute with
/// each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions;

impl Conditions {
    const WAIT: Class = Class(0);
    const SIGNAL: Class = Class(1);
}

impl Specification for Conditions {
    fn classes(&self) -> Vec<ClassTable> {
        let mut table = ClassTable::new();
        table.conflict(Conditions::WAIT, Conditions::SIGNAL);
        vec![ClassTable::memory(), table]
    }

    fn points(&mut self, _: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        let class = match step.op.kind() {
            EventKind::Wait => Conditions::WAIT,
            EventKind::Signal | EventKind::Broadcast => Conditions::SIGNAL,
            _ => return,
        };
        points.push(Point { object: step.operand, cell: step.operand, table: 1, class });
    }
}
