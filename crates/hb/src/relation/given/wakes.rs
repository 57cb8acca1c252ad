//! Finds the signal that each wake answers.

use super::Given;
use crate::relation::rules::Rule;
use anyorder_trace::{ConditionId, EventId, EventKind, TaskId, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Adds the edges from signals and broadcasts to wakes. Each wake gets the earliest candidate.
pub(super) fn add(trace: &Trace, given: &mut Given) {
    // The signals that no wake has answered, and all broadcasts.
    let mut candidates: FxHashMap<ConditionId, BTreeSet<EventId>> = FxHashMap::default();
    let mut waits: FxHashMap<(TaskId, ConditionId), EventId> = FxHashMap::default();
    for event in trace.events() {
        let condition = ConditionId(event.operand);
        match event.kind() {
            EventKind::Signal | EventKind::Broadcast => {
                candidates.entry(condition).or_default().insert(event.id);
            }
            EventKind::Wait => {
                waits.insert((event.task, condition), event.id);
            }
            EventKind::Wake if !event.op.is_timeout() => {
                let open = candidates.entry(condition).or_default();
                let source = match trace.columns().refers.get(event.id.0) {
                    Some(number) => u32::try_from(number).ok().map(EventId),
                    None => {
                        let wait = waits.get(&(event.task, condition));
                        let after = wait.map_or(0, |wait| wait.0.saturating_add(1));
                        open.range(EventId(after)..).next().copied()
                    }
                };
                let Some(source) = source else { continue };
                if open.contains(&source) && trace.event(source).kind() == EventKind::Signal {
                    open.remove(&source);
                }
                given.edge(source, event.id, Rule::Wake);
            }
            _ => {}
        }
    }
}
