//! Explains why two events are ordered or unordered.

use crate::races::category::CapturedClocks;
use crate::relation::engine::{Engine, Mode};
use crate::relation::rules::{Rule, RuleSet};
use crate::report::describe;
use crate::report::explain;
use anyorder_finding::ExplanationStep;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, Trace};

mod path;
mod proof;
mod prove;

pub use proof::{Proof, ProofStep};

/// The order of two events, explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderExplanation {
    /// The event that comes first in the trace.
    pub first: EventId,
    /// The other event.
    pub second: EventId,
    /// Whether the first happens before the second.
    pub ordered: bool,
    /// The explanation.
    pub steps: Vec<ExplanationStep>,
    /// If they are ordered, the proof; absent where it would be too long.
    pub proof: Option<Proof>,
}

/// Explains the order of two events of a trace.
///
/// # Errors
///
/// Fails if it was cancelled.
///
/// # Panics
///
/// Panics if an event is not in the trace.
pub fn why(
    trace: &Trace,
    rules: RuleSet,
    a: EventId,
    b: EventId,
    cancel: &Cancel,
) -> Result<OrderExplanation, Stopped> {
    let (first, second) = (a.min(b), a.max(b));
    let unordered = |steps| OrderExplanation { first, second, ordered: false, steps, proof: None };
    if first == second {
        // An event is not ordered with itself.
        return Ok(unordered(Vec::new()));
    }
    let mut engine = Engine::new(trace, rules, Mode::EXACT, cancel)?;
    let mut prover = prove::Prover::new(&mut engine, cancel);
    let ordered = prover.happens_before(first, second)?;
    if ordered {
        let proof = prover.prove(first, second)?;
        let steps = proof.as_ref().map_or_else(Vec::new, |proof| in_words(trace, proof));
        return Ok(OrderExplanation { first, second, ordered, steps, proof });
    }
    if let Some(reason) = prover.ended(first, second)? {
        let proof = prover.prove_ended((first, second), reason)?;
        let steps = proof.as_ref().map_or_else(Vec::new, |proof| in_words(trace, proof));
        return Ok(OrderExplanation { first, second, ordered: true, steps, proof });
    }
    let mut needed = Vec::new();
    explain::needs(&engine, first, second, &mut needed);
    let mut captured = CapturedClocks::new(needed.into_iter());
    engine.visit(&mut captured, cancel, &mut |_| ())?;
    Ok(unordered(explain::steps(&engine, &captured, first, second)))
}

fn in_words(trace: &Trace, proof: &Proof) -> Vec<ExplanationStep> {
    proof.path.iter().map(|step| step_in_words(trace, proof, step)).collect()
}

/// Describes a step of a proof in words.
fn step_in_words(trace: &Trace, proof: &Proof, step: &ProofStep) -> ExplanationStep {
    let because = match step.rule {
        Rule::NoPreemption => "some event of the one comes before what begins the other",
        Rule::Fifo => "they were posted in this order",
        Rule::FifoBackwards => "their tasks ran in this order",
        Rule::Cancel => "a task is cancelled after its post",
        Rule::Cancelled => "a cancelled task does not begin, so it began before",
        Rule::Disabled => "a disabled input triggers nothing, so it was triggered before",
        Rule::Exited => "a handler runs nothing after its exit",
        Rule::Po => "program order",
        Rule::Post => "a task begins after its post",
        Rule::Fork => "a thread begins after its fork",
        Rule::Join => "a join waits for the end",
        Rule::Lock => "the lock was handed over",
        Rule::Wake => "the signal wakes it",
        Rule::Barrier => "both pass the barrier",
        Rule::Atomic => "it reads what was released",
        Rule::Enable => "an input is triggered after it was enabled",
        Rule::Loop => "a handler serves its mailbox from here on",
        Rule::Attach => "a mailbox is posted to after it came into being",
        Rule::Component(_) => "Android calls back in this order",
    };
    let (from, to) = (describe::event(trace, step.from), describe::event(trace, step.to));
    let mut text = format!("{from} is before {to}: {because}");
    for premise in &step.premises {
        let lemma = &proof.lemmas[*premise as usize];
        let named: Vec<&str> =
            lemma.iter().filter(|s| s.rule != Rule::Po).map(|s| s.rule.word()).collect();
        if !named.is_empty() {
            text.push_str(&format!(" (which follows by {})", named.join(", ")));
        }
    }
    let events = [step.from, step.to].map(|event| trace.event_name(event)).to_vec();
    ExplanationStep { text, rule: Some(step.rule.word().to_owned()), events }
}
