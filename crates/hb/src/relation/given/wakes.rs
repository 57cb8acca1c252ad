//! Finds the signal that each wake answers.

use super::Given;
use crate::relation::rules::Rule;
use anyorder_trace::{ConditionId, EventId, EventKind, TaskId, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The signals of one condition that a wake can still answer.
#[derive(Default)]
struct Signals {
    /// Signals that have no matching wake yet.
    open: BTreeSet<EventId>,
    /// All broadcasts, ascending.
    broadcasts: Vec<EventId>,
}

/// Adds the edges from signals and broadcasts to wakes. Each wake gets the earliest candidate.
pub(super) fn add(trace: &Trace, given: &mut Given) {
    let mut signals: FxHashMap<ConditionId, Signals> = FxHashMap::default();
    let mut waits: FxHashMap<(TaskId, ConditionId), EventId> = FxHashMap::default();
    for event in trace.events() {
        let condition = ConditionId(event.operand);
        match event.kind() {
            EventKind::Signal => {
                signals.entry(condition).or_default().open.insert(event.id);
            }
            EventKind::Broadcast => {
                signals.entry(condition).or_default().broadcasts.push(event.id);
            }
            EventKind::Wait => {
                waits.insert((event.task, condition), event.id);
            }
            EventKind::Wake if !event.op.is_timeout() => {
                let refers = trace.columns().refers.get(event.id.0);
                let source = match refers {
                    Some(number) => u32::try_from(number).ok().map(EventId),
                    None => {
                        let after = waits.get(&(event.task, condition)).copied();
                        signals.entry(condition).or_default().take_first(after)
                    }
                };
                if let Some(source) = source {
                    if refers.is_some() {
                        signals.entry(condition).or_default().open.remove(&source);
                    }
                    given.edge(source, event.id, Rule::Wake);
                }
            }
            _ => {}
        }
    }
}

impl Signals {
    /// Returns the earliest candidate after `after`. Removes it if it is a signal; a broadcast
    /// stays.
    fn take_first(&mut self, after: Option<EventId>) -> Option<EventId> {
        let low = after.map_or(0, |event| event.0.saturating_add(1));
        let signal = self.open.range(EventId(low)..).next().copied();
        let at = self.broadcasts.partition_point(|event| event.0 < low);
        let broadcast = self.broadcasts.get(at).copied();
        match (signal, broadcast) {
            (Some(signal), Some(broadcast)) if broadcast < signal => Some(broadcast),
            (Some(signal), _) => {
                self.open.remove(&signal);
                Some(signal)
            }
            (None, broadcast) => broadcast,
        }
    }
}
