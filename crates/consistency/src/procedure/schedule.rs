//! One schedule, tried before any search.
//!
//! **Problem.** The searches compare all pairs of messages of a handler, which is quadratic. Most
//! traces were recorded from a run that happened, and many others follow from their given orders.
//!
//! **Idea.** Run the messages as their handlers would: a message begins when its mailbox lets it,
//! its handler is free and all that comes before its first event is done. Of the events that can
//! come next, the one that stands first in the trace comes next. If this ends with all events, it
//! is a witness. If it gets stuck, nothing is known.
//!
//! **Guarantee.** A schedule that is returned is a run: see `PartialTrace` for what it must keep.
//!
//! **Cost.** For `n` slots and `e` given orders, `n log n + e`.

use crate::mailbox::MailboxRule;
use crate::partial::{MessageId, OpenEnds, OpenLocation, PartialTrace, Slot};
use crate::saturate::Graph;
use anyorder_system::{Control, Stopped};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Tries one schedule. Returns it if it is a witness of consistency, else nothing. Mailboxes with
/// delays are not tried.
///
/// # Errors
///
/// Fails when the job was stopped.
pub fn schedule_once(
    trace: &PartialTrace,
    control: &Control<'_>,
) -> Result<Option<Vec<Slot>>, Stopped> {
    if trace.mailboxes == MailboxRule::Delayed || !trace.backward.is_empty() {
        return Ok(None);
    }
    let graph = Graph::new(trace);
    let order = Schedule::new(&graph).run(control)?;
    if order.len() < trace.events.len() {
        return Ok(None);
    }
    let mut place = vec![0_u32; order.len()];
    for (at, &slot) in (0..).zip(&order) {
        place[slot as usize] = at;
    }
    let keeps = trace.open.iter().all(|location| reads_hold(location, &place))
        && trace.ends.iter().all(|ends| ends_hold(ends, &place));
    Ok(keeps.then_some(order))
}

/// A handler that runs messages.
#[derive(Clone, Debug, Default)]
struct Handler {
    /// The message that it runs.
    running: Option<MessageId>,
    /// The posted messages, in the order of their posts; only for FIFO.
    queue: VecDeque<MessageId>,
    /// The posted messages whose first event only waits for the handler, by the keys of those
    /// events.
    waiting: BTreeSet<(Key, MessageId)>,
}

/// The place of an event in the trace, and its slot.
type Key = (u32, Slot);

struct Schedule<'g> {
    graph: &'g Graph<'g>,
    handlers: Vec<Handler>,
    /// For each slot, how many of the slots directly before it are to come.
    waits: Vec<u32>,
    ready: BinaryHeap<Reverse<Key>>,
}

impl<'g> Schedule<'g> {
    fn new(graph: &'g Graph<'g>) -> Schedule<'g> {
        let slots = graph.slots();
        let mut waits = vec![0_u32; slots];
        for slot in 0..slots as Slot {
            graph.after(slot).for_each(|(to, _)| waits[to as usize] += 1);
        }
        let handlers = vec![Handler::default(); graph.trace.handlers as usize];
        let mut schedule = Schedule { graph, handlers, waits, ready: BinaryHeap::new() };
        for slot in 0..slots as Slot {
            if schedule.waits[slot as usize] == 0 {
                schedule.ready.push(Reverse(schedule.key(slot)));
            }
        }
        schedule
    }

    fn key(&self, slot: Slot) -> Key {
        (self.graph.trace.events[slot as usize].0, slot)
    }

    /// Returns the slots that could be run, in order: all, or those before it got stuck.
    fn run(mut self, control: &Control<'_>) -> Result<Vec<Slot>, Stopped> {
        const POLL_SLOTS: usize = 1 << 10;
        let mut order = Vec::with_capacity(self.waits.len());
        while let Some(Reverse((_, slot))) = self.ready.pop() {
            if !self.may_begin(slot) {
                continue;
            }
            if order.len() % POLL_SLOTS == 0 {
                control.check()?;
            }
            order.push(slot);
            self.leave(slot);
        }
        Ok(order)
    }

    /// Returns whether a slot can come next. The first one of a message waits for its turn at its
    /// handler.
    fn may_begin(&mut self, slot: Slot) -> bool {
        let (key, message) = (self.key(slot), self.graph.message(slot));
        let of = &self.graph.trace.messages[message as usize];
        if of.initial || slot != of.slots.start {
            return true;
        }
        let handler = &mut self.handlers[of.handler as usize];
        let is_fifo = self.graph.trace.mailboxes == MailboxRule::Fifo;
        let is_turn = !is_fifo || handler.queue.front() == Some(&message);
        if handler.running.is_some() || !is_turn {
            handler.waiting.insert((key, message));
            return false;
        }
        handler.queue.pop_front();
        handler.running = Some(message);
        true
    }

    /// Marks a slot as done: posts its messages, frees the handler after a last event, and finds
    /// what can come next.
    fn leave(&mut self, slot: Slot) {
        let graph = self.graph;
        if graph.trace.mailboxes == MailboxRule::Fifo {
            for posted in graph.posted_by(slot) {
                let handler = graph.trace.messages[posted as usize].handler;
                self.handlers[handler as usize].queue.push_back(posted);
            }
        }
        for (to, _) in graph.after(slot) {
            self.waits[to as usize] -= 1;
            if self.waits[to as usize] == 0 {
                self.ready.push(Reverse(self.key(to)));
            }
        }
        let message = graph.message(slot);
        if graph.last(message) != slot || graph.trace.messages[message as usize].initial {
            return;
        }
        let handler = &mut self.handlers[graph.trace.messages[message as usize].handler as usize];
        handler.running = None;
        let next = match handler.queue.front() {
            Some(&front) => {
                let first = graph.first(front);
                let key = (graph.trace.events[first as usize].0, first);
                handler.waiting.take(&(key, front))
            }
            None => handler.waiting.pop_first(),
        };
        self.ready.extend(next.map(|(key, _)| Reverse(key)));
    }
}

/// Returns whether each read of a location sees the write that it reads from.
fn reads_hold(location: &OpenLocation, place: &[u32]) -> bool {
    let mut writes = location.writes.clone();
    writes.sort_unstable_by_key(|&write| place[write as usize]);
    location.reads.iter().all(|&(read, from)| {
        // An event that reads and writes sees the value before its own write.
        let before = writes.partition_point(|&write| place[write as usize] < place[read as usize]);
        before.checked_sub(1).map(|last| writes[last]) == from
    })
}

/// Returns whether no end comes between an opening and its beginning.
fn ends_hold(open: &OpenEnds, place: &[u32]) -> bool {
    let mut ends: Vec<u32> = open.ends.iter().map(|&end| place[end as usize]).collect();
    ends.sort_unstable();
    open.begins.iter().all(|&(begins, opened)| {
        let before = ends.partition_point(|&end| end < place[begins as usize]);
        before.checked_sub(1).is_none_or(|last| ends[last] <= place[opened as usize])
    })
}
