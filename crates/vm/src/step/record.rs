//! Writes accesses into the log of a step, for whoever asked for one.

use super::log::{Place, Touch};
use super::runner::Runner;
use crate::program::{GlobalId, MailboxKind, Op, Reg, SiteId};
use crate::value::{GHOST, Value};
use anyorder_system::AccessKind;

impl Runner<'_> {
    /// The site of the running instruction.
    pub(crate) fn site(&self) -> SiteId {
        let function = &self.machine.program.functions[usize::from(self.func)];
        function.sites.get(self.pc).copied().unwrap_or(SiteId(0))
    }

    #[track_caller]
    fn push(&mut self, touch: Touch) {
        if self.machine.switches.reports.drops() {
            return;
        }
        let open = &self.machine.open;
        let is_open = |func: u16, pc: usize| open[usize::from(func)].get(pc) == Some(&true);
        let decides = is_open(self.func, self.pc)
            || self.frames.iter().any(|frame| is_open(frame.func, frame.pc as usize));
        if let Some(log) = &mut self.log {
            log.touches.push(touch);
            if decides {
                log.decided = log.touches.len();
            }
        }
    }

    /// Logs an access without a value.
    #[track_caller]
    pub(crate) fn touch(&mut self, place: Place, kind: AccessKind) {
        if self.log.is_some() {
            let site = self.site();
            self.push(Touch { place, element: None, kind, value: None, site });
        }
    }

    /// Logs an access with the value read or written.
    #[track_caller]
    pub(crate) fn access(
        &mut self,
        place: Place,
        element: Option<Value>,
        value: &Value,
        write: bool,
    ) {
        let (value, site) = (Some(value.clone()), self.site());
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        self.push(Touch { place, element, kind, value, site });
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
        self.access(Place::Global(global.0), None, &value, write);
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
        let new = write
            && matches!(self.state().global(global.index()), Value::Map(m) if m.get(&index).is_none());
        let element = if new { None } else { Some(index) };
        self.access(Place::Global(global.0), element, value, write);
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
        let place = Place::Field { uid: object.uid, class: object.class, field };
        let slot = object.fields.get(usize::from(field));
        let index = index.map(|index| self.get(index).key_in(slot.unwrap_or(&Value::Null)));
        let new = |index: &Value| matches!(slot, Some(Value::Map(m)) if m.get(index).is_none());
        let element = index.filter(|index| !(write && new(index)));
        self.access(place, element, value, write);
    }

    /// Logs that an element of a field is not there.
    #[cold]
    #[track_caller]
    pub(crate) fn log_missing_field(&mut self, number: u32, field: u16) {
        let Some(object) = self.state().object(number) else { return };
        let place = Place::Field { uid: object.uid, class: object.class, field };
        self.touch(place, AccessKind::Read);
    }

    #[cold]
    #[track_caller]
    pub(crate) fn log_enabled(&mut self, member: u32, written: Option<bool>) {
        let enabled = Value::Bool(written.unwrap_or(true));
        self.access(Place::Enabled(member), None, &enabled, written.is_some());
    }

    /// Logs what a post to a mailbox has in common with others.
    pub(crate) fn log_post(&mut self, kind: MailboxKind, queue: u32, front: bool) {
        if self.log.is_none() {
            return;
        }
        match kind {
            _ if front => self.touch(Place::First(queue), AccessKind::Rmw),
            MailboxKind::Bag => {}
            MailboxKind::Fifo => self.touch(Place::Last(queue), AccessKind::Rmw),
            MailboxKind::Delayed => {
                self.touch(Place::Now, AccessKind::Read);
                self.touch(Place::Last(queue), AccessKind::Rmw);
            }
        }
    }

    /// Logs that a task is cancelled, or that it is too late for that.
    pub(crate) fn log_cancel(&mut self, handle: u32) {
        if self.log.is_none() {
            return;
        }
        let found = self.state().queues().find_map(|(i, queue)| {
            let message = queue.iter().find(|message| message.handle == handle)?;
            Some((i as u32, message.front))
        });
        let Some((queue, front)) = found else { return self.log_task(handle, AccessKind::Read) };
        self.log_task(handle, AccessKind::Rmw);
        let kind = self.machine.layout.mailboxes.get(queue as usize);
        if front || kind.is_some_and(|kind| *kind != MailboxKind::Bag) {
            self.touch(Place::First(queue), AccessKind::Rmw);
        }
    }

    /// Logs an access to what a handle is of.
    #[track_caller]
    pub(crate) fn log_task(&mut self, handle: u32, kind: AccessKind) {
        if self.log.is_none() || handle == 0 {
            return;
        }
        let uid = if handle >= GHOST {
            Some(u64::from(handle - GHOST))
        } else {
            self.state().created_by(handle)
        };
        if let Some(uid) = uid {
            self.touch(Place::Task(uid), kind);
        }
    }

    /// Logs that two values are compared: handles are equal once both have ended.
    #[inline]
    pub(crate) fn log_compared(&mut self, a: Reg, b: Reg) {
        if self.log.is_some() && self.machine.numbers {
            self.log_handles(a, b);
        }
    }

    /// Logs that it is asked what has become of something that a handle is of; the same once that has ended, whatever it was.
    #[track_caller]
    pub(crate) fn log_fates(&mut self) {
        self.touch(Place::Fates, AccessKind::Read);
    }

    #[cold]
    fn log_handles(&mut self, a: Reg, b: Reg) {
        let (mut handles, mut others) = (Vec::new(), Vec::new());
        self.get(a).each_handle(&mut |handle| handles.push(handle));
        self.get(b).each_handle(&mut |handle| others.push(handle));
        if !self.get(a).holds_handle() || !self.get(b).holds_handle() {
            return;
        }
        self.log_fates();
        for handle in handles.into_iter().chain(others) {
            self.log_task(handle, AccessKind::Read);
        }
    }
}
