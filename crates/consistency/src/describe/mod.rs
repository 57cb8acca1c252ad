//! Explains in words why a trace is inconsistent.

mod clauses;
mod core;
mod notes;
mod overtakings;
mod words;

pub use overtakings::Overtakings;

use crate::answer::{Fact, Link, Refutation, RefutationStep, Why};
use crate::partial::{PartialTrace, Slot};
use anyorder_trace::{EventId, Trace};
use words::Words;

/// An explanation of an inconsistency, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Forced facts, each following from the earlier ones; then their contradiction with the trace.
    pub reasons: Vec<ReasonText>,
    /// The events of the last cycle, or of the first one if there are choices; empty if there is
    /// none.
    pub cycle: Vec<EventId>,
    /// The pairs of messages tried in both orders; 0 where everything was forced.
    pub pairs: u64,
    /// The cycles that the reasons depend on, including those not listed.
    pub cycles: u64,
}

/// One reason. Its names are as in the trace: escape them before printing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReasonText {
    /// The reason.
    pub text: String,
    /// The events it mentions.
    pub events: Vec<EventId>,
}

/// Explains a refutation, with at most `reasons_max` reasons of each kind.
///
/// Leaves out everything that the conclusion does not depend on. `partial` must come from `trace`.
/// The time is linear in the links, plus a bounded unit propagation; when that bound is reached,
/// the explanation is less detailed.
#[must_use]
pub fn describe(
    trace: &Trace,
    partial: &PartialTrace,
    refutation: &Refutation,
    reasons_max: usize,
) -> Explanation {
    let mut explainer =
        Explainer { words: Words::new(trace, partial), explanation: Explanation::default() };
    let Some(core) = core::core(partial, refutation) else {
        let count = |cycle: &&RefutationStep| matches!(cycle, RefutationStep::Cycle(_));
        explainer.explanation.cycles = refutation.steps.iter().filter(count).count() as u64;
        let text = format!(
            "however the messages are ordered, one of {} cycles closes; the proof is too long to tell \
             which of them matter",
            explainer.explanation.cycles
        );
        explainer.add_reason(text, &[]);
        return explainer.explanation;
    };
    explainer.explanation.cycles =
        (core.forced.len() + core.choices.len()) as u64 + u64::from(core.conflict.is_some());
    explainer.explanation.pairs = core.pairs as u64;
    let hidden = core.forced.len().saturating_sub(reasons_max);
    for (at, (fact, step)) in core.forced.iter().enumerate() {
        // The last ones are closest to the conclusion.
        if at >= hidden {
            explainer.forced(*fact, &refutation.steps[*step]);
        } else {
            explainer.words.number(*fact);
            if at == 0 {
                explainer.add_reason(
                    format!("({hidden} orders that are forced before these are left out)"),
                    &[],
                );
            }
        }
    }
    if let Some(step) = core.conflict {
        explainer.conflict(&refutation.steps[step], core.forced.is_empty());
        return explainer.explanation;
    }
    explainer.choices(&core.choices, core.pairs, refutation, reasons_max);
    explainer.explanation
}

/// An explanation under construction.
struct Explainer<'a> {
    words: Words<'a>,
    explanation: Explanation,
}

