//! Events by handler, with a pointer to the first open one.

use anyorder_trace::{Event, EventId, HandlerId, Trace};

/// For each handler some events, in trace order. All events before the pointer of a handler are
/// done.
pub(super) struct Lists {
    events: Vec<EventId>,
    /// By handler: where its list ends.
    ends: Vec<u32>,
    /// By handler: the first event that may be open.
    next: Vec<u32>,
}

impl Lists {
    /// Collects the events that belong to a handler: two passes over the trace.
    pub(super) fn new(trace: &Trace, of: impl Fn(Event) -> Option<HandlerId>) -> Lists {
        let handlers = trace.tables().handlers.len();
        let listed = || {
            let with_handler = trace.events().filter_map(|event| Some((event.id, of(event)?)));
            with_handler.filter(|(_, handler)| handler.index() < handlers)
        };
        let mut ends = vec![0u32; handlers];
        for (_, handler) in listed() {
            ends[handler.index()] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            let start = total;
            total += *end;
            *end = start;
        }
        let next = ends.clone();
        let mut events = vec![EventId::NONE; total as usize];
        for (event, handler) in listed() {
            let end = &mut ends[handler.index()];
            events[*end as usize] = event;
            *end += 1;
        }
        Lists { events, ends, next }
    }

    /// The first event of a handler's list that is not done. Events never become undone, so all
    /// calls together take time linear in the lists.
    pub(super) fn first_open(&mut self, handler: HandlerId, done: &[bool]) -> Option<EventId> {
        let end = *self.ends.get(handler.index())?;
        let next = &mut self.next[handler.index()];
        while *next < end {
            let event = self.events[*next as usize];
            if !done[event.index()] {
                return Some(event);
            }
            *next += 1;
        }
        None
    }
}
