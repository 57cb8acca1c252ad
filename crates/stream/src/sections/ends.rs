//! The first and the last section of a lockset: the one that began first, and the one that ended
//! last.
//!
//! **Idea.** Once all sections of a set have ended, the clock at the last release knows all other
//! releases, and the first acquire is before all other acquires. So where a lane holds the locks of
//! both, the two stand for all sections that it has in common with the set. One section is both
//! where sections are nested.
//!
//! **Two sets of one lane that share a section** share an end: let `A` be the earlier one. A
//! section of both began before `A`'s access and ended after `B`'s. `A`'s last section ended no
//! sooner, so it is in `B`; `B`'s first section began no later, so it is in `A`.
//!
//! **Cost.** Each set notes its last section once all have ended, and the sets of a lane share
//! parents: constant time, amortised, but for sets of which some sections stay open below others.

use crate::sections::locksets::{LastEnded, NO_LOCKSET, as_one};
use crate::sections::table::Sections;

/// The first and the last section of a lockset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    /// The section that began first.
    pub(crate) first: u32,
    /// The section that ended last.
    pub(crate) last: u32,
}

impl Ends {
    /// Returns whether one section encloses all others.
    #[inline]
    pub(crate) const fn is_one(self) -> bool {
        self.first == self.last
    }
}

impl Sections {
    /// Returns the ends of a lockset of many sections, if all have ended and their epochs can be
    /// compared.
    #[inline]
    pub(crate) fn ends_of(&self, lockset: u32) -> Option<Ends> {
        if self.locksets.count(lockset) <= self.locksets.flat {
            return None;
        }
        let first = self.locksets.outer(lockset);
        if self.released(first) == 0 {
            return None;
        }
        let last = self.last_ended(self.locksets.viewed(lockset))?;
        Some(Ends { first, last })
    }

    /// Returns the section of a set that ended last, if all have ended.
    #[inline]
    fn last_ended(&self, set: u32) -> Option<u32> {
        match self.locksets.last_ended(set) {
            LastEnded::Section(last) => Some(last),
            LastEnded::Mixed => None,
            LastEnded::Open(section) if self.released(section) == 0 => None,
            LastEnded::Open(_) | LastEnded::Unknown => self.find_last_ended(set),
        }
    }

    #[cold]
    fn find_last_ended(&self, set: u32) -> Option<u32> {
        // The sets up to one that has noted it, or to the last one.
        let (mut unknown, mut at) = (Vec::new(), set);
        let mut last = loop {
            if at == NO_LOCKSET {
                break LastEnded::Unknown;
            }
            let noted = self.locksets.last_ended(at);
            if matches!(noted, LastEnded::Section(_) | LastEnded::Mixed) {
                break noted;
            }
            let (parent, sections) = self.locksets.parts(at);
            if let Some(open) = sections.iter().find(|section| self.released(**section) == 0) {
                self.locksets.note_last_ended(set, LastEnded::Open(*open));
                return None;
            }
            unknown.push(at);
            at = parent;
        };
        for set in unknown.into_iter().rev() {
            let (_, sections) = self.locksets.parts(set);
            last = sections.iter().fold(last, |last, section| self.later_ended(last, *section));
            self.locksets.note_last_ended(set, last);
        }
        if let LastEnded::Section(last) = last { Some(last) } else { None }
    }

    fn later_ended(&self, last: LastEnded, section: u32) -> LastEnded {
        let new = self.section(section);
        match last {
            _ if !new.keeps_slot => LastEnded::Mixed,
            LastEnded::Section(last) => {
                let of_last = self.section(last);
                if of_last.slot != new.slot {
                    LastEnded::Mixed
                } else if of_last.ended < new.ended {
                    LastEnded::Section(section)
                } else {
                    LastEnded::Section(last)
                }
            }
            LastEnded::Mixed => LastEnded::Mixed,
            LastEnded::Unknown | LastEnded::Open(_) => LastEnded::Section(section),
        }
    }

    /// Returns whether a lockset contains a section that some record or pair names. Constant time:
    /// it compares when the two were made.
    #[inline]
    pub(crate) fn contains(&self, lockset: u32, section: u32) -> bool {
        if lockset == NO_LOCKSET {
            return false;
        }
        if let Some(one) = as_one(lockset) {
            return one == section;
        }
        let (one, inner) = (self.section(section), self.section(self.locksets.inner(lockset)));
        one.lane == inner.lane
            && one.began <= inner.began
            && (one.ended == 0 || one.ended > self.locksets.made(lockset))
    }

    /// Returns the lane of the accesses in a lockset that is not empty.
    #[inline]
    pub(crate) fn lane_of(&self, lockset: u32) -> u32 {
        let section = as_one(lockset).unwrap_or_else(|| self.locksets.inner(lockset));
        self.section(section).lane
    }
}
