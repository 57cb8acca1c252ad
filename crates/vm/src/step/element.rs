//! Elements and fields of values in registers.

use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use crate::program::{NameId, Op, Reg};
use crate::value::Value;
use std::sync::Arc;

impl Interpreter<'_> {
    /// Executes an instruction on an element of a value in a register.
    pub(crate) fn element(&mut self, op: &Op) -> Result<(), Stop> {
        match *op {
            Op::RecordGet { dst, src, ty, field } => {
                let value = match self.get(src) {
                    Value::Record(seq) if seq.ty == ty.0 => seq.items()[usize::from(field)].clone(),
                    other => return Err(self.no_record_field(ty.0, field, other)),
                };
                self.set(dst, value);
            }
            Op::RecordSet { record, ty, field, src } => {
                if !matches!(self.get(record), Value::Record(seq) if seq.ty == ty.0) {
                    return Err(self.no_record_field(ty.0, field, self.get(record)));
                }
                self.record_set(record, usize::from(field), src)?;
            }
            Op::Index { dst, src, index } => {
                let value = self.at(self.get(src), self.get(index))?.clone();
                self.set(dst, value);
            }
            Op::SetIndex { container, index, src } => {
                let (index, value) = (self.get(index).clone(), self.get(src).clone());
                let copy_cost = copy_cost(self.get(container));
                self.charge(copy_cost)?;
                let mut slot = std::mem::take(&mut self.regs[self.low + container.index()]);
                self.put_at(&mut slot, index, value)?;
                self.set_sized(container, slot)?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn record_set(&mut self, record: Reg, field: usize, src: Reg) -> Result<(), Stop> {
        let value = self.get(src).clone();
        let mut slot = std::mem::take(&mut self.regs[self.low + record.index()]);
        if let Value::Record(seq) = &mut slot
            && field < seq.items().len()
        {
            Arc::make_mut(seq).set(field, value);
        }
        self.set_sized(record, slot)
    }

    /// Returns `container[index]`.
    pub(crate) fn at<'v>(&self, container: &'v Value, index: &Value) -> Result<&'v Value, Stop> {
        match (container, index) {
            (Value::List(list), Value::Index { member, .. }) => {
                let (at, length) = (usize::from(*member), list.items().len());
                list.items().get(at).ok_or_else(|| self.out_of_range(i64::from(*member), length))
            }
            (Value::List(list), Value::Int(at)) => {
                container.element(index).ok_or_else(|| self.out_of_range(*at, list.items().len()))
            }
            (Value::Map(_), key) => container.element(key).ok_or_else(|| self.missing(key)),
            (Value::List(_), other) => Err(self.bad_type("an index is an int, not", other)),
            (other, _) => Err(self.lacks("no elements", other)),
        }
    }

    /// Does `container[index] = value`. The caller checks the size of the result.
    pub(crate) fn put_at(
        &self,
        container: &mut Value,
        index: Value,
        value: Value,
    ) -> Result<(), Stop> {
        let index = index.key_in(container);
        if matches!(container, Value::Map(_)) {
            self.check_ordered(&index)?;
        }
        if container.set_element(&index, value) {
            return Ok(());
        }
        Err(match (container, index) {
            (Value::List(list), Value::Int(at)) => self.out_of_range(at, list.items().len()),
            (Value::List(_), other) => self.bad_type("an index is an int, not", &other),
            (other, _) => self.lacks("no elements", other),
        })
    }

    #[cold]
    pub(crate) fn out_of_range(&self, at: i64, length: usize) -> Stop {
        self.fault(FailureKind::Index, format!("position {at} in a length of {length}"))
    }

    #[cold]
    fn missing(&self, key: &Value) -> Stop {
        let shown = crate::value::show::plain(&self.machine.program, key);
        self.fault(FailureKind::Index, format!("no entry for {shown}"))
    }

    /// Returns the position of a field by name in a record value.
    pub(crate) fn record_field(&self, ty: u16, name: NameId) -> Option<usize> {
        let record = &self.machine.program.records[usize::from(ty)];
        record.fields.iter().position(|field| *field == name)
    }

    #[cold]
    fn no_record_field(&self, ty: u16, field: u16, value: &Value) -> Stop {
        let fields = &self.machine.program.records[usize::from(ty)].fields;
        self.no_field(fields.get(usize::from(field)), value)
    }

    /// Makes the failure for a missing field.
    #[cold]
    pub(crate) fn no_field(&self, field: Option<&NameId>, value: &Value) -> Stop {
        let name = field.map_or("?", |name| &self.machine.program.names[name.index()]);
        self.lacks(&format!("no field `{name}`"), value)
    }

    /// Makes the failure for a missing member.
    #[cold]
    pub(crate) fn no_member(&self, name: NameId, value: &Value) -> Stop {
        let name = &self.machine.program.names[name.index()];
        self.lacks(&format!("no member `{name}`"), value)
    }
}

/// Returns how many elements the next change of a value counts as copied: an eighth of its length.
/// A change copies all elements if the value is shared, perhaps with another state. The count must
/// not depend on that, and most changes in a row reuse the first copy.
pub(crate) fn copy_cost(value: &Value) -> usize {
    value.len().unwrap_or(0) / 8
}
