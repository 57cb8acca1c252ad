//! Random walks through what is known, before the search.

use super::learner::Learner;
use super::outcome::Incomplete;
use super::state::{State, Successor};
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::program::ThreadProgram;
use anyorder_common::random::{Random, SplitMix64};

/// How many random walks in a row may end where the program does.
const WALKS_IN_VAIN: u32 = 100;

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Walks at random through what is known, and learns where that ends, until walks keep ending
    /// where the program does. A search that learns all from its first states on would do so from
    /// its last choices upwards, and see two states as one only much later.
    pub(super) fn wander(&mut self) -> Result<(), Incomplete> {
        let mut rng = SplitMix64(1);
        let (mut ways, mut in_vain) = (Vec::new(), 0);
        while in_vain < WALKS_IN_VAIN {
            self.check()?;
            in_vain += 1;
            let Some(mut state) = State::start(&self.known, self.sabotage) else { return Ok(()) };
            let (mut path, order) = (Vec::new(), rng.bits());
            loop {
                state.ways(&self.known, self.options.spins_max, &mut ways);
                // Where the search would not try a thread, a walk need not.
                let able = self.persistent.find(&state, &self.known, &ways, self.sabotage);
                if able.is_empty() || path.len() >= self.options.steps_max {
                    break;
                }
                // In every other walk the threads have priorities: so each one comes late at times.
                let at = match in_vain % 2 {
                    0 => able.get(rng.index(able.len())).copied(),
                    _ => able.iter().copied().max_by_key(|at| priority(state.live[*at].0, order)),
                };
                let at = at.unwrap_or(0);
                let alternative = rng.below(u64::from(ways[at])) as u32;
                let step = Step { thread: state.live[at].0, alternative };
                path.push(step);
                match state.after(step, &self.known, &mut self.slots, false) {
                    Successor::Known(after, _) => state = after,
                    Successor::Unknown(node, result) => {
                        self.run_to_learn(&path, (node, result))?;
                        in_vain = 0;
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A random number for a thread.
fn priority(thread: ThreadId, order: u64) -> u64 {
    SplitMix64(order ^ u64::from(thread.0)).bits()
}
