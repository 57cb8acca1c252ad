//! Idle handlers: code that a looper runs when its mailbox is empty.

use super::{Given, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, InputId, TaskId, Trace};
use rustc_hash::FxHashMap;

const IDLE: Rule = Rule::Component("idle");

/// The state of idle handlers: how each was added, and the task in which it last ran.
#[derive(Default)]
pub(super) struct Idle {
    added: FxHashMap<(u64, u64), (EventId, Option<TaskId>)>,
    /// The first `loop` event of each handler, found on first use.
    loops: Option<FxHashMap<u32, EventId>>,
}

impl Idle {
    pub(super) fn event(
        &mut self,
        trace: &Trace,
        event: EventId,
        kind: EventKind,
        input: InputId,
        given: &mut Given,
    ) {
        let input = trace.tables().inputs[input.index()];
        let key = (input.instance, input.argument);
        match kind {
            EventKind::Enable => {
                self.added.entry(key).or_insert((event, None));
            }
            EventKind::Disable => {
                self.added.remove(&key);
            }
            _ => {
                let Some(task) = posted_task(trace, event) else { return };
                self.trigger(trace, key, task, given);
            }
        }
    }

    fn trigger(&mut self, trace: &Trace, key: (u64, u64), task: TaskId, given: &mut Given) {
        let span = trace.span(task);
        let Some(post) = span.post.some() else { return };
        let loops = self.loops.get_or_insert_with(|| first_loops(trace));
        if let Some(&point) = loops.get(&span.handler.0) {
            given.edge(point, post, IDLE);
        }
        let Some((enable, last_run)) = self.added.get_mut(&key) else { return };
        given.edge(*enable, post, IDLE);
        if let Some(adder) = posted_task(trace, *enable)
            && adder != task
            && trace.span(adder).handler == span.handler
        {
            given.edge(trace.span(adder).last, post, IDLE);
        }
        if let Some(last_run) = last_run.replace(task) {
            given.edge(trace.span(last_run).last, post, IDLE);
        }
    }
}

/// Finds the first `loop` event of each handler.
fn first_loops(trace: &Trace) -> FxHashMap<u32, EventId> {
    let mut first = FxHashMap::default();
    for event in trace.events().filter(|event| event.kind() == EventKind::Loop) {
        first.entry(event.operand).or_insert(event.id);
    }
    first
}
