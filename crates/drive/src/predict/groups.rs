//! Groups findings with a common cause, by the positions of their pairs in the trace.

use anyorder_finding::{Finding, Placed, assign_groups};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, LabelScheme, Trace};
use std::collections::HashMap;

/// Groups the findings of a trace that miss the same order. Linear in the trace. Once the job is
/// stopped, the findings stay without groups.
pub(crate) fn group_findings(trace: &Trace, findings: &mut [Finding], cancel: &Cancel) {
    // If accesses and operations have separate numbers, a label does not identify an event. Such
    // traces have no frees.
    let apart = trace.tables().meta.labels == LabelScheme::AccessOrOperation;
    if apart || findings.iter().all(|finding| finding.form.is_none()) {
        return;
    }
    let labels = findings.iter().flat_map(|finding| finding.pairs.iter().flatten());
    let mut places: HashMap<String, Option<EventId>> =
        labels.map(|label| (label.clone(), None)).collect();
    for event in (0..trace.len() as u32).map(EventId) {
        if event.0.is_multiple_of(1 << 10) && cancel.reason().is_some() {
            return;
        }
        if let Some(place) = places.get_mut(&trace.label(event)) {
            place.get_or_insert(event);
        }
    }
    let placed = |label: &String| {
        let event = places.get(label).copied().flatten()?;
        Some(Placed { lane: trace.handler_of(event).0, position: u64::from(event.0) })
    };
    let pairs: Vec<Vec<[Placed; 2]>> = findings
        .iter()
        .map(|finding| {
            finding.pairs.iter().filter_map(|[a, b]| Some([placed(a)?, placed(b)?])).collect()
        })
        .collect();
    assign_groups(findings, &pairs);
}
