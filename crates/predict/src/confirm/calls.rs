//! The observations between invocations of specified objects.

use super::chains::NONE;
use anyorder_commute::Mode;
use anyorder_stream::{Communication, Observation};
use anyorder_trace::{Event, Trace};
use std::collections::HashMap;

/// The invocations of the objects that have a specification.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// Event and object, in trace order.
    events: Vec<(u32, u32)>,
    /// The observations of each of these events.
    observed: Vec<Vec<Observation>>,
    of_object: Vec<Vec<u32>>,
    /// For each taken event, its taker.
    takers: HashMap<u32, u32>,
}

/// Returns whether an event that observes in this mode takes the observed event.
pub(super) const fn takes(mode: Mode) -> bool {
    matches!(mode, Mode::TakeFirst | Mode::TakeTop)
}

impl Calls {
    /// Processes the next event. Calls `source` with each event that it observes.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: Event,
        communication: &mut dyn Communication,
        source: &mut dyn FnMut(u32),
    ) {
        let tables = trace.tables();
        let Some(object) = communication.object(tables, event.op, event.operand) else { return };
        let id = event.id.0;
        let observed = communication.observe(tables, u64::from(id), event.op, event.operand);
        for observation in &observed {
            for earlier in observation.sources.iter().filter(|earlier| **earlier < u64::from(id)) {
                source(*earlier as u32);
                if takes(observation.mode) {
                    self.takers.insert(*earlier as u32, id);
                }
            }
        }
        self.events.push((id, object));
        self.observed.push(observed);
        if self.of_object.len() <= object as usize {
            self.of_object.resize_with(object as usize + 1, Vec::new);
        }
        self.of_object[object as usize].push(id);
    }

    fn place(&self, event: u32) -> Option<usize> {
        self.events.binary_search_by_key(&event, |entry| entry.0).ok()
    }

    /// Returns the object of an event.
    pub(super) fn object(&self, event: u32) -> Option<u32> {
        self.place(event).map(|at| self.events[at].1)
    }

    /// Returns the observations of an event.
    pub(super) fn observed(&self, event: u32) -> &[Observation] {
        self.place(event).map_or(&[], |at| self.observed[at].as_slice())
    }

    /// Returns the event that takes an event.
    pub(super) fn taker(&self, event: u32) -> u32 {
        self.takers.get(&event).copied().unwrap_or(NONE)
    }

    /// Returns the events of an object before a position.
    pub(super) fn before(&self, object: u32, position: u32) -> &[u32] {
        let of = self.of_object.get(object as usize).map_or(&[][..], Vec::as_slice);
        &of[..of.partition_point(|event| *event < position)]
    }

    /// Returns whether there are no invocations.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the number of objects.
    pub(super) fn objects(&self) -> usize {
        self.of_object.len()
    }
}
