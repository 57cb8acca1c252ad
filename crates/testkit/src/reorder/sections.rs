//! The critical sections of a small trace.

use super::facts::{handler, lane};
use anyorder_trace::{Event, EventKind, Trace};

/// A critical section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) lock: u32,
    pub(super) lane: (bool, u32),
    pub(super) acquire: usize,
    pub(super) release: Option<usize>,
    pub(super) exclusive: bool,
}

/// Returns the sections of a trace, by their acquires; `by_handler` if handlers hold locks.
pub(super) fn sections(trace: &Trace, events: &[Event], by_handler: bool) -> Vec<Section> {
    let holder = |event: &Event| match by_handler && handler(trace, event) != u32::MAX {
        true => (false, handler(trace, event)),
        false => lane(trace, event),
    };
    let mut sections: Vec<Section> = Vec::new();
    let acquires = |e: &&Event| e.kind() == EventKind::Acquire;
    for begin in events.iter().filter(acquires) {
        let lane_of_begin = holder(begin);
        let own = |s: &Section| s.lane == lane_of_begin && s.lock == begin.operand;
        let inside = |s: &Section| s.release.is_none_or(|release| release > begin.id.index());
        if sections.iter().any(|s| own(s) && inside(s)) {
            continue;
        }
        let mut section = Section {
            lock: begin.operand,
            lane: lane_of_begin,
            acquire: begin.id.index(),
            release: None,
            exclusive: false,
        };
        let mut times = 0;
        for event in &events[begin.id.index()..] {
            if event.operand != begin.operand || holder(event) != lane_of_begin {
                continue;
            }
            match event.kind() {
                EventKind::Acquire => {
                    times += 1;
                    section.exclusive |= !event.mode().is_shared();
                }
                EventKind::Release => times -= 1,
                _ => {}
            }
            if times == 0 {
                section.release = Some(event.id.index());
                break;
            }
        }
        sections.push(section);
    }
    sections
}

/// The section that blocked a failed attempt, by its place in the list.
pub(super) fn blocking_section(
    trace: &Trace,
    events: &[Event],
    sections: &[Section],
    this: &Event,
    by_handler: bool,
) -> Option<usize> {
    if this.kind() != EventKind::Refused {
        return None;
    }
    let at = this.id.index();
    let holder = |event: &Event| match by_handler && handler(trace, event) != u32::MAX {
        true => (false, handler(trace, event)),
        false => lane(trace, event),
    };
    let takes_it_all = |section: &Section| {
        events[section.acquire..at].iter().any(|e| {
            let takes = e.kind() == EventKind::Acquire && e.operand == section.lock;
            takes && holder(e) == section.lane && !e.mode().is_shared()
        })
    };
    let is_blocking = |section: &Section| {
        section.lock == this.operand
            && section.lane != holder(this)
            && section.acquire < at
            && section.release.is_none_or(|release| release > at)
            && (!this.mode().is_shared() || takes_it_all(section))
    };
    let blocking = sections.iter().enumerate().filter(|(_, section)| is_blocking(section));
    blocking.max_by_key(|(_, section)| section.acquire).map(|(at, _)| at)
}
