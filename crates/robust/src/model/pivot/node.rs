//! The points of the search: a run so far, and what of it stopped half-way.

use crate::model::ids::{InvocationNumber, OccurrenceId, StepId};
use crate::model::pivot::Property;
use crate::model::reach::Reach;
use crate::model::sim::{Sim, Status};
use crate::model::taint::{Handlers, Taint, bit};
use anyorder_system::Access;
use std::sync::Arc;

/// A step that conflicts with the one left out, and the property that it may break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Root {
    pub(super) step: StepId,
    pub(super) property: Property,
}

/// The invocation that stopped before the access that may become the last one.
#[derive(Clone, Debug)]
pub(super) struct Pivot {
    pub(super) invocation: InvocationNumber,
    /// What the step left out accesses; none as long as it cannot be taken.
    pub(super) accesses: Option<Arc<[Access]>>,
    /// The number of steps before the stop.
    pub(super) since: usize,
    /// The events that follow that of the pivot by conflicts.
    pub(super) reached: Reach,
    /// Those that follow it by conflicts and by the order in which events start.
    pub(super) ordered: Reach,
    /// The steps that may be the root.
    pub(super) roots: Vec<Root>,
}

/// A point of the search.
#[derive(Clone, Debug)]
pub(super) struct Node<S> {
    pub(super) sim: Sim<S>,
    pub(super) taint: Taint,
    pub(super) pivot: Option<Pivot>,
    /// How many more invocations may stop.
    pub(super) stops: u32,
    /// Handlers with an unfinished task.
    pub(super) held: Handlers,
    /// Whether an invocation stopped or was skipped because it could not go on.
    pub(super) forced: bool,
    /// Where to go on if the running task turns out to depend on an unfinished one.
    pub(super) otherwise: Option<Box<Node<S>>>,
}

impl<S: Clone> Node<S> {
    /// The beginning of a run.
    pub(super) fn new(sim: Sim<S>, stops: u32) -> Node<S> {
        Node {
            sim,
            taint: Taint::default(),
            pivot: None,
            stops,
            held: 0,
            forced: false,
            otherwise: None,
        }
    }

    /// Returns whether the handler of an invocation has an unfinished task.
    pub(super) fn is_held(&self, invocation: InvocationNumber) -> bool {
        bit(self.sim.invocation(invocation).lane) & self.held != 0
    }

    /// Returns the node in which an invocation does not begin.
    pub(super) fn without(&self, invocation: InvocationNumber) -> Node<S> {
        let mut skipped = self.clone();
        skipped.sim.skip(invocation);
        skipped
    }

    /// Stops the running invocation.
    pub(super) fn stop(&mut self, invocation: InvocationNumber) {
        let record = self.sim.invocation(invocation).clone();
        let steps = self.sim.steps.iter().filter(|step| step.invocation == invocation);
        self.taint.stop(&record, steps.map(|step| &**step));
        self.held |= bit(record.lane);
        self.sim.leave(Status::Stopped);
    }

    /// Returns the node in which the running invocation stops before the access that may become the
    /// last one. `accesses` are those of the step left out, if it can be taken.
    pub(super) fn with_pivot(
        &self,
        invocation: InvocationNumber,
        accesses: Option<Arc<[Access]>>,
    ) -> Node<S> {
        let reached = Reach::new(self.sim.invocation(invocation).event);
        let (ordered, roots, since) = (reached.clone(), Vec::new(), self.sim.steps.len());
        let mut stopped = self.clone();
        stopped.stop(invocation);
        stopped.pivot = Some(Pivot { invocation, accesses, since, reached, ordered, roots });
        stopped
    }

    /// Returns the occurrence of the pivot, and the accesses of the step left out.
    pub(super) fn left_out(&self) -> Option<(OccurrenceId, &[Access])> {
        let pivot = self.pivot.as_ref()?;
        let occurrence = self.sim.invocation(pivot.invocation).event;
        Some((occurrence, pivot.accesses.as_deref().unwrap_or_default()))
    }
}
