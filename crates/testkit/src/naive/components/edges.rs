//! The results of the component rules, and the two kinds of arrow in their definitions.

use super::{broadcast, idle, lifecycle, service};
use crate::naive::rules::{RuleName, Rules};
use crate::naive::view::{Edges, View};
use anyorder_trace::{Event, EventId, EventKind, InputFamily, TaskId};

/// The edges, whole-task orders and conditional edges of the component rules.
#[derive(Debug)]
pub(in crate::naive) struct ComponentEdges<'t, 'r> {
    pub(in crate::naive) edges: Edges<'r>,
    pub(in crate::naive) orders: Vec<(RuleName, TaskId, TaskId)>,
    pub(in crate::naive) conditional: Vec<broadcast::Conditional>,
    /// Events that remove idle handlers and receivers.
    pub(in crate::naive) removed: Vec<(EventId, Removable)>,
    /// Triggers of idle handlers and receivers, with what added or registered them.
    pub(in crate::naive) called: Vec<(EventId, EventId, Removable)>,
    pub(super) view: View<'t>,
}

/// An idle handler by instance and queue, or a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::naive) enum Removable {
    Idle(u64, u64),
    Receiver(u64),
}

/// Runs all component rules over a trace.
pub(in crate::naive) fn find<'t, 'r>(view: View<'t>, rules: Rules<'r>) -> ComponentEdges<'t, 'r> {
    let mut found = ComponentEdges {
        edges: Edges::new(rules),
        orders: Vec::new(),
        conditional: Vec::new(),
        removed: Vec::new(),
        called: Vec::new(),
        view,
    };
    lifecycle::find(&mut found);
    idle::find(&mut found);
    service::find(&mut found);
    broadcast::find(&mut found);
    found
}

impl<'t> ComponentEdges<'t, '_> {
    /// The enable, disable and trigger events of one family, with their states.
    pub(super) fn family(&self, family: InputFamily) -> Vec<(Event, &'t str)> {
        let view = self.view;
        view.events()
            .filter(|e| {
                matches!(e.kind(), EventKind::Enable | EventKind::Disable | EventKind::Trigger)
            })
            .filter(|e| view.input(*e).family == family)
            .map(|e| (e, view.trace.tables().name(view.input(e).state)))
            .collect()
    }

    /// The arrow `e => t`.
    pub(super) fn arrow(&mut self, rule: RuleName, e: EventId, t: EventId) {
        self.edges.add(rule, e, t);
        if let Some(m) = self.view.posted_task_of(t).filter(|m| *m != self.view.task_of(e)) {
            self.edges.add(rule, e, self.view.get(m));
            self.edges.add(rule, e, self.view.post(m));
        }
    }

    /// `base(p, t)`.
    pub(super) fn base(&mut self, rule: RuleName, p: EventId, t: EventId) {
        self.edges.add(rule, p, t);
        let tasks = (self.view.posted_task_of(p), self.view.posted_task_of(t));
        if let (Some(a), Some(b)) = tasks
            && self.view.begins_before(a, b)
        {
            if self.edges.rules.has(rule) {
                self.orders.push((rule, a, b));
            }
            self.edges.add(rule, self.view.post(a), self.view.post(b));
        }
    }
}
