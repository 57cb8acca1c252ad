//! How locks order events.

/// Which order a lock gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Locks {
    /// Each release is before every later acquire by another handler: the order observed. This is
    /// happens-before.
    #[default]
    HandOver,
    /// A release is before later actions in sections of the same lock that do not commute with an
    /// action of the section that it ends: event-driven EDC (`docs/prediction.md`). This order is a
    /// subset of `HandOver`.
    Sections,
}
