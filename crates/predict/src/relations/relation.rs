//! The relations an [`Engine`](crate::Engine) can compute.

/// The edges of a relation besides the hard order.
pub trait Relation {
    /// The short name of the relation.
    const NAME: &'static str;
    /// Whether each release of a lock is before its next acquires.
    const LOCKS: bool;
    /// Whether the release of a critical section is before a later action in a section of the same
    /// lock that conflicts with an action of the first section.
    const SECTIONS: bool;
}

/// Happens-before: locks order all critical sections that exclude each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hb;

impl Relation for Hb {
    const NAME: &'static str = "hb";
    const LOCKS: bool = true;
    const SECTIONS: bool = false;
}

/// Weak doesn't-commute and, with a specification of more than memory, its extension EDC: locks
/// order critical sections that contain conflicting actions.
#[derive(Clone, Copy, Debug, Default)]
pub struct DoesntCommute;

impl Relation for DoesntCommute {
    const NAME: &'static str = "edc";
    const LOCKS: bool = false;
    const SECTIONS: bool = true;
}
