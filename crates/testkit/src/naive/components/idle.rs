//! Idle handlers.

use super::ComponentEdges;
use super::edges::Removable;
use crate::naive::program_order::loop_event;
use crate::naive::rules::RuleName;
use anyorder_trace::{EventId, EventKind, InputFamily, TaskId};
use std::collections::BTreeMap;

/// An idle handler that is added: its enable, and the posted task that triggered it last.
struct Added {
    enable: EventId,
    ran_in: Option<TaskId>,
}

pub(super) fn find(found: &mut ComponentEdges<'_, '_>) {
    let view = found.view;
    let mut added: BTreeMap<(u64, u64), Added> = BTreeMap::new();
    for (event, _) in found.family(InputFamily::Idle) {
        let input = view.input(event);
        let key = (input.instance, input.argument);
        match event.kind() {
            EventKind::Enable => {
                added.entry(key).or_insert(Added { enable: event.id, ran_in: None });
            }
            EventKind::Disable => {
                found.removed.push((event.id, Removable::Idle(key.0, key.1)));
                added.remove(&key);
            }
            _ => {
                let Some(m) = view.posted_task_of(event.id) else { continue };
                let start = loop_event(view, view.handler(m));
                found.edges.add(RuleName::IdleLoop, start, view.post(m));
                if let Some(added) = added.get_mut(&key) {
                    if view.post(m).is_some() {
                        let of = Removable::Idle(key.0, key.1);
                        found.called.push((event.id, added.enable, of));
                    }
                    trigger(found, added, m);
                }
            }
        }
    }
}

fn trigger(found: &mut ComponentEdges<'_, '_>, added: &mut Added, m: TaskId) {
    let view = found.view;
    found.edges.add(RuleName::IdleEnable, added.enable, view.post(m));
    if let Some(a) = view.posted_task_of(added.enable)
        && a != m
        && view.handler(a) == view.handler(m)
    {
        found.edges.add(RuleName::IdleEnableEnd, view.end(a), view.post(m));
    }
    if let Some(b) = added.ran_in.replace(m) {
        found.edges.add(RuleName::IdleAgain, view.end(b), view.post(m));
    }
}
