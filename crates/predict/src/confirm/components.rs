//! The constraints of Android components on a reordering.
//!
//! Edges and orders of tasks are causes like others. In each order, the search checks that
//! broadcasts are received in the order of their causes, as it checks the turns of mailboxes.

use super::clause::{Atom, Clause};
use anyorder_hb::component_orders;
use anyorder_trace::{InputFamily, InputId, TaskId, Trace};
use std::collections::HashMap;

/// The most clauses from one event.
const FROM_ONE: usize = 32;

/// A cause and its effect.
type Entry = (u32, u32);

/// Causes with their effects. The effects come in the order of the causes.
#[derive(Clone, Debug, Default)]
struct Line {
    entries: Vec<Entry>,
    effects: HashMap<u32, Vec<u32>>,
    causes: HashMap<u32, Vec<u32>>,
}

/// The constraints for one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    before: HashMap<u32, Vec<u32>>,
    /// For the `get` of a task: the tasks that end before it.
    ended: HashMap<u32, Vec<TaskId>>,
    lines: Vec<Line>,
}

/// Returns whether an input belongs to a component. The rules of components then define what
/// enables it.
pub(super) fn is_of_component(trace: &Trace, input: u32) -> bool {
    let family = trace.tables().inputs.get(InputId(input).index()).map(|input| input.family);
    matches!(
        family,
        Some(
            InputFamily::Lifecycle
                | InputFamily::Idle
                | InputFamily::Service
                | InputFamily::Broadcast
        )
    )
}

impl Components {
    pub(super) fn new(trace: &Trace) -> Components {
        let orders = component_orders(trace);
        let mut components = Components::default();
        for (from, to) in orders.edges {
            components.before.entry(to.0).or_default().push(from.0);
        }
        for (first, second) in orders.tasks {
            let get = trace.span(second).get.0;
            components.ended.entry(get).or_default().push(first);
        }
        for line in orders.lines {
            let mut of = Line::default();
            for (cause, effect) in line {
                of.entries.push((cause.0, effect.0));
                of.effects.entry(cause.0).or_default().push(effect.0);
                of.causes.entry(effect.0).or_default().push(cause.0);
            }
            of.entries.sort_unstable();
            components.lines.push(of);
        }
        components
    }

    /// Returns the events that come before an event.
    pub(super) fn before(&self, event: u32) -> &[u32] {
        self.before.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Returns the tasks that end before an event.
    pub(super) fn ended(&self, event: u32) -> &[TaskId] {
        self.ended.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Returns the effects of a cause.
    pub(super) fn effects(&self, cause: u32) -> impl Iterator<Item = u32> + '_ {
        self.lines.iter().filter_map(move |line| line.effects.get(&cause)).flatten().copied()
    }
}

/// By line, the pending effects in the order of their causes, during the replay of an order of
/// events.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    pending: Vec<Vec<Entry>>,
    /// The position of the trace that the pending entries belong to.
    at: Option<u32>,
    pending_at: Vec<Vec<Entry>>,
}

impl Deliveries {
    /// Returns to a position of the trace.
    pub(super) fn begin(&mut self, components: &Components, start: u32) {
        if self.at != Some(start) {
            self.at = Some(start);
            let is_pending = |entry: &&Entry| entry.0 < start && entry.1 >= start;
            let of = |line: &Line| line.entries.iter().filter(is_pending).copied().collect();
            self.pending_at = components.lines.iter().map(of).collect();
        }
        self.pending.clone_from(&self.pending_at);
    }

    /// Takes the next event of the order; `place` returns the position of an event that has come.
    pub(super) fn take(
        &mut self,
        components: &Components,
        event: u32,
        place: &dyn Fn(u32) -> Option<u64>,
        broken: &mut Vec<Clause>,
    ) {
        for (line, pending) in components.lines.iter().zip(&mut self.pending) {
            for cause in line.causes.get(&event).into_iter().flatten() {
                if place(*cause).is_none() {
                    continue;
                }
                let own = (*cause, event);
                let waiting = pending.iter().take_while(|entry| **entry != own);
                let first = waiting.filter(|entry| goes_first(**entry, own));
                broken.extend(first.take(FROM_ONE).map(|entry| in_order(*entry, own)));
                pending.retain(|entry| *entry != own);
            }
            for effect in line.effects.get(&event).into_iter().flatten() {
                let own = (event, *effect);
                let Some(came) = place(*effect) else {
                    pending.push(own);
                    continue;
                };
                let late = |entry: &&Entry| {
                    goes_first(**entry, own)
                        && place(entry.0).is_some()
                        && place(entry.1).is_none_or(|at| at > came)
                };
                let late = line.entries.iter().filter(late).take(FROM_ONE);
                broken.extend(late.map(|entry| in_order(*entry, own)));
            }
        }
    }
}

/// Returns whether the effect of one entry comes first if its cause comes first. A witness may
/// deviate if the recorded run did.
fn goes_first(first: Entry, second: Entry) -> bool {
    let ran_otherwise = first.0 < second.0 && first.1 > second.1;
    first.0 != second.0 && first.1 != second.1 && !ran_otherwise
}

fn in_order(first: Entry, second: Entry) -> Clause {
    vec![
        Atom::Before(first.1, second.1),
        Atom::Before(second.0, first.0),
        Atom::Out(second.0),
        Atom::Out(second.1),
    ]
}
