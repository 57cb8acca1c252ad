//! Which sections of an earlier access matter to a lane: those of locks that it holds, too.
//!
//! **Cost.** Linear in the smaller set of locks in the worst case. Mostly the first and the last
//! section of a set answer for all of them in constant time (`ends.rs`).

use crate::relations::lanes::{LaneId, Lanes};
use crate::sections::ends::Ends;
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

    /// Returns whether a lane holds a lock that excludes a section.
    #[inline]
    pub(crate) fn is_excluded(&self, lane: LaneId, section: u32) -> bool {
        let s = self.section(section);
        self.held(lane).get(s.lock).is_some_and(|held| held.excludes(s.lock, s.shared))
    }

    /// Returns whether a lane has held a lock that excludes a section since a moment.
    #[inline]
    pub(crate) fn is_excluded_since(&self, lane: LaneId, section: u32, moment: u32) -> bool {
        let s = self.section(section);
        self.held(lane).get(s.lock).is_some_and(|held| {
            held.excludes(s.lock, s.shared) && self.section(held.section).began <= moment
        })
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

    /// Returns the first and the last of the sections that [`common`](Self::common) would find, if
    /// they are known without looking at all.
    #[inline]
    pub(crate) fn common_ends(&self, lockset: u32, lane: LaneId) -> Option<Ends> {
        let are_common = |ends: &Ends| {
            self.is_excluded(lane, ends.first)
                && (ends.is_one() || self.is_excluded(lane, ends.last))
        };
        self.ends_of(lockset).filter(are_common)
    }

    /// Returns whether all sections of a lockset have been released and a clock knows that.
    #[inline]
    pub(crate) fn are_known(&self, lockset: u32, clock: &SharedClock) -> bool {
        if let Some(Ends { last, .. }) = self.ends_of(lockset) {
            return self.is_known(last, self.section(last).slot, clock);
        }
        self.of_lockset(lockset)
            .all(|section| self.is_known(section, self.section(section).slot, clock))
    }

    /// Returns whether a lane holds a lock that excludes a section of a lockset.
    #[inline]
    pub(crate) fn has_common(&self, lockset: u32, lane: LaneId) -> bool {
        let excludes =
            |ends: Ends| self.is_excluded(lane, ends.first) || self.is_excluded(lane, ends.last);
        self.ends_of(lockset).is_some_and(excludes)
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
            let knows = |ends: Ends| {
                let slot = self.section(ends.last).slot;
                slot == me.slot || self.is_known(ends.last, slot, &me.clock)
            };
            if self.locksets.digest(own) == self.locksets.digest(lockset)
                && self.ends_of(lockset).is_some_and(knows)
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
