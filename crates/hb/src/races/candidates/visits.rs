//! Visits. A visit is an object, a class and the enclosing sections; it counts once for each stay
//! in these sections.

use crate::relation::conflicts::{AccessClass, Conflicts};
use crate::relation::sections::{OpenSections, Point, Points, SectionId};
use crate::relation::strands::StrandId;
use anyorder_trace::{EventId, LocationId, Trace};
use rustc_hash::FxHashMap;

/// A block: a strand, and the number of its stay in sections.
pub(crate) type BlockId = (StrandId, u32);

/// The number in [`Visits`] of a set of enclosing sections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SectionSetId(u32);

/// A kind of action on an object, as reports distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ActionKind {
    Access(LocationId, AccessClass),
    Point(u32, u16, u8),
}

/// The first action of a visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) what: ActionKind,
    pub(crate) section_set: SectionSetId,
    pub(crate) event: EventId,
}

/// The visits of the blocks.
pub(crate) struct Visits<'a> {
    trace: &'a Trace,
    conflicts: &'a Conflicts,
    points: &'a Points,
    /// The visits of each block, by object.
    blocks: FxHashMap<BlockId, FxHashMap<Object, Vec<Visit>>>,
    section_sets: Vec<Box<[SectionId]>>,
    of_sections: FxHashMap<Box<[SectionId]>, SectionSetId>,
    /// The number of visits that were dropped.
    pub(crate) lost: u64,
}

/// The most visits of one object that a block keeps.
const VISITS_MAX: usize = 64;

/// A location, or an object of points.
type Object = (bool, u32);

impl<'a> Visits<'a> {
    pub(crate) fn new(
        trace: &'a Trace,
        conflicts: &'a Conflicts,
        points: &'a Points,
    ) -> Visits<'a> {
        Visits {
            trace,
            conflicts,
            points,
            blocks: FxHashMap::default(),
            section_sets: Vec::new(),
            of_sections: FxHashMap::default(),
            lost: 0,
        }
    }

    /// Interns the set of sections that a strand is in.
    pub(crate) fn section_set(&mut self, held: &OpenSections, strand: StrandId) -> SectionSetId {
        let sections: Box<[SectionId]> = held.of(strand).collect();
        let section_sets = &mut self.section_sets;
        *self.of_sections.entry(sections).or_insert_with_key(|sections| {
            section_sets.push(sections.clone());
            SectionSetId(section_sets.len() as u32 - 1)
        })
    }

    /// Returns the sections around an action.
    pub(crate) fn sections(&self, section_set: SectionSetId) -> &[SectionId] {
        &self.section_sets[section_set.0 as usize]
    }

    /// Calls `visit` with each action of an event.
    pub(crate) fn of(&self, event: EventId, mut visit: impl FnMut(ActionKind)) {
        let columns = self.trace.columns();
        let op = columns.ops[event.index()];
        if op.kind().is_access() {
            let location = LocationId(columns.operands[event.index()]);
            if self.conflicts.is_shared(location) {
                visit(ActionKind::Access(location, AccessClass::of(op)));
            }
        } else if !self.points.list.is_empty() {
            for point in self.points.of(event) {
                visit(ActionKind::Point(point.object, point.table, point.class));
            }
        }
    }

    /// Records an action of an event. Returns whether it is a new visit.
    pub(crate) fn add(&mut self, block: BlockId, visit: Visit) -> bool {
        let objects = self.blocks.entry(block).or_default();
        let list = objects.entry(object(visit.what)).or_default();
        if list.iter().rev().any(|v| v.what == visit.what && v.section_set == visit.section_set) {
            return false;
        }
        if list.len() >= VISITS_MAX {
            self.lost += 1;
            return false;
        }
        list.push(visit);
        true
    }

    /// Returns the visits of a block that conflict with `what` and are reported.
    pub(crate) fn conflicting(&self, block: BlockId, what: ActionKind) -> Vec<Visit> {
        let Some(objects) = self.blocks.get(&block) else { return Vec::new() };
        let at = |object| objects.get(&object).into_iter().flatten().copied();
        let overlaps = match what {
            ActionKind::Access(location, _) => self.conflicts.overlaps(location),
            ActionKind::Point(..) => &[],
        };
        let overlapping = overlaps.iter().map(|location| (true, location.0));
        let visits = std::iter::once(object(what)).chain(overlapping).flat_map(at);
        visits.filter(|visit| self.conflict(visit.what, what)).collect()
    }

    fn conflict(&self, a: ActionKind, b: ActionKind) -> bool {
        match (a, b) {
            (ActionKind::Access(_, a), ActionKind::Access(_, b)) => a.conflicts(b),
            (ActionKind::Point(_, _, class), ActionKind::Point(object, table, other)) => {
                let point = Point { event: EventId::NONE, object, table, class: other };
                self.points.conflict(point, class)
            }
            _ => false,
        }
    }

    /// Drops a block that no release refers to.
    pub(crate) fn forget(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }
}

fn object(what: ActionKind) -> Object {
    match what {
        ActionKind::Access(location, ..) => (true, location.0),
        ActionKind::Point(object, ..) => (false, object),
    }
}
