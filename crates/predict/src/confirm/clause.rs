//! What a witness must obey besides its causes: at least one of several things.

/// Something that may hold in an order that ends somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    /// The first event is in, and the second one comes behind it or is not in.
    Before(u32, u32),
    /// The event is not in.
    Out(u32),
}

/// At least one of these holds.
pub(super) type Clause = Vec<Atom>;
