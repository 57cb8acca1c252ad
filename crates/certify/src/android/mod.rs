//! Orders between callbacks of Android components, as `docs/android-components.md` defines them.
//! One pass over a trace finds all of them.
//!
//! Schedules and witnesses obey all of them; a proof of happens-before may use each as a step. Each
//! family has its own file and state.

use crate::ends::Ended;
use crate::view::View;
use anyorder_trace::{Event, EventId, Input, InputFamily, TaskId, Trace};
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
    /// By event, the events that come before it, and the families of the rules.
    before: HashMap<EventId, Vec<(EventId, InputFamily)>>,
    /// Pairs of tasks: all events of the first come before the `get` of the second.
    tasks: Vec<(TaskId, TaskId, InputFamily)>,
    /// Received broadcasts, and the posts of the tasks that receive them, follow the order of their
    /// causes: sends or sticky registrations.
    lines: [Line; 4],
    /// Removed idle handlers and receivers, in trace order.
    ends: Vec<(EventId, Ended)>,
    /// Triggers of idle handlers and receivers, with what added or registered them.
    opened: Vec<(EventId, EventId, Ended)>,
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

    fn has(&self, cause: EventId, effect: EventId) -> bool {
        self.causes.get(&effect).is_some_and(|causes| causes.contains(&cause))
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
            let posted = view.posted_task_of(event.id);
            let mut at = InputEvent {
                view,
                orders: &mut orders,
                event,
                input,
                state: trace.tables().name(input.state),
                posted,
                post: posted.and_then(|task| view.post(task)),
            };
            match input.family {
                InputFamily::Lifecycle => activities.take(&mut at),
                InputFamily::Idle => idle.take(&mut at),
                InputFamily::Service => services.take(&mut at),
                InputFamily::Broadcast => receivers.take(&mut at, activities.binding_post),
                _ => {}
            }
        }
        orders.end_tasks(view);
        orders
    }

    /// For each pair of tasks, finds the last event of the first task before the second begins.
    fn end_tasks(&mut self, view: View<'_>) {
        let mut wanted: HashMap<EventId, Vec<(TaskId, InputFamily)>> = HashMap::new();
        for (first, second, family) in self.tasks.drain(..) {
            if let Some(get) = view.get(second) {
                wanted.entry(get).or_default().push((first, family));
            }
        }
        let mut last: HashMap<TaskId, EventId> = HashMap::new();
        for event in view.events() {
            for (task, family) in wanted.get(&event.id).into_iter().flatten() {
                if let Some(last) = last.get(task) {
                    self.before.entry(event.id).or_default().push((*last, *family));
                }
            }
            last.insert(event.task, event.id);
        }
    }

    /// Returns the events that come before an event.
    pub(crate) fn before(&self, event: EventId) -> impl Iterator<Item = EventId> + '_ {
        self.before.get(&event).into_iter().flatten().map(|(before, _)| *before)
    }

    /// Returns whether a rule of a family puts an event before another, whatever the other orders.
    pub(crate) fn has(&self, family: InputFamily, from: EventId, to: EventId) -> bool {
        self.before.get(&to).is_some_and(|before| before.contains(&(from, family)))
    }

    /// Returns the removals of idle handlers and receivers, in trace order.
    pub(crate) fn ends(&self) -> &[(EventId, Ended)] {
        &self.ends
    }

    /// Returns the calls of idle handlers and receivers, each with the event that added or
    /// registered it.
    pub(crate) fn opened(&self) -> &[(EventId, EventId, Ended)] {
        &self.opened
    }

    /// Returns whether two effects follow the order of two causes.
    pub(crate) fn follow(&self, causes: [EventId; 2], effects: [EventId; 2]) -> bool {
        let both = |line: &Line| (0..2).all(|at| line.has(causes[at], effects[at]));
        self.lines.iter().any(both)
    }
}

/// An enable, a disable or a trigger of an input, and the orders that end there.
struct InputEvent<'o, 't> {
    view: View<'t>,
    orders: &'o mut Orders,
    event: Event,
    input: &'t Input,
    state: &'t str,
    /// The posted task of the event, and its post.
    posted: Option<TaskId>,
    post: Option<EventId>,
}

impl InputEvent<'_, '_> {
    /// Adds an edge; a backward edge is dropped.
    fn edge(&mut self, from: Option<EventId>, to: Option<EventId>) {
        if let (Some(from), Some(to)) = (from, to)
            && from < to
        {
            self.orders.before.entry(to).or_default().push((from, self.input.family));
        }
    }

    /// `e => t` for this event `t` and each of some events.
    fn causes(&mut self, events: impl IntoIterator<Item = EventId>) {
        for e in events {
            self.edge(Some(e), Some(self.event.id));
            if let Some(m) = self.posted.filter(|m| self.view.task_of(e) != *m) {
                self.edge(Some(e), self.view.get(m));
                self.edge(Some(e), self.post);
            }
        }
    }

    /// `base(p, t)` for this event `t`.
    fn base(&mut self, p: EventId) {
        self.edge(Some(p), Some(self.event.id));
        let view = self.view;
        if let (Some(a), Some(b)) = (view.posted_task_of(p), self.posted)
            && a != b
            && view.handler(a) == view.handler(b)
        {
            if view.get(a) < view.get(b) {
                self.orders.tasks.push((a, b, self.input.family));
            }
            self.edge(view.post(a), self.post);
        }
    }
}
