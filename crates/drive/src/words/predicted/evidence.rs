//! What is known of a predicted pair, in words: the locks, the evidence, and its strength.

use super::events;
use super::hints::Pair;
use crate::words::deadlocks::DEADLOCK_WORDS;
use anyorder_finding::{ExplanationStep, Finding};
use anyorder_predict::check::{Candidate, Evidence, Fact, common_locks};
use anyorder_predict::{Form, GaveUp, OrderRule, OrderStep, ViolationKind};
use anyorder_trace::Trace;

/// The most edges that one chain reports.
const EDGES_MAX: usize = 6;

/// What is said where the search for a witness of the form `co_enabled` was cut.
pub(crate) const UNDECIDED: &str = "whether the two can also happen at the same time is undecided: the search for such a run was cut";

/// Explains a finding.
pub(super) fn explanation(
    pair: &Pair<'_>,
    shown: Candidate,
    evidence: &Evidence,
) -> Vec<ExplanationStep> {
    let Pair { first, second, .. } = *pair;
    let step = |rule: &str, text: String| ExplanationStep {
        rule: Some(rule.to_owned()),
        events: vec![first.label(), second.label()],
        ..ExplanationStep::new(text)
    };
    let (rule, text) = known(pair, evidence);
    vec![step("locks", locks(pair, shown)), step(rule, text)]
}

/// Returns what is known of a pair, and the rule of that step.
fn known(pair: &Pair<'_>, evidence: &Evidence) -> (&'static str, String) {
    let unconfirmed = |text: &str| ("unconfirmed", text.to_owned());
    match evidence {
        Evidence::Witness { waits: true, .. } => (
            "witness",
            "another run of the same events leads to where both could come next; if the second does, the first waits, and nothing that can still come serves it"
                .to_owned(),
        ),
        Evidence::Witness { form, kept: true, .. } => ("witness", form_words(*form).to_owned()),
        Evidence::Witness { form, kept: false, .. } => {
            ("witness", format!("{}; to save work, that run was not kept", form_words(*form)))
        }
        Evidence::GaveUp(GaveUp::Window) => {
            unconfirmed("no witness within the window; what lies before it happened as it did")
        }
        Evidence::GaveUp(GaveUp::Barrier) => unconfirmed(
            "every witness rests on a barrier, and the trace does not say who had arrived at it",
        ),
        Evidence::GaveUp(GaveUp::Conflicts) => unconfirmed("the search for a witness gave up"),
        Evidence::GaveUp(GaveUp::Stopped) => unconfirmed("the search for a witness was stopped"),
        Evidence::Rejected(why) => unconfirmed(&format!("the witness did not hold: {why}")),
        Evidence::Untried => {
            let Pair { tables, first, second, .. } = *pair;
            let names = [first, second].map(|fact| events::handler(tables, fact.handler));
            let who = match names {
                [a, b] if a == b => format!("the two tasks of `{a}`"),
                [a, b] => format!("`{a}` and `{b}`"),
            };
            unconfirmed(&format!(
                "the analysis found nothing that orders {who} here; no witness was looked for"
            ))
        }
    }
}

/// Says which locks are held.
fn locks(pair: &Pair<'_>, shown: Candidate) -> String {
    let Pair { tables, first, second, .. } = *pair;
    let shared: Vec<_> = common_locks(first, second).collect();
    let held = |fact: &Fact| events::locks(tables, &fact.held);
    match (shared.is_empty(), shown.kind) {
        (false, ViolationKind::NonRacy) => format!(
            "both hold {}: one section comes before the other, and nothing says which",
            events::locks(tables, &shared)
        ),
        _ if first.held.is_empty() && second.held.is_empty() => {
            "no lock is held at either".to_owned()
        }
        _ => format!("held at the first: {}; at the second: {}", held(first), held(second)),
    }
}

/// Returns a phrase that says what a witness of a form shows.
pub(crate) const fn form_words(form: Form) -> &'static str {
    match form {
        Form::Reversed => {
            "another run of the same events has them the other way round, and every event in it sees what it saw"
        }
        Form::Last => {
            "another run of the same events has them the other way round; every event before the last one sees what it saw"
        }
        Form::CoEnabled => "another run of the same events leads to where both could come next",
        Form::Deadlock => DEADLOCK_WORDS,
        Form::Overtakes => {
            "another run of the same events leads to where the task of the second is taken while that of the first waits"
        }
    }
}

/// Adds to the finding of a witness that some of its events may see something else, where the trace
/// records branches.
pub(crate) fn add_free_reads(trace: &Trace, finding: &mut Finding) {
    if trace.has_branches() {
        finding.explanation.push(ExplanationStep {
            rule: Some("branches".to_owned()),
            ..ExplanationStep::new("reads on which no recorded branch depends may see other values")
        });
    }
}

/// Says by which steps the analysis had ordered a pair that a witness reverses.
pub(super) fn missed(trace: &Trace, steps: &[OrderStep]) -> ExplanationStep {
    ExplanationStep {
        rule: Some("missed".to_owned()),
        events: steps.iter().map(|step| trace.event_name(step.to)).collect(),
        ..ExplanationStep::new(missed_order(trace, steps))
    }
}

/// Returns the edges by which the analysis had ordered a pair, without program order.
fn missed_order(trace: &Trace, steps: &[OrderStep]) -> String {
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
