//! Which events follow the event of the pivot, by conflicts.

use super::ids::OccurrenceId;
use super::sim::{Sim, Step};
use anyorder_system::AccessKind;
use anyorder_trace::LocationId;
use rustc_hash::FxHashMap;

/// The occurrences of events that follow a first one, in a simulated run that grows. Each step is
/// looked at twice at most.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    reached: Vec<bool>,
    /// For each location: whether a reached event writes it. All these locations are accessed.
    accessed: FxHashMap<LocationId, bool>,
    /// The number of steps that were looked at.
    done: usize,
}

impl Reach {
    /// Starts from an occurrence.
    pub(crate) fn new(from: OccurrenceId) -> Reach {
        let mut reached = vec![false; from.index() + 1];
        reached[from.index()] = true;
        Reach { reached, accessed: FxHashMap::default(), done: 0 }
    }

    /// Looks at the new steps of a run. `starts` says which occurrence starts after which other one
    /// because the program orders them.
    pub(crate) fn extend<S>(
        &mut self,
        sim: &Sim<S>,
        starts: impl Fn(OccurrenceId, OccurrenceId) -> bool,
    ) {
        self.reached.resize(sim.events.len(), false);
        for (position, step) in sim.steps.iter().enumerate().skip(self.done) {
            let event = sim.occurrence_of(step);
            if !self.reached[event.index()] {
                let conflicts = step.accesses.iter().any(|access| {
                    let accessed = self.accessed.get(&access.location);
                    accessed.is_some_and(|written| *written || access.kind != AccessKind::Read)
                });
                let first =
                    step.number == 0 && step.invocation == sim.events[event.index()].invocation;
                let mut earlier = (0..event.0).map(OccurrenceId);
                let mut later =
                    || earlier.any(|other| self.reached[other.index()] && starts(other, event));
                let follows = conflicts || (first && later());
                if !follows {
                    continue;
                }
                self.reached[event.index()] = true;
                // Events run one after another.
                let before = sim.steps[..position].iter().rev();
                for earlier in before.take_while(|earlier| sim.occurrence_of(earlier) == event) {
                    self.add(earlier);
                }
            }
            self.add(step);
        }
        self.done = sim.steps.len();
    }

    fn add(&mut self, step: &Step) {
        for access in &step.accesses {
            *self.accessed.entry(access.location).or_default() |= access.kind != AccessKind::Read;
        }
    }

    /// Returns whether an occurrence follows.
    pub(crate) fn has(&self, occurrence: OccurrenceId) -> bool {
        self.reached.get(occurrence.index()).copied().unwrap_or(false)
    }
}
