//! The procedures behind one interface.

use solve::solve;
pub(crate) use {enumerate::enumerate, flat::flat};
#[cfg(test)]
pub use {
    enumerate::enumerate_by,
    flat::{FlatRules, flat_by},
    schedule::schedule_once,
};

use crate::answer::{Answer, ConsistencyStats};
use crate::partial::PartialTrace;
use anyorder_system::Control;

mod enumerate;
mod flat;
mod schedule;
mod solve;

/// A way to decide consistency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Procedure {
    /// The order solver: our counterpart of the paper's Algorithm 2.
    #[default]
    Solver,
    /// Enumeration of message orders with saturation: the paper's Algorithm 1.
    Enumerate,
    /// A search over the orders of posts, for traces without nested posting.
    Flat,
}

/// The resources one procedure may use, besides the limits of its [`Control`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// The number of conflicts (tries, for procedures that enumerate) after which it gives up.
    pub conflicts: Option<u64>,
    /// Whether an inconsistency needs a [`Refutation`](crate::Refutation).
    pub refute: bool,
    /// The bytes that the steps of a refutation may take. A larger one is dropped, and the answer
    /// comes without.
    pub proof_bytes: Option<usize>,
}

/// An answer and the work done for it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// The work done.
    pub stats: ConsistencyStats,
}

impl Procedure {
    /// Every procedure.
    pub const ALL: [Procedure; 3] = [Procedure::Solver, Procedure::Enumerate, Procedure::Flat];

    /// Returns the name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Procedure::Solver => "solver",
            Procedure::Enumerate => "enumerate",
            Procedure::Flat => "flat",
        }
    }

    /// Decides consistency.
    ///
    /// # Errors
    ///
    /// [`Procedure::Flat`] refuses traces with nested posting. [`Procedure::Enumerate`] and
    /// [`Procedure::Flat`] refuse those whose coherence or ends are open.
    pub fn decide(
        self,
        trace: &PartialTrace,
        effort: Effort,
        control: &Control<'_>,
    ) -> Result<Outcome, Unsupported> {
        match self {
            Procedure::Solver => Ok(solve(trace, effort, control)),
            Procedure::Enumerate => enumerate(trace, effort, control),
            Procedure::Flat => flat(trace, effort, control),
        }
    }
}

/// Why a procedure refuses a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsupported {
    /// The procedure is for traces in which only initial messages post.
    #[error(
        "message {message} posts another one; this procedure needs a trace without nested posting"
    )]
    Nested {
        /// A message that posts.
        message: crate::partial::MessageId,
    },
    /// The procedure needs the coherence order.
    #[error("the coherence order of a location is not given; only the solver can look for one")]
    OpenCoherence,
    /// The procedure needs to know which comes first: what ends something, or what opens it.
    #[error(
        "the trace leaves open which came first, an end or an opening; only the solver can look for that"
    )]
    OpenEnds,
}
