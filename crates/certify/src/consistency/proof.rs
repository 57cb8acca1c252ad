//! Proofs of inconsistency.

use anyorder_trace::{EventId, TaskId};

/// A property of an order of events. In every run exactly one of a fact and its
/// [complement](Fact::complement) holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// Of two messages of one handler, the first runs wholly before the second.
    Runs {
        /// The one that runs first.
        first: TaskId,
        /// The one that runs later.
        second: TaskId,
    },
    /// Of two events, the first comes before the second. Needed where coherence or an end is open.
    Before {
        /// The one that comes first.
        first: EventId,
        /// The one that comes later.
        second: EventId,
    },
}

impl Fact {
    /// Returns the complement: the same two, swapped.
    #[must_use]
    pub const fn complement(self) -> Fact {
        match self {
            Fact::Runs { first, second } => Fact::Runs { first: second, second: first },
            Fact::Before { first, second } => Fact::Before { first: second, second: first },
        }
    }
}

/// Why one event comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// It is earlier in the same task, or in an initial task of the handler that runs the other as
    /// part of a posted task.
    Program,
    /// The other reads from it.
    ReadsFrom,
    /// Both write, and the coherence order has it first.
    Coherence,
    /// It reads from a write that is before the other in the coherence order, or the initial value
    /// of what the other writes.
    FromReads,
    /// It posts the task that the other, a `get`, begins.
    PostedBy,
    /// It forks the handler that runs the other.
    Fork,
    /// The other joins the handler that runs it.
    Join,
    /// The other cancels the task that it posts.
    Cancel,
    /// The other is a trigger that it enables.
    Enable,
    /// The other ends what it begins, and cannot come before what opened that.
    Ended,
    /// The fact implies it. [`Fact::Runs`] orders any event of the first task before any of the
    /// second. It also orders the post of the first before that of the second, if the mailbox keeps
    /// the order of the second and the first (if the second had been posted first, it would run
    /// first). [`Fact::Before`] orders the first event before the second.
    Decided(Fact),
}

impl Why {
    /// Returns the word for the relation, as in the text of a proof.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Why::Program => "program",
            Why::ReadsFrom => "reads-from",
            Why::Coherence => "coherence",
            Why::FromReads => "from-reads",
            Why::PostedBy => "posted-by",
            Why::Fork => "fork",
            Why::Join => "join",
            Why::Cancel => "cancel",
            Why::Enable => "enable",
            Why::Ended => "ended",
            Why::Decided(Fact::Runs { .. }) => "runs",
            Why::Decided(Fact::Before { .. }) => "before",
        }
    }
}

/// One event before another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Link {
    /// The one that comes first.
    pub from: EventId,
    /// The one that comes later.
    pub to: EventId,
    /// The justification.
    pub why: Why,
}

/// One step of a proof. Each kind except the last adds a clause: a set of facts of which at least
/// one holds in every run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefutationStep {
    /// A closed chain of links, each ending where the next begins. The clause: the complements of
    /// all facts in them.
    Cycle(Vec<Link>),
    /// A read and a write of the same location, other than the one it reads from: that other write
    /// is before the one that is read, or the read before it. For a read of the initial value only
    /// the latter.
    ReadsOpen {
        /// The read.
        read: EventId,
        /// The other write.
        other: EventId,
    },
    /// A beginning, and an event that ends it: the end comes before what opened the beginning, or
    /// the beginning before the end.
    Ended {
        /// The beginning.
        begins: EventId,
        /// The end.
        end: EventId,
    },
    /// A clause that follows from the earlier ones by reverse unit propagation: if all its facts
    /// were false, then unit clauses would force further facts, until all facts of some clause are
    /// false.
    Derived(Vec<Fact>),
    /// Forgets one clause with exactly these facts, whatever step added it; the facts it forced
    /// remain.
    Forget(Vec<Fact>),
}

/// A proof that no order is a run. It holds when every step holds and one of them gives the empty
/// clause. A cycle without facts does so at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConsistencyProof {
    /// The steps in order. Those after the empty clause are ignored.
    pub steps: Vec<RefutationStep>,
}

/// The size of a proof that holds, up to its empty clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProofStats {
    /// Cycles.
    pub cycles: u64,
    /// Links of all cycles.
    pub links: u64,
    /// Derived clauses.
    pub derived: u64,
    /// Different facts; a fact and its complement count as one.
    pub facts: u64,
}
