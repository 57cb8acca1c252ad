//! Executes steps of a state.

use super::action::Action;
use super::lookup::Lookup;
use crate::machine::Machine;
use crate::poll::START_WORK;
use crate::program::{FuncId, SiteId};
use crate::sabotage::Sabotage;
use crate::state::{State, StepId, canonical};
use crate::step::memo::{self, Memo, Recorder, Root};
use crate::step::{AttributeUpdate, Blocked, Fault, Interpreter, Log, LoggedAccess, Mode, Stop};
use crate::value::{GHOST, Value};
use anyorder_system::{FailureKind, Successor};
use rustc_hash::FxHashMap;

/// Most alternatives of a step, including those that `assume` drops: choices multiply.
const ALTERNATIVES_MAX: u32 = 1 << 16;

/// The outcome of a step.
pub(crate) struct Outcome {
    pub(crate) state: State,
    pub(crate) fault: Option<Box<Fault>>,
}

impl Outcome {
    /// Returns the outcome of an alternative of a step as engines see it.
    pub(crate) fn successor(self, machine: &Machine, action: Action) -> Successor<State, Action> {
        let failure = self.fault.map(|fault| fault.failure(&machine.program));
        Successor { action, state: self.state, failure }
    }
}

/// What one alternative of a step did.
pub(crate) struct Executed {
    pub(crate) outcome: Outcome,
    pub(crate) log: Log,
    pub(crate) updates: Vec<AttributeUpdate>,
}

/// Executes steps of one state, one after another, with the same registers.
pub(crate) struct StepExecutor<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a State,
    pub(crate) interpreter: Interpreter<'a>,
    /// The accesses of the last step's executions while they could still reach a choice or be
    /// dropped. The number and the order of the alternatives depend on them.
    pub(crate) deciding: Vec<LoggedAccess>,
    /// The last guard that ignores its index, with its answer in the state.
    pub(super) answered: Option<(FuncId, bool)>,
    /// The memo; `None` if nothing is to be memoized.
    pub(super) memo: Option<Box<Memo>>,
    pub(super) recorder: Option<Box<Recorder>>,
    /// Whether objects, handles and threads keep their numbers: states are then not canonical.
    pub(crate) keeps_numbers: bool,
    /// Most alternatives of a step, including those that `assume` drops.
    pub(crate) alternatives_max: u32,
}

impl Drop for StepExecutor<'_> {
    fn drop(&mut self) {
        if let Some(memo) = self.memo.take() {
            memo::give_back(self.machine.id, memo);
        }
    }
}

