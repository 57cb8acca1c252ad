//! What each kind of step runs: `init`, an event, a message, a thread that goes on.

use super::executor::StepExecutor;
use super::messages::take_message;
use crate::machine::{INIT_FLAG, literal};
use crate::program::FuncId;
use crate::state::{Origin, Status, StepId, ThreadBody};
use crate::step::{End, Mode, Stop, unpack};
use crate::value::Value;

impl StepExecutor<'_> {
    fn mode(&self) -> Mode {
        if self.machine.atomic { Mode::Atomic } else { Mode::Stepwise }
    }

    #[inline]
    pub(super) fn init(&mut self) -> Result<(), Stop> {
        let Some(init) = self.machine.program.init else { return Err(Stop::NoTransition) };
        let owner = self.machine.layout.owner_dynamic(0);
        self.interpreter.start(init.0, Mode::Atomic, owner);
        self.interpreter.state_mut().set_flag(INIT_FLAG, false);
        self.interpreter.run()?;
        // `init` belongs to no component, and nothing was updated before it.
        self.interpreter.updates.clear();
        Ok(())
    }

    #[inline]
    pub(super) fn event(&mut self, member: u32) -> Result<(), Stop> {
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
        if let Some((answered, answer)) = self.answered
            && answered == guard
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

    #[inline]
    pub(super) fn message(&mut self, queue: usize, position: usize) -> Result<(), Stop> {
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

    #[inline]
    pub(super) fn thread(&mut self, step: StepId) -> Result<(), Stop> {
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
}
