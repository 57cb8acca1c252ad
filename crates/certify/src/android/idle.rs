//! Idle handlers.

use super::OrderBuilder;
use crate::view::View;
use anyorder_trace::{Event, EventId, EventKind, HandlerId, Input, TaskId, TaskKind};
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

    pub(super) fn take(&mut self, add: &mut OrderBuilder<'_, '_>, event: Event, input: &Input) {
        let key = (input.instance, input.argument);
        match event.kind() {
            EventKind::Enable => drop(self.added.entry(key).or_insert((event.id, None))),
            EventKind::Disable => drop(self.added.remove(&key)),
            _ => {
                if let Some(m) = add.view.posted_task_of(event.id) {
                    self.trigger(add, m, key);
                }
            }
        }
    }

    fn trigger(&mut self, add: &mut OrderBuilder<'_, '_>, m: TaskId, key: (u64, u64)) {
        let view = add.view;
        let post = view.post(m);
        let of_m = view.handler(m);
        add.edge(of_m.and_then(|handler| self.loops.get(&handler).copied()), post);
        let Some((enable, last)) = self.added.get_mut(&key) else { return };
        add.edge(Some(*enable), post);
        if let Some(a) = view.posted_task_of(*enable)
            && a != m
            && view.handler(a) == of_m
        {
            add.edge(view.end(a), post);
        }
        if let Some(b) = last.replace(m) {
            add.edge(view.end(b), post);
        }
    }
}
