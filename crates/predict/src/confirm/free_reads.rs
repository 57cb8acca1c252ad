//! The reads that may observe anything, where a trace records branches: `docs/witnesses.md`,
//! section 1, *Free reads*.

use super::cells::Cells;
use super::chains::{Chains, NONE};
use super::lists::Lists;
use anyorder_system::Cancel;
use anyorder_trace::{EventKind, Trace};

/// Finds the free reads of a trace whose threads keep the order of their events. Empty if there are
/// none, if the accesses have more than `most` cells, or once the job is stopped.
///
/// Linear: one pass finds what each read observes. Another one, backwards, meets all that may
/// depend on a read before the read itself.
pub(super) fn free_reads(
    (trace, cancel): (&Trace, &Cancel),
    cells: &Cells,
    most: usize,
) -> Vec<bool> {
    if !trace.has_branches() {
        return Vec::new();
    }
    let Some((lanes, observed)) = observed((trace, cancel), cells, most) else { return Vec::new() };
    let mut is_free = vec![false; trace.len()];
    let mut is_observed = vec![false; trace.len()];
    let mut depends = vec![false; lanes.iter().max().map_or(0, |last| *last as usize + 1)];
    for id in (0..trace.len()).rev() {
        if is_over(id, cancel) {
            return Vec::new();
        }
        let event = trace.event(anyorder_trace::EventId(id as u32));
        let depends = &mut depends[lanes[id] as usize];
        *depends |= may_depend(event.kind()) || is_observed[id] || trace.is_branch(event);
        match *depends {
            true => observed.row(id as u32).iter().for_each(|w| is_observed[*w as usize] = true),
            false => is_free[id] = event.kind() == EventKind::Read,
        }
    }
    is_free
}

/// Returns the lane of each event, and the writes that it observes.
fn observed(
    (trace, cancel): (&Trace, &Cancel),
    cells: &Cells,
    most: usize,
) -> Option<(Vec<u32>, Lists)> {
    let (mut chains, mut lanes, mut observed) = (Chains::new(trace), Vec::new(), Lists::default());
    let mut written = vec![NONE; cells.len()];
    let mut touched = 0;
    for event in trace.events() {
        if is_over(event.id.index(), cancel) {
            return None;
        }
        lanes.push(chains.take(trace, event, &mut |_| {}).chain);
        if let Some(location) = event.location() {
            let of = cells.of(location.0);
            touched += of.len();
            if touched > most {
                return None;
            }
            let of = of.start as usize..of.end as usize;
            if event.kind().reads() {
                let writers = written[of.clone()].iter().filter(|writer| **writer != NONE);
                writers.for_each(|writer| observed.push(*writer));
            }
            if event.kind().writes() {
                written[of].fill(event.id.0);
            }
        }
        observed.end_set();
    }
    Some((lanes, observed))
}

fn is_over(event: usize, cancel: &Cancel) -> bool {
    event.is_multiple_of(1 << 12) && cancel.reason().is_some()
}

/// Returns whether a value may decide if an event of this kind occurs, or what it does.
const fn may_depend(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        Rmw | Invoke | Return | Choice | Failure | Post | Get | End | Cancel | Enable | Disable
        | Trigger | Attach | Loop => true,
        Read | Write | Free | Alloc | Acquire | Release | Destroy | Refused | Request | Signal
        | Broadcast | Wait | Wake | Barrier | Fork | Join | Begin | Exit | Other => false,
    }
}
