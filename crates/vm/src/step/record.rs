//! Writes accesses into the log of a step, for whoever asked for one.

use super::log::{Place, Touch};
use super::runner::Runner;
use crate::program::{GlobalId, Op, Reg, SiteId};
use crate::value::Value;
use anyorder_system::AccessKind;

impl Runner<'_> {
    fn site(&self) -> SiteId {
        let function = &self.machine.program.functions[usize::from(self.func)];
        function.sites.get(self.pc).copied().unwrap_or(SiteId(0))
    }

    fn push(&mut self, touch: Touch) {
        if let Some(log) = &mut self.log {
            log.touches.push(touch);
        }
    }

    /// Logs an access without a value.
    pub(crate) fn touch(&mut self, place: Place, kind: AccessKind) {
        if self.log.is_some() {
            let site = self.site();
            self.push(Touch { place, element: None, kind, value: None, site });
        }
    }

    /// Logs an access with the value read or written.
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
        let (value, write) = match *op {
            Op::SetGlobal { src, .. } => (self.get(src).clone(), true),
            _ => (self.state().global(global.index()).clone(), false),
        };
        self.access(Place::Global(global.0), None, &value, write);
    }

    #[cold]
    pub(crate) fn log_global_at(&mut self, global: GlobalId, index: Reg, value: &Value, op: &Op) {
        let write = matches!(op, Op::SetGlobalAt { .. });
        let index = self.get(index).clone();
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
        let index = index.map(|index| self.get(index).clone());
        let new = |index: &Value| matches!(slot, Some(Value::Map(m)) if m.get(index).is_none());
        let element = index.filter(|index| !(write && new(index)));
        self.access(place, element, value, write);
    }

    #[cold]
    pub(crate) fn log_enabled(&mut self, member: u32, written: Option<bool>) {
        let enabled = Value::Bool(written.unwrap_or(true));
        self.access(Place::Enabled(member), None, &enabled, written.is_some());
    }
}
