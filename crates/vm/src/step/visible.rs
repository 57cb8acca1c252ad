//! Visible instructions: shared memory.

use super::element::copy_cost;
use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use super::log::Chosen;
use crate::machine::DEPTH_MAX;
use crate::program::{NameId, Op, Reg};
use crate::state::Object;
use crate::value::Value;

impl Interpreter<'_> {
    fn log_chosen(&mut self, chosen: impl FnOnce() -> Chosen) {
        if let Some(log) = &mut self.log {
            log.chosen.push(chosen());
        }
    }

    /// Executes a visible instruction, or one that allocates.
    pub(crate) fn visible(&mut self, op: &Op) -> Result<(), Stop> {
        match *op {
            Op::SetGlobal { global, src } => {
                let value = self.get(src).clone();
                if self.records_accesses() {
                    self.log_global(global, op);
                    self.note_update(global.0, &value);
                }
                self.state_mut().set_global(global.index(), value);
            }
            Op::SetGlobalAt { global, index, src } => {
                if self.records_accesses() {
                    let value = self.get(src).clone();
                    self.log_global_at(global, index, &value, op);
                    self.note_update_at(global.0, index, &value);
                }
                self.set_global_at(global.index(), index, src)?;
            }
            Op::New { dst, class, args } => self.new_object(dst, class.0, args)?,
            Op::GetField { dst, object, class, field } => {
                let number = self.object(object, class.0, field)?;
                self.get_field(dst, number, field, None)?;
            }
            Op::SetField { object, class, field, src } => {
                let number = self.object(object, class.0, field)?;
                self.set_field(number, field, None, src)?;
            }
            Op::GetFieldAt { dst, object, class, field, index } => {
                let number = self.object(object, class.0, field)?;
                self.get_field(dst, number, field, Some(index))?;
            }
            Op::SetFieldAt { object, class, field, index, src } => {
                let number = self.object(object, class.0, field)?;
                self.set_field(number, field, Some(index), src)?;
            }
            Op::GetMember { dst, src, name } => match self.get(src) {
                Value::Obj(number) => {
                    let number = *number;
                    let field = self.object_field(number, name, src)?;
                    self.get_field(dst, number, field, None)?;
                }
                Value::Record(seq) => {
                    let field = self.record_field(seq.ty, name);
                    let value = field.and_then(|field| seq.items().get(field)).cloned();
                    match value {
                        Some(value) => self.set(dst, value),
                        None => return Err(self.no_member(name, self.get(src))),
                    }
                }
                other => return Err(self.no_member(name, other)),
            },
            Op::SetMember { object, name, src } => match self.get(object) {
                Value::Obj(number) => {
                    let number = *number;
                    let field = self.object_field(number, name, object)?;
                    self.set_field(number, field, None, src)?;
                }
                Value::Record(seq) => match self.record_field(seq.ty, name) {
                    Some(field) => self.record_set(object, field, src)?,
                    None => return Err(self.no_member(name, self.get(object))),
                },
                other => return Err(self.no_member(name, other)),
            },
            Op::AtomicBegin => {
                self.atomic = self.atomic.saturating_add(1);
                self.log.iter_mut().for_each(|log| log.has_section = true);
            }
            Op::Choose { dst, choice } => {
                let count = self.machine.program.choices[choice.index()].labels.len();
                let taken = self.pick(count)?;
                self.log_chosen(|| Chosen::Alternative(choice, taken));
                self.set(dst, Value::Int(i64::from(taken)));
            }
            Op::ChooseInt { dst, a, b } => {
                let (a, b) = self.ints_for("a range is of ints, not", a, b)?;
                let count = i128::from(b) - i128::from(a);
                let taken = self.pick(usize::try_from(count.max(0)).unwrap_or(usize::MAX))?;
                let value = Value::Int(a.wrapping_add(i64::from(taken)));
                self.log_chosen(|| Chosen::Value(value.clone()));
                self.set(dst, value);
            }
            Op::ChooseFrom { dst, src } => {
                let count = match self.get(src) {
                    Value::List(seq) => seq.items().len(),
                    Value::Set(set) => set.items().len(),
                    other => return Err(self.lacks("nothing to choose from", other)),
                };
                let taken = self.pick(count)? as usize;
                let value = match self.get(src) {
                    Value::List(seq) => seq.items().get(taken).cloned(),
                    Value::Set(set) => set.items().get(taken).cloned(),
                    _ => None,
                };
                let value = value.unwrap_or_default();
                self.log_chosen(|| Chosen::Value(value.clone()));
                self.set(dst, value);
            }
            _ => self.concurrent(op)?,
        }
        Ok(())
    }

    fn set_global_at(&mut self, global: usize, index: Reg, src: Reg) -> Result<(), Stop> {
        let index = self.get(index).key_in(self.state().global(global));
        let value = self.get(src).clone();
        let copy_cost = copy_cost(self.state().global(global));
        self.charge(copy_cost)?;
        let old = self.state().global(global).element(&index);
        if old.is_some_and(|old| old.is_identical(&value)) {
            return Ok(());
        }
        // A write to an existing element changes nothing else.
        let whole = old.is_none();
        if !whole {
            self.check_element(&value)?;
        }
        if let (Value::List(_), Value::Int(at), false) =
            (self.state().global(global), &index, whole)
        {
            self.state_mut().set_element(global, *at as usize, &value);
            return Ok(());
        }
        self.own.get_or_insert_with(|| self.base.clone());
        // Take the state out for a moment, so that the closure can make failures.
        let Some(mut state) = self.own.take() else { return Ok(()) };
        let done = state.change_global(global, |slot| {
            self.put_at(slot, index, value)?;
            if whole { self.check_size(slot) } else { Ok(()) }
        });
        self.own = Some(state);
        done
    }

    /// Refuses an element that is too large or nests too deep by itself. The check ignores the
    /// other elements, because other steps may write them.
    fn check_element(&self, value: &Value) -> Result<(), Stop> {
        self.check_size(value)?;
        if value.depth() >= DEPTH_MAX { Err(self.too_large()) } else { Ok(()) }
    }

    /// Counts a message, thread or object that the step makes. The limit is per step, whatever the
    /// state already holds.
    pub(crate) fn count_created(&mut self) -> Result<(), Stop> {
        self.created += 1;
        if self.created > self.machine.program.settings.size {
            return Err(self.too_large());
        }
        self.charge(self.created as usize)
    }

    fn new_object(&mut self, dst: Reg, class: u16, args: Reg) -> Result<(), Stop> {
        let count = self.machine.program.classes[usize::from(class)].fields.len() as u16;
        let fields = self.slice(args, count).to_vec();
        self.count_created()?;
        let uid = self.next_uid();
        let mut object = Object { class, fields, uid, hash: 0 };
        object.rehash();
        let number = self.state_mut().add_object(object);
        if let Some(log) = &mut self.log {
            log.allocated.push(uid);
        }
        self.set(dst, Value::Obj(number));
        Ok(())
    }

    /// Returns the next uid.
    pub(crate) fn next_uid(&mut self) -> u64 {
        let state = self.state_mut();
        state.next_uid += 1;
        state.next_uid - 1
    }

    /// Returns the object in a register. Fails unless it has the class; the field is for the
    /// message.
    fn object(&self, reg: Reg, class: u16, field: u16) -> Result<u32, Stop> {
        match self.get(reg) {
            Value::Obj(number)
                if self.state().object(*number).is_some_and(|o| o.class == class) =>
            {
                Ok(*number)
            }
            other => {
                let fields = &self.machine.program.classes[usize::from(class)].fields;
                Err(self.no_field(fields.get(usize::from(field)), other))
            }
        }
    }

    fn object_field(&self, number: u32, name: NameId, reg: Reg) -> Result<u16, Stop> {
        match self.field_of(number, name) {
            Some(field) => Ok(field),
            None => Err(self.no_member(name, self.get(reg))),
        }
    }

    /// Returns the position of a field in the class of an object.
    pub(crate) fn field_of(&self, number: u32, name: NameId) -> Option<u16> {
        let class = self.state().object(number).map(|object| usize::from(object.class));
        let fields = class.map(|class| &self.machine.program.classes[class].fields);
        let found = fields.and_then(|fields| fields.iter().position(|field| *field == name));
        found.map(|field| field as u16)
    }

    fn get_field(
        &mut self,
        dst: Reg,
        number: u32,
        field: u16,
        index: Option<Reg>,
    ) -> Result<(), Stop> {
        let object = self.state().object(number);
        let Some(slot) = object.and_then(|object| object.fields.get(usize::from(field))) else {
            return Err(self.fault(FailureKind::Type, "no such object"));
        };
        let value = match index {
            Some(index) => match self.at(slot, self.get(index)) {
                Ok(value) => value.clone(),
                Err(stop) => {
                    self.log_missing_field(number, field);
                    return Err(stop);
                }
            },
            None => slot.clone(),
        };
        if self.log.is_some() {
            self.log_field(number, field, index, &value, false);
        }
        self.set(dst, value);
        Ok(())
    }

    fn set_field(
        &mut self,
        number: u32,
        field: u16,
        index: Option<Reg>,
        src: Reg,
    ) -> Result<(), Stop> {
        let value = self.get(src).clone();
        if self.log.is_some() {
            self.log_field(number, field, index, &value, true);
        }
        let index = index.map(|index| self.get(index).clone());
        if index.is_some() {
            // The write of an element may copy the others.
            let fields = self.state().object(number).map(|object| &object.fields);
            let slot = fields.and_then(|fields| fields.get(usize::from(field)));
            let length = slot.map_or(0, copy_cost);
            self.poll.work(length as u64)?;
        }
        self.own.get_or_insert_with(|| self.base.clone());
        let Some(mut state) = self.own.take() else { return Ok(()) };
        let done = state.change_field(number, usize::from(field), |slot| match index {
            Some(index) => {
                let index = index.key_in(slot);
                let whole = slot.element(&index).is_none();
                if !whole {
                    self.check_element(&value)?;
                }
                self.put_at(slot, index, value)?;
                if whole { self.check_size(slot) } else { Ok(()) }
            }
            None => {
                *slot = value;
                Ok(())
            }
        });
        self.own = Some(state);
        done.unwrap_or(Ok(()))
    }
}
