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
//! **Deviation** from Algorithm 2 of the thesis, which compares the access itself with a clock that
//! contains the pair's own edge.

use crate::report::Violation;
use crate::sections::table::Sections;
use anyorder_order::ChainId;

/// A common lock of a pair, while the second section is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) lock: u32,
    /// The first section.
    pub(crate) section: u32,
    /// The epoch of its acquire.
    pub(crate) acquired: u32,
    /// Whether the second section is still open.
    pub(crate) open: bool,
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
    pub(crate) common: Vec<Common>,
}

impl Candidate {
    /// Returns whether a clock with this entry for the first action's slot orders a first section
    /// whose second section is open.
    #[inline]
    pub(crate) fn is_ordered_by(&self, known: u32) -> bool {
        self.common.iter().any(|common| common.open && common.acquired <= known)
    }

    /// Returns whether a section is one of the pair's first sections.
    #[inline]
    pub(crate) fn has(&self, section: u32) -> bool {
        self.common.iter().any(|common| common.section == section)
    }

    /// Returns whether some of these sections are first sections of the pair.
    pub(crate) fn has_any(&self, sections: &[u32]) -> bool {
        sections.iter().any(|section| self.has(*section))
    }

    fn drop_sections(&self, sections: &mut Sections) {
        for common in &self.common {
            sections.drop_section(common.section);
        }
    }
}

/// The open pairs of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    pub(crate) pairs: Vec<Candidate>,
}

impl Open {
    /// Opens a pair.
    pub(crate) fn push(&mut self, sections: &mut Sections, candidate: Candidate) {
        for common in &candidate.common {
            sections.keep_section(common.section);
        }
        self.pairs.push(candidate);
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
                candidate.drop_sections(sections);
                dropped += 1;
            }
            !ordered
        });
        dropped
    }

    /// Records that the lane has released `lock`. Passes the pairs without a remaining open section
    /// to `decided`.
    pub(crate) fn released(
        &mut self,
        sections: &mut Sections,
        lock: u32,
        mut decided: impl FnMut(&Candidate),
    ) {
        self.pairs.retain_mut(|candidate| {
            for common in &mut candidate.common {
                common.open &= common.lock != lock;
            }
            let open = candidate.common.iter().any(|common| common.open);
            if !open {
                decided(candidate);
                candidate.drop_sections(sections);
            }
            open
        });
    }
}
