//! What depends on an unfinished task of a handler.
//!
//! The other tasks of the handler ran before the unfinished one, whatever their place in the
//! simulated order. So none of them may depend on it: by program order, posts and conflicts. This
//! is the path of the paper's section 6.1, with posts (a task cannot run before it is posted) and
//! from the first dependent step on.

use super::ids::InvocationNumber;
use super::sim::{Invocation, Step};
use anyorder_system::{AccessKind, Lane};
use anyorder_trace::LocationId;
use rustc_hash::FxHashMap;

/// Handlers with unfinished tasks, as bits. Handlers from 64 on share the last bit.
pub(crate) type Handlers = u64;

/// The bit of a lane.
pub(crate) fn bit(lane: Lane) -> Handlers {
    match lane {
        Lane::Handler(handler) => 1 << handler.min(63),
        Lane::Own => 0,
    }
}

/// For what has happened: on which unfinished tasks it depends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taint {
    /// For each invocation.
    invocations: Vec<Handlers>,
    /// For each location: those of its writes, and of all its accesses.
    locations: FxHashMap<LocationId, (Handlers, Handlers)>,
}

impl Taint {
    /// Adds a step. Returns on which unfinished tasks it depends.
    pub(crate) fn add(&mut self, step: &Step) -> Handlers {
        let mut mask = self.get(step.invocation);
        for access in &step.accesses {
            let (writes, all) = self.locations.get(&access.location).copied().unwrap_or_default();
            mask |= if access.kind == AccessKind::Read { writes } else { all };
        }
        self.mark(step, mask);
        mask
    }

    /// Returns on which unfinished tasks an invocation depends.
    pub(crate) fn get(&self, invocation: InvocationNumber) -> Handlers {
        self.invocations.get(invocation.index()).copied().unwrap_or(0)
    }

    /// Notes that an invocation, which ran last, goes no further.
    pub(crate) fn stop<'a>(
        &mut self,
        invocation: &Invocation,
        steps: impl Iterator<Item = &'a Step>,
    ) {
        let mask = bit(invocation.lane);
        if mask != 0 {
            steps.for_each(|step| self.mark(step, mask));
        }
    }

    fn mark(&mut self, step: &Step, mask: Handlers) {
        for invocation in step.posted.iter().chain([&step.invocation]) {
            if self.invocations.len() <= invocation.index() {
                self.invocations.resize(invocation.index() + 1, 0);
            }
            self.invocations[invocation.index()] |= mask;
        }
        if mask != 0 {
            for access in &step.accesses {
                let (writes, all) = self.locations.entry(access.location).or_default();
                *all |= mask;
                if access.kind != AccessKind::Read {
                    *writes |= mask;
                }
            }
        }
    }
}
