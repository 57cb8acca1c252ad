//! Loops that spin, in the search: where a thread waits and nobody knows whether its loop gives up,
//! the program runs there, and [tries](crate::spinning) it.

use super::behaviour::{Behaviours, NodeId};
use super::journal::Entry;
use super::learner::Learner;
use super::outcome::Incomplete;
use super::sabotage::Sabotage;
use super::state::State;
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Finds out of the threads that wait in a state whether their loops give up.
    pub(super) fn settle(
        &mut self,
        state: &State,
        way: impl FnOnce() -> Vec<Step>,
    ) -> Result<(), Incomplete> {
        match self.tries(state) {
            true => self.settle_along(&way()),
            false => Ok(()),
        }
    }

    /// Whether it is to be found out of a thread that waits in a state whether its loop gives up.
    pub(super) fn tries(&self, state: &State) -> bool {
        state.is_unsettled(&self.known) && self.sabotage != Sabotage::SearchesTryNoLoops
    }

    /// Runs the program along a way, to where threads wait, and tries their loops. That counts as a
    /// trial, and not as an execution.
    pub(super) fn settle_along(&mut self, way: &[Step]) -> Result<(), Incomplete> {
        self.keep(|| Entry::Settle(way.to_vec()));
        self.places.clear();
        self.execution.restart();
        self.learn_first(ThreadId::MAIN)?;
        for step in way {
            let result = self.execution.step(*step).ok_or(Incomplete::Diverged(None))?;
            self.learn_step(step.thread, result)?;
        }
        let mut ready = Vec::new();
        self.execution.ready(&mut ready);
        self.note_settled()?;
        self.known.classify_new(self.sabotage);
        Ok(())
    }

    /// Notes what the execution has found out of the threads that wait.
    pub(super) fn note_settled(&mut self) -> Result<(), Incomplete> {
        if self.execution.has_diverged() {
            return Err(Incomplete::Diverged(None));
        }
        for (thread, next) in self.execution.pending() {
            let Some(node) = self.places.get(&thread).copied() else { continue };
            if !self.known.node(node).is_settled {
                let how = self.execution.is_settled(thread);
                self.has_learnt |= self.known.settle(node, next, how);
            }
        }
        Ok(())
    }

    /// Notes the loops that give up too late to be explored.
    pub(super) fn note_loops(&mut self) {
        self.learnt.long_loops = self.execution.loops().long.clone();
        let longest = self.learnt.long_loops.iter().max_by_key(|long| long.turns);
        let incomplete = longest.map(|long| Incomplete::GivesUp(*long));
        self.learnt.incomplete = self.learnt.incomplete.take().or(incomplete);
    }
}

impl Behaviours {
    /// Whether somewhere it is not known whether a thread waits that gives way.
    pub(super) fn has_unsettled(&self) -> bool {
        !self.needs.is_empty()
    }

    /// What has to be possible before it can be tried whether a thread waits.
    pub(super) fn needs(&self, node: NodeId) -> Option<&Op> {
        self.needs.get(&node)?.as_ref()
    }

    /// Notes what was found out of a node where a thread gives way. Returns whether the thread does
    /// something else than was known.
    pub(super) fn settle(&mut self, node: NodeId, next: &Next, how: (bool, Option<&Op>)) -> bool {
        let gives_way = matches!(next.op.act, Act::Await(_) | Act::Yield);
        // Otherwise it is another program.
        if !gives_way {
            return false;
        }
        self.set_settled(node, how);
        // It reads nothing that the thread did not read before: its objects are known.
        let is_news = how.0 && *self.op(node) != next.op;
        if is_news {
            self.replace(node, &next.op);
        }
        is_news
    }
}
