//! The relations an [`Engine`](crate::Engine) can compute.

/// The edges of a relation besides the hard order.
pub trait Relation {
    /// Whether the release of a critical section is before a later action that lies in a section of
    /// the same lock and conflicts with an action of the first. If not, each release of a lock is
    /// before the next acquires of it.
    const SECTIONS: bool;
}

/// Happens-before: locks order all critical sections that exclude each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hb;

impl Relation for Hb {
    const SECTIONS: bool = false;
}

/// Weak doesn't-commute and, with a specification of more than memory, its extension EDC: locks
/// order critical sections that contain conflicting actions.
#[derive(Clone, Copy, Debug, Default)]
pub struct DoesntCommute;

impl Relation for DoesntCommute {
    const SECTIONS: bool = true;
}
