//! The queries of the rules about a trace, in the terms of the definitions.

use super::rules::{RuleName, Rules};
use anyorder_trace::{Event, EventId, HandlerId, Input, TaskId, TaskKind, Trace};

/// An edge `from -> to`, with the rule that gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// The rule.
    pub rule: RuleName,
}

/// A list of edges that keeps only forward edges that the rules allow.
#[derive(Debug)]
pub(super) struct Edges<'r> {
    pub(super) rules: Rules<'r>,
    pub(super) list: Vec<Edge>,
}

impl<'r> Edges<'r> {
    pub(super) fn new(rules: Rules<'r>) -> Edges<'r> {
        Edges { rules, list: Vec::new() }
    }

    /// Adds an edge, unless it goes backwards or lacks an end.
    pub(super) fn add(
        &mut self,
        rule: RuleName,
        from: impl Into<Option<EventId>>,
        to: impl Into<Option<EventId>>,
    ) {
        if let (Some(from), Some(to)) = (from.into(), to.into())
            && from < to
            && self.rules.has(rule)
        {
            self.list.push(Edge { from, to, rule });
        }
    }

    /// Adds an edge from each event to the next.
    pub(super) fn chain(&mut self, rule: RuleName, events: &[EventId]) {
        for pair in events.windows(2) {
            self.add(rule, pair[0], pair[1]);
        }
    }
}

/// A trace with the words of the definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'t> {
    pub(super) trace: &'t Trace,
}

impl<'t> View<'t> {
    pub(super) fn events(self) -> impl Iterator<Item = Event> + 't {
        self.trace.events()
    }

    pub(super) fn task_of(self, event: EventId) -> TaskId {
        self.trace.event(event).task
    }

    pub(super) fn kind(self, task: TaskId) -> TaskKind {
        self.trace.tables().tasks[task.index()].kind
    }

    /// The handler that runs the task, or that it was posted to.
    pub(super) fn handler(self, task: TaskId) -> HandlerId {
        self.trace.span(task).handler
    }

    pub(super) fn handlers(self) -> impl Iterator<Item = HandlerId> {
        (0..self.trace.tables().handlers.len()).map(HandlerId::from_index)
    }

    /// The posted task that an event belongs to.
    pub(super) fn posted_task_of(self, event: EventId) -> Option<TaskId> {
        let task = self.task_of(event);
        self.trace.ran_from_mailbox(task).then_some(task)
    }

    /// The posted tasks that have begun.
    pub(super) fn posted_tasks(self) -> Vec<TaskId> {
        self.trace.task_ids().filter(|task| self.trace.ran_from_mailbox(*task)).collect()
    }

    pub(super) fn post(self, task: TaskId) -> Option<EventId> {
        self.trace.span(task).post.some()
    }

    pub(super) fn get(self, task: TaskId) -> Option<EventId> {
        self.trace.span(task).get.some()
    }

    /// The end of a task; where it has none, its last event.
    pub(super) fn end(self, task: TaskId) -> Option<EventId> {
        let span = self.trace.span(task);
        span.end.some().or(span.last.some())
    }

    /// Whether two different posted tasks ran on one handler, `m1` first.
    pub(super) fn begins_before(self, m1: TaskId, m2: TaskId) -> bool {
        self.trace.ran_from_mailbox(m1)
            && self.trace.ran_from_mailbox(m2)
            && self.handler(m1) == self.handler(m2)
            && self.get(m1) < self.get(m2)
    }

    /// The events of the handler's tasks of some kinds, in trace order.
    pub(super) fn events_of(self, handler: HandlerId, kinds: &[TaskKind]) -> Vec<EventId> {
        self.events()
            .filter(|e| self.handler(e.task) == handler && kinds.contains(&self.kind(e.task)))
            .map(|e| e.id)
            .collect()
    }

    /// The input of an enable, disable or trigger.
    pub(super) fn input(self, event: Event) -> Input {
        self.trace.tables().inputs[event.operand as usize]
    }

    /// The event that an event refers to, if it comes before it.
    pub(super) fn refers(self, event: EventId) -> Option<EventId> {
        let number = self.trace.columns().refers.get(event.0)?;
        (number < u64::from(event.0)).then_some(EventId(number as u32))
    }
}
