//! A constraint on a witness besides its causes: at least one of several atoms holds.

/// A proposition about a finite order of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    /// The order contains the first event, and the second one comes after it or is absent.
    Before(u32, u32),
    /// The event is absent.
    Out(u32),
}

/// At least one of these holds.
pub(super) type Clause = Vec<Atom>;
