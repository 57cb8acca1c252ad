//! Turns what the engine of threads found into paths of the machine.

use super::program::{FAILURES, FINAL, ModelThreads};
use crate::states::offers_of;
use anyorder_search::{Path, Property, Violation};
use anyorder_system::StateSystem as _;
use anyorder_threads::{Act, Execution, Fault, Found, Object, Step, ThreadId};
use anyorder_vm::{Machine, RealThread};
use rustc_hash::FxHashMap;

/// Runs executions of a model again, and the machine beside them.
pub(super) struct Paths<'m, 'p, 'a> {
    machine: &'m Machine,
    program: &'p mut ModelThreads<'a>,
}

/// The machine beside an execution.
struct Beside<'m> {
    machine: &'m Machine,
    path: Path<Machine>,
    /// Who a thread is in the states of the path.
    who: FxHashMap<ThreadId, RealThread>,
    /// The steps of the execution that were taken.
    taken: usize,
}

impl<'m, 'p, 'a> Paths<'m, 'p, 'a> {
    pub(super) fn new(machine: &'m Machine, program: &'p mut ModelThreads<'a>) -> Self {
        Paths { machine, program }
    }

    /// Returns the violation that a fault is, with its path. `None`: the machine does not go the
    /// way. `Some(None)`: what waits there may do so.
    pub(super) fn violation(&mut self, found: &Found) -> Option<Option<Violation<Machine>>> {
        let wanted = match found.fault {
            Fault::Failure(number) if number >= FAILURES => Some(number),
            Fault::Failure(FINAL) | Fault::Deadlock(_) | Fault::Livelock(_) => None,
            _ => return None,
        };
        let path = self.path(&found.steps, wanted)?;
        let property = match path.steps.last().and_then(|step| step.failure.clone()) {
            Some(failure) => Property::Failure(failure),
            None if wanted.is_some() => return None,
            None => {
                let offers = offers_of(self.machine, path.last());
                match Property::at_end(&self.machine.properties(), path.last(), offers) {
                    Some(property) => property,
                    None => return Some(None),
                }
            }
        };
        Some(Some(Violation::of(self.machine, property, path)))
    }

    /// Runs steps, and on to the end unless a failure is wanted.
    fn path(&mut self, steps: &[Step], wanted: Option<u32>) -> Option<Path<Machine>> {
        let declared = self.program.declared();
        let who = (0..declared).map(|at| (ThreadId(at + 1), RealThread::Declared(at))).collect();
        let path = Path::begin(self.machine, 0)?;
        let mut beside = Beside { machine: self.machine, path, who, taken: 0 };
        let mut execution = Execution::new(self.program);
        execution.set_spins_max(0);
        execution.restart();
        let mut steps = steps.iter().copied();
        let mut ready = Vec::new();
        loop {
            let step = steps.next().or_else(|| {
                execution.ready(&mut ready);
                ready.first().copied()
            });
            let Some(step) = step else { break };
            let woken = woken(&execution, step);
            execution.step(step)?;
            if beside.follow(execution.program(), woken, wanted)? {
                return Some(beside.path);
            }
        }
        wanted.is_none().then_some(beside.path)
    }
}

/// The thread that a step wakes.
fn woken(execution: &Execution<'_, ModelThreads<'_>>, step: Step) -> Option<ThreadId> {
    let op = &execution.next(step.thread)?.op;
    match (&op.act, execution.world().get(op.object)?) {
        (Act::Notify { all: false, .. }, Object::Condition { waiting, .. }) => {
            waiting.get(step.alternative as usize % waiting.len().max(1)).copied()
        }
        _ => None,
    }
}

impl Beside<'_> {
    /// Takes the steps of the machine that the execution took. Returns whether the wanted failure
    /// came.
    fn follow(
        &mut self,
        program: &ModelThreads<'_>,
        woken: Option<ThreadId>,
        wanted: Option<u32>,
    ) -> Option<bool> {
        for done in &program.done[self.taken..] {
            self.taken += 1;
            // A run ends with its first failure: the others stand still.
            if done.failure.is_some() && done.failure != wanted {
                continue;
            }
            let who = *self.who.get(&done.thread)?;
            let state = self.path.last();
            let mut successors = self.machine.steps_of(state, who).into_iter();
            let successor = match woken.and_then(|woken| self.who.get(&woken)) {
                Some(woken) => successors.find(|one| self.machine.is_woken(&one.state, *woken)),
                None => successors.nth(done.alternative),
            }?;
            if let Some(child) = done.forked {
                self.who.insert(child, self.machine.forked(state, &successor.state)?);
            }
            let has_failed = successor.failure.is_some();
            self.path.push(None, successor);
            if has_failed != done.failure.is_some() {
                return None;
            }
            if has_failed {
                return Some(true);
            }
        }
        Some(false)
    }
}
