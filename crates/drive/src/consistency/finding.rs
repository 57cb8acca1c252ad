//! An inconsistency as a finding.

use super::{Consistency, Consistent};
use crate::words::position;
use anyorder_consistency::{Procedure, describe};
use anyorder_finding::{ExplanationStep, Finding, Kind, Severity, Site, option};
use anyorder_trace::{EventId, Trace};

/// The maximum number of sites of a finding. Its explanation has the whole cycle.
const SITES_MAX: usize = 8;

/// Makes the finding of an inconsistent trace.
pub(super) fn inconsistency(trace: &Trace, answer: &Consistency, reasons_max: usize) -> Finding {
    let mut finding = Finding::new(Kind::Inconsistency);
    finding.severity = Severity::Error;
    finding.title = "no order of the messages explains what this trace says".to_owned();
    let Consistent::No(Some(proof)) = &answer.verdict else {
        let text = if answer.procedure == Procedure::Solver {
            let certificate = option::CERTIFICATE.typed_as("FILE");
            format!(
                "the search that found it was long, and so is the proof: {certificate} writes it and checks it again"
            )
        } else {
            let solver = option::PROCEDURE.typed_as(Procedure::Solver.name());
            format!("all orders were tried; this procedure gives no reason, {solver} does")
        };
        finding.explanation.push(ExplanationStep::new(text));
        return finding;
    };
    finding.confirmed = Some(true);
    let explained = describe(trace, &answer.partial, &proof.refutation, reasons_max);
    for reason in explained.reasons {
        let events = reason.events.iter().map(|event| trace.unique_label(*event)).collect();
        finding.explanation.push(ExplanationStep { text: reason.text, rule: None, events });
    }
    finding.sites = sites(trace, &explained.cycle);
    finding
}

/// Returns the sites of the accesses of a cycle. With fewer than three accesses, returns the sites
/// of all its events, so that the finding does not look like a pair.
fn sites(trace: &Trace, cycle: &[EventId]) -> Vec<Site> {
    let accesses = cycle.iter().filter(|event| trace.event(**event).kind().is_access());
    let events: Vec<EventId> =
        if accesses.clone().count() > 2 { accesses.copied().collect() } else { cycle.to_vec() };
    events.into_iter().take(SITES_MAX).map(|event| site(trace, event)).collect()
}

fn site(trace: &Trace, id: EventId) -> Site {
    let event = trace.event(id);
    let tables = trace.tables();
    Site {
        event: Some(trace.unique_label(id)),
        task: Some(trace.task_name(event.task).to_owned()),
        handler: Some(trace.handler_name(trace.handler_of(id)).to_owned()),
        location: event.location().map(|location| trace.location_text(location)),
        access: Some(event.kind().word().to_owned()),
        ..position(tables, event.site)
    }
}
