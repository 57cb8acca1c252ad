//! Visible instructions: locks, conditions, mailboxes, threads.

use super::fault::{FailureKind, Stop};
use super::interpreter::{Interpreter, Mode};
use super::log::{Created, LoggedPlace};
use crate::program::{CondId, EventId, LockId, Op, Reg};
use crate::state::{Origin, Status, Thread, ThreadBody};
use crate::value::Value;
use anyorder_system::AccessKind;

/// What a blocked instruction waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blocked {
    /// The release of a lock.
    Lock(u32),
    /// The end of the task or thread with this handle.
    Join(u32),
    /// An assumption.
    Assumption,
}

impl Interpreter<'_> {
    /// Returns what the instruction that has just blocked waits for.
    pub(crate) fn blocked(&self) -> Blocked {
        let code = &self.machine.code[usize::from(self.func)];
        match code.ops.get(self.pc) {
            Some(Op::Acquire { lock, index }) => {
                self.lock(*lock, *index).map_or(Blocked::Assumption, Blocked::Lock)
            }
            Some(Op::Join { src }) => match self.get(*src) {
                Value::Handle(handle) => Blocked::Join(*handle),
                _ => Blocked::Assumption,
            },
            _ => Blocked::Assumption,
        }
    }

    /// Executes an instruction on locks, conditions, mailboxes, events or threads.
    pub(crate) fn concurrent(&mut self, op: &Op) -> Result<(), Stop> {
        match *op {
            Op::Post { dst, post, args } => self.post(dst, post, args),
            Op::Cancel { src } => self.cancel(src),
            Op::Enable { event, index } => self.enable(event, index, true),
            Op::Disable { event, index } => self.enable(event, index, false),
            Op::Enabled { dst, event, index } => {
                let enabled = self.is_enabled(event, index)?;
                self.set(dst, Value::Bool(enabled));
                Ok(())
            }
            Op::Acquire { lock, index } => self.acquire(lock, index),
            Op::Release { lock, index } => {
                let lock = self.lock(lock, index)?;
                self.release(lock)
            }
            Op::Notify { cond, index } => self.notify(cond, index, false),
            Op::NotifyAll { cond, index } => self.notify(cond, index, true),
            Op::Fork { dst, func, args } => self.fork(dst, func.0, args),
            Op::Join { src } => self.join_thread(src),
            // The other instructions are executed elsewhere.
            _ => Ok(()),
        }
    }

    /// Reads the index of a member of an array. `array` is its length, `None` for a single item.
    pub(crate) fn member(&self, index: Reg, array: Option<u16>) -> Result<u32, Stop> {
        let count = array.unwrap_or(1);
        let Some(index) = index.some() else { return Ok(0) };
        let at = self.position(index)?;
        match u32::try_from(at) {
            Ok(member) if member < u32::from(count) => Ok(member),
            _ => Err(self.out_of_range(at, usize::from(count))),
        }
    }

    /// Reads an int, or which of the values of its type an index is.
    fn position(&self, index: Reg) -> Result<i64, Stop> {
        match self.get(index) {
            Value::Int(at) => Ok(*at),
            Value::Index { member, .. } => Ok(i64::from(*member)),
            other => Err(self.bad_type("an index is an int, not", other)),
        }
    }

    fn lock(&self, lock: LockId, index: Reg) -> Result<u32, Stop> {
        let array = self.machine.program.locks[lock.index()].array;
        Ok(self.machine.layout.lock_first[lock.index()] + self.member(index, array)?)
    }

    fn cond(&self, cond: CondId, index: Reg) -> Result<u32, Stop> {
        let array = self.machine.program.conds[cond.index()].array;
        Ok(self.machine.layout.cond_first[cond.index()] + self.member(index, array)?)
    }

    /// Stops an instruction that would have to wait.
    fn block(&self, what: &str) -> Stop {
        if self.mode == Mode::Stepwise && self.atomic == 0 {
            return Stop::NoTransition;
        }
        self.fault(FailureKind::Blocking, what)
    }

    fn acquire(&mut self, lock: LockId, index: Reg) -> Result<(), Stop> {
        let lock = self.lock(lock, index)?;
        if self.take_lock(lock) { Ok(()) } else { Err(self.block("the lock is held")) }
    }

    /// Acquires a lock by its number. Returns false if the lock is held.
    pub(crate) fn take_lock(&mut self, lock: u32) -> bool {
        self.log_access(LoggedPlace::Lock(lock), AccessKind::Rmw);
        let free = self.state().lock(lock as usize) == 0;
        if free {
            let owner = self.owner;
            self.state_mut().set_lock(lock as usize, owner);
        }
        free
    }

    fn release(&mut self, lock: u32) -> Result<(), Stop> {
        self.log_access(LoggedPlace::Lock(lock), AccessKind::Rmw);
        if self.state().lock(lock as usize) != self.owner {
            return Err(self.fault(FailureKind::NotHeld, "release of a lock that it does not have"));
        }
        self.state_mut().set_lock(lock as usize, 0);
        Ok(())
    }

    /// Releases the lock to wait for a condition. Returns the condition and the lock.
    pub(crate) fn wait(&mut self, op: &Op) -> Result<(u32, u32), Stop> {
        let Op::Wait { cond, cond_index, lock, lock_index } = *op else { return Ok((0, 0)) };
        match self.mode {
            Mode::Pure => {
                return Err(self.fault(FailureKind::Impure, "guards and properties may only read"));
            }
            Mode::Stepwise if self.atomic == 0 => {}
            _ => return Err(self.fault(FailureKind::Blocking, "wait")),
        }
        let cond = self.cond(cond, cond_index)?;
        let lock = self.lock(lock, lock_index)?;
        self.log_access(LoggedPlace::Cond(cond), AccessKind::Rmw);
        self.release(lock)?;
        Ok((cond, lock))
    }

    fn notify(&mut self, cond: CondId, index: Reg, all: bool) -> Result<(), Stop> {
        let cond = self.cond(cond, index)?;
        self.log_access(LoggedPlace::Cond(cond), AccessKind::Rmw);
        self.log.iter_mut().for_each(|log| log.for_all = all);
        let waits =
            |thread: &Thread| matches!(thread.status, Status::Waiting { cond: c, .. } if c == cond);
        let threads = self.state().threads().iter().enumerate();
        let mut waiting: Vec<usize> = threads.filter(|(_, t)| waits(t)).map(|(i, _)| i).collect();
        if self.log.is_some() {
            let place = |uid| self.notify_order.iter().position(|other| *other == uid);
            waiting.sort_by_key(|i| place(self.state().threads()[*i].uid));
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let woken = if all {
            waiting
        } else {
            let taken = self.pick(waiting.len())? as usize;
            vec![waiting[taken]]
        };
        for i in woken {
            let mut thread = Thread::clone(&self.state().threads()[i]);
            if let Status::Waiting { lock, .. } = thread.status {
                thread.status = Status::Woken { lock };
            }
            thread.rehash();
            self.state_mut().set_thread(i, thread);
        }
        Ok(())
    }

    /// Returns a handle that nothing in this step has had.
    pub(crate) fn next_handle(&mut self) -> u32 {
        let top = self.handle_top.unwrap_or_else(|| self.base.handle_top());
        self.handle_top = Some(top.saturating_add(1));
        top.saturating_add(1)
    }

    fn fork(&mut self, dst: Reg, func: u16, args: Reg) -> Result<(), Stop> {
        let func = self.function_for(func);
        let params = self.machine.program.functions[usize::from(func)].params;
        let args = self.slice(args, params).to_vec();
        self.count_created()?;
        let handle = self.next_handle();
        let uid = self.next_uid();
        let origin = (Origin::Dynamic, ThreadBody::Func(func));
        let thread = self.machine.new_thread(origin, func, args, (handle, uid));
        self.state_mut().change_threads(|threads| threads.push(thread));
        if let Some(log) = &mut self.log {
            let (number, queue, front, delay) = (func, 0, false, 0);
            log.created.push(Created { uid, fork: true, number, queue, front, delay });
        }
        if let Some(dst) = dst.some() {
            self.set(dst, Value::Handle(handle));
        }
        Ok(())
    }

    fn join_thread(&mut self, src: Reg) -> Result<(), Stop> {
        match self.get(src) {
            Value::Handle(handle) => {
                let handle = *handle;
                self.log_lifecycle();
                self.log.iter_mut().for_each(|log| log.joins = true);
                if handle == 0 {
                    return Ok(());
                }
                self.log_task(handle, AccessKind::Read);
                if self.state().is_live(handle) {
                    return Err(self.block("the thread has not ended"));
                }
                Ok(())
            }
            other => Err(self.lacks("nothing to join", other)),
        }
    }

    fn enable(&mut self, event: EventId, index: Reg, enabled: bool) -> Result<(), Stop> {
        let machine = self.machine;
        let declared = &machine.program.events[event.index()];
        for member in self.members(event, index)? {
            let (flag, toggled) =
                (machine.layout.toggled_flag(member), enabled == declared.disabled);
            self.record_flag(flag, toggled);
            // The enabled flag of a `once` event that has started has no meaning: states must not
            // differ in it.
            let past = declared.once && self.state().flag(machine.layout.started_flag(member));
            if declared.once
                && let Some(record) = &mut self.record
            {
                record.abandoned = true;
            }
            if !past && self.state().flag(flag) != toggled {
                self.state_mut().set_flag(flag, toggled);
            }
            if self.log.is_some() {
                self.log_enabled(member, Some(enabled));
            }
        }
        Ok(())
    }

    /// Returns whether an event, or every member of a family, is enabled and, if `once`, has not
    /// started.
    fn is_enabled(&mut self, event: EventId, index: Reg) -> Result<bool, Stop> {
        let machine = self.machine;
        let declared = &machine.program.events[event.index()];
        let mut all = true;
        for member in self.members(event, index)? {
            let on = self.state().flag(machine.layout.toggled_flag(member)) == declared.disabled;
            let over = declared.once && self.state().flag(machine.layout.started_flag(member));
            all &= on && !over;
            if self.log.is_some() {
                let value = Value::Bool(on && !over);
                self.log_value(LoggedPlace::Enabled(member), None, &value, false);
            }
        }
        Ok(all)
    }

    /// Returns the members of an event that an instruction refers to.
    fn members(&self, event: EventId, index: Reg) -> Result<std::ops::Range<u32>, Stop> {
        let declared = &self.machine.program.events[event.index()];
        let mut members = self.machine.layout.members_of(event.index());
        if let Some(index) = index.some() {
            let (first, count) = declared.family.map_or((0, 1), |f| (f.first, f.count));
            let at = self.position(index)?;
            match at.checked_sub(first).and_then(|at| u16::try_from(at).ok()) {
                Some(member) if member < count => {
                    let member = members.start + u32::from(member);
                    members = member..member + 1;
                }
                _ => return Err(self.out_of_range(at, usize::from(count))),
            }
        }
        Ok(members)
    }
}
