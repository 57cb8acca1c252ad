//! A constraint on a witness besides its causes: at least one of several atoms holds.

/// A proposition about an order of events that ends somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    /// The order contains the first event, and the second one comes behind it or is not contained.
    Before(u32, u32),
    /// The event is not in.
    Out(u32),
}

/// At least one of these holds.
pub(super) type Clause = Vec<Atom>;