impl<'a> StepExecutor<'a> {
    pub(crate) fn new(machine: &'a Machine, state: &'a State) -> StepExecutor<'a> {
        let remembers = machine.memoizable.any && machine.sabotage != Sabotage::NoMemory;
        StepExecutor::with_memo(machine, state, remembers.then(|| memo::take(machine.id)))
    }

    fn with_memo(
        machine: &'a Machine,
        state: &'a State,
        memo: Option<Box<Memo>>,
    ) -> StepExecutor<'a> {
        let interpreter = Interpreter::new(machine, state);
        let deciding = Vec::new();
        let (answered, recorder, keeps_numbers) = (None, None, false);
        StepExecutor {
            machine,
            state,
            interpreter,
            deciding,
            answered,
            memo,
            recorder,
            keeps_numbers,
            alternatives_max: ALTERNATIVES_MAX,
        }
    }

    /// Makes one that uses no memo and logs nothing but updates.
    pub(crate) fn plain(machine: &'a Machine, state: &'a State) -> StepExecutor<'a> {
        StepExecutor::with_memo(machine, state, None)
    }

    /// Makes one that logs the steps it executes. It uses no memo, because a memo has no accesses.
    pub(crate) fn logging(machine: &'a Machine, state: &'a State) -> StepExecutor<'a> {
        let mut executor = StepExecutor::with_memo(machine, state, None);
        executor.interpreter.log = Some(Box::default());
        executor
    }

    /// Executes one alternative of a step.
    pub(crate) fn run_one(&mut self, action: &Action) -> Option<Executed> {
        let mut executed = None;
        self.run(action.step, |executor, alternative, outcome| {
            if alternative == action.alternative {
                let (log, updates) = (executor.take_log(), executor.take_updates());
                executed = Some(Executed { outcome, log, updates });
            }
        });
        executed
    }

    /// Takes an empty buffer for candidates.
    pub(crate) fn take_candidates(&mut self) -> Vec<StepId> {
        self.memo.as_mut().map(|memo| std::mem::take(&mut memo.candidates)).unwrap_or_default()
    }

    /// Gives the buffer back.
    pub(crate) fn keep_candidates(&mut self, mut candidates: Vec<StepId>) {
        candidates.clear();
        if let Some(memo) = &mut self.memo {
            memo.candidates = candidates;
        }
    }

    /// Takes the updates of the last step.
    pub(crate) fn take_updates(&mut self) -> Vec<AttributeUpdate> {
        std::mem::take(&mut self.interpreter.updates)
    }

    /// Takes the log of the last step.
    pub(crate) fn take_log(&mut self) -> Log {
        self.interpreter.log.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Executes a function without parameters in the state.
    pub(super) fn execute(&mut self, func: FuncId) -> Result<bool, Box<Fault>> {
        self.interpreter.start(func.0, Mode::Pure, 0);
        self.answer()
    }

    pub(super) fn answer(&mut self) -> Result<bool, Box<Fault>> {
        let interpreter = &mut self.interpreter;
        let answer = interpreter.run().and_then(|_| match &interpreter.result {
            Value::Bool(value) => Ok(*value),
            other => Err(interpreter.bad_type("a property or guard is a bool, not", other)),
        });
        match answer {
            Ok(answer) => Ok(answer),
            Err(Stop::Fault(fault)) => Err(fault),
            // An engine drops the answer of an interrupted call.
            Err(Stop::NoTransition | Stop::Interrupted) => Ok(false),
        }
    }

    /// Executes every alternative of a candidate step, and calls `each` with its number and
    /// outcome. Makes no call if the guard does not hold, or if the thread cannot continue. If
    /// there are more than `alternatives_max`, the last outcome is a failure.
    #[inline]
    pub(crate) fn run(&mut self, step: StepId, mut each: impl FnMut(&mut Self, u32, Outcome)) {
        let mut successor = None;
        let looked_up = self.look_up(step, |state| successor = Some(state), |_| {});
        match (looked_up, successor) {
            (Lookup::NoTransition, _) => {}
            (Lookup::Done, Some(state)) => each(self, 0, Outcome { state, fault: None }),
            (Lookup::Record(root), _) => self.run_anew(step, Some(root), each),
            _ => self.run_anew(step, None, each),
        }
    }

    /// Executes every alternative of a candidate step, without a lookup. With a root, remembers the
    /// step there. Ends early, without a further call, when the job is stopped.
    pub(crate) fn run_anew(
        &mut self,
        step: StepId,
        mut root: Option<Root>,
        mut each: impl FnMut(&mut Self, u32, Outcome),
    ) {
        self.interpreter.choices.clear();
        self.deciding.clear();
        if root.is_some() {
            self.start_record(step);
        }
        let mut alternative = 0;
        let mut tries = 0;
        loop {
            if let Some(log) = &mut self.interpreter.log {
                **log = Log::default();
            }
            let outcome = self.run_once(step);
            if self.interpreter.poll.is_stopped() {
                self.recorder = self.interpreter.record.take().or_else(|| self.recorder.take());
                return;
            }
            if let Some(root) = root.take() {
                self.keep_record(root, outcome.as_ref());
            }
            self.keep_deciding(outcome.is_none());
            if let Some(outcome) = outcome {
                each(self, alternative, outcome);
                alternative += 1;
            }
            if !self.interpreter.choices.advance() {
                return;
            }
            tries += 1;
            if tries == self.alternatives_max {
                let message = format!("more than {tries} alternatives of one step");
                if let Stop::Fault(fault) = self.interpreter.fault(FailureKind::StepLimit, message)
                {
                    let state = self.state.clone();
                    each(self, alternative, Outcome { state, fault: Some(fault) });
                }
                return;
            }
        }
    }

    /// Keeps the accesses of an execution while it could still reach a choice or be dropped.
    #[inline]
    fn keep_deciding(&mut self, dropped: bool) {
        if let Some(log) = &self.interpreter.log {
            let deciding = if dropped { log.accesses.len() } else { log.deciding };
            if !self.machine.reports.drops() {
                self.deciding.extend_from_slice(&log.accesses[..deciding]);
            }
        }
    }

    /// Returns why a step cannot be taken, and its source position; `None` if it can be taken.
    pub(crate) fn blocked(&mut self, step: StepId) -> Option<(Blocked, SiteId)> {
        self.interpreter.choices.clear();
        match self.run_once(step) {
            Some(_) => None,
            None => Some((self.interpreter.blocked(), self.interpreter.site())),
        }
    }

    /// Returns whether a candidate is known, without execution, to have exactly one alternative.
    pub(crate) fn is_certain(&self, step: StepId) -> bool {
        let machine = self.machine;
        let body = match step {
            StepId::Event(member) => {
                let event = machine.event_of(member);
                if event.guard.is_some() {
                    return false;
                }
                event.body
            }
            StepId::Message { task, .. } => machine.program.tasks[usize::from(task)].body,
            StepId::Init | StepId::Thread { .. } => return false,
        };
        !machine.branches[body.index()]
    }

    /// Executes a step with the current choices.
    #[inline]
    fn run_once(&mut self, step: StepId) -> Option<Outcome> {
        self.interpreter.choices.rewind();
        if self.interpreter.poll.work(START_WORK).is_err() {
            return None;
        }
        let done = match step {
            StepId::Init => self.init(),
            StepId::Event(member) => self.event(member),
            StepId::Message { queue, position, .. } => {
                self.message(queue as usize, position as usize)
            }
            StepId::Thread { .. } => self.thread(step),
        };
        let fault = match done {
            Ok(()) => None,
            Err(Stop::NoTransition | Stop::Interrupted) => return None,
            Err(Stop::Fault(fault)) => Some(fault),
        };
        let mut outcome = Outcome { state: self.interpreter.take(), fault };
        if self.machine.needs_numbering && !self.keeps_numbers {
            match self.interpreter.log.as_deref() {
                None => canonical::canonicalize(self.machine, &mut outcome.state),
                Some(log) => {
                    let ghosts = ghosts(self.state, log);
                    canonical::canonicalize_with_ghosts(self.machine, &mut outcome.state, ghosts);
                }
            }
        }
        Some(outcome)
    }
}

/// Maps each handle of the state, and each that the step has cancelled, to the handle that replaces
/// it once its task or thread has ended.
pub(crate) fn ghosts(state: &State, log: &Log) -> FxHashMap<u32, u32> {
    let all = state.handles().chain(log.cancelled.iter().map(|(uid, handle)| (*handle, *uid)));
    // A uid that does not fit counts as ended before.
    let ghost = |uid: u64| u32::try_from(uid).ok().and_then(|uid| GHOST.checked_add(uid));
    all.filter(|(handle, _)| *handle != 0)
        .map(|(handle, uid)| (handle, ghost(uid).unwrap_or(0)))
        .collect()
}
