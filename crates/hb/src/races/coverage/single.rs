//! Coverage by a single other race, as R4's section 4.4 prints it.
//!
//! **Cost.** Quadratic in the number of racing pairs of tasks; most searches end early.

use super::TaskPair;
use crate::races::category::CapturedClocks;
use crate::relation::engine::Engine;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::TaskId;
use rustc_hash::FxHashSet;

/// Finds the uncovered pairs among the pairs of tasks that race.
pub(super) fn single_coverage(
    engine: &mut Engine<'_>,
    racing: &[TaskPair],
    cancel: &Cancel,
) -> Result<FxHashSet<TaskPair>, Stopped> {
    let firsts = racing.iter().flat_map(|(a, b)| [*a, *b]).map(|t| engine.node_first(t));
    let mut captured = CapturedClocks::new(firsts);
    engine.visit(&mut captured, cancel, &mut |_| ())?;
    let at_or_before = |a: TaskId, b: TaskId| {
        a == b || captured.happens_before(engine, engine.node_last(a), engine.node_first(b))
    };
    let mut uncovered = FxHashSet::default();
    for (i, &(a, b)) in racing.iter().enumerate() {
        if i % 64 == 0 || racing.len() > 4096 {
            cancel.check()?;
        }
        let covers =
            |&(c, d): &TaskPair| (c, d) != (a, b) && at_or_before(d, b) && at_or_before(a, c);
        if !racing.iter().any(covers) {
            uncovered.insert((a, b));
        }
    }
    Ok(uncovered)
}
