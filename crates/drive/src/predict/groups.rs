//! Groups findings with a common cause, by the positions of their pairs in the trace.

use anyorder_finding::{Finding, Placed, assign_groups};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace};

/// The pairs of events of a finding.
pub(crate) type Pairs = Vec<(EventId, EventId)>;

/// Groups the findings of a trace that miss the same order, by their pairs. Linear in the pairs.
/// Once the job is stopped, the findings stay without these groups.
pub(crate) fn group_findings(
    trace: &Trace,
    findings: &mut [Finding],
    pairs: &[Pairs],
    cancel: &Cancel,
) {
    let stopped = cancel.reason().is_some();
    if stopped || findings.iter().all(|finding| finding.form.is_none()) {
        return;
    }
    let placed =
        |event: EventId| Placed { lane: trace.handler_of(event).0, position: u64::from(event.0) };
    let pairs: Vec<Vec<[Placed; 2]>> = pairs
        .iter()
        .map(|pairs| pairs.iter().map(|(a, b)| [placed(*a), placed(*b)]).collect())
        .collect();
    assign_groups(findings, &pairs);
}
