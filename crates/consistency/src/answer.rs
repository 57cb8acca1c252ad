//! The answer: a witness, a refutation whose every step can be checked, or the limit that was
//! reached.

use crate::partial::{MessageId, PartialTrace, Relation, Slot};
use anyorder_system::StopReason;

/// The answer of a procedure.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The trace is consistent: a total order of all slots that the handlers can run.
    Consistent(Vec<Slot>),
    /// The trace is inconsistent. Procedures that only enumerate give no refutation.
    Inconsistent(Option<Refutation>),
    /// A limit was reached first.
    Unknown(Limit),
}

/// The limit that ended a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The job was asked to stop, or its memory limit was reached.
    Stopped(StopReason),
    /// The number of allowed conflicts; for procedures that enumerate, of tries.
    Conflicts,
}

/// A fact that a procedure decides: an order of two messages, or of two events.
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
    /// Returns the opposite order of the same two.
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
    /// The trace gives the order.
    Given(Relation),
    /// This fact alone implies it: all events of the first message come before all of the second.
    /// Under a mailbox that keeps their order, the post of the first also comes before that of the
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
    /// The justification.
    pub why: Why,
}

/// One step of a [`Refutation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefutationStep {
    /// A cycle of links, each ending where the next begins: the facts in it cannot all hold.
    Cycle(Vec<Link>),
    /// A read and another write of a location whose coherence is open: that write comes before the
    /// write that is read, or after the read.
    ReadsOpen {
        /// The read.
        read: Slot,
        /// A write of the location other than the one read from.
        other: Slot,
    },
    /// What begins, and what ends it: the end comes before what opened the beginning, or after the
    /// beginning.
    Ended {
        /// What begins.
        begins: Slot,
        /// What ends it.
        end: Slot,
    },
    /// At least one of these facts holds, by unit propagation from the earlier steps.
    Derived(Vec<Fact>),
    /// The derived clause of these facts is not used afterwards.
    Forget(Vec<Fact>),
}

/// A proof that a trace is inconsistent: cycles, and clauses derived from them. The last clause is
/// empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refutation {
    /// The steps in order.
    pub steps: Vec<RefutationStep>,
}

/// Counters of a procedure; no times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConsistencyStats {
    /// Events considered.
    pub events: u64,
    /// Messages, including initial ones with events.
    pub messages: u64,
    /// Handlers.
    pub handlers: u64,
    /// Pairs of posted messages of one handler.
    pub pairs_total: u64,
    /// Pairs left undecided by saturation. 0 when saturation refuted the trace.
    pub pairs: u64,
    /// Decisions of the search.
    pub decisions: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
    /// Propagations of the search, and orders forced by saturation.
    pub propagations: u64,
    /// Candidate orders tried.
    pub candidates: u64,
    /// Pairs turned into variables.
    pub variables: u64,
}

impl ConsistencyStats {
    /// Returns the counts of a trace before any work.
    #[must_use]
    pub fn of(trace: &PartialTrace) -> ConsistencyStats {
        ConsistencyStats {
            events: trace.events.len() as u64,
            messages: trace.messages.len() as u64,
            handlers: u64::from(trace.handlers),
            pairs_total: trace.pairs(),
            ..ConsistencyStats::default()
        }
    }
}
