//! Critical sections: the open ones, and the release clocks of the sections that some record still
//! references.
//!
//! A section is the part of a lane between the outermost acquire of a lock and the matching
//! release. Sections are reference-counted, so memory depends on the shadow state and not on the
//! length of the trace.
//!
//! **Cost.** An acquire and a release take constant time, besides the clock of a lane that has
//! learnt something. The first access after an acquire builds one set for each lock acquired since
//! the last access; all deeper accesses share it. If a lock is released below others, the next
//! access builds the sets of the locks above it again.

use crate::relations::lanes::{LaneId, Lanes};
use crate::sections::held::{Held, HeldLocks};
use crate::sections::locksets::{
    Digest, Locksets, Members, UNMADE, as_one, digest, is_counted, of_one,
};
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
    pub(crate) shared: bool,
    /// Whether it was released after all sections that began in it.
    pub(crate) encloses: bool,
}

#[derive(Clone, Debug, Default)]
struct OfLane {
    held: HeldLocks,
    lockset: u32,
    /// Locksets of the first locks held: the number of their places, and the set, with a reference.
    /// Ascending.
    made: Vec<(u32, u32)>,
    locks: LockCounts,
}

/// All open or referenced sections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    sections: Vec<Section>,
    /// For each section, the lane's epoch at the release; 0 while it is open. It is stored
    /// separately, like the reference counts, because most look-ups need only one of these and
    /// there are many sections.
    released: Vec<u32>,
    references: Vec<u32>,
    free: Vec<u32>,
    pub(super) locksets: Locksets,
    snapshots: Snapshots,
    lanes: Vec<OfLane>,
    /// A reused list.
    dropped: Vec<u32>,
    /// The number of releases of locks that were not held.
    pub(crate) strays: u64,
}

impl Sections {
    /// Lets sets of more than some sections have a parent.
    pub(crate) fn nest_above(&mut self, sections: usize) {
        self.locksets.flat = sections.max(2);
    }

    /// Makes room for lane numbers below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        if self.lanes.len() < count {
            self.lanes.resize_with(count, OfLane::default);
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
        let snapshot = NO_SNAPSHOT;
        let new = Section { lock, slot, acquired, snapshot, shared, encloses: false };
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
        let is_last = of_lane.held.remove(place);
        of_lane.locks.remove(lock);
        self.drop_made(lane, place);
        self.after_release(lane);
        let of_lane = lanes.get(lane);
        let released = &mut self.sections[section as usize];
        released.encloses = is_last && released.slot == of_lane.slot;
        self.released[section as usize] = of_lane.now;
        if self.references[section as usize] > 1 {
            self.sections[section as usize].snapshot = self.snapshots.take(lanes, lane);
            lanes.advance(lane);
        }
        self.drop_section(section);
        true
    }

    /// Drops the sets that a lane has made for more than some places.
    fn drop_made(&mut self, lane: LaneId, places: usize) {
        while let Some((_, set)) =
            self.lanes[lane].made.pop_if(|(covered, _)| *covered as usize > places)
        {
            self.drop_lockset(set);
        }
    }

    /// Finds the lockset of a lane that has released a lock.
    fn after_release(&mut self, lane: LaneId) {
        let OfLane { held, made, lockset, .. } = &mut self.lanes[lane];
        if held.wants_room() {
            held.remove_gaps();
            for (covered, set) in made.iter_mut() {
                *covered = self.locksets.count(*set) as u32;
            }
        }
        let places = held.places_count() as u32;
        *lockset = match (held.count(), made.last()) {
            (0, _) => NO_LOCKSET,
            (1, _) => held.iter().next().map_or(NO_LOCKSET, |held| of_one(held.section)),
            (_, Some((covered, set))) if *covered == places => *set,
            _ => UNMADE,
        };
    }

    /// Returns the lockset of a lane's next access.
    #[inline]
    pub(crate) fn lockset(&mut self, lane: LaneId) -> u32 {
        let lockset = self.lanes[lane].lockset;
        if lockset == UNMADE { self.make_lockset(lane) } else { lockset }
    }

    fn make_lockset(&mut self, lane: LaneId) -> u32 {
        if self.held(lane).count() > self.locksets.flat {
            return self.make_deep(lane);
        }
        let OfLane { held, made, lockset, .. } = &mut self.lanes[lane];
        let set = self.locksets.make((NO_LOCKSET, 0), held.iter().map(|held| held.section));
        for held in held.iter() {
            self.references[held.section as usize] += 1;
        }
        made.push((held.places_count() as u32, set));
        *lockset = set;
        set
    }

    /// Makes the lockset of many locks, and those of all smaller numbers of them, down to a set
    /// without a parent.
    fn make_deep(&mut self, lane: LaneId) -> u32 {
        let flat = self.locksets.flat;
        let OfLane { held, made, lockset, .. } = &mut self.lanes[lane];
        if made.is_empty() {
            let root = held.iter().take(flat).map(|held| held.section);
            let set = self.locksets.make((NO_LOCKSET, 0), root);
            let mut covered = 0;
            for (place, held) in held.placed_from(0).take(flat) {
                self.references[held.section as usize] += 1;
                covered = place as u32 + 1;
            }
            made.push((covered, set));
        }
        let (from, mut set) = made.last().copied().unwrap_or((0, NO_LOCKSET));
        let mut digest_of = match self.locksets.count(set) {
            count if count <= flat => {
                self.locksets.members(set).fold(0 as Digest, |before, section| {
                    let section = &self.sections[section as usize];
                    digest(before, section.lock, section.shared)
                })
            }
            _ => self.locksets.digest(set),
        };
        for (place, held) in held.placed_from(from as usize) {
            digest_of = digest(digest_of, held.lock, held.shared);
            // The new set refers to its parent.
            self.locksets.keep(set);
            self.references[held.section as usize] += 1;
            set = self.locksets.make((set, digest_of), std::iter::once(held.section));
            made.push((place as u32 + 1, set));
        }
        *lockset = set;
        set
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

    /// Returns the sections of a lockset.
    #[inline]
    pub(crate) fn of_lockset(&self, lockset: u32) -> Members<'_> {
        self.locksets.members(lockset)
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

    /// Returns the set of the first `count` locks that a lane holds, if it was made.
    pub(super) fn made(&self, lane: LaneId, count: usize) -> Option<u32> {
        let made = &self.lanes[lane].made;
        let at = made.binary_search_by_key(&count, |(_, set)| self.locksets.count(*set)).ok()?;
        Some(made[at].1)
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.sections.capacity() * (size_of::<Section>() + 8)
            + self.locksets.memory_bytes()
            + self.snapshots.memory_bytes()
    }
}
