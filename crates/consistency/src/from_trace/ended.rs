//! What has been cancelled, disabled or has quit does not begin any more.
//!
//! A beginning was opened by an event, and no end of it comes between the two
//! (`docs/consistency.md`, "What has ended"). Where the opening comes before the end for sure, the
//! beginning does as well: a given order. Otherwise the solver has to find which of the two holds.

use super::messages::Layout;
use super::orders::Orders;
use crate::partial::{OpenEnds, Relation, Slot};
use anyorder_trace::{EventId, EventKind, TaskId, TaskKind, Trace};
use std::collections::BTreeMap;

/// Adds the orders of cancels, inputs and exits, and returns what is open.
pub(super) fn fill(trace: &Trace, layout: &Layout, orders: &mut Orders<'_>) -> Vec<OpenEnds> {
    let mut open = Vec::new();
    cancels(trace, layout, orders, &mut open);
    if layout.observed {
        let inputs = Inputs::of(trace, orders);
        for (ends, begins) in inputs.of.into_values() {
            disables(layout, &ends, &begins, orders, &mut open);
        }
    }
    exits(layout, orders);
    open
}

fn cancels(trace: &Trace, layout: &Layout, orders: &mut Orders<'_>, open: &mut Vec<OpenEnds>) {
    let columns = trace.columns();
    for row in 0..trace.len() {
        let task = TaskId(columns.operands[row]);
        if columns.ops[row].kind() != EventKind::Cancel
            || task.index() >= trace.tasks_count()
            || trace.tables().tasks[task.index()].kind != TaskKind::Posted
        {
            continue;
        }
        let cancel = EventId(row as u32);
        let span = trace.span(task);
        let (first, post) = (span.first.some(), span.post.some());
        let is_posted = post.is_some_and(|post| !layout.observed || post < cancel);
        if let Some(post) = post.filter(|_| is_posted) {
            orders.add(post.0, cancel.0, Relation::Cancel);
        }
        let Some(first) = first else { continue };
        match post {
            // In the trace itself, the task was posted again, or began all the same.
            _ if layout.observed && cancel < first && (is_posted || post.is_none()) => {}
            Some(post) if !is_posted => {
                let slot = |event: EventId| layout.slot_of[event.index()];
                let begins = vec![(slot(first), slot(post))];
                open.push(OpenEnds { ends: vec![slot(cancel)], begins });
            }
            _ => orders.add(first.0, cancel.0, Relation::Ended),
        }
    }
}

/// What begins, and what opened it.
type Beginning = (EventId, EventId);

/// The disables of each input, and what can only begin while it is enabled, with the enable.
#[derive(Default)]
struct Inputs {
    of: BTreeMap<u32, (Vec<EventId>, Vec<Beginning>)>,
}

impl Inputs {
    fn of(trace: &Trace, orders: &mut Orders<'_>) -> Inputs {
        let mut inputs = Inputs::default();
        let mut enabled: BTreeMap<u32, EventId> = BTreeMap::new();
        for event in trace.events() {
            let input = event.operand;
            match event.kind() {
                EventKind::Enable => {
                    enabled.insert(input, event.id);
                }
                EventKind::Disable => {
                    enabled.remove(&input);
                    inputs.of.entry(input).or_default().0.push(event.id);
                }
                EventKind::Trigger => {
                    let Some(enable) = enabled.get(&input).copied() else { continue };
                    orders.add(enable.0, event.id.0, Relation::Enable);
                    let begins = &mut inputs.of.entry(input).or_default().1;
                    let get = trace.span(event.task).get;
                    let in_another = trace.event(enable).task != event.task;
                    if enable < get && get < event.id && in_another {
                        begins.push((get, enable));
                    }
                    begins.push((event.id, enable));
                }
                _ => {}
            }
        }
        inputs
    }
}

fn disables(
    layout: &Layout,
    ends: &[EventId],
    begins: &[Beginning],
    orders: &mut Orders<'_>,
    open: &mut Vec<OpenEnds>,
) {
    let place = |event: EventId| (layout.message_of[event.index()], layout.slot_of[event.index()]);
    let mut places: Vec<_> = ends.iter().map(|end| (place(*end), *end)).collect();
    places.sort_unstable();
    // The message of all disables, if it is one.
    let of_first = places.first().map(|((of, _), _)| *of);
    let of_all = of_first.filter(|of| places.last().is_some_and(|((last, _), _)| last == of));
    let mut left: Vec<(Slot, Slot)> = Vec::new();
    for &(begins, opened) in begins {
        let (message, slot) = place(opened);
        // The disables behind a first one in the same message come later still.
        let next = places.partition_point(|(place, _)| *place < (message, slot));
        if let Some((_, end)) = places.get(next).filter(|((of, _), _)| *of == message) {
            orders.add(begins.0, end.0, Relation::Ended);
        }
        if !places.is_empty() && of_all != Some(message) {
            left.push((place(begins).1, slot));
        }
    }
    if !left.is_empty() {
        let ends = places.iter().map(|((_, slot), _)| *slot).collect();
        open.push(OpenEnds { ends, begins: left });
    }
}

/// A handler's exit comes after all its other events.
fn exits(layout: &Layout, orders: &mut Orders<'_>) {
    for (id, message) in (0_u32..).zip(&layout.messages) {
        let Some(exit) = layout.exits[message.handler_id.index()] else { continue };
        let last = layout.events_of(id).last();
        if let Some(last) = last.filter(|last| **last != exit) {
            orders.add(last.0, exit.0, Relation::Ended);
        }
    }
}
