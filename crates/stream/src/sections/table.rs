//! Critical sections: the open ones, and the release clocks of the sections that some record still
//! references.
//!
//! A section is the part of a lane between the outermost acquire of a lock and the matching
//! release. Sections are reference-counted, so memory depends on the shadow state and not on the
//! length of the trace.
//!
//! **Cost.** An acquire and a release take constant time, besides the clock of a lane that has
//! learnt something. The first access after an acquire builds one set for each lock acquired since
//! the last access; all deeper accesses share it. If a lock is released below many others, the next
//! access builds a view of the largest set; below few, it builds the sets of the locks above again.

use crate::relations::lanes::{LaneId, Lanes};
use crate::sections::held::{Held, HeldLocks};
use crate::sections::locksets::{Locksets, UNMADE, as_one, is_counted, of_one};
use crate::sections::snapshots::{NO_SNAPSHOT, Snapshots};
use crate::shadow::record::{LockBits, LockCounts};
use anyorder_order::{ChainId, SharedClock};

pub(crate) use crate::sections::locksets::NO_LOCKSET;

/// One critical section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) slot: ChainId,
    /// The lane's epoch at the acquire.
    pub(crate) acquired: u32,
    /// The lane's clock at the release, except its own entry, which is `released`.
    snapshot: u32,
    /// The moment of the lane at the acquire.
    pub(crate) began: u32,
    /// The moment of the lane at the release; 0 while the section is open.
    pub(crate) ended: u32,
    pub(crate) lane: u32,
    pub(crate) shared: bool,
    /// Whether the lane had the same slot at the release as at the acquire.
    pub(crate) keeps_slot: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct OfLane {
    pub(super) held: HeldLocks,
    pub(super) lockset: u32,
    /// Locksets of the first locks held: the number of their places, and the set, with a reference.
    /// Ascending. Of more than a few locks, they may list sections that have ended.
    pub(super) made: Vec<(u32, u32)>,
    /// Views of those that list sections that have ended, likewise.
    pub(super) views: Vec<(u32, u32)>,
    locks: LockCounts,
    /// The number of sections begun and ended.
    pub(super) moment: u32,
}

/// How often an analysis has used what makes many locks held at once cheap. For tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LocksetUses {
    /// The views made: sets of which some sections had ended below others.
    pub views: u64,
    /// The pairs under common locks for which the first and the last section of a set stood.
    pub pairs_of_ends: u64,
    /// Those of them whose two ends were different sections.
    pub pairs_of_two_ends: u64,
    /// The accesses at which two sets with two ends each needed all of their sections.
    pub crossing_sets: u64,
}

/// All open or referenced sections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    sections: Vec<Section>,
    /// For each section, the lane's epoch at the release; 0 while it is open. It is stored
    /// separately, like the reference counts, because most look-ups need only one of these and
    /// there are many sections.
    released: Vec<u32>,
    pub(super) references: Vec<u32>,
    free: Vec<u32>,
    pub(super) locksets: Locksets,
    snapshots: Snapshots,
    pub(super) lanes: Vec<OfLane>,
    /// A reused list.
    dropped: Vec<u32>,
    /// The most locks of a lane that are searched without an index, if a test has changed it.
    shallow: Option<usize>,
    pub(crate) uses: LocksetUses,
    /// The number of releases of locks that were not held.
    pub(crate) strays: u64,
}

impl Sections {
    /// Lets sets of more than some sections have a parent.
    pub(crate) fn nest_above(&mut self, sections: usize) {
        self.locksets.flat = sections.max(2);
        self.shallow = Some(sections);
    }

