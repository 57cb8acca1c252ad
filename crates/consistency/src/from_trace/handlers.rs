//! Posted-by, fork and join orders.

use super::Kept;
use super::messages::Layout;
use super::orders::Orders;
use crate::partial::{MessageId, Relation};
use anyorder_trace::{EventId, EventKind, TaskId, Trace};

/// Adds the orders of posts, forks and joins, and counts dropped events.
pub(super) fn fill(trace: &Trace, layout: &Layout, orders: &mut Orders<'_>, kept: &mut Kept) {
    for message in &layout.messages {
        if let Some(post) = message.post {
            let post = layout.events[post as usize];
            let first = layout.events[message.slots.start as usize];
            orders.add(post.0, first.0, Relation::PostedBy);
        }
    }
    let columns = trace.columns();
    let mut others: Option<ForkJoinTargets<'_>> = None;
    let mut cancelled = Vec::new();
    for row in 0..columns.len() {
        let (event, operand) = (EventId(row as u32), columns.operands[row]);
        match columns.ops[row].kind() {
            EventKind::Fork => {
                let others = others.get_or_insert_with(|| ForkJoinTargets::new(trace, layout));
                others.fork(event, operand, orders, kept);
            }
            EventKind::Join => {
                let others = others.get_or_insert_with(|| ForkJoinTargets::new(trace, layout));
                others.join(event, operand, orders, kept);
            }
            EventKind::Cancel => cancelled.push(operand),
            EventKind::Acquire
            | EventKind::Release
            | EventKind::Destroy
            | EventKind::Refused
            | EventKind::Request => kept.locks += 1,
            EventKind::Signal | EventKind::Broadcast | EventKind::Wait | EventKind::Wake => {
                kept.conditions += 1;
            }
            EventKind::Barrier => kept.barriers += 1,
            EventKind::Enable | EventKind::Disable | EventKind::Trigger if !layout.observed => {
                kept.inputs += 1;
            }
            EventKind::Attach => kept.attaches += 1,
            _ => {}
        }
    }
    cancelled.sort_unstable();
    cancelled.dedup();
    let ran = |task: u32| {
        (task as usize) < trace.tasks_count() && !trace.span(TaskId(task)).first.is_none()
    };
    kept.cancelled = cancelled.into_iter().filter(|task| !ran(*task)).count() as u64;
}

/// The messages of each handler, for the orders of forks and joins.
struct ForkJoinTargets<'a> {
    trace: &'a Trace,
    layout: &'a Layout,
    /// By handler of the trace: its messages, pieces of own code and bursts.
    messages: Vec<Vec<MessageId>>,
    /// Each fork or join adds one order per message; this bounds their sum.
    budget: usize,
}

impl<'a> ForkJoinTargets<'a> {
    fn new(trace: &'a Trace, layout: &'a Layout) -> ForkJoinTargets<'a> {
        let mut messages = vec![Vec::new(); trace.tables().handlers.len()];
        for (id, message) in (0_u32..).zip(&layout.messages) {
            messages[message.handler_id.index()].push(id);
        }
        let budget = 2 * trace.len().max(512);
        ForkJoinTargets { trace, layout, messages, budget }
    }

    /// Returns the messages of a handler other than the event's own; when the budget is spent, at
    /// most one.
    fn of(&mut self, handler: u32, event: EventId, kept: &mut Kept) -> &[MessageId] {
        let messages = self.messages.get(handler as usize).map_or(&[][..], Vec::as_slice);
        if self.trace.handler_of(event).0 == handler {
            return &[];
        }
        if messages.len() > self.budget.max(1) {
            kept.thin_forks += 1;
            return &messages[..1];
        }
        self.budget = self.budget.saturating_sub(messages.len());
        messages
    }

    /// A fork comes before all later events of the handler.
    fn fork(&mut self, fork: EventId, handler: u32, orders: &mut Orders<'_>, kept: &mut Kept) {
        kept.forks += 1;
        let layout = self.layout;
        for id in self.of(handler, fork, kept).to_vec() {
            let events = layout.events_of(id);
            let behind = if layout.observed { events.partition_point(|e| *e < fork) } else { 0 };
            if let Some(to) = events.get(behind) {
                orders.add(fork.0, to.0, Relation::Fork);
            }
        }
    }

    /// A join comes after all earlier events of the handler.
    fn join(&mut self, join: EventId, handler: u32, orders: &mut Orders<'_>, kept: &mut Kept) {
        kept.joins += 1;
        let layout = self.layout;
        for id in self.of(handler, join, kept).to_vec() {
            let events = layout.events_of(id);
            let all = events.len();
            let before = if layout.observed { events.partition_point(|e| *e < join) } else { all };
            if let Some(last) = events[..before].last() {
                orders.add(last.0, join.0, Relation::Join);
            }
        }
    }
}
