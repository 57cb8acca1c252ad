//! Runs that differ only in the order of two neighbours without a conflict; and the names of
//! violations.

use super::ids::OccurrenceId;
use super::sim::{Sim, Step};
use anyorder_system::{Access, AccessKind};
use anyorder_trace::{LocationId, SiteId};
use rustc_hash::FxHashMap;

/// Returns whether the last two events would do the same in the other order, which is searched,
/// too: that of their numbers. No conflict orders them, and nothing in the run had to wait.
/// `left_out` has the event of the pivot, and the accesses of its step.
pub(crate) fn is_mirror<S>(
    sim: &Sim<S>,
    forced: bool,
    left_out: Option<(OccurrenceId, &[Access])>,
) -> bool {
    let Some(last) = sim.events.len().checked_sub(1) else { return false };
    if last == 0 || forced || sim.events[last].event >= sim.events[last - 1].event {
        return false;
    }
    let event = |step: &Step| sim.occurrence_of(step).index();
    let first = sim.steps.partition_point(|step| event(step) + 1 < last);
    let second = sim.steps.partition_point(|step| event(step) < last);
    let left_out = |event: usize| {
        let accesses = left_out.filter(|(pivot, _)| pivot.index() == event);
        accesses.map(|(_, accesses)| accesses).unwrap_or_default()
    };
    let mut accessed: FxHashMap<LocationId, bool> = FxHashMap::default();
    let before = sim.steps[first..second].iter().flat_map(|step| &step.accesses);
    for access in before.chain(left_out(last - 1)) {
        *accessed.entry(access.location).or_default() |= access.kind != AccessKind::Read;
    }
    let conflicts = |access: &Access| {
        let written = accessed.get(&access.location);
        written.is_some_and(|written| *written || access.kind != AccessKind::Read)
    };
    let accesses = sim.steps[second..].iter().flat_map(|step| &step.accesses);
    !accesses.chain(left_out(last)).any(conflicts)
}

/// Names a violation by the tasks and the accesses of its pivot and its root.
pub(crate) fn places(pivot: (&str, &[Access]), root: (&str, &[Access])) -> String {
    let place = |(task, accesses): (&str, &[Access])| {
        let accesses = accesses.iter().map(|one| match one.site {
            SiteId::UNKNOWN => (one.kind, one.site, Some(one.location)),
            site => (one.kind, site, None),
        });
        format!("{task} {:?}", accesses.collect::<Vec<_>>())
    };
    format!("{} {}", place(pivot), place(root))
}
