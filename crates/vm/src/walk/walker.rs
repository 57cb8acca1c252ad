//! Runs steps of a state.

use super::action::Move;
use super::recall::Recalled;
use crate::machine::{INIT_FLAG, Machine};
use crate::program::{FuncId, MailboxKind, SiteId};
use crate::state::{Frame, Message, Origin, State, Status, Thread, What, normal};
use crate::step::memo::{self, Memo, Recorder, Root};
use crate::step::{
    Blocked, End, Fault, FaultKind, Log, Mode, Runner, Stop, Touch, Updated, unpack,
};
use crate::value::{GHOST, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Choices multiply: a step may have so many alternatives, those that `assume` drops included.
const ALTERNATIVES_MAX: u32 = 1 << 16;

/// What a step leads to.
pub(crate) struct Outcome {
    pub(crate) state: State,
    pub(crate) fault: Option<Box<Fault>>,
}

/// Runs steps of one state, one after another, with the same registers.
pub(crate) struct Walker<'a> {
    pub(super) machine: &'a Machine,
    pub(super) state: &'a State,
    pub(super) runner: Runner<'a>,
    /// What the executions of the last step looked at while they could still come to a choice, or be dropped: how many alternatives
    /// there are, and which is which, depends on it.
    looked: Vec<Touch>,
    /// The last guard that does not look at its index, with its answer in the state.
    pub(super) answered: Option<(FuncId, bool)>,
    /// What is remembered of earlier steps; none where nothing is to be.
    pub(super) memo: Option<Box<Memo>>,
    pub(super) recorder: Option<Box<Recorder>>,
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}

