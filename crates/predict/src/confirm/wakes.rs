//! Matches signals with waits, by the rule `wake` of `docs/happens-before.md`.

use super::chains::NONE;
use anyorder_trace::{Columns, Event, EventKind};
use std::collections::{BTreeSet, HashMap};

/// A wake and the signal that matches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    pub(crate) wake: u32,
    pub(crate) signal: u32,
    /// The last wait of its task, if it comes before the signal; else `NONE`.
    pub(crate) wait: u32,
}

#[derive(Clone, Debug, Default)]
struct Condition {
    /// Unmatched signals, and broadcasts.
    candidates: BTreeSet<u32>,
    waits: HashMap<u32, u32>,
}

/// The wakes of a trace, in trace order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakes {
    pub(crate) wakes: Vec<Wake>,
    /// Ends of waits that timed out, with their waits.
    timeouts: HashMap<u32, u32>,
    conditions: HashMap<u32, Condition>,
}

impl Wakes {
    /// Processes the next event. Returns the signal that matches it.
    pub(crate) fn take(&mut self, columns: &Columns, event: Event) -> Option<u32> {
        let (id, kind) = (event.id.0, event.kind());
        if !matches!(
            kind,
            EventKind::Signal | EventKind::Broadcast | EventKind::Wait | EventKind::Wake
        ) {
            return None;
        }
        let condition = self.conditions.entry(event.operand).or_default();
        match kind {
            EventKind::Wait => {
                condition.waits.insert(event.task.0, id);
                return None;
            }
            EventKind::Wake if event.op.is_timeout() => {
                if let Some(wait) = condition.waits.get(&event.task.0) {
                    self.timeouts.insert(id, *wait);
                }
                return None;
            }
            EventKind::Wake => {}
            _ => {
                condition.candidates.insert(id);
                return None;
            }
        }
        let wait = condition.waits.get(&event.task.0).copied();
        let signal = match columns.refers.get(id) {
            Some(event) if event < u64::from(id) => event as u32,
            Some(_) => return None,
            None => *condition.candidates.range(wait.map_or(0, |wait| wait + 1)..).next()?,
        };
        if columns.ops[signal as usize].kind() == EventKind::Signal {
            // The signal may belong to another condition.
            let of = columns.operands[signal as usize];
            if let Some(condition) = self.conditions.get_mut(&of) {
                condition.candidates.remove(&signal);
            }
        }
        let wait = wait.filter(|wait| *wait < signal).unwrap_or(NONE);
        self.wakes.push(Wake { wake: id, signal, wait });
        Some(signal)
    }

    /// Returns the signal or broadcast that matches a wake.
    pub(crate) fn of(&self, wake: u32) -> Option<Wake> {
        let at = self.wakes.binary_search_by_key(&wake, |entry| entry.wake).ok()?;
        Some(self.wakes[at])
    }

    /// Returns the wait that an event ends by timeout.
    pub(crate) fn timed_out(&self, wake: u32) -> Option<u32> {
        self.timeouts.get(&wake).copied()
    }

    /// Returns whether any wait timed out.
    pub(crate) fn has_timeouts(&self) -> bool {
        !self.timeouts.is_empty()
    }
}
