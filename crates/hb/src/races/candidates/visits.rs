//! Visits: an object, a class and the sections around it, once for each stay in these sections.

use crate::races::conflicts::{AccessClass, Conflicts};
use crate::relation::sections::{Held, Point, Points, SectionId};
use crate::relation::strands::StrandId;
use anyorder_trace::{EventId, LocationId, Trace};
use rustc_hash::FxHashMap;

/// A block: a strand, and which of its stays in sections.
pub(crate) type BlockId = (StrandId, u32);

/// The sections around an action: its number in [`Visits`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct HoldId(u32);

/// What is done to an object, as reports tell it apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum What {
    Access(LocationId, bool, bool),
    Point(u32, u16, u8),
}

/// The first action of a visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) what: What,
    pub(crate) hold: HoldId,
    pub(crate) event: EventId,
}

/// The visits of the blocks.
#[derive(Debug)]
pub(crate) struct Visits<'a> {
    trace: &'a Trace,
    conflicts: &'a Conflicts,
    points: &'a Points,
    /// Of each block: its visits by object.
    blocks: FxHashMap<BlockId, FxHashMap<Object, Vec<Visit>>>,
    holds: Vec<Box<[SectionId]>>,
    of_sections: FxHashMap<Box<[SectionId]>, HoldId>,
    /// Visits that were not kept.
    pub(crate) lost: u64,
}

/// How many visits of one object a block keeps.
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
            holds: Vec::new(),
            of_sections: FxHashMap::default(),
            lost: 0,
        }
    }

    /// Notes the sections that a strand is in.
    pub(crate) fn hold(&mut self, held: &Held, strand: StrandId) -> HoldId {
        let sections: Box<[SectionId]> = held.of(strand).collect();
        let holds = &mut self.holds;
        *self.of_sections.entry(sections).or_insert_with_key(|sections| {
            holds.push(sections.clone());
            HoldId(holds.len() as u32 - 1)
        })
    }

    /// Returns the sections around an action.
    pub(crate) fn sections(&self, hold: HoldId) -> &[SectionId] {
        &self.holds[hold.0 as usize]
    }

    /// Calls `visit` with what an event does.
    pub(crate) fn of(&self, event: EventId, mut visit: impl FnMut(What)) {
        let columns = self.trace.columns();
        let op = columns.ops[event.index()];
        if op.kind().is_access() {
            let location = LocationId(columns.operands[event.index()]);
            if self.conflicts.is_shared(location) {
                let class = AccessClass::of(op);
                visit(What::Access(location, class.writes, class.atomic));
            }
        } else if !self.points.list.is_empty() {
            for point in self.points.of(event) {
                visit(What::Point(point.object, point.table, point.class));
            }
        }
    }

    /// Notes what an event does; returns whether that is a visit of its own.
    pub(crate) fn add(&mut self, block: BlockId, visit: Visit) -> bool {
        let objects = self.blocks.entry(block).or_default();
        let list = objects.entry(object(visit.what)).or_default();
        if list.iter().rev().any(|v| v.what == visit.what && v.hold == visit.hold) {
            return false;
        }
        if list.len() >= VISITS_MAX {
            self.lost += 1;
            return false;
        }
        list.push(visit);
        true
    }

    /// Returns the visits of a block that conflict with `what`, and are worth a report.
    pub(crate) fn conflicting(&self, block: BlockId, what: What) -> Vec<Visit> {
        let Some(objects) = self.blocks.get(&block) else { return Vec::new() };
        let at = |object| objects.get(&object).into_iter().flatten().copied();
        match what {
            What::Access(location, ..) => {
                let overlaps = self.conflicts.overlaps(location).iter().copied();
                std::iter::once(location)
                    .chain(overlaps)
                    .flat_map(|location| at((true, location.0)))
                    .filter(|visit| self.conflict(visit.what, what))
                    .collect()
            }
            What::Point(..) => {
                at(object(what)).filter(|visit| self.conflict(visit.what, what)).collect()
            }
        }
    }

    fn conflict(&self, a: What, b: What) -> bool {
        match (a, b) {
            (What::Access(_, aw, aa), What::Access(_, bw, ba)) => {
                AccessClass { writes: aw, atomic: aa }
                    .conflicts(AccessClass { writes: bw, atomic: ba })
            }
            (What::Point(_, _, class), What::Point(object, table, other)) => {
                let point = Point { event: EventId::NONE, object, table, class: other };
                self.points.conflict(point, class)
            }
            _ => false,
        }
    }

    /// Forgets a block that no release speaks of.
    pub(crate) fn forget(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }
}

fn object(what: What) -> Object {
    match what {
        What::Access(location, ..) => (true, location.0),
        What::Point(object, ..) => (false, object),
    }
}
