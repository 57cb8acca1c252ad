//! How locks order events.

/// The order that a lock gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Locks {
    /// Each release is before every later acquire by another handler, as observed. This is
    /// happens-before.
    #[default]
    HandOver,
    /// A release is before later actions in sections of the same lock, if they do not commute with
    /// an action of the section that it ends. This is event-driven EDC (`docs/prediction.md`), a
    /// subset of `HandOver`.
    Sections,
}
