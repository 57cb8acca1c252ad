//! The violations that a run shows by the definitions, each a few times.

use super::node::Root;
use super::search::Search;
use super::{Property, Violation};
use crate::model::history::{Breach, history_of};
use crate::model::ids::StepId;
use crate::model::linear::{Linear, linearize};
use crate::model::mirror::places;
use crate::model::run::run_steps;
use crate::model::sim::{INIT, Sim};
use anyorder_system::AsyncSystem;

/// The most runs that are kept of one violation: the first may do no harm, and the next one some.
const RUNS: usize = 4;

/// What makes two violations one: the property, the event where that matters (or [`INIT`]), and the
/// places.
pub(super) type ViolationKey = (Property, u32, String);

impl<A: AsyncSystem> Search<'_, '_, A> {
    /// Reports the violations that a run shows by the definitions.
    pub(super) fn report(&mut self, sim: &Sim<A::State>, roots: &[Root]) {
        let wanted: Vec<(Root, ViolationKey)> =
            roots.iter().map(|root| (*root, key(sim, *root))).collect();
        if wanted.iter().all(|(_, key)| self.has_enough(key)) {
            return;
        }
        let order = match linearize(&*self.system, sim, self.control) {
            Linear::Order(order) => order,
            Linear::None => return,
            Linear::Cut => {
                self.was_cut = true;
                return;
            }
        };
        let breaches = history_of(&*self.system, sim, &order).breaches(&*self.system);
        for (root, key) in wanted {
            let Some(position) = order.iter().position(|step| *step == root.step) else { continue };
            let is_shown = breaches.iter().any(|breach: &Breach| {
                breach.property == root.property
                    && breach.root == Some(position)
                    && breach.pivot + 1 == order.len()
            });
            if is_shown && !self.has_enough(&key) {
                self.add(sim, &order, position, key);
            }
        }
    }

    /// Returns whether as many runs of a violation are kept as there should be.
    fn has_enough(&self, key: &ViolationKey) -> bool {
        self.reported.get(key).is_some_and(|runs| *runs >= RUNS)
    }

    /// Adds a violation, unless it was reported with the same run. `root` is a position in the
    /// order.
    fn add(&mut self, sim: &Sim<A::State>, order: &[StepId], root: usize, key: ViolationKey) {
        let run = run_steps(&*self.system, sim, order);
        let (property, _, places) = key.clone();
        let is_same = |other: &Violation| {
            (other.property, &other.places, &other.run) == (property, &places, &run)
        };
        if self.checked.violations.iter().any(is_same) {
            return;
        }
        *self.reported.entry(key).or_insert(0) += 1;
        // A run may begin with a step of `init`, which the order does not have.
        let root = root + run.len() - order.len();
        let (event, pivot, by_init) = (pivot_event(sim), run.len() - 1, None);
        let violation = Violation { property, event, places, run, root, pivot, by_init };
        self.checked.violations.push(violation);
    }
}

/// Returns the event of the last step.
fn pivot_event<S>(sim: &Sim<S>) -> u32 {
    sim.steps.last().map_or(INIT, |step| sim.event_of(sim.occurrence_of(step)))
}

/// Names the violation that the last step and a root show.
fn key<S>(sim: &Sim<S>, root: Root) -> ViolationKey {
    let place = |id: StepId| {
        let step = sim.step(id);
        (&*sim.invocation(step.invocation).task, &*step.accesses)
    };
    let event = if root.property == Property::Determinism { pivot_event(sim) } else { INIT };
    let last = StepId::at(sim.steps.len() - 1);
    (root.property, event, places(place(last), place(root.step)))
}
