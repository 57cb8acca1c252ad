//! Steps that conflict with the step left out, and the run with that step at its end.

use super::Property;
use super::node::{Node, Pivot, Root};
use super::search::Search;
use crate::model::ids::{InvocationNumber, OccurrenceId, StepId};
use crate::model::sim::{Sim, Status, Step, conflicts};
use crate::model::taint::bit;
use anyorder_system::{AsyncSystem, InvocationStep, RunError};
use std::ops::Range;
use std::sync::Arc;

impl<A: AsyncSystem> Search<'_, '_, A> {
    /// Looks at the step that a node has just taken. Returns false if it cannot stand there.
    pub(super) fn took(&mut self, node: &mut Node<A::State>) -> Result<bool, RunError> {
        let Some(step) = node.sim.steps.last().cloned() else { return Ok(true) };
        let depends_on = node.taint.add(&step);
        if depends_on & bit(node.sim.invocation(step.invocation).lane) & node.held != 0 {
            return Ok(false);
        }
        if self.find_roots(node)? {
            self.try_pivot(node)?;
        }
        if step.ended {
            node.otherwise = None;
        }
        Ok(true)
    }

    /// Notes whether the last step may be the root. Returns whether one was found.
    fn find_roots(&mut self, node: &mut Node<A::State>) -> Result<bool, RunError> {
        let Some(pivot) = &mut node.pivot else { return Ok(false) };
        self.extend_reach(&node.sim, pivot);
        let Some(unseen) = self.unseen(&node.sim, pivot)? else { return Ok(false) };
        let accesses = pivot.accesses.as_deref().unwrap_or_default();
        let occurrence = node.sim.invocation(pivot.invocation).event;
        let alone = begins_alone(&node.sim, occurrence);
        let known = pivot.roots.len();
        for position in unseen {
            let step = &node.sim.steps[position];
            if !conflicts(&step.accesses, accesses) {
                continue;
            }
            let mut add = |property| {
                pivot.roots.push(Root { step: StepId::at(position), property });
            };
            if node.sim.occurrence_of(step) != occurrence {
                // An event that is not reached yet may be later.
                add(Property::StartOrder);
                add(Property::Serializability);
            } else if alone {
                add(Property::Determinism);
            }
        }
        Ok(pivot.roots.len() > known)
    }

    /// Adds the new steps of a run to what follows the pivot.
    fn extend_reach(&self, sim: &Sim<A::State>, pivot: &mut Pivot) {
        let events = self.system.events();
        pivot.reached.extend(sim, |_, _| false);
        pivot.ordered.extend(sim, |earlier, later| {
            let (earlier, later) = (sim.event_of(earlier), &events[sim.event_of(later) as usize]);
            later.started.contains(&earlier) || later.after.contains(&earlier)
        });
    }

    /// Returns the positions of the steps that were not compared with the pivot: the last one, or
    /// all since the stop if only now the pivot can go on. `None` if it cannot.
    fn unseen(
        &mut self,
        sim: &Sim<A::State>,
        pivot: &mut Pivot,
    ) -> Result<Option<Range<usize>>, RunError> {
        let steps = sim.steps.len();
        if pivot.accesses.is_some() {
            return Ok(Some(steps - 1..steps));
        }
        let possible = self.system.advance(&sim.state, sim.invocation(pivot.invocation).id)?;
        let Some(step) = possible.first() else { return Ok(None) };
        pivot.accesses = Some(step.accesses.clone().into());
        Ok(Some(pivot.since..steps))
    }

    /// Takes the step of the pivot after all that has happened, and reports the violations.
    pub(super) fn try_pivot(&mut self, node: &mut Node<A::State>) -> Result<(), RunError> {
        let Some(pivot) = node.pivot.as_ref().filter(|pivot| !pivot.roots.is_empty()) else {
            return Ok(());
        };
        let id = node.sim.invocation(pivot.invocation).id;
        let steps = self.system.advance(&node.sim.state, id)?;
        for (alternative, step) in (0..).zip(&steps) {
            let mut sim = node.sim.clone();
            if let Some(running) = sim.current
                && sim.status_of(running) == Status::Running
            {
                sim.leave(Status::Stopped);
            }
            let last = last_step(&sim, pivot.invocation, alternative, step);
            let roots = roots_of(&sim, pivot, &last);
            sim.steps.push(Arc::new(last));
            self.report(&sim, &roots);
        }
        Ok(())
    }
}

/// Returns whether nothing else runs when an occurrence begins: only then is it about determinism.
fn begins_alone<S>(sim: &Sim<S>, occurrence: OccurrenceId) -> bool {
    let all = sim.invocations.iter().zip(&sim.status);
    let mut before = all.take_while(|(invocation, _)| invocation.event < occurrence);
    before.all(|(_, status)| matches!(status, Status::Ended | Status::Cancelled))
}

/// Returns the step of the pivot, as the last one of a run.
fn last_step<S>(
    sim: &Sim<S>,
    invocation: InvocationNumber,
    alternative: u32,
    step: &InvocationStep<S>,
) -> Step {
    Step {
        invocation,
        number: sim.steps.iter().filter(|other| other.invocation == invocation).count() as u32,
        alternative,
        accesses: step.accesses.clone(),
        posted: Vec::new(),
        cancelled: Vec::new(),
        ended: step.ended,
    }
}

/// Returns the last root of each property, by property.
fn roots_of<S>(sim: &Sim<S>, pivot: &Pivot, last: &Step) -> Vec<Root> {
    let is_root = |root: &&Root| {
        let step = sim.step(root.step);
        let occurrence = sim.occurrence_of(step);
        conflicts(&step.accesses, &last.accesses)
            && match root.property {
                // About one event, with nothing after it.
                Property::Determinism => occurrence.index() + 1 == sim.events.len(),
                Property::Serializability => pivot.reached.has(occurrence),
                Property::StartOrder => pivot.ordered.has(occurrence),
            }
    };
    let mut roots: Vec<Root> = pivot.roots.iter().rev().filter(is_root).copied().collect();
    roots.sort_by_key(|root| root.property);
    roots.dedup_by_key(|root| root.property);
    roots
}