impl<'a> Walker<'a> {
    pub(crate) fn new(machine: &'a Machine, state: &'a State) -> Walker<'a> {
        let runner = Runner::new(machine, state);
        let remembers = machine.memorable.any && !machine.switches.no_memory;
        let memo = remembers.then(|| memo::take(machine.number));
        let looked = Vec::new();
        Walker { machine, state, runner, looked, answered: None, memo, recorder: None }
    }

    /// Makes one that keeps a log of the steps that it runs, and remembers nothing: a memory has no accesses.
    pub(crate) fn logging(machine: &'a Machine, state: &'a State) -> Walker<'a> {
        let mut runner = Runner::new(machine, state);
        runner.log = Some(Box::default());
        let looked = Vec::new();
        Walker { machine, state, runner, looked, answered: None, memo: None, recorder: None }
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The state whose steps it runs.
    pub(crate) fn state(&self) -> &'a State {
        self.state
    }

    /// Takes an empty list for candidates.
    pub(crate) fn take_candidates(&mut self) -> Vec<Move> {
        self.memo.as_mut().map(|memo| std::mem::take(&mut memo.candidates)).unwrap_or_default()
    }

    /// Gives it back.
    pub(crate) fn keep_candidates(&mut self, mut candidates: Vec<Move>) {
        candidates.clear();
        if let Some(memo) = &mut self.memo {
            memo.candidates = candidates;
        }
    }

    /// Puts the memory back.
    fn forget(&mut self) {
        if let Some(memo) = self.memo.take() {
            memo::give_back(self.machine.number, memo);
        }
    }

    /// Keeps a log of the steps that follow.
    pub(crate) fn keep_log(&mut self) {
        // A memory has no accesses.
        self.forget();
        self.runner.log = Some(Box::default());
    }

    /// Sets the order in which `notify` offers forked threads and running tasks, by their creation.
    pub(crate) fn offer(&mut self, order: Vec<u64>) {
        self.runner.offered = order;
    }

    /// Takes what all executions of the last step looked at while they could still come to a choice, or be dropped.
    pub(crate) fn take_looked(&mut self) -> Vec<Touch> {
        std::mem::take(&mut self.looked)
    }

    /// Takes what the last step updated.
    pub(crate) fn take_updates(&mut self) -> Vec<Updated> {
        std::mem::take(&mut self.runner.updates)
    }

    /// Takes the log of the last step.
    pub(crate) fn take_log(&mut self) -> Log {
        self.runner.log.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Executes a function of the state without parameters.
    pub(super) fn execute(&mut self, func: FuncId) -> Result<bool, Box<Fault>> {
        self.runner.start(func.0, Mode::Pure, 0);
        self.answer()
    }

    fn answer(&mut self) -> Result<bool, Box<Fault>> {
        match self.runner.run() {
            Ok(_) => match &self.runner.result {
                Value::Bool(value) => Ok(*value),
                other => match self.runner.bad_type("a property or guard is a bool, not", other) {
                    Stop::Fault(fault) => Err(fault),
                    Stop::Dropped => Ok(false),
                },
            },
            Err(Stop::Fault(fault)) => Err(fault),
            Err(Stop::Dropped) => Ok(false),
        }
    }

    /// Runs every alternative of a candidate step and calls `each` with its number and what it leads to. A guard that does
    /// not hold, or a thread that cannot go on: no calls. Past [`ALTERNATIVES_MAX`] the last one is a failure that says so.
    #[inline]
    pub(crate) fn run(&mut self, step: Move, mut each: impl FnMut(&mut Self, u32, Outcome)) {
        let mut known = None;
        let recalled = self.recall(step, |state| known = Some(state));
        match (recalled, known) {
            (Recalled::Dropped, _) => {}
            (Recalled::Done, Some(state)) => each(self, 0, Outcome { state, fault: None }),
            (Recalled::New(root), _) => self.run_anew(step, Some(root), each),
            _ => self.run_anew(step, None, each),
        }
    }

    /// Executes every alternative of a candidate step, likewise; where a root is given, to remember it there.
    pub(crate) fn run_anew(
        &mut self,
        step: Move,
        mut root: Option<Root>,
        mut each: impl FnMut(&mut Self, u32, Outcome),
    ) {
        self.runner.choices.clear();
        self.looked.clear();
        if root.is_some() {
            self.start_record(step);
        }
        let mut alternative = 0;
        let mut tries = 0;
        loop {
            if let Some(log) = &mut self.runner.log {
                **log = Log::default();
            }
            let outcome = self.once(step);
            if let Some(root) = root.take() {
                self.keep_record(root, outcome.as_ref());
            }
            self.look(outcome.is_none());
            if let Some(outcome) = outcome {
                each(self, alternative, outcome);
                alternative += 1;
            }
            if !self.runner.choices.advance() {
                return;
            }
            tries += 1;
            if tries == ALTERNATIVES_MAX {
                let message = format!("more than {ALTERNATIVES_MAX} alternatives of one step");
                if let Stop::Fault(fault) = self.runner.fault(FaultKind::StepLimit, message) {
                    let state = self.state.clone();
                    each(self, alternative, Outcome { state, fault: Some(fault) });
                }
                return;
            }
        }
    }

    /// Remembers what an execution looked at while it could still come to a choice, or be dropped.
    #[inline]
    fn look(&mut self, dropped: bool) {
        if let Some(log) = &self.runner.log {
            let decided = if dropped { log.touches.len() } else { log.decided };
            if !self.machine.switches.reports.drops() {
                self.looked.extend_from_slice(&log.touches[..decided]);
            }
        }
    }

    /// Returns what keeps a step from being taken, and where it stands; `None` where it can be taken.
    pub(crate) fn blocked(&mut self, step: Move) -> Option<(Blocked, SiteId)> {
        self.runner.choices.clear();
        match self.once(step) {
            Some(_) => None,
            None => Some((self.runner.blocked(), self.runner.site())),
        }
    }

    /// Returns whether a candidate has exactly one alternative, as far as can be told without running it.
    pub(crate) fn is_certain(&self, step: Move) -> bool {
        let machine = self.machine;
        let body = match step {
            Move::Event(member) => {
                let (event, _) = machine.layout.members[member as usize];
                let event = &machine.program.events[usize::from(event)];
                if event.guard.is_some() {
                    return false;
                }
                event.body
            }
            Move::Message { task, .. } => machine.program.tasks[usize::from(task)].body,
            Move::Init | Move::Thread { .. } => return false,
        };
        !machine.branches[body.index()]
    }

    /// Runs a step with the choices that are set.
    #[inline]
    fn once(&mut self, step: Move) -> Option<Outcome> {
        self.runner.choices.rewind();
        let done = match step {
            Move::Init => self.init(),
            Move::Event(member) => self.event(member),
            Move::Message { queue, position, .. } => {
                self.message(queue as usize, position as usize)
            }
            Move::Thread { origin, rank } => self.thread(origin, rank),
        };
        let mut outcome = match done {
            Ok(()) => Outcome { state: self.runner.take(), fault: None },
            Err(Stop::Dropped) => return None,
            Err(Stop::Fault(fault)) => Outcome { state: self.runner.take(), fault: Some(fault) },
        };
        if self.machine.numbers {
            match self.runner.log.as_deref() {
                None => normal::normalize(self.machine, &mut outcome.state),
                Some(log) => {
                    let ghosts = ghosts(self.state, log);
                    normal::normalize_telling(self.machine, &mut outcome.state, ghosts);
                }
            }
        }
        Some(outcome)
    }

    fn mode(&self) -> Mode {
        if self.machine.atomic { Mode::Atomic } else { Mode::Stepwise }
    }

    fn init(&mut self) -> Result<(), Stop> {
        let Some(init) = self.machine.program.init else { return Err(Stop::Dropped) };
        let owner = self.machine.layout.owner_dynamic(0);
        self.runner.start(init.0, Mode::Atomic, owner);
        self.runner.state_mut().set_flag(INIT_FLAG, false);
        self.runner.run()?;
        // What `init` does, it does for nobody, and nobody did anything before.
        self.runner.updates.clear();
        Ok(())
    }

    fn event(&mut self, member: u32) -> Result<(), Stop> {
        let machine = self.machine;
        let (event, index) = machine.layout.members[member as usize];
        let declared = &machine.program.events[usize::from(event)];
        let slot = machine.layout.member_slot[member as usize];
        let owner = machine.layout.owner_slot(slot);
        if self.runner.log.is_some() {
            self.runner.log_enabled(member, None);
        }
        if let Some(guard) = declared.guard {
            let index = declared.family.map(|family| family.parameter(index));
            let shared = machine.memorable.shared[usize::from(event)];
            if !self.guard(guard, index, owner, shared)? {
                return Err(Stop::Dropped);
            }
        }
        self.runner.start(declared.body.0, self.mode(), owner);
        if let Some(family) = declared.family {
            family.parameter(index).put_in(&mut self.runner.regs[0]);
        }
        if machine.layout.keep_started[usize::from(event)] {
            let flag = machine.layout.started_flag(member);
            self.runner.record_flag(flag, true);
            self.runner.state_mut().set_flag(flag, true);
            if declared.once && machine.layout.toggled[usize::from(event)] {
                // From now on it does not count whether it is on.
                let flag = machine.layout.toggled_flag(member);
                self.runner.record_flag(flag, false);
                self.runner.state_mut().set_flag(flag, false);
            }
            if declared.once && self.runner.log.is_some() {
                self.runner.log_enabled(member, Some(false));
            }
        }
        self.body(Origin::Slot(slot), What::Event(member), None)
    }

    /// Runs the guard of an event. One that does not look at the index has the same answer for all members of a family.
    /// One that is looked up by itself is not part of what is recorded.
    fn guard(
        &mut self,
        guard: FuncId,
        index: Option<Value>,
        owner: u32,
        shared: bool,
    ) -> Result<bool, Stop> {
        if let Some((known, answer)) = self.answered
            && known == guard
            && self.runner.log.is_none()
            && (shared || self.runner.record.is_none())
        {
            return Ok(answer);
        }
        self.runner.start(guard.0, Mode::Pure, owner);
        let same = index.is_none() || !self.machine.live[guard.index()].is_live(0, 0);
        if let Some(index) = index {
            index.put_in(&mut self.runner.regs[0]);
        }
        let answer = self.answer().map_err(Stop::Fault)?;
        if !self.runner.is_light(0)
            && let Some(record) = &mut self.runner.record
        {
            record.lost = true;
        }
        self.answered = same.then_some((guard, answer));
        Ok(answer)
    }

    fn message(&mut self, queue: usize, position: usize) -> Result<(), Stop> {
        let machine = self.machine;
        let Some(message) = self.state.queue(queue).get(position) else {
            return Err(Stop::Dropped);
        };
        let body = machine.program.tasks[usize::from(message.task)].body;
        let pool = queue == machine.layout.pool();
        let owner = match pool {
            true if machine.atomic => machine.layout.owner_dynamic(0),
            true => 0,
            false => machine.layout.owner_slot(queue as u32),
        };
        self.runner.start(body.0, self.mode(), owner);
        let params = machine.program.functions[body.index()].params;
        unpack(&message.args, params, &mut self.runner.regs);
        take_message(machine, self.runner.state_mut(), queue as u32, position as u32, message);
        let origin = if pool { Origin::Dynamic } else { Origin::Slot(queue as u32) };
        if pool && !machine.atomic {
            let handle = match message.handle {
                0 => self.runner.next_handle(),
                handle => handle,
            };
            self.runner.owner = machine.layout.owner_dynamic(handle);
            let mut message = message.clone();
            message.change(|body| body.handle = handle);
            return self.body(origin, What::Task(message.task), Some(&message));
        }
        self.body(origin, What::Task(message.task), Some(message))
    }

    /// Runs the body of an event or task that has just begun: to the end, or up to its first visible instruction.
    fn body(&mut self, origin: Origin, what: What, message: Option<&Message>) -> Result<(), Stop> {
        // To begin is the visible part of the step.
        self.runner.spent = true;
        let end = self.runner.run()?;
        if end == End::Returned {
            return Ok(());
        }
        let uid = match message {
            Some(message) => message.uid,
            None => self.runner.next_uid(),
        };
        let handle = message.map_or(0, |message| message.handle);
        let thread = self.save(origin, what, end, handle, uid);
        self.runner.state_mut().change_threads(|threads| {
            let at = threads.partition_point(|t| t.origin <= thread.origin);
            threads.insert(at, Arc::new(thread));
        });
        Ok(())
    }

    /// Makes a thread of what the interpreter has stopped in the middle of.
    fn save(&mut self, origin: Origin, what: What, end: End, handle: u32, uid: u64) -> Thread {
        let runner = &mut self.runner;
        let mut frames = std::mem::take(&mut runner.frames);
        frames.push(Frame { func: runner.func, pc: runner.pc as u32, dst: 0 });
        let registers = self.machine.code[usize::from(runner.func)].registers;
        runner.regs.truncate(runner.low + usize::from(registers));
        let mut regs = std::mem::take(&mut runner.regs);
        self.machine.drop_dead(&frames, &mut regs);
        let status = match end {
            End::Waiting { cond, lock } => Status::Waiting { cond, lock },
            _ => Status::Ready,
        };
        let mut thread = Thread { origin, what, status, handle, frames, regs, uid, hash: 0 };
        thread.rehash();
        thread
    }

    fn thread(&mut self, origin: Origin, rank: u32) -> Result<(), Stop> {
        let machine = self.machine;
        let mut same = self.state.threads().iter().enumerate().filter(|(_, t)| t.origin == origin);
        let skip = if origin == Origin::Dynamic { rank as usize } else { 0 };
        let Some((index, thread)) = same.nth(skip) else { return Err(Stop::Dropped) };
        let owner = match origin {
            Origin::Declared(thread) => machine.layout.owner_thread(thread),
            Origin::Slot(slot) => machine.layout.owner_slot(slot),
            Origin::Dynamic => machine.layout.owner_dynamic(thread.handle),
        };
        let Some((last, outer)) = thread.frames.split_last() else { return Err(Stop::Dropped) };
        let runner = &mut self.runner;
        runner.start(last.func, Mode::Stepwise, owner);
        runner.regs.clear();
        runner.regs.extend_from_slice(&thread.regs);
        runner.frames.extend_from_slice(outer);
        runner.pc = last.pc as usize;
        let functions = &machine.program.functions;
        runner.low =
            outer.iter().map(|f| usize::from(functions[usize::from(f.func)].registers)).sum();
        match thread.status {
            Status::Ready => {}
            Status::Waiting { .. } => return Err(Stop::Dropped),
            Status::Woken { lock } => {
                if !runner.retake(lock) {
                    return Err(Stop::Dropped);
                }
                runner.spent = true;
                runner.pc += 1;
            }
        }
        let end = runner.run()?;
        if end == End::Returned {
            self.end_thread(index, thread);
            return Ok(());
        }
        let saved = self.save(origin, thread.what, end, thread.handle, thread.uid);
        self.runner.state_mut().set_thread(index, saved);
        Ok(())
    }

    fn end_thread(&mut self, index: usize, thread: &Thread) {
        let layout = &self.machine.layout;
        let state = self.runner.state_mut();
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

/// The handles of all that a state has or a step has cancelled, and what they become once it has ended.
pub(crate) fn ghosts(state: &State, log: &Log) -> FxHashMap<u32, u32> {
    let threads = state.threads().iter().map(|thread| (thread.uid, thread.handle));
    let messages = state.messages().iter().map(|message| (message.uid, message.handle));
    let all = threads.chain(messages).chain(log.cancelled.iter().copied());
    // What does not fit counts as ended before.
    let ghost = |uid: u64| u32::try_from(uid).ok().and_then(|uid| GHOST.checked_add(uid));
    all.filter(|(_, handle)| *handle != 0)
        .map(|(uid, handle)| (handle, ghost(uid).unwrap_or(0)))
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
    if machine.layout.mailboxes.get(queue) == Some(&MailboxKind::Delayed) {
        advance_time(machine, state, message.due);
    }
}

/// Moves the virtual time on.
fn advance_time(machine: &Machine, state: &mut State, by: u64) {
    if by == 0 || machine.switches.absolute_time {
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
