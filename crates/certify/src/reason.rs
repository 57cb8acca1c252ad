//! Why a proof is refused.

use crate::proof::LemmaId;
use anyorder_system::{StopReason, Stopped};
use anyorder_trace::EventId;
use std::fmt;

/// A wrong proof, and the position of the mistake.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct ProofError {
    /// The lemma, or `None` for the path of the proof itself.
    pub lemma: Option<LemmaId>,
    /// The step, from 0, or `None` for the path as a whole.
    pub step: Option<usize>,
    /// The rule, the source and the target of the step.
    pub shown: Option<(String, EventId, EventId)>,
    /// The mistake.
    pub reason: Reason,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lemma {
            Some(LemmaId(lemma)) => write!(f, "lemma {lemma}")?,
            None => write!(f, "path")?,
        }
        if let Some(step) = self.step {
            write!(f, ", step {step}")?;
        }
        if let Some((rule, from, to)) = &self.shown {
            write!(f, " (`{}`, events {} -> {})", rule.escape_debug(), from.0, to.0)?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// The mistake in a step or a path. Events are given by their position in the trace, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    /// A path has no steps.
    #[error("no steps")]
    Empty,
    /// The path has the wrong ends.
    #[error("leads from {} to {}, expected {} to {}", found.0.0, found.1.0, expected.0.0, expected.1.0)]
    WrongEnds {
        /// Its ends.
        found: (EventId, EventId),
        /// The ends of the claim.
        expected: (EventId, EventId),
    },
    /// A step refers to an event, task or lemma that does not exist.
    #[error("no such {0}")]
    Unknown(&'static str),
    /// A step does not begin where the one before it ended.
    #[error("begins at {}, but the step before it ends at {}", from.0, previous.0)]
    NotLinked {
        /// Where it begins.
        from: EventId,
        /// Where it should begin.
        previous: EventId,
    },
    /// A step does not go forward in the trace.
    #[error("does not go forward in the trace")]
    NotForward,
    /// The rule set has no such rule.
    #[error("rule is not in the rule set")]
    NotInRuleSet,
    /// The rule needs another number of premises.
    #[error("{given} premises, expected {expected}")]
    Premises {
        /// The number the rule needs.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// A premise, identified by its number, connects the wrong events or tasks.
    #[error("premise {0} is about other events")]
    PremiseElsewhere(usize),
    /// A path between two posted tasks of one handler that does not consist of whole-task orders.
    #[error("orders two tasks of one handler by more than whole-task orders")]
    NotByTasks,
    /// An end of the step is the wrong kind of event for the rule.
    #[error("{0}")]
    Kind(&'static str),
    /// The ends fit the rule, but a condition of the rule fails.
    #[error("{0}")]
    Condition(&'static str),
    /// The check was stopped.
    #[error("{0}")]
    Stopped(StopReason),
}

impl From<Stopped> for Reason {
    fn from(Stopped(reason): Stopped) -> Reason {
        Reason::Stopped(reason)
    }
}
