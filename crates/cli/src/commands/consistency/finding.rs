//! An inconsistency as a finding.

use crate::consistent::{Examined, Verdict};
use anyorder_consistency::{Procedure, describe};
use anyorder_finding::{Finding, Kind, Severity, Site, Step};
use anyorder_trace::{EventId, LabelScheme, NameId, Trace};

/// The most sites of a finding: the cycle is told in full by its explanation.
const SITES_MAX: usize = 8;

/// Makes the finding of an inconsistent trace.
pub(crate) fn inconsistency(trace: &Trace, examined: &Examined, reasons_max: usize) -> Finding {
    let mut finding = Finding::new(Kind::Inconsistency);
    finding.severity = Severity::Error;
    finding.title = "no order of the messages explains what this trace says".to_owned();
    let Verdict::Inconsistent(Some(proof)) = &examined.verdict else {
        let text = if examined.procedure == Procedure::Solver {
            "the search that found it was long, and so is the proof: `--certificate FILE` writes it and checks it again"
        } else {
            "all orders were tried; this procedure gives no reason, `--procedure solver` does"
        };
        finding.explanation.push(Step::new(text));
        return finding;
    };
    finding.confirmed = Some(true);
    let told = describe(trace, &examined.partial, &proof.refutation, reasons_max);
    for reason in told.reasons {
        let events = reason.events.iter().map(|event| label(trace, *event)).collect();
        finding.explanation.push(Step { text: reason.text, rule: None, events });
    }
    finding.sites = sites(trace, &told.cycle);
    finding
}

/// Returns the sites of the accesses of a cycle; of all its events where fewer than three are accesses, so that it is
/// not taken for a pair.
fn sites(trace: &Trace, cycle: &[EventId]) -> Vec<Site> {
    let accesses = cycle.iter().filter(|event| trace.event(**event).kind().is_access());
    let events: Vec<EventId> =
        if accesses.clone().count() > 2 { accesses.copied().collect() } else { cycle.to_vec() };
    let sites: Vec<Site> =
        events.into_iter().take(SITES_MAX).map(|event| site(trace, event)).collect();
    sites
}

fn site(trace: &Trace, id: EventId) -> Site {
    let event = trace.event(id);
    let tables = trace.tables();
    let position = tables.sites.get(event.site.index()).copied().unwrap_or_default();
    let text = |name: NameId| (name != NameId::EMPTY).then(|| tables.name(name).to_owned());
    let number = |number: u32| (number != 0).then_some(number);
    Site {
        file: text(position.file),
        line: number(position.line),
        column: number(position.column),
        label: text(position.label).or_else(|| text(position.function)),
        event: Some(label(trace, id)),
        task: Some(trace.task_name(event.task).to_owned()),
        handler: Some(trace.handler_name(trace.handler_of(id)).to_owned()),
        location: event.location().map(|location| trace.location_text(location)),
        access: Some(event.kind().word().to_owned()),
        ..Site::default()
    }
}

/// Returns the label of an event; where a trace has two numberings, with the name of its own.
pub(crate) fn label(trace: &Trace, event: EventId) -> String {
    let label = trace.label(event);
    match trace.tables().meta.labels {
        LabelScheme::AccessOrOperation if trace.event(event).kind().is_access() => {
            format!("access:{label}")
        }
        LabelScheme::AccessOrOperation => format!("op:{label}"),
        _ => label,
    }
}
