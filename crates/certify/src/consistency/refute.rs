//! The checker of proofs of inconsistency.

use super::clauses::{Clauses, Literal};
use super::links;
use super::mailbox::{Due, MailboxRule, dues};
use super::model::{Model, Source};
use super::names::{Naming, Renderer};
use super::proof::{ConsistencyProof, Fact, Link, ProofStats, RefutationStep, Why};
use anyorder_system::{Cancel, StopReason, Stopped};
use anyorder_trace::{EventId, Trace};
use std::collections::HashMap;

/// A wrong proof of inconsistency, and the position of the mistake.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{reason}", step.map(|step| format!("step {step}: ")).unwrap_or_default())]
pub struct ProofError {
    /// The step, from 0; `None` for the proof as a whole.
    pub step: Option<usize>,
    /// The mistake.
    pub reason: ProofReason,
}

/// The mistake in a step of a proof of inconsistency.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofReason {
    /// A cycle without links.
    #[error("a cycle without links")]
    NoLinks,
    /// A link of a cycle does not hold.
    #[error("link {number} ({shown}): {fault}")]
    Link {
        /// The link, from 0.
        number: usize,
        /// Its ends, and its justification.
        shown: String,
        /// The missing condition.
        fault: &'static str,
    },
    /// A link does not begin where the one before it ends; the first link follows the last.
    #[error("link {number} begins at event `{}`, but the one before it ends at `{}`", begins.escape_debug(), ends.escape_debug())]
    NotChained {
        /// The link, from 0.
        number: usize,
        /// Where it begins.
        begins: String,
        /// Where it should begin.
        ends: String,
    },
    /// The events of a [`RefutationStep::ReadsOpen`] are not a read and another write.
    #[error("`{}` and `{}`: {fault}", read.escape_debug(), other.escape_debug())]
    ReadsOpen {
        /// The event in place of the read.
        read: String,
        /// The event in place of the other write.
        other: String,
        /// The missing condition.
        fault: &'static str,
    },
    /// The events of a [`RefutationStep::Ended`] are not a beginning and an end of it.
    #[error("`{}` and `{}`: {fault}", begins.escape_debug(), end.escape_debug())]
    Ended {
        /// The event in place of the beginning.
        begins: String,
        /// The event in place of the end.
        end: String,
        /// The missing condition.
        fault: &'static str,
    },
    /// An invalid fact.
    #[error("`{shown}`: {fault}")]
    Fact {
        /// The fact.
        shown: String,
        /// The mistake in it.
        fault: &'static str,
    },
    /// A clause that unit propagation does not derive.
    #[error("does not follow by unit propagation: {shown}")]
    NotDerived {
        /// Its facts.
        shown: String,
    },
    /// A clause to forget that does not exist.
    #[error("there is no such clause to forget: {shown}")]
    NotThere {
        /// Its facts.
        shown: String,
    },
    /// Too many clauses.
    #[error("the clauses up to here have 4,294,967,295 facts or more")]
    TooLarge,
    /// All steps hold, but none of them gives the empty clause.
    #[error("no step gives the empty clause")]
    Unfinished,
    /// The check was stopped.
    #[error("{0}")]
    Stopped(StopReason),
}

impl From<Stopped> for ProofReason {
    fn from(Stopped(reason): Stopped) -> ProofReason {
        ProofReason::Stopped(reason)
    }
}

/// Checks a proof that no order of the events is a run. The definitions are in [this
/// module](super).
///
/// Each link is checked against the trace in constant time. O(events + links), plus unit
/// propagation for the derived clauses.
///
/// # Errors
///
/// Names the first step that does not hold, and the reason.
pub fn check_inconsistency(
    trace: &Trace,
    mailboxes: MailboxRule,
    proof: &ConsistencyProof,
) -> Result<ProofStats, ProofError> {
    check_inconsistency_until(trace, mailboxes, proof, &Cancel::new())
}

/// The same, until it is stopped.
///
/// # Errors
///
/// As [`check_inconsistency`]; the reason is [`ProofReason::Stopped`] if the check was stopped.
pub fn check_inconsistency_until(
    trace: &Trace,
    mailboxes: MailboxRule,
    proof: &ConsistencyProof,
    cancel: &Cancel,
) -> Result<ProofStats, ProofError> {
    let mut checker = Checker {
        model: Model::new(trace),
        dues: dues(trace, mailboxes),
        clauses: Clauses::default(),
        pairs: HashMap::new(),
        cancel,
        stats: ProofStats::default(),
    };
    for (number, step) in proof.steps.iter().enumerate() {
        let refuted =
            checker.step(step).map_err(|reason| ProofError { step: Some(number), reason })?;
        if refuted {
            let facts = checker.clauses.pairs() as u64;
            return Ok(ProofStats { facts, ..checker.stats });
        }
    }
    Err(ProofError { step: None, reason: ProofReason::Unfinished })
}

struct Checker<'t> {
    model: Model<'t>,
    dues: Vec<Due>,
    clauses: Clauses,
    /// The literal of each fact whose first part has the smaller number.
    pairs: HashMap<Fact, Literal>,
    cancel: &'t Cancel,
    stats: ProofStats,
}

