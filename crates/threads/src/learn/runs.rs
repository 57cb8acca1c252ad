//! The executions from which the exploration learns.

use super::behaviour::NodeId;
use super::journal::Entry;
use super::learner::Learner;
use super::outcome::{Blocked, Fault, Incomplete};
use super::sabotage::Sabotage;
use crate::execution::{Ending, Step};
use crate::ids::ThreadId;
use crate::op::Act;
use crate::program::{Next, ThreadProgram};

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Runs the program along a path, at whose end a thread is at some place with some result, and
    /// it is not known what it does then.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and if the program had another result there.
    pub(super) fn run_to_learn(
        &mut self,
        path: &[Step],
        (node, result): (NodeId, u64),
    ) -> Result<(), Incomplete> {
        self.run(path)?;
        let is_known = self.known.child(node, result).is_some();
        if is_known { Ok(()) } else { Err(Incomplete::Diverged(None)) }
    }

    /// Runs the program along a path and on to its end, and learns what the threads do.
    pub(super) fn run(&mut self, path: &[Step]) -> Result<(), Incomplete> {
        if self.learnt.executions >= self.executions_max {
            return Err(Incomplete::Executions);
        }
        self.learnt.executions += 1;
        self.keep(|| Entry::Run(path.to_vec()));
        self.places.clear();
        self.execution.restart();
        self.learn_first(ThreadId::MAIN)?;
        let mut ready = Vec::new();
        let (mut at, mut preemptions) = (0, 0);
        loop {
            let held = self.bound.and_then(|_| self.held_in_execution());
            let step = match path.get(at) {
                Some(step) => *step,
                None => {
                    self.execution.ready(&mut ready);
                    self.note_settled()?;
                    let is_bound = self.bound.is_some_and(|most| preemptions >= most);
                    match self.pick(&ready, held.filter(|_| is_bound)) {
                        Some(step) => step,
                        None => break,
                    }
                }
            };
            preemptions += u32::from(held.is_some_and(|held| held != step.thread));
            if at == self.options.steps_max {
                let steps = self.taken();
                self.note(Fault::StepLimit, || steps);
                return Err(Incomplete::Steps);
            }
            at += 1;
            // The path is possible on what is known.
            let result = self.execution.step(step).ok_or(Incomplete::Diverged(None))?;
            self.learn_step(step.thread, result)?;
        }
        self.learnt.steps += at as u64;
        self.known.classify_new(self.sabotage);
        if self.execution.ending() != Ending::Completed {
            self.note_end();
        }
        Ok(())
    }

    /// The next step of an execution that is on its own: of a thread about which something can be
    /// learnt, if there is one; of the one thread that must not be preempted, if there is one.
    fn pick(&self, ready: &[Step], held: Option<ThreadId>) -> Option<Step> {
        let is_new = |step: &&Step| {
            self.places.get(&step.thread).is_some_and(|node| {
                let would = self.execution.world().would(step.thread, self.known.op(*node));
                would.is_some_and(|result| self.known.child(*node, result).is_none())
            })
        };
        let able = |step: &&Step| held.is_none_or(|held| step.thread == held);
        let mut able_and_new = ready.iter().filter(able).filter(is_new);
        able_and_new.next().or(ready.iter().find(able)).copied()
    }

    /// The thread that would be preempted if another one went on in the execution.
    fn held_in_execution(&self) -> Option<ThreadId> {
        let last = self.execution.events().last()?.step.thread;
        let next = self.execution.next(last)?;
        let world = self.execution.world();
        let is_able = world.alternatives(last, &next.op) > 0;
        let holds = is_able && world.goes_on(last, &next.op, self.sabotage);
        (holds && self.sabotage != Sabotage::ExecutionsPreempt).then_some(last)
    }

    fn taken(&self) -> Vec<Step> {
        self.execution.events().iter().map(|event| event.step).collect()
    }

    pub(super) fn learn_first(&mut self, thread: ThreadId) -> Result<(), Incomplete> {
        let Some(next) = self.execution.next(thread).cloned() else { return Ok(()) };
        self.learn(thread, None, &next)
    }

    pub(super) fn learn_step(&mut self, thread: ThreadId, result: u64) -> Result<(), Incomplete> {
        let Some(node) = self.places.get(&thread).copied() else { return Ok(()) };
        match self.known.op(node).act {
            Act::Exit(_) => {
                self.places.remove(&thread);
                return Ok(());
            }
            Act::Fail(number) => {
                let steps = self.taken();
                self.note(Fault::Failure(number), || steps);
            }
            Act::Spawn(child) => self.learn_first(child)?,
            _ => {}
        }
        let Some(next) = self.execution.next(thread).cloned() else { return Ok(()) };
        self.learn(thread, Some((node, result)), &next)
    }

    fn learn(
        &mut self,
        thread: ThreadId,
        parent: Option<(NodeId, u64)>,
        next: &Next,
    ) -> Result<(), Incomplete> {
        let how = (self.execution.is_settled(thread), self.execution.program_ref());
        let learnt = self.known.learn(thread, parent, next, how);
        let (node, is_new) = learnt.map_err(|error| Incomplete::Diverged(Some(Box::new(error))))?;
        self.has_learnt |= is_new;
        self.places.insert(thread, node);
        Ok(())
    }

    /// Notes the fault of an execution that did not complete.
    fn note_end(&mut self) {
        let blocked = |(thread, next): (ThreadId, &Next)| Blocked {
            thread,
            op: next.op.clone(),
            site: next.site,
        };
        let blocked: Vec<Blocked> = self.execution.pending().map(blocked).collect();
        let fault = match self.execution.ending() {
            Ending::Livelock => Fault::Livelock(blocked),
            _ => Fault::Deadlock(blocked),
        };
        let steps = self.taken();
        self.note(fault, || steps);
    }
}
