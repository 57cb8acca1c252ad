//! Which events follow the event of the pivot, by conflicts.

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
    pub(crate) fn new(from: u32) -> Reach {
        let mut reached = vec![false; from as usize + 1];
        reached[from as usize] = true;
        Reach { reached, accessed: FxHashMap::default(), done: 0 }
    }

    /// Looks at the new steps of a run. `starts` says which occurrence starts after which other one
    /// because the program orders them.
    pub(crate) fn extend<S>(&mut self, sim: &Sim<S>, starts: impl Fn(usize, usize) -> bool) {
        self.reached.resize(sim.events.len(), false);
        for at in self.done..sim.steps.len() {
            let step = &sim.steps[at];
            let event = sim.invocations[step.invocation as usize].event as usize;
            if !self.reached[event] {
                let conflicts = step.accesses.iter().any(|access| {
                    let accessed = self.accessed.get(&access.location);
                    accessed.is_some_and(|written| *written || access.kind != AccessKind::Read)
                });
                let first = step.number == 0 && step.invocation == sim.events[event].invocation;
                let later = || (0..event).any(|other| self.reached[other] && starts(other, event));
                let follows = conflicts || (first && later());
                if !follows {
                    continue;
                }
                self.reached[event] = true;
                // Events run one after another.
                for earlier in sim.steps[..at].iter().rev() {
                    if sim.invocations[earlier.invocation as usize].event as usize != event {
                        break;
                    }
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
    pub(crate) fn has(&self, event: u32) -> bool {
        self.reached.get(event as usize).copied().unwrap_or(false)
    }
}
