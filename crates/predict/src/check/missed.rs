//! Explains the order that the analysis assumed, if a witness refutes it.

use super::driver::Found;
use crate::order_path::{OrderPaths, OrderRule, OrderStep, Ordered};
use anyorder_finding::ExplanationStep;
use anyorder_system::Cancel;
use anyorder_trace::Trace;

/// The most findings to explain, and the most steps for each.
const EXPLAINED_MAX: usize = 200;
const STEPS_MAX: u64 = 2_000_000;

/// The most edges that one chain reports.
const EDGES_MAX: usize = 6;

/// Adds the edges by which the analysis ordered a pair to the finding of that pair.
pub(crate) fn explain_missed(
    trace: &Trace,
    why: &OrderPaths,
    found: &mut [Found],
    cancel: &Cancel,
) {
    let missed = found.iter_mut().filter(|one| one.ordered);
    for one in missed.take(EXPLAINED_MAX) {
        let Some((first, second, _)) = &one.witness else { continue };
        let steps = why.why_until((*first, *second), STEPS_MAX, cancel);
        let Ordered::By(steps) = steps else { continue };
        let labels = steps.iter().map(|step| trace.event_name(step.to)).collect();
        let step = ExplanationStep {
            rule: Some("missed".to_owned()),
            events: labels,
            ..ExplanationStep::new(words(trace, &steps))
        };
        let at = one.finding.explanation.len().min(2);
        one.finding.explanation.insert(at, step);
    }
}

/// Returns a chain of edges in words, without program order.
fn words(trace: &Trace, steps: &[OrderStep]) -> String {
    let edges: Vec<&OrderStep> =
        steps.iter().filter(|step| step.rule != OrderRule::ProgramOrder).collect();
    let mut phrases: Vec<String> =
        edges.iter().take(EDGES_MAX).map(|step| edge(trace, step)).collect();
    if edges.len() > EDGES_MAX {
        phrases.push(format!("and {} more", edges.len() - EDGES_MAX));
    }
    format!("the analysis takes the two for ordered: {}", phrases.join(", "))
}

fn edge(trace: &Trace, step: &OrderStep) -> String {
    let (from, to) = (trace.event_name(step.from), trace.event_name(step.to));
    let by = match step.rule {
        OrderRule::ProgramOrder => "program order".to_owned(),
        OrderRule::Fork => "fork".to_owned(),
        OrderRule::Join => "join".to_owned(),
        OrderRule::Post => "post".to_owned(),
        OrderRule::Wake => "wake".to_owned(),
        OrderRule::Barrier => "barrier".to_owned(),
        OrderRule::Atomic => "atomic".to_owned(),
        OrderRule::Section { lock, action } => {
            let lock = trace.tables().locks.get(lock.index());
            let lock = lock.map_or("?", |name| trace.tables().name(*name));
            format!("section of `{lock}` with event {}", trace.event_name(action))
        }
    };
    format!("{from} before {to} ({by})")
}
