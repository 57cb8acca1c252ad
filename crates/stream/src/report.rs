//! The results of an analysis.

use anyorder_trace::{LocationId, SiteId};

/// The object that two actions share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// The memory location of the second action.
    Location(LocationId),
    /// An object of the [`Specification`](crate::Specification), by its number.
    Own(u32),
}

/// The way in which two non-commuting actions could be reversed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ViolationKind {
    /// No edge orders them, and they have no common lock.
    Racy,
    /// They are under a common lock, and no edge orders the two critical sections.
    NonRacy,
}

/// One of the two actions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Side {
    /// The number of the event in the trace, from 0. For a repeated access in one epoch, the number
    /// of the first.
    pub event: u64,
    /// Its source position.
    pub site: SiteId,
}

/// A candidate: two actions that do not commute and that the relation leaves unordered.
///
/// It is not confirmed: neither WDC nor EDC guarantees that a reordering of the trace exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Violation {
    /// Whether the candidate is racy.
    pub kind: ViolationKind,
    /// The object of both actions.
    pub object: Object,
    /// The earlier action in the trace.
    pub first: Side,
    /// The later action in the trace.
    pub second: Side,
}

/// Counts of one analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Events of the trace.
    pub events: u64,
    /// Memory accesses among them.
    pub accesses: u64,
    /// Actions of the specification (not memory accesses).
    pub actions: u64,
    /// Memory accesses and lock operations that the specification hides. No other count includes
    /// them.
    pub hidden: u64,
    /// Acquires of locks.
    pub acquires: u64,
    /// Racy candidates. For each later action, each remembered earlier action counts (at least one
    /// if there is any).
    pub racy: u64,
    /// Actions that are the second of some racy pair; exact.
    pub racy_seconds: u64,
    /// Non-racy candidates that survived to the release of their last common lock.
    pub non_racy: u64,
    /// Pairs under a common lock that another edge orders. They are not candidates.
    pub ordered: u64,
    /// Pairs under a common lock that were skipped because too many were open.
    pub candidates_lost: u64,
    /// Pairs whose second section was not released before the trace ended.
    pub undecided: u64,
    /// Unmatched signals that were dropped.
    pub signals_lost: u64,
    /// Ignored releases of locks that were not held.
    pub stray_releases: u64,
}

/// The result of one analysis.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The candidates, in the order in which they were decided; at most the requested number of
    /// each kind.
    pub violations: Vec<Violation>,
    /// Counts of all candidates, not only of the listed ones.
    pub counts: Counts,
}

impl Report {
    /// Counts a violation, and lists it if there is room. Pairs under a common lock take no room
    /// from others.
    pub(crate) fn add(&mut self, violations_max: usize, violation: Violation) {
        let of_kind = match violation.kind {
            ViolationKind::Racy => &mut self.counts.racy,
            ViolationKind::NonRacy => &mut self.counts.non_racy,
        };
        *of_kind += 1;
        if *of_kind <= violations_max as u64 {
            self.violations.push(violation);
        }
    }
}
