//! Idle handlers.

use super::InputEvent;
use crate::ends::Ended;
use crate::view::View;
use anyorder_trace::{EventId, EventKind, HandlerId, TaskId, TaskKind};
use std::collections::HashMap;

/// The state of the family `idle`.
pub(super) struct IdleHandlers {
    /// The first `loop` event of each handler.
    loops: HashMap<HandlerId, EventId>,
    /// The added idle handlers: the enable, and the posted task that last triggered it.
    added: HashMap<(u64, u64), (EventId, Option<TaskId>)>,
}

impl IdleHandlers {
    pub(super) fn new(view: View<'_>) -> IdleHandlers {
        let mut loops = HashMap::new();
        for event in view.events().filter(|event| event.kind() == EventKind::Loop) {
            if view.kind_of(event.id) == Some(TaskKind::Initial)
                && let Some(handler) = view.handler(event.task)
            {
                loops.entry(handler).or_insert(event.id);
            }
        }
        IdleHandlers { loops, added: HashMap::new() }
    }

    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        let key = (at.input.instance, at.input.argument);
        match (at.event.kind(), at.posted) {
            (EventKind::Enable, _) => drop(self.added.entry(key).or_insert((at.event.id, None))),
            (EventKind::Disable, _) => {
                at.orders.ends.push((at.event.id, Ended::Idle(key.0, key.1)));
                self.added.remove(&key);
            }
            (_, Some(m)) => self.trigger(at, m, key),
            _ => {}
        }
    }

    fn trigger(&mut self, at: &mut InputEvent<'_, '_>, m: TaskId, key: (u64, u64)) {
        let view = at.view;
        let of_m = view.handler(m);
        at.edge(of_m.and_then(|handler| self.loops.get(&handler).copied()), at.post);
        let Some((enable, last)) = self.added.get_mut(&key) else { return };
        at.edge(Some(*enable), at.post);
        at.orders.opened.push((at.event.id, *enable, Ended::Idle(key.0, key.1)));
        if let Some(a) = view.posted_task_of(*enable)
            && a != m
            && view.handler(a) == of_m
        {
            at.edge(view.end(a), at.post);
        }
        at.edge(last.replace(m).and_then(|b| view.end(b)), at.post);
    }
}
