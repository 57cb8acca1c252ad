//! Pairs under a common lock that are still open: candidates for non-racy order violations.
//!
//! **Problem.** Two conflicting actions `a < b` lie in sections `A(m)`, `B(m)` of a common lock.
//! The relation orders them by the edge `release A(m) -> b` that the pair itself creates. They can
//! be reversed only if `B` as a whole can come before `A`. So, without the pair's own edges, the
//! acquire of `A(m)` must not be ordered before the release of `B(m)`, for every common `m`.
//!
//! **Definition computed.** The pair is dropped iff, for a common lock `m`, there is an edge `g ->
//! f` that is not an own edge and satisfies these conditions: it leads into the thread of `b`, `f`
//! is no later than the release of `B(m)`, and `acquire A(m)` is at or before `g` in the full
//! relation. An edge from the release of one of the sections `A` to an access in the thread of `b`
//! is own if that access is at or after `b` and to its object (or memory that overlaps it), unless
//! it communicates (COMM) with an action in that section.
//!
//! **Idea.** The lane learns the clocks of such edges one at a time. Each clock is compared with
//! the acquire's epoch. A pair costs one comparison for each clock learnt while its second section
//! is open.
//!
//! **Cost.** Opening a pair takes time linear in its common locks; where the first and the last
//! section answer for all (see `ends.rs`), constant time, and the other locks are only listed when
//! one of them is released or the same object is accessed again. A release, and each clock that is
//! learnt, costs one look-up for each open pair of the lane, of which there are at most `open_max`.
//!
//! **Deviation** from Algorithm 2 of the thesis, which compares the access itself with a clock that
//! contains the pair's own edge.

use crate::relations::lanes::LaneId;
use crate::report::Violation;
use crate::sections::ends::Ends;
use crate::sections::locksets::NO_LOCKSET;
use crate::sections::table::Sections;
use anyorder_order::ChainId;

/// From this number on, common locks are found by bisection.
const MANY: usize = 16;

/// A common lock of a pair, while the second section is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    lock: u32,
    /// The first section.
    section: u32,
    /// The epoch of its acquire.
    acquired: u32,
    /// Whether the second section is still open.
    open: bool,
}

impl Common {
    /// Builds the common lock of a first section, with an open second one.
    pub(crate) fn of(sections: &Sections, section: u32) -> Common {
        let s = sections.section(section);
        Common { lock: s.lock, section, acquired: s.acquired, open: true }
    }
}

/// The common locks of a pair.
#[derive(Clone, Debug)]
pub(crate) struct CommonLocks {
    /// By the acquires of the first sections, the earliest first. If `unlisted` is a lockset, only
    /// the ends.
    list: Vec<Common>,
    /// The first place of the list that is open.
    front: usize,
    open_count: usize,
    /// The places of the list by lock, if there are many.
    by_lock: Vec<u32>,
    /// The lockset of the first action, and the moment of the lane at the second one, as long as
    /// not all common locks are listed. Then the lane has released no lock since.
    unlisted: (u32, u32),
    /// The ends of the lockset of the first action, if both are common.
    ends: Option<Ends>,
}

impl CommonLocks {
    /// Creates the list of all common locks of a pair.
    pub(crate) fn all(mut list: Vec<Common>) -> CommonLocks {
        list.sort_by_key(|common| common.acquired);
        let mut by_lock = Vec::new();
        if list.len() >= MANY {
            by_lock.extend(0..list.len() as u32);
            by_lock.sort_unstable_by_key(|place| list[*place as usize].lock);
        }
        let open_count = list.len();
        CommonLocks { list, front: 0, open_count, by_lock, unlisted: (NO_LOCKSET, 0), ends: None }
    }

    /// Creates the list for a lockset whose ends are common to a lane now.
    pub(crate) fn between(
        sections: &Sections,
        lane: LaneId,
        (lockset, ends): (u32, Ends),
    ) -> CommonLocks {
        let mut list = vec![Common::of(sections, ends.first)];
        list.extend((!ends.is_one()).then(|| Common::of(sections, ends.last)));
        let unlisted = (lockset, sections.moment(lane));
        CommonLocks { unlisted, ends: Some(ends), ..CommonLocks::all(list) }
    }

    fn is_unlisted(&self) -> bool {
        self.unlisted.0 != NO_LOCKSET
    }

    fn keep(&self, sections: &mut Sections) {
        self.list.iter().for_each(|common| sections.keep_section(common.section));
        sections.keep_lockset(self.unlisted.0);
    }

    fn drop(&self, sections: &mut Sections) {
        self.list.iter().for_each(|common| sections.drop_section(common.section));
        sections.drop_lockset(self.unlisted.0);
    }

    /// Lists all common locks. Must be called before the lane releases the next lock.
    fn list_all(&mut self, sections: &mut Sections, lane: LaneId) {
        let (lockset, moment) = self.unlisted;
        if lockset == NO_LOCKSET {
            return;
        }
        let is_common = |section: &u32| sections.is_excluded_since(lane, *section, moment);
        let of_first = sections.of_lockset(lockset).filter(is_common);
        let mut all = CommonLocks::all(of_first.map(|s| Common::of(sections, s)).collect());
        all.ends = self.ends;
        all.keep(sections);
        self.drop(sections);
        *self = all;
    }

    fn place(&self, lock: u32) -> Option<usize> {
        if self.by_lock.is_empty() {
            return self.list.iter().position(|common| common.lock == lock);
        }
        let at = self.by_lock.binary_search_by_key(&lock, |place| self.list[*place as usize].lock);
        at.ok().map(|at| self.by_lock[at] as usize)
    }

