//! The reads that may observe anything, in a trace that records branches: `docs/witnesses.md`,
//! section 1, *Free reads*.

use super::memory::{Observation, Sources};
use anyorder_trace::{Event, EventKind, Trace};

/// Returns the free reads of a trace, ascending, given the lane of each event.
///
/// In each lane, the reads up to some event are needed. That event moves on only, and each read
/// becomes needed once: linear in the trace and in the writes observed.
pub(super) fn free_reads(trace: &Trace, lane_of: &[u32], sources: &Sources) -> Vec<u32> {
    let lanes = lane_of.iter().max().map_or(0, |last| *last as usize + 1);
    let mut events_of: Vec<Vec<u32>> = vec![Vec::new(); lanes];
    let mut place_of: Vec<usize> = Vec::with_capacity(trace.len());
    let mut todo: Vec<u32> = Vec::new();
    for event in trace.events() {
        let of_lane = &mut events_of[lane_of[event.id.index()] as usize];
        place_of.push(of_lane.len());
        of_lane.push(event.id.0);
        if uses_values(trace, event) {
            todo.push(event.id.0);
        }
    }
    // By lane, the number of its events up to the last one that uses a value.
    let mut needed = vec![0; lanes];
    while let Some(user) = todo.pop() {
        let lane = lane_of[user as usize] as usize;
        let from = needed[lane];
        needed[lane] = from.max(place_of[user as usize] + 1);
        for id in &events_of[lane][from..needed[lane]] {
            if !trace.event(anyorder_trace::EventId(*id)).kind().reads() {
                continue;
            }
            match sources.of(*id) {
                Observation::One(write) => todo.extend(write),
                Observation::Pieces(pieces) => todo.extend(pieces.iter().filter_map(|p| p.last)),
                // Nobody can check a run that has it.
                Observation::Unknown | Observation::Free => {}
            }
        }
    }
    let free = (0..).zip(lane_of).zip(&place_of).filter(|((id, lane), place)| {
        let kind = trace.event(anyorder_trace::EventId(*id)).kind();
        kind == EventKind::Read && **place >= needed[**lane as usize]
    });
    free.map(|((id, _), _)| id).collect()
}

/// Returns whether the values that a thread has read may decide if such an event of it occurs, or
/// what it does. What a write stores matters only where somebody needs it.
fn uses_values(trace: &Trace, event: Event) -> bool {
    let kind = event.kind();
    let is_plain = matches!(kind, EventKind::Read | EventKind::Write | EventKind::Free)
        || matches!(kind, EventKind::Alloc | EventKind::Fork | EventKind::Join)
        || matches!(kind, EventKind::Begin | EventKind::Exit | EventKind::Barrier)
        || matches!(kind, EventKind::Acquire | EventKind::Release | EventKind::Destroy)
        || matches!(kind, EventKind::Refused | EventKind::Request)
        || matches!(kind, EventKind::Signal | EventKind::Broadcast)
        || matches!(kind, EventKind::Wait | EventKind::Wake);
    !is_plain && (kind != EventKind::Other || trace.is_branch(event))
}
