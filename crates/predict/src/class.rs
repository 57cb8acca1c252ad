//! What an action does to an object, and which actions commute.
//!
//! **Idea.** Actions come in at most 32 classes (read, write, wait, ...); whether two actions on the same object commute
//! depends on their classes only. Conditions on values are expressed by the object: an `add(v)` of a set touches
//! the object "value `v` of that set". This is the access-point form `<X, eta, C>` with a point = (object, class).

use anyorder_trace::{EventKind, Op, Tables};

/// A class of actions: below 32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class(pub u8);

impl Class {
    /// A plain read.
    pub const READ: Class = Class(0);
    /// A plain write, read-modify-write, or free.
    pub const WRITE: Class = Class(1);
    /// An atomic read.
    pub const ATOMIC_READ: Class = Class(2);
    /// An atomic write or read-modify-write.
    pub const ATOMIC_WRITE: Class = Class(3);
    /// A plain read-modify-write: a write that observes what it replaces.
    pub const UPDATE: Class = Class(4);
    /// An atomic read-modify-write.
    pub const ATOMIC_UPDATE: Class = Class(5);
    /// Number of the first class that a [`Specification`] may define.
    pub const FIRST_OWN: u8 = 6;

    /// Returns the class of a memory access.
    #[inline]
    pub(crate) const fn of_access(op: Op) -> Class {
        let atomic = op.mode().is_atomic();
        match (op.kind(), atomic) {
            (EventKind::Read, false) => Class::READ,
            (EventKind::Read, true) => Class::ATOMIC_READ,
            (EventKind::Rmw, false) => Class::UPDATE,
            (EventKind::Rmw, true) => Class::ATOMIC_UPDATE,
            (_, false) => Class::WRITE,
            (_, true) => Class::ATOMIC_WRITE,
        }
    }

    /// Returns whether a memory access of this class writes.
    #[inline]
    pub(crate) const fn writes(self) -> bool {
        matches!(self.0, 1 | 3..=5)
    }

    #[inline]
    const fn index(self) -> usize {
        (self.0 & 31) as usize
    }
}

/// Which classes do not commute, which pairs are worth a report, and which class observes which.
#[derive(Clone, Debug)]
pub struct ClassTable {
    conflicts: [u32; 32],
    reported: [u32; 32],
    observes: [u32; 32],
    /// The transpose of `observes`.
    observers: [u32; 32],
}

impl Default for ClassTable {
    fn default() -> ClassTable {
        ClassTable::memory()
    }
}

impl ClassTable {
    /// Returns the table of memory accesses: two of them commute if both only read, and are not reported if both
    /// are atomic; a read observes the write before it.
    #[must_use]
    pub fn memory() -> ClassTable {
        let none = [0; 32];
        let mut table =
            ClassTable { conflicts: none, reported: none, observes: none, observers: none };
        let writes = |c: u8| matches!(c, 1 | 3..=5);
        let atomic = |c: u8| matches!(c, 2 | 3 | 5);
        let reads = |c: u8| matches!(c, 0 | 2 | 4 | 5);
        for a in 0..Class::FIRST_OWN {
            for b in 0..Class::FIRST_OWN {
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
        table
    }

    /// Says that actions of two classes on one object do not commute, and that violations are reported.
    pub fn conflict(&mut self, a: Class, b: Class) -> &mut ClassTable {
        for (x, y) in [(a, b), (b, a)] {
            self.conflicts[x.index()] |= 1 << y.index();
            self.reported[x.index()] |= 1 << y.index();
        }
        self
    }

    /// Says that an action of class `later` communicates with the last action of class `earlier` before it: the order
    /// COMM. Such a pair must conflict.
    pub fn observe(&mut self, later: Class, earlier: Class) -> &mut ClassTable {
        self.observes[later.index()] |= 1 << earlier.index();
        self.observers[earlier.index()] |= 1 << later.index();
        self
    }

    /// Returns whether two actions on one object do not commute.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, a: Class, b: Class) -> bool {
        self.conflicts[a.index()] >> b.index() & 1 != 0
    }

    /// Returns the classes that do not commute with one, a bit each.
    #[inline]
    pub(crate) fn conflicting(&self, class: Class) -> u32 {
        self.conflicts[class.index()]
    }

    /// Returns whether violations of two such actions are reported.
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

    /// Returns whether `new` stands for `old`: it conflicts with, and is observed by, all that `old` is.
    #[inline]
    pub(crate) fn covers(&self, new: Class, old: Class) -> bool {
        let (n, o) = (new.index(), old.index());
        n == o
            || (self.conflicts[o] & !self.conflicts[n] == 0
                && self.reported[o] & !self.reported[n] == 0
                && self.observers[o] & !self.observers[n] == 0)
    }
}

/// An action on an object that is not a memory location: the object's number (dense, from 0) and the class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Number of the object.
    pub object: u32,
    /// What is done to it.
    pub class: Class,
}

/// Turns events other than memory accesses into actions on objects: the seam for commutativity specifications.
pub trait Specification {
    /// Returns the classes of the actions it gives; memory's own must stay as they are.
    fn classes(&self) -> ClassTable;

    /// Adds the points that an event touches to `points`. Called for each event that is not a memory access.
    fn points(&mut self, tables: &Tables, op: Op, operand: u32, points: &mut Vec<Point>);
}

/// No actions but memory accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryOnly;

impl Specification for MemoryOnly {
    fn classes(&self) -> ClassTable {
        ClassTable::memory()
    }

    fn points(&mut self, _: &Tables, _: Op, _: u32, _: &mut Vec<Point>) {}
}

/// Condition variables: waiting does not commute with signalling or broadcasting; these commute among themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions;

impl Conditions {
    const WAIT: Class = Class(Class::FIRST_OWN);
    const SIGNAL: Class = Class(Class::FIRST_OWN + 1);
}

impl Specification for Conditions {
    fn classes(&self) -> ClassTable {
        let mut table = ClassTable::memory();
        table.conflict(Conditions::WAIT, Conditions::SIGNAL);
        table
    }

    fn points(&mut self, _: &Tables, op: Op, operand: u32, points: &mut Vec<Point>) {
        match op.kind() {
            EventKind::Wait => points.push(Point { object: operand, class: Conditions::WAIT }),
            EventKind::Signal | EventKind::Broadcast => {
                points.push(Point { object: operand, class: Conditions::SIGNAL });
            }
            _ => {}
        }
    }
}
