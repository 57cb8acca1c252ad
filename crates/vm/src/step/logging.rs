//! Writes accesses to the log of a step.

use super::interpreter::Interpreter;
use super::log::{LoggedAccess, LoggedPlace};
use crate::program::{GlobalId, MailboxKind, Op, Reg, SiteId};
use crate::value::{GHOST, Value};
use anyorder_system::AccessKind;

impl Interpreter<'_> {
    /// Returns the source position of the running instruction.
    pub(crate) fn site(&self) -> SiteId {
        let function = &self.machine.program.functions[usize::from(self.func)];
        function.sites.get(self.pc).copied().unwrap_or(SiteId(0))
    }

    #[cfg_attr(test, track_caller)]
    fn push(&mut self, access: LoggedAccess) {
        if self.machine.reports.drops() {
            return;
        }
        let open = &self.machine.may_branch;
        let is_open = |func: u16, pc: usize| open[usize::from(func)].get(pc) == Some(&true);
        let decides = is_open(self.func, self.pc)
            || self.frames.iter().any(|frame| is_open(frame.func, frame.pc as usize));
        if let Some(log) = &mut self.log {
            log.accesses.push(access);
            if decides {
                log.deciding = log.accesses.len();
            }
        }
    }

    /// Logs an access without a value.
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_access(&mut self, place: LoggedPlace, kind: AccessKind) {
        if self.log.is_some() {
            let site = self.site();
            self.push(LoggedAccess { place, element: None, kind, value: None, site });
        }
    }

    /// Logs an access with the value read or written.
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_value(
        &mut self,
        place: LoggedPlace,
        element: Option<Value>,
        value: &Value,
        write: bool,
    ) {
        let (value, site) = (Some(value.clone()), self.site());
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        self.push(LoggedAccess { place, element, kind, value, site });
    }

    #[cold]
    pub(crate) fn log_global(&mut self, global: GlobalId, op: &Op) {
        match *op {
            Op::SetGlobal { src, .. } => self.record_write(global, src),
            _ => self.record_read(global),
        }
        if self.log.is_none() {
            return;
        }
        let (value, write) = match *op {
            Op::SetGlobal { src, .. } => (self.get(src).clone(), true),
            _ => (self.state().global(global.index()).clone(), false),
        };
        self.log_value(LoggedPlace::Global(global.0), None, &value, write);
    }

    #[cold]
    pub(crate) fn log_global_at(&mut self, global: GlobalId, index: Reg, value: &Value, op: &Op) {
        match *op {
            Op::SetGlobalAt { src, .. } => self.record_write_at(global, index, src),
            _ => self.record_read_at(global, index),
        }
        if self.log.is_none() {
            return;
        }
        let write = matches!(op, Op::SetGlobalAt { .. });
        let index = self.get(index).key_in(self.state().global(global.index()));
        // A new key changes the map as a whole.
        let new = write && is_new_key(self.state().global(global.index()), &index);
        let element = if new { None } else { Some(index) };
        self.log_value(LoggedPlace::Global(global.0), element, value, write);
    }

    #[cold]
    pub(crate) fn log_field(
        &mut self,
        number: u32,
        field: u16,
        index: Option<Reg>,
        value: &Value,
        write: bool,
    ) {
        let Some(object) = self.state().object(number) else { return };
        let place = LoggedPlace::Field { uid: object.uid, class: object.class, field };
        let slot = object.fields.get(usize::from(field));
        let slot = slot.unwrap_or(&Value::Null);
        let index = index.map(|index| self.get(index).key_in(slot));
        let element = index.filter(|index| !(write && is_new_key(slot, index)));
        self.log_value(place, element, value, write);
    }

    /// Logs the read of an element of a field that does not exist.
    #[cold]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_missing_field(&mut self, number: u32, field: u16) {
        let Some(object) = self.state().object(number) else { return };
        let place = LoggedPlace::Field { uid: object.uid, class: object.class, field };
        self.log_access(place, AccessKind::Read);
    }

    #[cold]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_enabled(&mut self, member: u32, written: Option<bool>) {
        let enabled = Value::Bool(written.unwrap_or(true));
        self.log_value(LoggedPlace::Enabled(member), None, &enabled, written.is_some());
    }

    /// Logs the locations that a post shares with other steps.
    pub(crate) fn log_post(&mut self, kind: MailboxKind, queue: u32, front: bool) {
        if self.log.is_none() {
            return;
        }
        match kind {
            _ if front => self.log_access(LoggedPlace::First(queue), AccessKind::Rmw),
            MailboxKind::Bag => {}
            MailboxKind::Fifo => self.log_access(LoggedPlace::Last(queue), AccessKind::Rmw),
            MailboxKind::Delayed => {
                self.log_access(LoggedPlace::Now, AccessKind::Read);
                self.log_access(LoggedPlace::Last(queue), AccessKind::Rmw);
            }
        }
    }

    /// Logs a cancel, in time or too late.
    pub(crate) fn log_cancel(&mut self, handle: u32) {
        if self.log.is_none() {
            return;
        }
        let Some((queue, at)) = self.state().message_with(handle) else {
            let uid = self.task_of(handle);
            if let Some(log) = &mut self.log {
                log.kept.extend(uid);
            }
            return self.log_task(handle, AccessKind::Read);
        };
        self.log_task(handle, AccessKind::Rmw);
        let front = self.state().queue(queue)[at].front;
        if front || !self.machine.layout.is_bag(queue) {
            self.log_access(LoggedPlace::First(queue as u32), AccessKind::Rmw);
        }
    }

    /// Logs an access to the task or thread of a handle.
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_task(&mut self, handle: u32, kind: AccessKind) {
        if self.log.is_none() || handle == 0 {
            return;
        }
        if let Some(uid) = self.task_of(handle) {
            self.log_access(LoggedPlace::Task(uid), kind);
        }
    }

    /// Returns the task or thread of a handle that is not 0.
    fn task_of(&self, handle: u32) -> Option<u64> {
        if handle >= GHOST {
            return Some(u64::from(handle - GHOST));
        }
        self.state().created_by(handle)
    }

    /// Logs a comparison of two values: handles are equal once their tasks have ended.
    #[inline]
    pub(crate) fn log_compared(&mut self, a: Reg, b: Reg) {
        if self.log.is_some() && self.machine.needs_numbering {
            self.log_handles(a, b);
        }
    }

    /// Logs a read of the lifecycle of tasks. The location is the same for all tasks, because the
    /// handle of an ended task does not say which task it was.
    #[cfg_attr(test, track_caller)]
    pub(crate) fn log_lifecycle(&mut self) {
        self.log_access(LoggedPlace::Lifecycle, AccessKind::Read);
    }

    #[cold]
    fn log_handles(&mut self, a: Reg, b: Reg) {
        let (mut handles, mut others) = (Vec::new(), Vec::new());
        self.get(a).each_handle(&mut |handle| handles.push(handle));
        self.get(b).each_handle(&mut |handle| others.push(handle));
        if !self.get(a).holds_handle() || !self.get(b).holds_handle() {
            return;
        }
        self.log_lifecycle();
        for handle in handles.into_iter().chain(others) {
            self.log_task(handle, AccessKind::Read);
        }
    }
}

fn is_new_key(container: &Value, key: &Value) -> bool {
    matches!(container, Value::Map(map) if map.get(key).is_none())
}
