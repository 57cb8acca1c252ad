//! Critical sections: the open ones, and the release clocks of the sections that some record still
//! references.
//!
//! A section is the part of a lane between the outermost acquire of a lock and the matching
//! release. Sections are reference-counted, so memory depends on the shadow state and not on the
//! length of the trace.

use crate::relations::lanes::{LaneId, Lanes};
use crate::sections::locksets::{Locksets, Members, UNMADE, as_one, of_one};
use crate::sections::snapshots::{NO_SNAPSHOT, Snapshots};
use crate::shadow::record::LockBits;
use anyorder_order::{ChainId, Clock};

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
}

/// A lock that a lane holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    pub(crate) section: u32,
    depth: u32,
}

#[derive(Clone, Debug, Default)]
struct OfLane {
    held: Vec<Held>,
    lockset: u32,
    locks: LockBits,
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
    locksets: Locksets,
    snapshots: Snapshots,
    lanes: Vec<OfLane>,
    /// The number of releases of locks that were not held.
    pub(crate) strays: u64,
}

impl Sections {
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
        if let Some(held) = self.lanes[lane].held.iter_mut().find(|held| held.lock == lock) {
            held.depth = held.depth.saturating_add(1);
            return;
        }
        let of_lane = lanes.get(lane);
        let (slot, acquired) = (of_lane.slot, of_lane.now);
        let new = Section { lock, slot, acquired, snapshot: NO_SNAPSHOT, shared };
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
        self.lanes[lane].held.push(Held { lock, shared, section, depth: 1 });
        self.change(lane);
    }

    /// Records that a lane releases a lock. Returns whether that ended a section.
    pub(crate) fn release(&mut self, lanes: &mut Lanes, lane: LaneId, lock: u32) -> bool {
        let Some(at) = self.lanes[lane].held.iter().position(|held| held.lock == lock) else {
            self.strays += 1;
            return false;
        };
        let held = &mut self.lanes[lane].held[at];
        held.depth -= 1;
        if held.depth > 0 {
            return false;
        }
        let section = held.section;
        self.lanes[lane].held.remove(at);
        self.change(lane);
        self.released[section as usize] = lanes.get(lane).now;
        if self.references[section as usize] > 1 {
            self.sections[section as usize].snapshot = self.snapshots.take(lanes, lane);
            lanes.advance(lane);
        }
        self.drop_section(section);
        true
    }

    /// Handles a change of the locks that a lane holds.
    fn change(&mut self, lane: LaneId) {
        let of_lane = &mut self.lanes[lane];
        let locks = of_lane.held.iter().map(|held| LockBits::of(held.lock));
        of_lane.locks = locks.fold(LockBits::default(), LockBits::union);
        let lockset = match of_lane.held[..] {
            [] => NO_LOCKSET,
            // The lane itself holds a reference to the section.
            [held] => of_one(held.section),
            _ => UNMADE,
        };
        let old = std::mem::replace(&mut of_lane.lockset, lockset);
        if old != UNMADE && as_one(old).is_none() {
            self.drop_lockset(old);
        }
    }

    /// Returns the lockset of a lane's next access.
    #[inline]
    pub(crate) fn lockset(&mut self, lane: LaneId) -> u32 {
        let lockset = self.lanes[lane].lockset;
        if lockset == UNMADE { self.make_lockset(lane) } else { lockset }
    }

    fn make_lockset(&mut self, lane: LaneId) -> u32 {
        let of_lane = &mut self.lanes[lane];
        let lockset = self.locksets.make(of_lane.held.iter().map(|held| held.section));
        for held in &of_lane.held {
            self.references[held.section as usize] += 1;
        }
        of_lane.lockset = lockset;
        lockset
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
            None if lockset == NO_LOCKSET => {}
            None => {
                if self.locksets.drop(lockset) {
                    self.drop_members(lockset);
                }
            }
        }
    }

    #[cold]
    fn drop_members(&mut self, lockset: u32) {
        for at in 0..self.of_lockset(lockset).len() {
            let section = self.of_lockset(lockset)[at];
            self.drop_section(section);
        }
        self.locksets.free(lockset);
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
    pub(crate) fn is_known(&self, section: u32, slot: ChainId, clock: &Clock) -> bool {
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
        self.lanes[lane].locks
    }

    /// Returns the locks that a lane holds.
    #[inline]
    pub(crate) fn held(&self, lane: LaneId) -> &[Held] {
        &self.lanes[lane].held
    }

    /// Adds to `common` the closed sections of a lockset whose lock excludes a lock that the lane
    /// holds now.
    #[inline]
    pub(crate) fn common(&self, lockset: u32, lane: LaneId, common: &mut Vec<u32>) {
        for section in &*self.of_lockset(lockset) {
            let s = self.section(*section);
            let excludes = |held: &Held| held.lock == s.lock && !(held.shared && s.shared);
            if self.released(*section) != 0 && self.held(lane).iter().any(excludes) {
                common.push(*section);
            }
        }
    }

    /// Returns whether the sections that a lane holds now give a later access everything that the
    /// sections of `lockset` would.
    pub(crate) fn covers(&self, lanes: &Lanes, lane: LaneId, lockset: u32) -> bool {
        let me = lanes.get(lane);
        self.of_lockset(lockset).iter().all(|section| {
            let s = self.section(*section);
            let covers = |held: &Held| held.lock == s.lock && (!held.shared || s.shared);
            let known = s.slot == me.slot || self.is_known(*section, s.slot, &me.clock);
            known && self.held(lane).iter().any(covers)
        })
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.sections.capacity() * (size_of::<Section>() + 8)
            + self.locksets.memory_bytes()
            + self.snapshots.memory_bytes()
    }
}
