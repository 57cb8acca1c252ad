//! Executes steps of a state.

use super::action::Action;
use super::lookup::Lookup;
use crate::machine::{INIT_FLAG, Machine, literal};
use crate::poll::START_WORK;
use crate::program::{FuncId, MailboxKind, SiteId};
use crate::sabotage::Sabotage;
use crate::state::{Frame, Message, Origin, State, Status, StepId, Thread, ThreadBody, canonical};
use crate::step::memo::{self, Memo, Recorder, Root};
use crate::step::{
    AttributeUpdate, Blocked, End, Fault, Interpreter, Log, LoggedAccess, Mode, Stop, unpack,
};
use crate::value::{GHOST, Value};
use anyorder_system::{FailureKind, Successor};
use rustc_hash::FxHashMap;
use std::sync::Arc;

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
        StepExecutor { machine, state, interpreter, deciding, answered: None, memo, recorder: None }
    }

    /// Makes one that logs the steps it executes. It uses no memo, because a memo has no accesses.
    pub(crate) fn logging(machine: &'a Machine, state: &'a State) -> StepExecutor<'a> {
        let mut executor = StepExecutor::with_memo(machine, state, None);
        executor.interpreter.log = Some(Box::default());
        executor
    }

    /// Executes one alternative of a step.
    pub(crate) fn run_one(&mut self, action: &Action) -> Option<Executed> {
        let mut found = None;
        self.run(action.step, |executor, alternative, outcome| {
            if alternative == action.alternative {
                let (log, updates) = (executor.take_log(), executor.take_updates());
                found = Some(Executed { outcome, log, updates });
            }
        });
        found
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

    fn answer(&mut self) -> Result<bool, Box<Fault>> {
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
    /// there are more than [`ALTERNATIVES_MAX`], the last outcome is a failure.
    #[inline]
    pub(crate) fn run(&mut self, step: StepId, mut each: impl FnMut(&mut Self, u32, Outcome)) {
        let mut known = None;
        let found = self.look_up(step, |state| known = Some(state), |_| {});
        match (found, known) {
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
            if tries == ALTERNATIVES_MAX {
                let message = format!("more than {ALTERNATIVES_MAX} alternatives of one step");
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
        if self.machine.needs_numbering {
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

    fn mode(&self) -> Mode {
        if self.machine.atomic { Mode::Atomic } else { Mode::Stepwise }
    }

    fn init(&mut self) -> Result<(), Stop> {
        let Some(init) = self.machine.program.init else { return Err(Stop::NoTransition) };
        let owner = self.machine.layout.owner_dynamic(0);
        self.interpreter.start(init.0, Mode::Atomic, owner);
        self.interpreter.state_mut().set_flag(INIT_FLAG, false);
        self.interpreter.run()?;
        // `init` belongs to no component, and nothing was updated before it.
        self.interpreter.updates.clear();
        Ok(())
    }

    fn event(&mut self, member: u32) -> Result<(), Stop> {
        let machine = self.machine;
        let (event, index) = machine.layout.members[member as usize];
        let declared = &machine.program.events[usize::from(event)];
        let slot = machine.layout.member_slot[member as usize];
        let owner = machine.layout.owner_slot(slot);
        if self.interpreter.log.is_some() {
            self.interpreter.log_enabled(member, None);
        }
        if let Some(guard) = declared.guard {
            let index = declared.family.map(|family| literal::parameter(family, index));
            let shared = machine.memoizable.shared[usize::from(event)];
            if !self.guard(guard, index, owner, shared)? {
                return Err(Stop::NoTransition);
            }
        }
        self.interpreter.start(declared.body.0, self.mode(), owner);
        if let Some(family) = declared.family {
            literal::parameter(family, index).put_in(&mut self.interpreter.regs[0]);
        }
        if machine.layout.keep_started[usize::from(event)] {
            let flag = machine.layout.started_flag(member);
            self.interpreter.record_flag(flag, true);
            self.interpreter.state_mut().set_flag(flag, true);
            if declared.once && machine.layout.toggled[usize::from(event)] {
                // From here on its enabled flag has no meaning.
                let flag = machine.layout.toggled_flag(member);
                self.interpreter.record_flag(flag, false);
                self.interpreter.state_mut().set_flag(flag, false);
            }
            if declared.once && self.interpreter.log.is_some() {
                self.interpreter.log_enabled(member, Some(false));
            }
        }
        self.body(Origin::Slot(slot), ThreadBody::Event(member), None)
    }

    /// Evaluates the guard of an event. A guard that ignores its index has the same answer for all
    /// members of a family. A guard that is memoized separately is not part of the record.
    fn guard(
        &mut self,
        guard: FuncId,
        index: Option<Value>,
        owner: u32,
        shared: bool,
    ) -> Result<bool, Stop> {
        if let Some((known, answer)) = self.answered
            && known == guard
            && self.interpreter.log.is_none()
            && (shared || self.interpreter.record.is_none())
        {
            return Ok(answer);
        }
        self.interpreter.start(guard.0, Mode::Pure, owner);
        let same = index.is_none() || !self.machine.live[guard.index()].is_live(0, 0);
        if let Some(index) = index {
            index.put_in(&mut self.interpreter.regs[0]);
        }
        let answer = self.answer().map_err(Stop::Fault)?;
        if self.interpreter.poll.is_stopped() {
            return Err(Stop::Interrupted);
        }
        if !self.interpreter.is_far_from_limits(0)
            && let Some(record) = &mut self.interpreter.record
        {
            record.abandoned = true;
        }
        self.answered = same.then_some((guard, answer));
        Ok(answer)
    }

    fn message(&mut self, queue: usize, position: usize) -> Result<(), Stop> {
        let machine = self.machine;
        let Some(message) = self.state.queue(queue).get(position) else {
            return Err(Stop::NoTransition);
        };
        let body = machine.program.tasks[usize::from(message.task)].body;
        let pool = queue == machine.layout.pool();
        let owner = match pool {
            true if machine.atomic => machine.layout.owner_dynamic(0),
            true => 0,
            false => machine.layout.owner_slot(queue as u32),
        };
        self.interpreter.start(body.0, self.mode(), owner);
        let params = machine.program.functions[body.index()].params;
        unpack(&message.args, params, &mut self.interpreter.regs);
        take_message(machine, self.interpreter.state_mut(), queue as u32, position as u32, message);
        let origin = if pool { Origin::Dynamic } else { Origin::Slot(queue as u32) };
        if pool && !machine.atomic {
            let handle = match message.handle {
                0 => self.interpreter.next_handle(),
                handle => handle,
            };
            self.interpreter.owner = machine.layout.owner_dynamic(handle);
            let mut message = message.clone();
            message.change(|body| body.handle = handle);
            return self.body(origin, ThreadBody::Task(message.task), Some(&message));
        }
        self.body(origin, ThreadBody::Task(message.task), Some(message))
    }

    /// Runs the body of an event or task that has just begun, to its end or to its first visible
    /// instruction.
    fn body(
        &mut self,
        origin: Origin,
        body: ThreadBody,
        message: Option<&Message>,
    ) -> Result<(), Stop> {
        // The start is the visible part of the step.
        self.interpreter.visible_done = true;
        let end = self.interpreter.run()?;
        if end == End::Returned {
            return Ok(());
        }
        let uid = match message {
            Some(message) => message.uid,
            None => self.interpreter.next_uid(),
        };
        let handle = message.map_or(0, |message| message.handle);
        let thread = self.save(origin, body, end, handle, uid);
        self.interpreter.state_mut().change_threads(|threads| {
            let at = threads.partition_point(|t| t.origin <= thread.origin);
            threads.insert(at, Arc::new(thread));
        });
        Ok(())
    }

    /// Saves the paused interpreter as a thread.
    fn save(
        &mut self,
        origin: Origin,
        body: ThreadBody,
        end: End,
        handle: u32,
        uid: u64,
    ) -> Thread {
        let interpreter = &mut self.interpreter;
        let mut frames = std::mem::take(&mut interpreter.frames);
        frames.push(Frame { func: interpreter.func, pc: interpreter.pc as u32, dst: 0 });
        let registers = self.machine.code[usize::from(interpreter.func)].registers;
        interpreter.regs.truncate(interpreter.low + usize::from(registers));
        let mut regs = std::mem::take(&mut interpreter.regs);
        self.machine.clear_dead(&frames, &mut regs);
        let status = match end {
            End::Waiting { cond, lock } => Status::Waiting { cond, lock },
            _ => Status::Ready,
        };
        let mut thread = Thread { origin, body, status, handle, frames, regs, uid, hash: 0 };
        thread.rehash();
        thread
    }

    fn thread(&mut self, step: StepId) -> Result<(), Stop> {
        let machine = self.machine;
        let Some(index) = step.position_in(self.state) else { return Err(Stop::NoTransition) };
        let thread = &self.state.threads()[index];
        let owner = match thread.origin {
            Origin::Declared(thread) => machine.layout.owner_thread(thread),
            Origin::Slot(slot) => machine.layout.owner_slot(slot),
            Origin::Dynamic => machine.layout.owner_dynamic(thread.handle),
        };
        let Some((last, outer)) = thread.frames.split_last() else {
            return Err(Stop::NoTransition);
        };
        let interpreter = &mut self.interpreter;
        interpreter.start(last.func, Mode::Stepwise, owner);
        interpreter.regs.clear();
        interpreter.regs.extend_from_slice(&thread.regs);
        interpreter.frames.extend_from_slice(outer);
        interpreter.pc = last.pc as usize;
        let functions = &machine.program.functions;
        interpreter.low =
            outer.iter().map(|f| usize::from(functions[usize::from(f.func)].registers)).sum();
        match thread.status {
            Status::Ready => {}
            Status::Waiting { .. } => return Err(Stop::NoTransition),
            Status::Woken { lock } => {
                if !interpreter.take_lock(lock) {
                    return Err(Stop::NoTransition);
                }
                interpreter.visible_done = true;
                interpreter.pc += 1;
            }
        }
        let end = interpreter.run()?;
        if end == End::Returned {
            self.end_thread(index, thread);
            return Ok(());
        }
        let saved = self.save(thread.origin, thread.body, end, thread.handle, thread.uid);
        self.interpreter.state_mut().set_thread(index, saved);
        Ok(())
    }

    fn end_thread(&mut self, index: usize, thread: &Thread) {
        let layout = &self.machine.layout;
        let state = self.interpreter.state_mut();
        state.change_threads(|threads| threads.remove(index));
        if thread.origin == Origin::Dynamic {
            let owner = layout.owner_dynamic(thread.handle);
            for lock in 0..layout.locks as usize {
                if state.lock(lock) == owner {
                    state.set_lock(lock, layout.owner_dynamic(0));
                }
            }
        }
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

/// Takes a message out of its mailbox.
pub(super) fn take_message(
    machine: &Machine,
    state: &mut State,
    queue: u32,
    position: u32,
    message: &Message,
) {
    let queue = queue as usize;
    state.change_queue(queue, |queue| queue.remove(position as usize));
    if machine.layout.mailbox(queue) == MailboxKind::Delayed {
        advance_time(machine, state, message.due);
    }
}

/// Advances the virtual time.
fn advance_time(machine: &Machine, state: &mut State, by: u64) {
    if by == 0 {
        return;
    }
    for (i, kind) in machine.layout.mailboxes.iter().enumerate() {
        if *kind == MailboxKind::Delayed && !state.queue(i).is_empty() {
            state.change_queue(i, |queue| {
                for message in queue {
                    message.change(|body| body.due = body.due.saturating_sub(by));
                }
            });
        }
    }
}
