//! Orders that the trace gives directly, before any fixpoint: wakes, inputs, component callbacks.
//!
//! One pass finds them as edges between events. The forward pass itself finds the edges whose
//! source it knows at the target (posts, forks, locks).

use crate::relation::rules::{Rule, RuleSet};
use anyorder_trace::{EventId, EventKind, InputFamily, InputId, TaskId, TaskKind, Trace};

mod broadcast;
mod idle;
mod lifecycle;
mod service;
mod wakes;

/// An edge between two events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Edge {
    pub(crate) from: EventId,
    pub(crate) to: EventId,
    pub(crate) rule: Rule,
}

/// Edges that hold if the first event of `when` happens before the second.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) when: (EventId, EventId),
    pub(crate) edges: Vec<Edge>,
}

/// The orders that a trace gives besides program order, posts, forks, joins and locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Edges, all forward; sorted by target, then source, after [`Given::new`].
    pub(crate) edges: Vec<Edge>,
    /// Orders of whole tasks of one handler: the first task ends before the second begins.
    pub(crate) orders: Vec<(TaskId, TaskId, Rule)>,
    /// Edges that depend on others; sorted by the second event of their condition.
    pub(crate) conditionals: Vec<Conditional>,
    /// Received broadcasts with their senders, and those by sticky registrations with their
    /// registrations.
    pub(crate) receipts: [Vec<(EventId, EventId)>; 2],
}

impl Given {
    /// Collects the orders that the trace gives. Linear time, plus the sorting of the edges.
    pub(crate) fn new(trace: &Trace, rules: RuleSet) -> Given {
        let mut given = Given::default();
        wakes::add(trace, &mut given);
        if rules.reorders_tasks() {
            Inputs::new(trace, rules).run(&mut given);
        }
        given.sort();
        given
    }

    /// Adds an edge, unless it would go backwards or be a self-loop.
    pub(crate) fn edge(&mut self, from: EventId, to: EventId, rule: Rule) {
        if from < to && !from.is_none() && !to.is_none() {
            self.edges.push(Edge { from, to, rule });
        }
    }

    /// Adds `e -> t`. If `t` belongs to a posted task `m` that is not `e`'s own, also adds `e ->
    /// get(m)` and `e -> post(m)`. The environment often posts first and enables later: then only
    /// the first two remain.
    pub(crate) fn cause(&mut self, trace: &Trace, e: EventId, t: EventId, rule: Rule) {
        self.edge(e, t, rule);
        if let Some(task) = posted_task(trace, t)
            && trace.event(e).task != task
        {
            self.edge(e, trace.span(task).get, rule);
            if let Some(post) = trace.span(task).post.some() {
                self.edge(e, post, rule);
            }
        }
    }

    /// Adds that callback `p` comes before callback `t`: edges between the events, between their
    /// tasks, and between the posts of these tasks.
    pub(crate) fn base(&mut self, trace: &Trace, p: EventId, t: EventId, rule: Rule) {
        self.edge(p, t, rule);
        let (Some(a), Some(b)) = (posted_task(trace, p), posted_task(trace, t)) else { return };
        if a != b && trace.span(a).handler == trace.span(b).handler {
            if trace.span(a).get < trace.span(b).get {
                self.orders.push((a, b, rule));
            }
            let (from, to) = (trace.span(a).post, trace.span(b).post);
            if !from.is_none() {
                self.edge(from, to, rule);
            }
        }
    }

    pub(crate) fn sort(&mut self) {
        self.edges.sort_by_key(|edge| (edge.to, edge.from, edge.rule));
        self.edges.dedup();
        self.orders.sort_by_key(|(a, b, rule)| (*b, *a, *rule));
        self.orders.dedup();
        self.conditionals.sort_by_key(|conditional| conditional.when.1);
    }
}

/// Returns the posted task that an event belongs to.
pub(crate) fn posted_task(trace: &Trace, event: EventId) -> Option<TaskId> {
    let task = trace.event(event).task;
    (trace.tables().tasks[task.index()].kind == TaskKind::Posted).then_some(task)
}

/// Processes the inputs of a trace. Each family has its own state.
struct Inputs<'t> {
    trace: &'t Trace,
    rules: RuleSet,
    /// The last enable of each input that has not been disabled since.
    enabled: Vec<EventId>,
    lifecycle: lifecycle::Lifecycle,
    idle: idle::Idle,
    service: service::Services,
    broadcast: broadcast::Broadcasts,
}

impl<'t> Inputs<'t> {
    fn new(trace: &'t Trace, rules: RuleSet) -> Inputs<'t> {
        Inputs {
            trace,
            rules,
            enabled: vec![EventId::NONE; trace.tables().inputs.len()],
            lifecycle: lifecycle::Lifecycle::default(),
            idle: idle::Idle::default(),
            service: service::Services::default(),
            broadcast: broadcast::Broadcasts::default(),
        }
    }

    fn run(mut self, given: &mut Given) {
        for event in self.trace.events() {
            let kind = event.kind();
            if !matches!(kind, EventKind::Enable | EventKind::Disable | EventKind::Trigger) {
                continue;
            }
            let input = InputId(event.operand);
            let family = self.trace.tables().inputs[input.index()].family;
            let own_rules = self.rules == RuleSet::Android;
            match family {
                InputFamily::Lifecycle if own_rules => {
                    self.lifecycle.event(self.trace, event.id, kind, input, given);
                }
                InputFamily::Idle if own_rules => {
                    self.idle.event(self.trace, event.id, kind, input, given);
                }
                InputFamily::Service if own_rules => {
                    self.service.event(self.trace, event.id, kind, input, given);
                }
                InputFamily::Broadcast if own_rules => {
                    let binding_post = self.lifecycle.binding_post;
                    self.broadcast.event(self.trace, event.id, kind, input, binding_post, given);
                }
                _ => self.plain(event.id, kind, input, given),
            }
        }
        self.broadcast.finish(self.trace, given);
    }

    fn plain(&mut self, event: EventId, kind: EventKind, input: InputId, given: &mut Given) {
        let slot = &mut self.enabled[input.index()];
        match kind {
            EventKind::Enable => *slot = event,
            EventKind::Disable => *slot = EventId::NONE,
            _ => {
                let Some(enable) = slot.some() else { return };
                given.cause(self.trace, enable, event, Rule::Enable);
            }
        }
    }
}
