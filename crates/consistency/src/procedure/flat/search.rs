//! Depth-first search over configurations, each visited once.

use super::state::{Choice, Orders, Plan, State};
use super::{Answer, ConsistencyStats, Control, Effort, Limit, Stopped};
use crate::partial::Slot;
use crate::saturate::Graph;
use std::collections::HashSet;

/// The memory of a stored configuration besides its numbers.
const ENTRY_BYTES: u64 = 32;

pub(super) struct Search<'s> {
    plan: Plan<'s>,
    /// The configurations visited so far. All except those on the stack are dead ends.
    seen: HashSet<Box<[u32]>>,
    bytes: u64,
    log: Vec<Slot>,
    stack: Vec<Frame>,
}

/// A configuration with untried choices.
struct Frame {
    state: State,
    log: usize,
    choices: std::vec::IntoIter<Choice>,
}

impl<'s> Search<'s> {
    pub(super) fn new(graph: &'s Graph<'s>, orders: Orders<'s>) -> Search<'s> {
        let plan = Plan::new(graph, orders);
        Search { plan, seen: HashSet::new(), bytes: 0, log: Vec::new(), stack: Vec::new() }
    }

    /// Searches for a run of all events.
    pub(super) fn run(
        mut self,
        effort: Effort,
        control: &Control<'_>,
        stats: &mut ConsistencyStats,
    ) -> Result<Answer, Stopped> {
        let mut state = Some(self.plan.start());
        loop {
            control.check()?;
            control.check_memory(0, self.bytes)?;
            if let Some(state) = state.take()
                && self.enter(state, stats)
            {
                return Ok(Answer::Consistent(self.log));
            }
            if effort.conflicts.is_some_and(|limit| stats.conflicts > limit) {
                return Ok(Answer::Unknown(Limit::Conflicts));
            }
            let Some(frame) = self.stack.last_mut() else { return Ok(Answer::Inconsistent(None)) };
            self.log.truncate(frame.log);
            match frame.choices.next() {
                Some(choice) => {
                    stats.decisions += 1;
                    let mut next = frame.state.clone();
                    self.plan.execute(&mut next, choice, &mut self.log);
                    state = Some(next);
                }
                None => {
                    self.stack.pop();
                }
            }
        }
    }

    /// Advances from a configuration until there is a choice. Returns whether all events were
    /// executed.
    fn enter(&mut self, mut state: State, stats: &mut ConsistencyStats) -> bool {
        self.plan.advance(&mut state, &mut self.log);
        if self.log.len() == self.plan.graph.slots() {
            return true;
        }
        let key = self.plan.key(&state);
        let bytes = ENTRY_BYTES + key.len() as u64 * 4;
        if self.seen.insert(key) {
            self.bytes += bytes;
            stats.candidates += 1;
            let choices = self.plan.choices(&state);
            if choices.is_empty() {
                stats.conflicts += 1;
            }
            self.stack.push(Frame { state, log: self.log.len(), choices: choices.into_iter() });
        }
        false
    }
}
