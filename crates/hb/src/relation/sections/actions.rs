//! Actions in critical sections: memory accesses, and the points that the caller adds.

use crate::relation::conflicts::Conflicts;
use anyorder_trace::{EventId, EventKind, LocationId, Op, Trace};

/// The classes of actions on one object that do not commute: a bit for each class, symmetric.
pub type Conflicting = [u32; 32];

/// The effect on an object of an event that is not a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The event.
    pub event: EventId,
    /// Number of the object, dense from 0. Only points of one object conflict.
    pub object: u32,
    /// Position in [`Points::tables`]. All points of an object have the same.
    pub table: u16,
    /// The class, below 32.
    pub class: u8,
}

/// Actions other than memory accesses.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// The points, by event, ascending.
    pub list: Vec<Point>,
    /// The classes that do not commute.
    pub tables: Vec<Conflicting>,
    /// For each table, the pairs of classes that are reported: a subset of those that do not
    /// commute.
    pub reported: Vec<Conflicting>,
}

impl Points {
    /// Returns the points of an event. Logarithmic in their number.
    #[must_use]
    pub fn of(&self, event: EventId) -> &[Point] {
        let start = self.list.partition_point(|point| point.event < event);
        let count = self.list[start..].iter().take_while(|point| point.event == event).count();
        &self.list[start..start + count]
    }

    /// Returns whether a point and a point of a class, on one object, do not commute and are
    /// reported.
    pub(crate) fn conflict(&self, point: Point, class: u8) -> bool {
        let table = self.reported.get(usize::from(point.table));
        table.is_some_and(|table| table[usize::from(point.class & 31)] >> (class & 31) & 1 != 0)
    }

    fn conflicting(&self, point: Point) -> u32 {
        let table = self.tables.get(usize::from(point.table));
        table.map_or(0, |table| table[usize::from(point.class & 31)])
    }
}

/// An action on an object. The first objects are the memory locations; the objects of points
/// follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Act {
    pub(crate) object: u32,
    pub(crate) class: u8,
}

/// The class of actions that only read memory.
pub(crate) const READ: u8 = 0;
/// The class of actions that write memory. Atomicity does not affect commutativity.
pub(crate) const WRITE: u8 = 1;

/// The actions of the events of a trace.
pub(crate) struct Actions<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) conflicts: &'t Conflicts,
    pub(crate) points: &'t Points,
}

impl<'t> Actions<'t> {
    pub(crate) fn new(
        trace: &'t Trace,
        conflicts: &'t Conflicts,
        points: &'t Points,
    ) -> Actions<'t> {
        Actions { trace, conflicts, points }
    }

    /// Calls `visit` with each action of an event.
    pub(crate) fn of(&self, event: EventId, mut visit: impl FnMut(Act)) {
        let columns = self.trace.columns();
        let op = columns.ops[event.index()];
        if op.kind().is_access() {
            let location = LocationId(columns.operands[event.index()]);
            if self.conflicts.is_shared(location) {
                visit(Act { object: location.0, class: class_of(op) });
            }
        } else if !self.points.list.is_empty() && may_act(op.kind()) {
            for point in self.points.of(event) {
                visit(self.act(*point));
            }
        }
    }

    /// Calls `visit` with each kind of action, by object and class, that does not commute with an
    /// action of an event.
    pub(crate) fn conflicting(&self, event: EventId, mut visit: impl FnMut(Act)) {
        let columns = self.trace.columns();
        let op = columns.ops[event.index()];
        if op.kind().is_access() {
            let location = LocationId(columns.operands[event.index()]);
            if !self.conflicts.is_shared(location) {
                return;
            }
            let overlaps = self.conflicts.overlaps(location).iter().copied();
            for other in std::iter::once(location).chain(overlaps) {
                visit(Act { object: other.0, class: WRITE });
                if class_of(op) == WRITE {
                    visit(Act { object: other.0, class: READ });
                }
            }
        } else if !self.points.list.is_empty() && may_act(op.kind()) {
            for point in self.points.of(event) {
                let object = self.act(*point).object;
                let classes = self.points.conflicting(*point);
                (0..32).filter(|class| classes >> class & 1 != 0).for_each(|class| {
                    visit(Act { object, class });
                });
            }
        }
    }

    fn act(&self, point: Point) -> Act {
        let object = (self.trace.tables().locations.len() as u32).saturating_add(point.object);
        Act { object, class: point.class & 31 }
    }
}

/// Returns the class of a memory access.
pub(crate) fn class_of(op: Op) -> u8 {
    if op.kind().writes() { WRITE } else { READ }
}

/// Returns whether an event of this kind may have points. Accesses, acquires and releases have
/// none: these would lie at the border of their own section.
fn may_act(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Acquire | EventKind::Release)
}
