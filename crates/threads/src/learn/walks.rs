//! Random walks through what is known: before the search, and after one that was cut.

use super::behaviour::NodeId;
use super::learner::Learner;
use super::outcome::{Incomplete, Unseen};
use super::state::{State, Successor};
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::program::ThreadProgram;
use anyorder_common::random::{Random, SplitMix64};

/// How many random walks in a row may end where the program does.
const WALKS_IN_VAIN: u32 = 100;

/// How many random walks tell how much is left.
const WALKS_MEASURED: u32 = 200;

/// The steps of a walk, and after which place and result it is not known what a thread does.
type Walk = (Vec<Step>, Option<(NodeId, u64)>);

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Walks at random through what is known, and learns where that ends, until walks keep ending
    /// where the program does. A search that learns all from its first states on would do so from
    /// its last choices upwards, and see two states as one only much later.
    pub(super) fn wander(&mut self) -> Result<(), Incomplete> {
        let mut rng = SplitMix64(1);
        let mut in_vain = 0;
        while in_vain < WALKS_IN_VAIN {
            self.check()?;
            in_vain += 1;
            let Some((path, end)) = self.walk(&mut rng, in_vain) else { return Ok(()) };
            if let Some(end) = end {
                self.run_to_learn(&path, end)?;
                in_vain = 0;
            }
        }
        Ok(())
    }

    /// Counts how many of some random walks end at something that is not known.
    pub(super) fn measure(&mut self) {
        let mut rng = SplitMix64(2);
        let mut unseen = Unseen::default();
        while unseen.of < WALKS_MEASURED && self.options.cancel.check().is_ok() {
            let Some((_, end)) = self.walk(&mut rng, unseen.of) else { return };
            unseen.of += 1;
            unseen.new += u32::from(end.is_some());
        }
        self.learnt.unseen = Some(unseen);
    }

    /// Walks at random to the end of what is known. `None` if nothing is.
    pub(super) fn walk(&mut self, rng: &mut SplitMix64, number: u32) -> Option<Walk> {
        let mut state = State::start(&self.known, self.sabotage)?;
        let (mut path, order, mut ways) = (Vec::new(), rng.bits(), Vec::new());
        loop {
            state.ways(&self.known, self.options.spins_max, &mut ways);
            // Where the search would not try a thread, a walk need not.
            let able = self.persistent.find(&state, &self.known, &ways, self.sabotage);
            if able.is_empty() || path.len() >= self.options.steps_max {
                return Some((path, None));
            }
            // In every other walk the threads have priorities: so each one comes late at times.
            let at = match number % 2 {
                0 => able.get(rng.index(able.len())).copied(),
                _ => able.iter().copied().max_by_key(|at| priority(state.live[*at].0, order)),
            };
            let at = at.unwrap_or(0);
            let alternative = rng.below(u64::from(ways[at])) as u32;
            let step = Step { thread: state.live[at].0, alternative };
            path.push(step);
            match state.after(step, &self.known, &mut self.slots, false) {
                Successor::Known(after, _) => state = after,
                Successor::Unknown(node, result) => return Some((path, Some((node, result)))),
            }
        }
    }
}

/// A random number for a thread.
fn priority(thread: ThreadId, order: u64) -> u64 {
    SplitMix64(order ^ u64::from(thread.0)).bits()
}
