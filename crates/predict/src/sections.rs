//! Critical sections: which are open, and the release clocks of those that some record still names.
//!
//! A section is all that a lane does between the outermost acquire of a lock and the matching release. A *hold set* is
//! the list of sections that were open at some access; accesses share it. Sections and hold sets are counted
//! references, so that memory follows the shadow state and not the length of the trace.

use crate::lanes::{LaneId, Lanes};
use crate::shadow::LockBits;
use anyorder_order::{ChainId, Clock};

/// The hold set of an access outside all critical sections.
pub(crate) const NO_HOLD: u32 = 0;
/// Stands for a hold set that has not been made since the locks held changed.
const UNMADE: u32 = u32::MAX;

/// One critical section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) slot: ChainId,
    pub(crate) shared: bool,
    /// The lane's epoch at the acquire.
    pub(crate) acquired: u32,
    /// The lane's epoch at the release; 0 while the section is open.
    pub(crate) released: u32,
    /// What the lane knew at the release.
    pub(crate) clock: Clock,
    references: u32,
}

impl Section {
    const fn unused() -> Section {
        Section {
            lock: 0,
            slot: ChainId(0),
            shared: false,
            acquired: 0,
            released: 0,
            clock: Clock::new(),
            references: 0,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct HoldSet {
    /// The sections, if there are few: one look at memory less.
    few: [u32; FEW],
    count: u32,
    references: u32,
    locks: LockBits,
    /// The sections, if there are many.
    many: Vec<u32>,
}

const FEW: usize = 4;

impl HoldSet {
    #[inline]
    fn sections(&self) -> &[u32] {
        self.few.get(..self.count as usize).unwrap_or(&self.many)
    }

    fn set(&mut self, sections: impl ExactSizeIterator<Item = u32>) {
        self.count = sections.len() as u32;
        if sections.len() <= FEW {
            for (place, section) in self.few.iter_mut().zip(sections) {
                *place = section;
            }
        } else {
            self.many.clear();
            self.many.extend(sections);
        }
    }
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
    hold: u32,
}

/// All sections that matter.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    sections: Vec<Section>,
    free_sections: Vec<u32>,
    holds: Vec<HoldSet>,
    free_holds: Vec<u32>,
    lanes: Vec<OfLane>,
    /// Releases of locks that were not held.
    pub(crate) strays: u64,
}

impl Default for Sections {
    fn default() -> Sections {
        Sections {
            sections: Vec::new(),
            free_sections: Vec::new(),
            // The first hold set is the empty one, and stays.
            holds: vec![HoldSet { references: 1, ..HoldSet::default() }],
            free_holds: Vec::new(),
            lanes: Vec::new(),
            strays: 0,
        }
    }
}

impl Sections {
    /// Makes room for lanes below `count`.
    #[inline]
    pub(crate) fn grow(&mut self, count: usize) {
        if self.lanes.len() < count {
            self.lanes.resize_with(count, OfLane::default);
        }
    }

    /// A lane takes a lock. Taking it again only counts: the first acquire says whether the section is shared.
    pub(crate) fn acquire(&mut self, lanes: &Lanes, lane: LaneId, lock: u32, shared: bool) {
        if let Some(held) = self.lanes[lane].held.iter_mut().find(|held| held.lock == lock) {
            held.depth = held.depth.saturating_add(1);
            return;
        }
        let of_lane = lanes.get(lane);
        let section = self.free_sections.pop().unwrap_or_else(|| {
            self.sections.push(Section::unused());
            self.sections.len() as u32 - 1
        });
        let entry = &mut self.sections[section as usize];
        (entry.lock, entry.slot, entry.shared) = (lock, of_lane.slot, shared);
        (entry.acquired, entry.released, entry.references) = (of_lane.now, 0, 1);
        self.lanes[lane].held.push(Held { lock, shared, section, depth: 1 });
        self.change(lane);
    }

    /// A lane gives a lock back; returns whether that ended a section.
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
        let entry = &mut self.sections[section as usize];
        entry.released = lanes.get(lane).now;
        if entry.references > 1 {
            entry.clock.copy_from(&lanes.get(lane).clock);
            lanes.advance(lane);
        }
        self.drop_section(section);
        true
    }

    /// The locks held by a lane have changed.
    fn change(&mut self, lane: LaneId) {
        let of_lane = &mut self.lanes[lane];
        let old = std::mem::replace(
            &mut of_lane.hold,
            if of_lane.held.is_empty() { NO_HOLD } else { UNMADE },
        );
        if old != UNMADE {
            self.drop_hold(old);
        }
    }

    /// Returns the hold set of a lane's next access.
    #[inline]
    pub(crate) fn hold(&mut self, lane: LaneId) -> u32 {
        let hold = self.lanes[lane].hold;
        if hold == UNMADE { self.make_hold(lane) } else { hold }
    }

    fn make_hold(&mut self, lane: LaneId) -> u32 {
        let hold = self.free_holds.pop().unwrap_or_else(|| {
            self.holds.push(HoldSet::default());
            self.holds.len() as u32 - 1
        });
        let set = &mut self.holds[hold as usize];
        set.references = 1;
        set.set(self.lanes[lane].held.iter().map(|held| held.section));
        set.locks = LockBits::default();
        for held in &self.lanes[lane].held {
            set.locks = set.locks.union(LockBits::of(held.lock));
            self.sections[held.section as usize].references += 1;
        }
        self.lanes[lane].hold = hold;
        hold
    }

    /// Notes that one more record names a hold set.
    #[inline]
    pub(crate) fn keep_hold(&mut self, hold: u32) {
        if hold != NO_HOLD {
            self.holds[hold as usize].references += 1;
        }
    }

    /// Notes that one record less names a hold set.
    #[inline]
    pub(crate) fn drop_hold(&mut self, hold: u32) {
        if hold == NO_HOLD {
            return;
        }
        let set = &mut self.holds[hold as usize];
        set.references -= 1;
        if set.references > 0 {
            return;
        }
        for at in 0..set.count as usize {
            let section = self.holds[hold as usize].sections()[at];
            self.drop_section(section);
        }
        self.free_holds.push(hold);
    }

    /// Notes that a section is named once more, outside hold sets.
    pub(crate) fn keep_section(&mut self, section: u32) {
        self.sections[section as usize].references += 1;
    }

    /// Notes that a section is named once less.
    pub(crate) fn drop_section(&mut self, section: u32) {
        let entry = &mut self.sections[section as usize];
        entry.references -= 1;
        if entry.references == 0 {
            self.free_sections.push(section);
        }
    }

    /// Returns a section.
    #[inline]
    pub(crate) fn section(&self, section: u32) -> &Section {
        &self.sections[section as usize]
    }

    /// Returns the sections of a hold set.
    #[inline]
    pub(crate) fn of_hold(&self, hold: u32) -> &[u32] {
        self.holds[hold as usize].sections()
    }

    /// Returns which locks a hold set is of.
    #[inline]
    pub(crate) fn locks(&self, hold: u32) -> LockBits {
        self.holds[hold as usize].locks
    }

    /// Returns the locks that a lane holds.
    #[inline]
    pub(crate) fn held(&self, lane: LaneId) -> &[Held] {
        &self.lanes[lane].held
    }

    /// Adds the closed sections of a hold set whose lock excludes one that a lane holds now to `common`.
    #[inline]
    pub(crate) fn common(&self, hold: u32, lane: LaneId, common: &mut Vec<u32>) {
        for section in self.of_hold(hold) {
            let s = self.section(*section);
            let excludes = |held: &&Held| held.lock == s.lock && !(held.shared && s.shared);
            if s.released != 0 && self.held(lane).iter().any(|held| excludes(&held)) {
                common.push(*section);
            }
        }
    }

    /// Returns whether whatever a later access learns from the sections of `hold`, it learns from those that a lane holds now.
    pub(crate) fn covers(&self, lanes: &Lanes, lane: LaneId, hold: u32) -> bool {
        let me = lanes.get(lane);
        self.of_hold(hold).iter().all(|section| {
            let s = self.section(*section);
            let covers = |held: &&Held| held.lock == s.lock && (!held.shared || s.shared);
            let known =
                s.slot == me.slot || (s.released != 0 && s.released <= me.clock.get(s.slot));
            known && self.held(lane).iter().any(|held| covers(&held))
        })
    }

    /// Returns the number of sections that something names, and of those made at the same time at the most.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.sections.len() - self.free_sections.len(), self.sections.len())
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let section = |s: &Section| size_of::<Section>() + s.clock.memory_bytes();
        let hold = |h: &HoldSet| size_of::<HoldSet>() + 4 * h.many.capacity();
        self.sections.iter().map(section).sum::<usize>()
            + self.holds.iter().map(hold).sum::<usize>()
    }
}
