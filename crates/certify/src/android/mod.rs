//! Orders between callbacks of Android components, as `docs/android-components.md` defines them.
//! One pass over a trace finds all of them.
//!
//! Proofs of happens-before need single steps, which `component.rs` checks. Schedules and witnesses
//! need the constraints on a whole order. Each family has its own file and state.

use crate::view::View;
use anyorder_trace::{Event, EventId, EventKind, InputFamily, TaskId, Trace};
use std::collections::{BTreeMap, HashMap};

mod activities;
mod broadcast_order;
mod idle;
mod receivers;
mod services;

pub(crate) use broadcast_order::BroadcastOrder;

/// The constraints of the component rules on a trace.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// By event, the events that come before it.
    before: HashMap<EventId, Vec<EventId>>,
    /// Pairs of tasks: all events of the first come before the `get` of the second.
    tasks: Vec<(TaskId, TaskId)>,
    /// Received broadcasts, and the posts of the tasks that receive them, follow the order of their
    /// causes: sends or sticky registrations.
    lines: [Line; 4],
}

/// Causes with their effects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    effects: HashMap<EventId, Vec<EventId>>,
    causes: BTreeMap<EventId, Vec<EventId>>,
}

impl Line {
    fn add(&mut self, cause: EventId, effect: EventId) {
        self.effects.entry(cause).or_default().push(effect);
        self.causes.entry(effect).or_default().push(cause);
    }
}

impl Orders {
    /// Finds all orders in one pass over a trace.
    pub(crate) fn new(trace: &Trace) -> Orders {
        let view = View { trace };
        let mut orders = Orders::default();
        let mut activities = activities::Activities::default();
        let mut idle = idle::IdleHandlers::new(view);
        let mut services = services::Services::default();
        let mut receivers = receivers::Receivers::default();
        for event in view.events() {
            let Some(input) = view.input_of(event) else { continue };
            let mut add = OrderBuilder { view, orders: &mut orders };
            let state = trace.tables().name(input.state);
            match input.family {
                InputFamily::Lifecycle => activities.take(&mut add, event, input, state),
                InputFamily::Idle => idle.take(&mut add, event, input),
                InputFamily::Service => services.take(&mut add, event, input, state),
                InputFamily::Broadcast => {
                    receivers.take(&mut add, event, input, state, activities.binding_post);
                }
                _ => {}
            }
        }
        orders.end_tasks(view);
        orders
    }

    /// For each pair of tasks, finds the last event of the first task before the second begins.
    fn end_tasks(&mut self, view: View<'_>) {
        let mut wanted: HashMap<EventId, Vec<TaskId>> = HashMap::new();
        for (first, second) in self.tasks.drain(..) {
            if let Some(get) = view.get(second) {
                wanted.entry(get).or_default().push(first);
            }
        }
        let mut last: HashMap<TaskId, EventId> = HashMap::new();
        for event in view.events() {
            for task in wanted.get(&event.id).into_iter().flatten() {
                if let Some(last) = last.get(task) {
                    self.before.entry(event.id).or_default().push(*last);
                }
            }
            last.insert(event.task, event.id);
        }
    }

    /// Returns the events that come before an event.
    pub(crate) fn before(&self, event: EventId) -> &[EventId] {
        self.before.get(&event).map_or(&[], Vec::as_slice)
    }
}

/// Orders under construction.
struct OrderBuilder<'o, 't> {
    view: View<'t>,
    orders: &'o mut Orders,
}

impl OrderBuilder<'_, '_> {
    /// Adds an edge; a backward edge is dropped.
    fn edge(&mut self, from: Option<EventId>, to: Option<EventId>) {
        if let (Some(from), Some(to)) = (from, to)
            && from < to
        {
            self.orders.before.entry(to).or_default().push(from);
        }
    }

    /// `e => t`.
    fn add_cause(&mut self, e: EventId, t: EventId) {
        self.edge(Some(e), Some(t));
        if let Some(m) = self.view.posted_task_of(t)
            && self.view.task_of(e) != m
        {
            self.edge(Some(e), self.view.get(m));
            self.edge(Some(e), self.view.post(m));
        }
    }

    /// `base(p, t)`.
    fn base(&mut self, p: EventId, t: EventId) {
        self.edge(Some(p), Some(t));
        let view = self.view;
        let tasks = (view.posted_task_of(p), view.posted_task_of(t));
        if let (Some(a), Some(b)) = tasks
            && a != b
            && view.handler(a) == view.handler(b)
        {
            if view.get(a) < view.get(b) {
                self.orders.tasks.push((a, b));
            }
            self.edge(view.post(a), view.post(b));
        }
    }
}

/// Whether an event is an `enable`.
fn enables(event: Event) -> bool {
    event.kind() == EventKind::Enable
}
