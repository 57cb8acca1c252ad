//! Which sections of an earlier access matter to a lane: those of locks that it holds, too.
//!
//! **Cost.** Linear in the smaller set of locks in the worst case. Sections are mostly nested, and
//! then a section that encloses all others of a set answers for them in constant time: it was
//! acquired before them and released after them.

use crate::relations::lanes::{LaneId, Lanes};
use crate::sections::locksets::NO_LOCKSET;
use crate::sections::table::Sections;
use anyorder_order::SharedClock;

/// The most locks held at an access whose object is indexed by lock.
const INDEXED_LOCKS_MAX: usize = 64;

impl Sections {
    /// Returns whether a lockset has too many sections for an index by lock, which would have an
    /// entry for each.
    #[inline]
    pub(crate) fn is_deep(&self, lockset: u32) -> bool {
        self.locksets.count(lockset) > INDEXED_LOCKS_MAX
    }

    /// Returns the section that encloses all others of a lockset, if the set has many sections and
    /// they were closed from the inside out.
    #[inline]
    fn enclosing(&self, lockset: u32) -> Option<u32> {
        if self.locksets.count(lockset) <= self.locksets.flat {
            return None;
        }
        let outer = self.locksets.outer(lockset);
        (self.section(outer).encloses && self.released(outer) != 0).then_some(outer)
    }

    /// Returns whether a lockset contains a section.
    #[inline]
    pub(crate) fn contains(&self, lockset: u32, section: u32) -> bool {
        lockset != NO_LOCKSET
            && (self.locksets.outer(lockset) == section
                || self.of_lockset(lockset).any(|other| other == section))
    }

    /// Returns whether a lane holds a lock that excludes a section.
    #[inline]
    pub(crate) fn is_excluded(&self, lane: LaneId, section: u32) -> bool {
        let s = self.section(section);
        self.held(lane).get(s.lock).is_some_and(|held| held.excludes(s.lock, s.shared))
    }

    /// Adds to `common` the closed sections of a lockset whose lock excludes a lock that the lane
    /// holds now.
    #[inline]
    pub(crate) fn common(&self, lockset: u32, lane: LaneId, common: &mut Vec<u32>) {
        for section in self.of_lockset(lockset) {
            if self.released(section) != 0 && self.is_excluded(lane, section) {
                common.push(section);
            }
        }
    }

    /// Returns the section that [`common`](Self::common) would find and that encloses all others,
    /// if it is known without looking at all.
    #[inline]
    pub(crate) fn common_enclosing(&self, lockset: u32, lane: LaneId) -> Option<u32> {
        self.enclosing(lockset).filter(|outer| self.is_excluded(lane, *outer))
    }

    /// Returns whether all sections of a lockset have been released and a clock knows that.
    #[inline]
    pub(crate) fn are_known(&self, lockset: u32, clock: &SharedClock) -> bool {
        if let Some(outer) = self.enclosing(lockset) {
            return self.is_known(outer, self.section(outer).slot, clock);
        }
        self.of_lockset(lockset)
            .all(|section| self.is_known(section, self.section(section).slot, clock))
    }

    /// Returns whether a lane holds a lock that excludes a section of a lockset.
    #[inline]
    pub(crate) fn has_common(&self, lockset: u32, lane: LaneId) -> bool {
        self.common_enclosing(lockset, lane).is_some()
            || self.of_lockset(lockset).any(|section| self.is_excluded(lane, section))
    }

    /// Returns whether the sections that a lane holds now give a later access everything that the
    /// sections of `lockset` would.
    pub(crate) fn covers(&self, lanes: &Lanes, lane: LaneId, lockset: u32) -> bool {
        let me = lanes.get(lane);
        let count = self.locksets.count(lockset);
        if count > self.locksets.flat
            && let Some(own) = self.made(lane, count)
        {
            // The lane still holds all locks of the set.
            if own == lockset {
                return true;
            }
            let knows = |outer| {
                let slot = self.section(outer).slot;
                slot == me.slot || self.is_known(outer, slot, &me.clock)
            };
            if self.locksets.digest(own) == self.locksets.digest(lockset)
                && self.enclosing(lockset).is_some_and(knows)
            {
                return true;
            }
        }
        self.of_lockset(lockset).all(|section| {
            let s = self.section(section);
            let known = s.slot == me.slot || self.is_known(section, s.slot, &me.clock);
            known && self.held(lane).get(s.lock).is_some_and(|held| !held.shared || s.shared)
        })
    }
}
