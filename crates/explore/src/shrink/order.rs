//! Measures how far a run is from the order of a recording, and brings it closer.

use super::runner::{Footprint, NoRun, Ran, Runner};
use anyorder_system::{Control, TaskName};
use rustc_hash::FxHashMap;

/// Whether two tasks conflict: one writes a location that the other touches. Unknown accesses
/// conflict.
pub(super) fn conflict(a: Option<&Footprint>, b: Option<&Footprint>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    a.iter().any(|(location, writes)| {
        b.iter().any(|(other, other_writes)| location == other && (*writes || *other_writes))
    })
}

/// Returns the number of conflicting pairs of a run that have the other order in the recording.
/// Quadratic; of a stopped job, only some are counted.
pub(super) fn inversions(ran: &Ran, recording: &Ran, control: &Control<'_>) -> u32 {
    let recorded = places(recording);
    let at: Vec<Option<usize>> =
        ran.choices.iter().map(|choice| recorded.get(&choice.task).copied()).collect();
    let mut count = 0_u32;
    for second in 0..at.len() {
        if control.check().is_err() {
            break;
        }
        for first in 0..second {
            let (Some(a), Some(b)) = (at[first], at[second]) else { continue };
            let footprint = |index: usize| ran.footprints[index].as_ref();
            if a > b && conflict(footprint(first), footprint(second)) {
                count = count.saturating_add(1);
            }
        }
    }
    count
}

/// Swaps neighbours that have the other order in the recording, as long as the run still shows the
/// symptom.
pub(super) fn straighten(
    runner: &mut Runner<'_>,
    best: &mut Ran,
    recording: &Ran,
) -> Result<(), NoRun> {
    let recorded = places(recording);
    loop {
        let mut changed = false;
        for at in 1..best.choices.len() {
            let place = |at: usize| recorded.get(&best.choices.get(at)?.task);
            if !matches!((place(at - 1), place(at)), (Some(a), Some(b)) if a > b) {
                continue;
            }
            let mut plan = best.choices.clone();
            plan.swap(at - 1, at);
            let ran = runner.attempt(&plan)?;
            let better = |ran: &Ran| {
                ran.shows && (ran.choices.len() < best.choices.len() || ran.choices == plan)
            };
            if let Some(ran) = ran.filter(better) {
                *best = ran;
                runner.improved(best);
                changed = true;
            }
        }
        if !changed {
            return Ok(());
        }
    }
}

/// The position of each task of a run.
fn places(ran: &Ran) -> FxHashMap<&TaskName, usize> {
    ran.choices.iter().zip(0..).map(|(choice, at)| (&choice.task, at)).collect()
}
