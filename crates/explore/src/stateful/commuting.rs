//! Inferred edges: the step before shows their effect, so they need no run.

use super::expand::{Shared, Worker};
use super::found::{NEW, SOURCE_BLOCKED};
use super::sabotage::Sabotage;
use super::space::{BLOCKED, NO_PARENT};
use anyorder_common::bits;
use anyorder_system::Reducible;

/// A parent's step that shows the effect of a step of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The number of the parent.
    pub(super) number: u32,
    /// The state after the parent's step, the footprint of that step, and the list of its updates.
    pub(super) state: u32,
    pub(super) footprint: u32,
    pub(super) updates: u32,
}

pub(super) const NO_SOURCE: Source =
    Source { number: NO_PARENT, state: 0, footprint: 0, updates: 0 };

/// In place of a source: the attempt was executed.
pub(super) const EXECUTED: Source = Source { state: NEW, ..NO_SOURCE };

impl<S: Reducible> Worker<S> {
    /// Finds the tasks whose step in this state is known from the parent. Let `s` be the parent and
    /// `s.y` this state. If the footprint of a task `x` in `s` does not conflict with that of `y`,
    /// then `s.y.x` is `s.x.y`; and if `x` is blocked in `s`, it is blocked here. Only states with
    /// a lower number serve as sources, so that no two edges wait for each other.
    pub(super) fn find_commuting_steps(&mut self, shared: &Shared<'_, S>, number: u32) {
        let link = shared.space.nodes[number as usize].link;
        if link.parent == NO_PARENT || !shared.infer {
            return;
        }
        let (edges, start) =
            (shared.space.edges(link.parent), shared.space.edges_start(link.parent));
        let step_at = edges.iter().position(|edge| edge.task == link.task);
        let Some(step_at) = step_at else { return };
        if shared.space.only(link.parent, link.task, step_at) != Some(number) {
            return;
        }
        let step = edges[step_at];
        let footprints = &shared.know.footprints;
        for (at, edge) in edges.iter().enumerate() {
            let alone = edges.get(at + 1).is_none_or(|next| next.task != edge.task)
                && at.checked_sub(1).is_none_or(|before| edges[before].task != edge.task);
            let blocked = edge.target == BLOCKED;
            if (edge.target >= number && !blocked) || !alone {
                continue;
            }
            let independent = shared.options.sabotage() == Sabotage::InferAnything
                || !bits::has(shared.know.conflicts.row(step.footprint), edge.task)
                || !footprints.conflict(step.footprint, edge.footprint);
            if independent {
                let updates = shared.space.updates.get(start + at).copied().unwrap_or(0);
                let state = if blocked { SOURCE_BLOCKED } else { edge.target };
                let footprint = edge.footprint;
                self.sources[edge.task as usize] = Source { number, state, footprint, updates };
            }
        }
    }
}
