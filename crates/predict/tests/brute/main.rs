//! The search for witnesses against brute force over all reorderings of small random traces, and
//! the checker of witnesses; and a measurement by brute force of the pairs that the relations miss
//! and invent.

mod branches;
mod components;
mod confirmed;
#[path = "../../../certify/tests/reordering/generate.rs"]
mod generate;
mod measured;
mod tasks;
#[path = "../../../certify/tests/reordering/types.rs"]
mod types;
#[path = "../../../certify/tests/reordering/woken.rs"]
mod woken;

use anyorder_trace::Trace;
use std::collections::BTreeSet;

/// The number of different reorderings at which brute force gives up a trace.
const STATES_MAX: usize = 20_000;

/// Returns all pairs of events of a trace.
fn all_pairs(trace: &Trace) -> BTreeSet<(usize, usize)> {
    (0..trace.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}