    /// Makes room for lane numbers below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        if self.lanes.len() < count {
            let held = self.shallow.map_or_else(HeldLocks::default, HeldLocks::index_above);
            let new = OfLane { held, ..OfLane::default() };
            self.lanes.resize(count, new);
            self.snapshots.grow(count);
        }
    }

    /// Records that a lane acquires a lock. A repeated acquire only raises a count: the first one
    /// decides whether the section is shared.
    pub(crate) fn acquire(&mut self, lanes: &Lanes, lane: LaneId, lock: u32, shared: bool) {
        let held = &mut self.lanes[lane].held;
        if let Some(place) = held.place(lock) {
            let held = held.at(place);
            held.depth = held.depth.saturating_add(1);
            return;
        }
        let of_lane = lanes.get(lane);
        let (slot, acquired) = (of_lane.slot, of_lane.now);
        let of_sections = &mut self.lanes[lane];
        of_sections.moment = of_sections.moment.saturating_add(1);
        let new = Section {
            lock,
            slot,
            acquired,
            snapshot: NO_SNAPSHOT,
            began: of_sections.moment,
            ended: 0,
            lane: lane as u32,
            shared,
            keeps_slot: false,
        };
        let section = match self.free.pop() {
            Some(section) => {
                self.sections[section as usize] = new;
                self.released[section as usize] = 0;
                self.references[section as usize] = 1;
                section
            }
            None => {
                self.sections.push(new);
                self.released.push(0);
                self.references.push(1);
                self.sections.len() as u32 - 1
            }
        };
        let of_lane = &mut self.lanes[lane];
        let before = of_lane.held.count();
        of_lane.held.push(Held { lock, shared, section, depth: 1 });
        of_lane.locks.add(lock);
        // The lane itself holds a reference to the section.
        of_lane.lockset = if before == 0 { of_one(section) } else { UNMADE };
        if before < self.locksets.flat && !of_lane.made.is_empty() {
            self.drop_made(lane, 0);
        }
    }

    /// Returns whether a release of a lock would end a section.
    #[inline]
    pub(crate) fn ends(&self, lane: LaneId, lock: u32) -> bool {
        self.held(lane).get(lock).is_some_and(|held| held.depth == 1)
    }

    /// Records that a lane releases a lock. Returns whether that ended a section.
    pub(crate) fn release(&mut self, lanes: &mut Lanes, lane: LaneId, lock: u32) -> bool {
        let of_lane = &mut self.lanes[lane];
        let Some(place) = of_lane.held.place(lock) else {
            self.strays += 1;
            return false;
        };
        let held = of_lane.held.at(place);
        held.depth -= 1;
        if held.depth > 0 {
            return false;
        }
        let section = held.section;
        of_lane.held.remove(place);
        of_lane.locks.remove(lock);
        of_lane.moment = of_lane.moment.saturating_add(1);
        let ended = of_lane.moment;
        self.drop_after_release(lane, place);
        self.after_release(lane);
        let of_lane = lanes.get(lane);
        let released = &mut self.sections[section as usize];
        (released.keeps_slot, released.ended) = (released.slot == of_lane.slot, ended);
        self.released[section as usize] = of_lane.now;
        if self.references[section as usize] > 1 {
            self.sections[section as usize].snapshot = self.snapshots.take(lanes, lane);
            lanes.advance(lane);
        }
        self.drop_section(section);
        true
    }

    /// Adds a reference to a lockset.
    #[inline]
    pub(crate) fn keep_lockset(&mut self, lockset: u32) {
        match as_one(lockset) {
            Some(section) => self.keep_section(section),
            None if lockset == NO_LOCKSET => {}
            None => self.locksets.keep(lockset),
        }
    }

    /// Drops a reference to a lockset.
    #[inline]
    pub(crate) fn drop_lockset(&mut self, lockset: u32) {
        match as_one(lockset) {
            Some(section) => self.drop_section(section),
            None => {
                if is_counted(lockset) && self.locksets.drop(lockset) {
                    self.drop_members(lockset);
                }
            }
        }
    }

    /// Frees a set without references, and then each of its parents to which it was the last one.
    #[cold]
    fn drop_members(&mut self, mut lockset: u32) {
        let mut dropped = std::mem::take(&mut self.dropped);
        loop {
            let parent = self.locksets.free(lockset, &mut dropped);
            for section in dropped.drain(..) {
                self.drop_section(section);
            }
            if parent == NO_LOCKSET || !self.locksets.drop(parent) {
                break;
            }
            lockset = parent;
        }
        self.dropped = dropped;
    }

    /// Adds a reference to a section.
    #[inline]
    pub(crate) fn keep_section(&mut self, section: u32) {
        self.references[section as usize] += 1;
    }

    /// Drops a reference to a section.
    #[inline]
    pub(crate) fn drop_section(&mut self, section: u32) {
        let references = &mut self.references[section as usize];
        *references -= 1;
        if *references == 0 {
            self.snapshots.drop(self.sections[section as usize].snapshot);
            self.free.push(section);
        }
    }

    /// Returns a section.
    #[inline]
    pub(crate) fn section(&self, section: u32) -> &Section {
        &self.sections[section as usize]
    }

    /// Returns the lane's epoch at the release of a section, 0 while it is open.
    #[inline]
    pub(crate) fn released(&self, section: u32) -> u32 {
        self.released[section as usize]
    }

    /// Prefetches a section, if it exists.
    #[inline]
    pub(crate) fn touch(&self, section: u32) -> u32 {
        self.released.get(section as usize).copied().unwrap_or(0)
    }

    /// Returns the entry of a slot in the release clock of a section; 0 if the section is open.
    #[inline]
    pub(crate) fn known_at_release(&self, section: u32, slot: ChainId) -> u32 {
        let s = self.section(section);
        match s.snapshot {
            _ if s.slot == slot => self.released(section),
            NO_SNAPSHOT => 0,
            snapshot => self.snapshots.clock(snapshot).get(slot),
        }
    }

    /// Joins the release clock of a section into a lane.
    pub(crate) fn learn(&self, lanes: &mut Lanes, lane: LaneId, section: u32) {
        let s = self.section(section);
        let known = lanes.get(lane).clock.get(s.slot);
        let released = self.released(section);
        if released <= known || s.snapshot == NO_SNAPSHOT {
            return;
        }
        let clock = self.snapshots.clock(s.snapshot);
        // A clock that knows the snapshot's release knows all of the snapshot.
        let clock = if clock.get(s.slot) <= known { None } else { Some(clock) };
        lanes.learn(lane, clock, (s.slot, released));
    }

    /// Returns whether a section of `slot` has been released and a clock knows the release.
    #[inline]
    pub(crate) fn is_known(&self, section: u32, slot: ChainId, clock: &SharedClock) -> bool {
        let released = self.released(section);
        released != 0 && released <= clock.get(slot)
    }

    /// Returns the number of sections that a lane has begun and ended.
    #[inline]
    pub(crate) fn moment(&self, lane: LaneId) -> u32 {
        self.lanes[lane].moment
    }

    /// Returns the number of sections of a lockset.
    #[inline]
    pub(crate) fn count(&self, lockset: u32) -> usize {
        self.locksets.count(lockset)
    }

    /// Returns the sections of a lockset.
    #[inline]
    pub(crate) fn of_lockset(&self, lockset: u32) -> impl Iterator<Item = u32> {
        let view = self.locksets.view(lockset);
        let is_in = move |section: &u32| {
            view.is_none_or(|moment| {
                let ended = self.sections[*section as usize].ended;
                ended == 0 || ended > moment
            })
        };
        self.locksets.members(lockset).filter(is_in)
    }

    /// Returns the bits of the locks that a lane holds.
    #[inline]
    pub(crate) fn locks(&self, lane: LaneId) -> LockBits {
        self.lanes[lane].locks.bits()
    }

    /// Returns the locks that a lane holds.
    #[inline]
    pub(crate) fn held(&self, lane: LaneId) -> &HeldLocks {
        &self.lanes[lane].held
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.sections.capacity() * (size_of::<Section>() + 8)
            + self.locksets.memory_bytes()
            + self.snapshots.memory_bytes()
    }
}
