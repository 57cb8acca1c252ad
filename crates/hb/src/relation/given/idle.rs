//! Idle handlers: code that a looper runs when its mailbox is empty.

use super::{InputEvent, Removable, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, TaskId, Trace};
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
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        let key = (at.input.instance, at.input.argument);
        match (at.kind, at.posted) {
            (EventKind::Enable, _) => {
                self.added.entry(key).or_insert((at.event, None));
            }
            (EventKind::Disable, _) => {
                at.given.removed.push((at.event, Removable::Idle(key.0, key.1)));
                self.added.remove(&key);
            }
            (_, Some(task)) if at.post.is_some() => self.trigger(at, key, task),
            _ => {}
        }
    }

    fn trigger(&mut self, at: &mut InputEvent<'_, '_>, key: (u64, u64), task: TaskId) {
        let trace = at.trace;
        let handler = trace.span(task).handler;
        let loops = self.loops.get_or_insert_with(|| first_loops(trace));
        if let Some(&point) = loops.get(&handler.0) {
            at.before_post(point, IDLE);
        }
        let Some((enable, last_run)) = self.added.get_mut(&key) else { return };
        at.before_post(*enable, IDLE);
        at.given.added.push((at.event, *enable, Removable::Idle(key.0, key.1)));
        if let Some(adder) = posted_task(trace, *enable)
            && adder != task
            && trace.span(adder).handler == handler
        {
            at.before_post(trace.span(adder).last, IDLE);
        }
        if let Some(last_run) = last_run.replace(task) {
            at.before_post(trace.span(last_run).last, IDLE);
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
