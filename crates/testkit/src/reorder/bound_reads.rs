//! The reads that bind: `docs/witnesses.md`, section 1, *Free reads*.

use super::facts::{Cell, lane};
use anyorder_trace::{Event, EventKind, Trace};

/// Returns for each event whether it is a read that binds. In a trace of threads that records
/// branches (`are_threads`), these are, by the letter of the definition: atomic updates, and reads
/// before something in their lane that may depend on what they observe.
pub(super) fn bound_reads(
    trace: &Trace,
    events: &[Event],
    cells: &[Vec<Cell>],
    are_threads: bool,
) -> Vec<bool> {
    use EventKind::*;
    let reads: Vec<bool> = events.iter().map(|event| event.kind().reads()).collect();
    if !are_threads || !events.iter().any(|event| trace.is_branch(*event)) {
        return reads;
    }
    let depends = |event: &Event| match event.kind() {
        Rmw | Invoke | Return | Choice | Failure | Post | Get | End | Cancel | Enable | Disable
        | Trigger | Attach | Loop => true,
        Other => trace.is_branch(*event),
        _ => false,
    };
    let sees = |read: usize, write: usize| {
        let last = |cell: &Cell| {
            let writes = |at: &usize| events[*at].kind().writes() && cells[*at].contains(cell);
            (0..read).rev().find(writes)
        };
        cells[read].iter().any(|cell| last(cell) == Some(write))
    };
    let mut needed = vec![false; events.len()];
    loop {
        let binds = |read: usize| {
            let mut later = (read..events.len())
                .filter(|at| lane(trace, &events[*at]) == lane(trace, &events[read]));
            later.any(|at| {
                depends(&events[at])
                    || (at > read && (at + 1..events.len()).any(|by| needed[by] && sees(by, at)))
            })
        };
        let next: Vec<bool> = (0..events.len()).map(|at| reads[at] && binds(at)).collect();
        if next == needed {
            return next;
        }
        needed = next;
    }
}