impl Checker<'_> {
    /// Checks a step. Returns whether it gives the empty clause.
    fn step(&mut self, step: &RefutationStep) -> Result<bool, ProofReason> {
        self.cancel.check()?;
        let clause = match step {
            RefutationStep::Cycle(links) => {
                let clause = self.cycle(links)?;
                self.stats.cycles += 1;
                self.stats.links += links.len() as u64;
                clause
            }
            RefutationStep::ReadsOpen { read, other } => self.reads_open(*read, *other)?,
            RefutationStep::Ended { begins, end } => self.ended(*begins, *end)?,
            RefutationStep::Derived(facts) => {
                let clause = self.clause(facts)?;
                if !self.clauses.follows(&clause, self.cancel)? {
                    return Err(ProofReason::NotDerived { shown: self.renderer().facts(facts) });
                }
                self.stats.derived += 1;
                clause
            }
            RefutationStep::Forget(facts) => {
                let clause = self.clause(facts)?;
                if !self.clauses.forget(&clause) {
                    return Err(ProofReason::NotThere { shown: self.renderer().facts(facts) });
                }
                return Ok(false);
            }
        };
        let added = self.clauses.add(&clause, self.cancel)?;
        if added { Ok(clause.is_empty()) } else { Err(ProofReason::TooLarge) }
    }

    fn cycle(&mut self, links: &[Link]) -> Result<Vec<Literal>, ProofReason> {
        let Some(last) = links.last() else { return Err(ProofReason::NoLinks) };
        let mut ends = last.to;
        let mut facts = Vec::new();
        for (number, link) in links.iter().enumerate() {
            links::check(&self.model, &self.dues, link).map_err(|fault| ProofReason::Link {
                number,
                shown: self.renderer().link(link),
                fault,
            })?;
            if link.from != ends {
                let (begins, ends) =
                    (self.renderer().event(link.from), self.renderer().event(ends));
                return Err(ProofReason::NotChained { number, begins, ends });
            }
            ends = link.to;
            if let Why::Decided(fact) = link.why {
                facts.push(fact.complement());
            }
        }
        self.clause(&facts)
    }

    fn reads_open(&mut self, read: EventId, other: EventId) -> Result<Vec<Literal>, ProofReason> {
        let later = Fact::Before { first: read, second: other };
        let facts = match self.reads_another(read, other) {
            Ok(None) => vec![later],
            Ok(Some(source)) => vec![Fact::Before { first: other, second: source }, later],
            Err(fault) => {
                let (read, other) = (self.renderer().event(read), self.renderer().event(other));
                return Err(ProofReason::ReadsOpen { read, other, fault });
            }
        };
        self.clause(&facts)
    }

    fn ended(&mut self, begins: EventId, end: EventId) -> Result<Vec<Literal>, ProofReason> {
        let opened = links::opened(&self.model, begins, end);
        let opened = opened.and_then(|opened| opened.ok_or("nothing opened it"));
        let opened = opened.and_then(|opened| {
            links::require(begins != end && opened != end, "an event and itself")?;
            Ok(opened)
        });
        match opened {
            Ok(opened) => self.clause(&[
                Fact::Before { first: end, second: opened },
                Fact::Before { first: begins, second: end },
            ]),
            Err(fault) => {
                let (begins, end) = (self.renderer().event(begins), self.renderer().event(end));
                Err(ProofReason::Ended { begins, end, fault })
            }
        }
    }

    /// The write that a read reads from, or `None` for the initial value, if `other` is another
    /// write of the location.
    fn reads_another(
        &self,
        read: EventId,
        other: EventId,
    ) -> Result<Option<EventId>, &'static str> {
        let model = &self.model;
        links::require(model.has(read) && model.has(other), "no such event")?;
        let (event, write) = (model.event(read), model.event(other));
        let accesses = event.kind().reads() && write.kind().writes();
        links::require(accesses, "not a read and a write")?;
        links::require(event.operand == write.operand, "different locations")?;
        links::require(read != other, "an event and itself")?;
        match model.source(read) {
            Source::Initial => Ok(None),
            Source::Write(source) if source == other => Err("the write that is read"),
            Source::Write(source) => Ok(Some(source)),
            Source::Any | Source::Wrong => Err("nobody knows what it reads from"),
        }
    }

    /// The literals of facts, sorted and each once.
    fn clause(&mut self, facts: &[Fact]) -> Result<Vec<Literal>, ProofReason> {
        let mut clause = Vec::with_capacity(facts.len());
        for &fact in facts {
            clause.push(self.literal(fact)?);
        }
        clause.sort_unstable();
        clause.dedup();
        Ok(clause)
    }

    fn literal(&mut self, fact: Fact) -> Result<Literal, ProofReason> {
        let swapped = match fact {
            Fact::Runs { first, second } => second < first,
            Fact::Before { first, second } => second < first,
        };
        let pair = if swapped { fact.complement() } else { fact };
        let literal = match self.pairs.get(&pair) {
            Some(literal) => *literal,
            None => {
                links::check_fact(&self.model, fact).map_err(|fault| ProofReason::Fact {
                    shown: self.renderer().fact(fact),
                    fault,
                })?;
                let literal = self.clauses.pair();
                self.pairs.insert(pair, literal);
                literal
            }
        };
        Ok(literal + u32::from(swapped))
    }

    fn renderer(&self) -> Renderer<'_> {
        Renderer { trace: self.model.trace }
    }
}