    /// Records that the lane has released a lock. All locks must be listed. Returns whether some
    /// second section is still open.
    fn close(&mut self, lock: u32) -> bool {
        debug_assert!(!self.is_unlisted(), "listed before the release");
        if let Some(place) = self.place(lock)
            && std::mem::take(&mut self.list[place].open)
        {
            self.open_count -= 1;
            while self.list.get(self.front).is_some_and(|common| !common.open) {
                self.front += 1;
            }
        }
        self.open_count > 0
    }

    /// Returns the epoch of the first acquire whose second section is open.
    #[inline]
    fn first_open(&self) -> Option<u32> {
        self.list.get(self.front).map(|common| common.acquired)
    }
}

/// An open pair.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) violation: Violation,
    /// The object of the second action.
    pub(crate) cell: usize,
    /// The slot of the first action.
    pub(crate) slot: ChainId,
    /// The first action's epoch, for the printed form of the algorithm.
    pub(crate) count: u32,
    pub(crate) common: CommonLocks,
}

impl Candidate {
    /// Returns whether a clock with this entry for the first action's slot orders a first section
    /// whose second section is open.
    #[inline]
    pub(crate) fn is_ordered_by(&self, known: u32) -> bool {
        self.common.first_open().is_some_and(|acquired| acquired <= known)
    }

    /// Returns whether a section is one of the pair's first sections. All common locks must be
    /// listed, unless the section is of another slot.
    #[inline]
    pub(crate) fn has(&self, sections: &Sections, section: u32) -> bool {
        let lock = sections.section(section).lock;
        self.common.place(lock).is_some_and(|place| self.common.list[place].section == section)
    }

    /// Returns whether the pair has a lock in common.
    pub(crate) fn has_lock(&self, lock: u32) -> bool {
        self.common.place(lock).is_some()
    }

    /// Returns whether one of the sections of a lockset is a first section of the pair. Constant
    /// time if the pair has ends, else linear in the smaller number of sections.
    pub(crate) fn has_any(&self, sections: &Sections, lockset: u32) -> bool {
        let Some(first) = self.common.list.first() else { return false };
        if lockset == NO_LOCKSET
            || sections.lane_of(lockset) != sections.section(first.section).lane
        {
            return false;
        }
        if let Some(ends) = self.common.ends {
            // Two sets of one lane that share a section share an end of the one that was released.
            return sections.contains(lockset, ends.first) || sections.contains(lockset, ends.last);
        }
        let list = &self.common.list;
        if list.len() <= sections.count(lockset) {
            return list.iter().any(|common| sections.contains(lockset, common.section));
        }
        sections.of_lockset(lockset).any(|section| self.has(sections, section))
    }

    /// Returns whether a section of a slot is a first section of the pair of a lane.
    pub(crate) fn has_one(
        &self,
        sections: &Sections,
        lane: LaneId,
        (slot, section): (ChainId, u32),
    ) -> bool {
        if !self.common.is_unlisted() {
            return self.has(sections, section);
        }
        self.slot == slot && self.has_unlisted(sections, lane, section)
    }

    fn has_unlisted(&self, sections: &Sections, lane: LaneId, section: u32) -> bool {
        let (of_first, moment) = self.common.unlisted;
        sections.contains(of_first, section) && sections.is_excluded_since(lane, section, moment)
    }
}

/// The open pairs of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    pub(crate) pairs: Vec<Candidate>,
    /// Whether some pair has common locks that are not listed.
    has_unlisted: bool,
}

impl Open {
    /// Opens a pair.
    pub(crate) fn push(&mut self, sections: &mut Sections, candidate: Candidate) {
        candidate.common.keep(sections);
        self.has_unlisted |= candidate.common.is_unlisted();
        self.pairs.push(candidate);
    }

    /// Lists the common locks of all pairs of a lane for which `wanted` returns true.
    pub(crate) fn list_all(
        &mut self,
        sections: &mut Sections,
        lane: LaneId,
        wanted: impl Fn(&Candidate) -> bool,
    ) {
        if !self.has_unlisted {
            return;
        }
        for pair in self.pairs.iter_mut().filter(|pair| pair.common.is_unlisted() && wanted(pair)) {
            pair.common.list_all(sections, lane);
        }
        self.has_unlisted = self.pairs.iter().any(|pair| pair.common.is_unlisted());
    }

    /// Drops the pairs for which `is_ordered` returns true. Returns their number.
    #[inline]
    pub(crate) fn drop_if(
        &mut self,
        sections: &mut Sections,
        mut is_ordered: impl FnMut(&Candidate, &Sections) -> bool,
    ) -> u64 {
        let mut dropped = 0;
        self.pairs.retain(|candidate| {
            let ordered = is_ordered(candidate, sections);
            if ordered {
                candidate.common.drop(sections);
                dropped += 1;
            }
            !ordered
        });
        dropped
    }

    /// Records that the lane has released `lock`. Passes the pairs without a remaining open section
    /// to `decided`. All common locks must be listed.
    pub(crate) fn released(
        &mut self,
        sections: &mut Sections,
        lock: u32,
        mut decided: impl FnMut(&Candidate),
    ) {
        self.pairs.retain_mut(|candidate| {
            let open = candidate.common.close(lock);
            if !open {
                decided(candidate);
                candidate.common.drop(sections);
            }
            open
        });
    }
}
