//! Coverage by a single other race, as R4's section 4.4 prints it.
//!
//! **Cost.** Quadratic in the number of racing pairs of tasks; most searches end early.

use super::task::{in_order, racing_tasks};
use super::{Uncovered, by_tasks};
use crate::races::category::CapturedClocks;
use crate::races::detector::Races;
use crate::relation::engine::Engine;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::TaskId;
use rustc_hash::FxHashSet;

/// Counts the uncovered pairs of accesses in each racing pair of runs.
///
/// # Errors
///
/// Fails if it was cancelled.
pub(crate) fn single_coverage(
    engine: &mut Engine<'_>,
    races: &Races,
    cancel: &Cancel,
    progress: &mut dyn FnMut(u64),
) -> Result<Uncovered, Stopped> {
    let racing = racing_tasks(engine, races);
    let firsts = racing.iter().flat_map(|(a, b)| [*a, *b]).map(|t| engine.node_first(t));
    let mut captured = CapturedClocks::new(firsts);
    engine.visit(&mut captured, cancel, progress)?;
    let engine = &*engine;
    let wholly_before = |a: TaskId, b: TaskId| {
        let (last, first) = (engine.node_last(a), engine.node_first(b));
        captured.happens_before(engine, last, first)
    };
    let at_or_before = |a: TaskId, b: TaskId| a == b || wholly_before(a, b);
    let mut uncovered: FxHashSet<(TaskId, TaskId)> = FxHashSet::default();
    for (i, &(a, b)) in racing.iter().enumerate() {
        if i % 64 == 0 {
            cancel.check()?;
        }
        let covers = |&(c, d): &(TaskId, TaskId)| {
            (c, d) != (a, b) && at_or_before(d, b) && at_or_before(a, c)
        };
        if !racing.iter().any(covers) {
            uncovered.insert((a, b));
        }
    }
    Ok(by_tasks(races, |a, b| {
        let (a, b) = (engine.node_of(races.run(a)), engine.node_of(races.run(b)));
        uncovered.contains(&in_order(engine, a, b))
    }))
}
