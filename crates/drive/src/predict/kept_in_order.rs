//! Pairs that calls of specified objects keep in order, which happens-before does not know.

use anyorder_predict::check::{Checked, PairResult};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, SpecifiedCommunication, Types};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::HashSet;

/// Returns those of some pairs that no run has the other way round, whatever threads read: calls
/// that wait or observe something keep them in order. None for a trace without invocations.
///
/// A search for each pair that has no witness; linear in the trace if there is one.
pub(super) fn kept_in_order(
    trace: &Trace,
    (types, options): (&Types, ConfirmOptions),
    (pairs, checked): (&[(EventId, EventId)], &Checked),
    cancel: &Cancel,
) -> HashSet<(EventId, EventId)> {
    let has_calls = || trace.columns().ops.iter().any(|op| op.kind() == EventKind::Invoke);
    if pairs.is_empty() || !has_calls() {
        return HashSet::new();
    }
    let impossible: HashSet<(u64, u64)> = checked
        .pair_results
        .iter()
        .filter(|(_, result)| *result == PairResult::Impossible)
        .map(|(one, _)| (one.first, one.second))
        .collect();
    let is_impossible =
        |(a, b): &&(EventId, EventId)| impossible.contains(&(u64::from(a.0), u64::from(b.0)));
    let pairs: Vec<(EventId, EventId)> = pairs.iter().filter(is_impossible).copied().collect();
    if pairs.is_empty() {
        return HashSet::new();
    }
    let mut communication = SpecifiedCommunication::new(types.clone(), trace);
    let mut search = Confirmer::with_free_reads(trace, &mut communication, options, cancel);
    let mut is_kept = |(a, b): &(EventId, EventId)| {
        cancel.reason().is_none() && search.confirm(*a, *b, cancel) == Answer::Impossible
    };
    pairs.into_iter().filter(|pair| is_kept(pair)).collect()
}
