//! How an execution ends in which no thread can go on.
//!
//! A read in whose state its thread waits may be from an old state. Then the thread would go on, in
//! another execution that is explored, too: this one does not count.

use super::behaviour::NodeId;
use super::graph::{Graph, Kind};
use super::reading::Reading;
use super::states::States;
use crate::ids::ThreadId;
use crate::learn::Blocked;
use crate::op::{Act, Op};
use crate::program::Next;

#[derive(Debug, Default)]
pub(super) struct Ending {
    /// The threads that have not ended.
    pub(super) stuck: Vec<Blocked>,
    /// Whether one of them spins.
    pub(super) spins: bool,
    /// Whether one of them waits for what is already there.
    pub(super) is_stale: bool,
}

impl Ending {
    /// Notes a thread that has not ended, and its next operation.
    pub(super) fn note(
        &mut self,
        graph: &Graph,
        thread: u32,
        place: NodeId,
        next: &Next,
        states: &mut States,
    ) {
        let (op, site) = (next.op.clone(), next.site);
        self.stuck.push(Blocked { thread: ThreadId(thread), op, site });
        if let Act::Await(watched) = &next.op.act {
            self.spins = true;
            self.is_stale |= watched.iter().enumerate().any(|(at, one)| {
                now(graph, thread, (place, at), &one.op, states) != Some(one.result)
            });
            return;
        }
        if let Some(last) = graph.logs[thread as usize].last().map(|id| graph.event(*id))
            && last.kind == Kind::Read
            && last.is_blocked
        {
            self.is_stale |= graph.rank(last.source) < graph.order(last.object).len();
        }
    }
}

/// The result that an operation would have in the last state of its object; `None` if it waits.
fn now(
    graph: &Graph,
    thread: u32,
    (place, at): (NodeId, usize),
    op: &Op,
    states: &mut States,
) -> Option<u64> {
    let object = op.object.0;
    let last = graph.order(object).last().and_then(|id| graph.written(*id));
    let value = last.unwrap_or_else(|| states.initial(object));
    // The phase stands for which of the operations it is.
    let at = (place, at.min(usize::from(u8::MAX)) as u8);
    let mut reading = Reading { thread, act: &op.act, at, object };
    let event = reading.event(0, value, 0, states);
    (!event.is_blocked).then_some(event.result)
}
