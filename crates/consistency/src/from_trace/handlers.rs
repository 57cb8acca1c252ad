//! Posted-by, fork, join and exit orders.

use super::Kept;
use super::messages::{Layout, Role};
use super::orders::Orders;
use crate::partial::{MessageId, Relation};
use anyorder_trace::{EventId, EventKind, TaskId, Trace};

/// Adds the orders of posts, forks, joins and exits, and counts dropped events.
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
            EventKind::Acquire | EventKind::Release | EventKind::Destroy | EventKind::Refused => {
                kept.locks += 1
            }
            EventKind::Signal | EventKind::Broadcast | EventKind::Wait | EventKind::Wake => {
                kept.conditions += 1;
            }
            EventKind::Barrier => kept.barriers += 1,
            EventKind::Enable | EventKind::Disable | EventKind::Trigger => kept.inputs += 1,
            EventKind::Attach => kept.attaches += 1,
            _ => {}
        }
    }
    exits(trace, layout, orders);
    cancelled.sort_unstable();
    cancelled.dedup();
    let ran = |task: u32| {
        (task as usize) < trace.tasks_count() && !trace.span(TaskId(task)).first.is_none()
    };
    kept.cancelled = cancelled.into_iter().filter(|task| !ran(*task)).count() as u64;
}

/// A handler's exit comes after all its other events. Nothing comes after the exit, so it is on no
/// cycle.
fn exits(trace: &Trace, layout: &Layout, orders: &mut Orders<'_>) {
    let exits = (0_u32..).zip(&layout.roles).filter(|(_, role)| **role == Role::Exit);
    let mut exit_of = vec![None; trace.tables().handlers.len()];
    for (id, _) in exits {
        exit_of[layout.messages[id as usize].handler_id.index()] = layout.events_of(id).first();
    }
    for (id, message) in (0_u32..).zip(&layout.messages) {
        let last = layout.events_of(id).last();
        if let (Some(last), Some(exit)) = (last, exit_of[message.handler_id.index()])
            && layout.roles[id as usize] != Role::Exit
        {
            orders.add(last.0, exit.0, Relation::Program);
        }
    }
}

/// The messages of each handler, for the orders of forks and joins.
struct ForkJoinTargets<'a> {
    trace: &'a Trace,
    layout: &'a Layout,
    /// By handler of the trace: its initial and posted messages.
    messages: Vec<Vec<MessageId>>,
    /// By message: its events with an effect, ascending.
    effects: Vec<Vec<EventId>>,
    /// Each fork or join adds one order per message; this bounds their sum.
    budget: usize,
}

impl<'a> ForkJoinTargets<'a> {
    fn new(trace: &'a Trace, layout: &'a Layout) -> ForkJoinTargets<'a> {
        let mut messages = vec![Vec::new(); trace.tables().handlers.len()];
        for (id, message) in (0_u32..).zip(&layout.messages) {
            if matches!(layout.roles[id as usize], Role::Initial | Role::Posted) {
                messages[message.handler_id.index()].push(id);
            }
        }
        let effects = (0..layout.messages.len() as MessageId).map(|id| {
            let events = layout.events_of(id).iter().copied();
            events.filter(|event| has_effect(trace, layout, *event)).collect()
        });
        let effects = effects.collect();
        let budget = 2 * trace.len().max(512);
        ForkJoinTargets { trace, layout, messages, effects, budget }
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
            let to = if layout.observed && events[0] < fork {
                let effects = &self.effects[id as usize];
                effects.get(effects.partition_point(|event| *event < fork))
            } else {
                events.first()
            };
            if let Some(to) = to {
                orders.add(fork.0, to.0, Relation::Fork);
            }
        }
    }

    /// A join comes after all earlier events of the handler. Messages without effect are left out:
    /// they are on no cycle.
    fn join(&mut self, join: EventId, handler: u32, orders: &mut Orders<'_>, kept: &mut Kept) {
        kept.joins += 1;
        let layout = self.layout;
        for id in self.of(handler, join, kept).to_vec() {
            let is_before = |event: &EventId| !layout.observed || *event < join;
            let effects = &self.effects[id as usize];
            let effects = &effects[..effects.partition_point(is_before)];
            // All events of a finished message come before the join, including its last one.
            let end = layout.events_of(id).last().filter(|event| is_before(event));
            if let Some(effect) = effects.last() {
                orders.add(end.unwrap_or(effect).0, join.0, Relation::Join);
            }
        }
    }
}

/// Returns whether other handlers can observe an event: accesses, posts of tasks that run, gets,
/// forks and joins.
fn has_effect(trace: &Trace, layout: &Layout, event: EventId) -> bool {
    let columns = trace.columns();
    match columns.ops[event.index()].kind() {
        EventKind::Get | EventKind::Fork | EventKind::Join => true,
        EventKind::Post => {
            let span = trace.span(TaskId(columns.operands[event.index()]));
            let begun = !span.first.is_none() && span.post == event;
            begun && layout.roles[layout.message_of[span.first.index()] as usize] == Role::Posted
        }
        kind => kind.is_access(),
    }
}
