//! Orders that the trace gives directly, before any fixpoint: wakes, inputs, component callbacks.
//!
//! One pass finds them as edges between events. The forward pass itself finds the edges whose
//! source it knows at the target (posts, forks, locks).

use crate::relation::rules::{Rule, RuleSet};
use anyorder_trace::{EventId, EventKind, Input, InputFamily, TaskId, TaskKind, Trace};

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
    /// The events that remove idle handlers and receivers, in trace order.
    pub(crate) removed: Vec<(EventId, Removable)>,
    /// The triggers of idle handlers and receivers, each with the event that added or registered
    /// it.
    pub(crate) added: Vec<(EventId, EventId, Removable)>,
}

/// Something that can be removed, and is not called any more then.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Removable {
    /// An idle handler, by instance and queue.
    Idle(u64, u64),
    /// A receiver of broadcasts.
    Receiver(u64),
}

impl Given {
    /// Collects the orders that the trace gives. Linear time, plus the sorting of the edges.
    pub(crate) fn new(trace: &Trace, rules: RuleSet) -> Given {
        Given::with_calls(trace, rules, &[])
    }

    /// The same, with the orders of some calls, each as two events.
    pub(crate) fn with_calls(trace: &Trace, rules: RuleSet, calls: &[(EventId, EventId)]) -> Given {
        let mut given = Given::default();
        wakes::add(trace, &mut given);
        calls.iter().for_each(|(from, to)| given.edge(*from, *to, Rule::Call));
        if rules.reorders_tasks() {
            add_inputs(trace, rules, &mut given);
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

/// An enable, a disable or a trigger of an input, and the orders that end there.
struct InputEvent<'g, 't> {
    trace: &'t Trace,
    given: &'g mut Given,
    event: EventId,
    kind: EventKind,
    input: Input,
    state: &'t str,
    /// The posted task of the event, and its post.
    posted: Option<TaskId>,
    post: Option<EventId>,
}

impl InputEvent<'_, '_> {
    /// Adds an edge to the post of this event's task, if it has one.
    fn before_post(&mut self, from: EventId, rule: Rule) {
        if let Some(post) = self.post {
            self.given.edge(from, post, rule);
        }
    }

    /// Adds `e -> t` for this event `t` and each of some events, and `e -> get(m)` and `e ->
    /// post(m)` where `t` belongs to a posted task `m` that is not `e`'s own. The environment often
    /// posts first and enables later: then only the first two remain.
    fn causes(&mut self, events: impl IntoIterator<Item = EventId>, rule: Rule) {
        for e in events {
            self.given.edge(e, self.event, rule);
            if let Some(task) = self.posted.filter(|task| self.trace.event(e).task != *task) {
                self.given.edge(e, self.trace.span(task).get, rule);
                self.before_post(e, rule);
            }
        }
    }

    /// Adds that callback `p` comes before this callback: the events, their tasks, the posts of
    /// those.
    fn base(&mut self, p: EventId, rule: Rule) {
        self.given.edge(p, self.event, rule);
        let (Some(a), Some(b)) = (posted_task(self.trace, p), self.posted) else { return };
        let (from, to) = (self.trace.span(a), self.trace.span(b));
        if a != b && from.handler == to.handler {
            if from.get < to.get {
                self.given.orders.push((a, b, rule));
            }
            self.given.edge(from.post, to.post, rule);
        }
    }
}

/// Adds the orders of inputs. Each family of components has its own state.
fn add_inputs(trace: &Trace, rules: RuleSet, given: &mut Given) {
    let inputs = &trace.tables().inputs;
    // The last enable of each input that no disable has followed.
    let mut enabled: Vec<Option<EventId>> = vec![None; inputs.len()];
    let mut lifecycle = lifecycle::Lifecycle::default();
    let mut idle = idle::Idle::default();
    let mut services = service::Services::default();
    let mut broadcasts = broadcast::Broadcasts::default();
    for event in trace.events() {
        let kind = event.kind();
        if !matches!(kind, EventKind::Enable | EventKind::Disable | EventKind::Trigger) {
            continue;
        }
        let input = inputs[event.operand as usize];
        let posted = posted_task(trace, event.id);
        let mut at = InputEvent {
            trace,
            given,
            event: event.id,
            kind,
            input,
            state: trace.tables().name(input.state),
            posted,
            post: posted.and_then(|task| trace.span(task).post.some()),
        };
        let family = if rules == RuleSet::Android { input.family } else { InputFamily::Plain };
        match family {
            InputFamily::Lifecycle => lifecycle.take(&mut at),
            InputFamily::Idle => idle.take(&mut at),
            InputFamily::Service => services.take(&mut at),
            InputFamily::Broadcast => broadcasts.take(&mut at, lifecycle.binding_post),
            _ => {
                let last = &mut enabled[event.operand as usize];
                match kind {
                    EventKind::Enable => *last = Some(event.id),
                    EventKind::Disable => *last = None,
                    _ => at.causes(*last, Rule::Enable),
                }
            }
        }
    }
    broadcasts.finish(trace, given);
}
