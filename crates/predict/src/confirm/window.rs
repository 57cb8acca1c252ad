//! A window of a trace: events before it happen as recorded.

use super::chains::NONE;
use super::past::Past;
use super::question::Question;

/// A window, with the events that a witness within it can contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) start: u32,
    /// The search ignores events from here on.
    pub(super) end: u32,
    /// For each event after the first action, whether it needs an event of the tail.
    barred: Vec<bool>,
    from: u32,
    chains: Vec<bool>,
}

impl Window {
    /// Sets the bounds.
    pub(super) fn bound(&mut self, start: u32, end: u32) {
        (self.start, self.end) = (start, end);
        self.from = NONE;
    }

    /// Finds the events that come after the tail in every run. Linear in the distance from the
    /// first action to the end.
    pub(super) fn bar(&mut self, past: &Past<'_>, question: &Question) {
        self.from = question.first;
        self.barred.clear();
        self.chains.clear();
        self.chains.resize(past.chains, false);
        for event in question.first..self.end {
            let chain = past.chain[event as usize] as usize;
            let barred = self.chains[chain]
                || past.is_doubtful(event)
                || question.tail.contains(&event)
                || question.never == Some(event)
                || past.causes.row(event).iter().chain(past.observes.row(event)).any(|before| {
                    *before >= self.from && self.barred[(before - self.from) as usize]
                });
            self.chains[chain] |= barred;
            self.barred.push(barred);
        }
    }

    /// Returns whether a witness may contain an event.
    pub(super) fn allows(&self, event: u32) -> bool {
        event != NONE
            && event < self.end
            && (event < self.from || !self.barred[(event - self.from) as usize])
    }

    /// Returns whether an event needs an event of the tail. Call it for events before the end.
    pub(super) fn bars(&self, event: u32) -> bool {
        event >= self.from
            && self.barred.get((event - self.from) as usize).copied().unwrap_or_default()
    }
}