impl Explainer<'_> {
    fn add_reason(&mut self, text: String, links: &[Link]) {
        let mut events: Vec<EventId> = Vec::new();
        for slot in links.iter().flat_map(|link| [link.from, link.to]) {
            let event = self.words.event(slot);
            if !events.contains(&event) {
                events.push(event);
            }
        }
        self.explanation.reasons.push(ReasonText { text, events });
    }

    /// Records the cycle of the last reason.
    fn keep_cycle(&mut self) {
        self.explanation.cycle =
            self.explanation.reasons.last().map(|last| last.events.clone()).unwrap_or_default();
    }

    /// Adds a fact with the step that forces it.
    fn forced(&mut self, fact: Fact, step: &RefutationStep) {
        let text = self.words.fact(fact);
        let (because, links) = self.because(fact, step);
        let number = self.words.number(fact);
        self.add_reason(format!("({number}) {text}, {because}"), &links);
    }

    fn because(&self, fact: Fact, step: &RefutationStep) -> (String, Vec<Link>) {
        let links = match step {
            RefutationStep::Cycle(links) => links,
            RefutationStep::ReadsOpen { read, other } => {
                return (self.reads(*read, *other), Vec::new());
            }
            RefutationStep::Ended { begins, end } => {
                return (self.ended(*begins, *end), Vec::new());
            }
            RefutationStep::Derived(_) | RefutationStep::Forget(_) => {
                return (String::new(), Vec::new());
            }
        };
        let opposite = Why::Decided(fact.opposite());
        let mut at = links.iter().enumerate().filter(|(_, link)| link.why == opposite);
        match (at.next(), at.next()) {
            // Without the link that contradicts it, the cycle is a path that justifies the fact.
            (Some((at, _)), None) => {
                let path = links[at + 1..].iter().chain(&links[..at]).copied();
                let path = self.words.joined(path);
                (format!("because {}", self.words.chain(&path)), path)
            }
            _ => {
                let cycle = self.words.cycle(links);
                (format!("or else {}", self.words.chain(&cycle)), cycle)
            }
        }
    }

    fn reads(&self, read: Slot, other: Slot) -> String {
        let [read, other] = [read, other].map(|slot| self.words.label(slot));
        format!("as {read} must not read from {other}")
    }

    fn ended(&self, begins: Slot, end: Slot) -> String {
        let [begins, end] = [begins, end].map(|slot| self.words.label(slot));
        format!("as {begins} cannot begin behind {end}, which ends it")
    }

    /// Adds the last step: the given and forced orders have a cycle.
    fn conflict(&mut self, step: &RefutationStep, alone: bool) {
        let head = if alone {
            "whatever the order of the messages, what the trace says has a cycle"
        } else {
            "that closes a cycle"
        };
        match step {
            RefutationStep::Cycle(links) => {
                let cycle = self.words.cycle(links);
                self.add_reason(format!("{head}: {}", self.words.chain(&cycle)), &cycle);
                self.keep_cycle();
            }
            RefutationStep::ReadsOpen { read, other } => {
                let text = self.reads(*read, *other);
                self.add_reason(format!("that leaves no place for a write, {text}"), &[]);
            }
            RefutationStep::Ended { begins, end } => {
                let text = self.ended(*begins, *end);
                self.add_reason(format!("that leaves no place for an end, {text}"), &[]);
            }
            RefutationStep::Derived(_) | RefutationStep::Forget(_) => {}
        }
    }

    /// Adds the cycles; each choice closes one of them.
    fn choices(
        &mut self,
        choices: &[(Vec<Fact>, usize)],
        pairs: usize,
        refutation: &Refutation,
        reasons_max: usize,
    ) {
        let both = if pairs == 1 { "1 pair".to_owned() } else { format!("{pairs} pairs") };
        self.add_reason(
            format!(
                "nothing forces the order of {both} of messages, but however they are ordered, \
                 one of {} cycles closes:",
                choices.len()
            ),
            &[],
        );
        // Pairs whose order FIFO carries over from the messages that post them also appear as
        // cycles: two per pair.
        let carried = |(_, step): &&(Vec<Fact>, usize)| match &refutation.steps[*step] {
            RefutationStep::Cycle(links) => {
                links.iter().all(|link| matches!(link.why, Why::Decided(_)))
            }
            _ => false,
        };
        let (same, real): (Vec<_>, Vec<_>) = choices.iter().partition(|choice| carried(choice));
        for (facts, step) in real.iter().take(reasons_max) {
            match &refutation.steps[*step] {
                RefutationStep::Cycle(links) => {
                    let against = facts.iter().map(|fact| self.words.fact(fact.opposite()));
                    let against: Vec<String> = against.collect();
                    let cycle = self.words.cycle(links);
                    let chain = self.words.chain(&cycle);
                    self.add_reason(format!("if {}: {chain}", against.join(" and ")), &cycle);
                    if self.explanation.cycle.is_empty() {
                        self.keep_cycle();
                    }
                }
                RefutationStep::ReadsOpen { .. } | RefutationStep::Ended { .. } => {
                    let facts: Vec<String> =
                        facts.iter().map(|fact| self.words.fact(*fact)).collect();
                    let why = match refutation.steps[*step] {
                        RefutationStep::ReadsOpen { read, other } => self.reads(read, other),
                        RefutationStep::Ended { begins, end } => self.ended(begins, end),
                        _ => String::new(),
                    };
                    self.add_reason(format!("{}, {why}", facts.join(" or ")), &[]);
                }
                RefutationStep::Derived(_) | RefutationStep::Forget(_) => {}
            }
        }
        let hidden = real.len().saturating_sub(reasons_max);
        if hidden > 0 {
            self.add_reason(
                format!("({hidden} more cycles; the certificate has all of them)"),
                &[],
            );
        }
        if !same.is_empty() {
            let text = format!(
                "({} more cycles say that messages come in the order of the messages that post them)",
                same.len()
            );
            self.add_reason(text, &[]);
        }
    }
}
