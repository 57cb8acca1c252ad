//! The families of traces, by name.

/// A family of traces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Buyers that share the cost of an item.
    Buyers,
    /// Leader election on a ring.
    ChangRoberts,
    /// Broadcast consensus.
    Consensus,
    /// Counts which handler sent the last message.
    Counting,
    /// Two chains of messages round a ring.
    MessageLoop,
    /// A matrix that is counted in parts.
    SparseMat,
    /// Random 3-SAT as a trace with many handlers.
    Sat3,
    /// Random satisfiability with bounded occurrences as a trace with 12 handlers.
    Bi3Sat,
    /// Rings of messages whose orders depend on one another.
    Knot,
    /// Nested posting chains that meet in one mailbox.
    Shuffle,
    /// No nested posting.
    Flat,
    /// The shape of Android applications, at any size.
    Android,
}

impl Family {
    /// All families, programs first.
    pub const ALL: [Family; 12] = [
        Family::Buyers,
        Family::ChangRoberts,
        Family::Consensus,
        Family::Counting,
        Family::MessageLoop,
        Family::SparseMat,
        Family::Sat3,
        Family::Bi3Sat,
        Family::Knot,
        Family::Shuffle,
        Family::Flat,
        Family::Android,
    ];

    /// By family: its name on the command line, and one line of help with the unit of its size.
    const ABOUT: [(&'static str, &'static str); 12] = [
        ("buyers", "SIZE buyers share the cost of an item; 39 SIZE + 10 events"),
        ("changroberts", "leader election on a ring of SIZE nodes; 96 SIZE - 31 events"),
        ("consensus", "broadcast consensus of SIZE nodes; 31 SIZE^2 + 42 SIZE + 13 events"),
        ("counting", "SIZE handlers note whom they heard last; 24 SIZE^2 + 13 SIZE + 7 events"),
        (
            "messageloop",
            "two chains of messages round a ring of SIZE handlers; 56 SIZE^2 + 7 SIZE + 30 events",
        ),
        ("sparsemat", "a matrix counted in SIZE tasks by two workers; 98 SIZE + 35 events"),
        ("sat3", "random 3-SAT with SIZE variables: consistent iff satisfiable"),
        (
            "bi3sat",
            "random satisfiability with SIZE variables on 12 handlers: consistent iff satisfiable",
        ),
        ("knot", "SIZE pairs of messages in rings of orders that force one another"),
        ("shuffle", "SIZE nested posting chains that meet in one mailbox; 5 SIZE events"),
        ("flat", "SIZE messages on 4 handlers, no nested posting; 20 SIZE events"),
        ("android", "SIZE events shaped like a run of an Android application"),
    ];

    /// Returns the name of the family on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Family::ABOUT[self as usize].0
    }

    /// Returns one line of help: the family, and the unit of its size.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        Family::ABOUT[self as usize].1
    }

    /// Returns the family with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns whether traces of the family are recorded from runs. If so, the mailbox of a request
    /// matters, and FIFO traces are consistent.
    #[must_use]
    pub const fn is_recorded(self) -> bool {
        !matches!(self, Family::Sat3 | Family::Bi3Sat | Family::Knot)
    }
}
