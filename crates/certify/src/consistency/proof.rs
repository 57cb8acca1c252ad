//! What a proof of inconsistency looks like.

use anyorder_trace::{EventId, TaskId};

/// Something that holds in some orders and not in others. In every run exactly one of a fact and
/// its [complement](Fact::complement) holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// Of two messages of one handler, the first runs wholly before the second.
    Runs {
        /// The one that runs first.
        first: TaskId,
        /// The one that runs later.
        second: TaskId,
    },
    /// Of two events, the first comes before the second. Needed where coherence is open.
    Before {
        /// The one that comes first.
        first: EventId,
        /// The one that comes later.
        second: EventId,
    },
}

impl Fact {
    /// Returns the opposite: the same two, swapped.
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
    /// By the fact: of [`Fact::Runs`], from any event of the first task to any of the second; and
    /// from the post of the first to that of the second where the mailbox keeps the order of the
    /// second and the first (had the second been posted first, it would run first). Of
    /// [`Fact::Before`], from the first event to the second.
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
    /// Why.
    pub why: Why,
}

/// One step of a proof. Each but the last kind adds a clause: a set of facts of which at least one
/// holds in every run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Links that chain head to tail and close. The clause: the complements of all facts in them.
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
    /// A clause that follows from those before it by reverse unit propagation: if all its facts
    /// failed, then clauses with only one fact left would force others, up to a clause with none
    /// left.
    Derived(Vec<Fact>),
    /// Takes back one clause of exactly these facts, however it came about; what it forced by
    /// itself stays.
    Forget(Vec<Fact>),
}

/// A proof that no order is a run: it holds when every step holds and one of them gives the empty
/// clause. A cycle without facts does so at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConsistencyProof {
    /// The steps in order. Those behind the empty clause count for nothing.
    pub steps: Vec<Step>,
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
    /// Different facts, a fact and its complement being one.
    pub facts: u64,
}
