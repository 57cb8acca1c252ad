//! The answer: a witness, or a refutation whose every step can be checked, or which limit was hit.

use crate::partial::{MessageId, Relation, Slot};
use anyorder_system::StopReason;

/// What a procedure found out.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The trace is consistent: a total order of all slots in which the handlers can run them.
    Consistent(Vec<Slot>),
    /// The trace is inconsistent. Procedures that only enumerate give no reason.
    Inconsistent(Option<Refutation>),
    /// A limit was hit before an answer.
    Unknown(Limit),
}

/// Which limit ended a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The job was asked to stop, or its memory limit was reached.
    Stopped(StopReason),
    /// The number of conflicts allowed; for procedures that enumerate: of tries.
    Conflicts,
}

/// Something that is not given but decided: an order of two messages, or of two events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// Of two messages of one handler, the first runs before the second.
    Runs {
        /// The message that runs first.
        first: MessageId,
        /// The message that runs later.
        second: MessageId,
    },
    /// Of two events, the first comes before the second; only for locations whose coherence is
    /// open.
    Before {
        /// The event that comes first.
        first: Slot,
        /// The event that comes later.
        second: Slot,
    },
}

impl Fact {
    /// Returns the opposite: the same two in the other order.
    #[must_use]
    pub fn opposite(self) -> Fact {
        match self {
            Fact::Runs { first, second } => Fact::Runs { first: second, second: first },
            Fact::Before { first, second } => Fact::Before { first: second, second: first },
        }
    }
}

/// Why one event comes before another in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The trace says so.
    Given(Relation),
    /// It follows from this fact alone: all events of the first message before all of the second;
    /// under a mailbox that keeps their order, also the post of the first before that of the
    /// second.
    Decided(Fact),
}

/// One step of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The event that comes first.
    pub from: Slot,
    /// The event that comes later.
    pub to: Slot,
    /// Why.
    pub why: Why,
}

/// One step of a [`Refutation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A cycle of links, each ending where the next begins: the facts in it cannot all hold.
    Cycle(Vec<Link>),
    /// A read and another write of a location whose coherence is open: that write comes before the
    /// one which is read, or after the read.
    ReadsOpen {
        /// The read.
        read: Slot,
        /// A write of the location other than the one read from.
        other: Slot,
    },
    /// At least one of these facts holds, by unit propagation from the steps before.
    Derived(Vec<Fact>),
    /// The derived clause of these facts is not used any more.
    Forget(Vec<Fact>),
}

/// Why a trace is inconsistent: cycles, and clauses derived from them, the last one empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refutation {
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// What a procedure did; counts, no times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Events considered.
    pub events: u64,
    /// Messages, the initial ones with events among them.
    pub messages: u64,
    /// Handlers.
    pub handlers: u64,
    /// Pairs of posted messages of one handler.
    pub pairs_total: u64,
    /// Those that saturation left undecided. 0 when saturation refuted the trace.
    pub pairs: u64,
    /// Decisions of the search.
    pub decisions: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
    /// Propagations of the search, and orders forced by saturation.
    pub propagations: u64,
    /// Candidate orders tried.
    pub candidates: u64,
    /// Pairs that became variables.
    pub variables: u64,
}
