//! Instructions that neither jump nor call.

use super::fault::{FailureKind, Stop};
use super::interpreter::{Interpreter, Mode};
use super::log::LoggedPlace;
use crate::program::{Builtin, Op, Type};
use crate::value::{Map, Seq, Set, Value};
use anyorder_system::AccessKind;
use std::sync::Arc;

impl Interpreter<'_> {
    /// Executes an instruction.
    #[inline(always)]
    pub(crate) fn simple(&mut self, op: &Op) -> Result<(), Stop> {
        match *op {
            Op::Nop | Op::Yield => {}
            Op::Const { dst, constant } => {
                let slot = &mut self.regs[self.low + dst.index()];
                self.machine.constants[constant.index()].copy_to(slot);
            }
            Op::Int { dst, value } => self.set(dst, Value::Int(i64::from(value))),
            Op::Bool { dst, value } => self.set_bool(dst, value),
            Op::Null { dst } => self.set(dst, Value::Null),
            Op::Move { dst, src } => self.set(dst, self.get(src).clone()),
            Op::AddInt { dst, a, value } => {
                let Value::Int(a) = self.get(a) else {
                    return Err(self.bad_type("cannot add an int to", self.get(a)));
                };
                let (a, value) = (*a, i64::from(value));
                let sum = self.fits(a.checked_add(value), a, "+", value)?;
                self.set(dst, Value::Int(sum));
            }
            Op::Eq { dst, a, b } => {
                let equal = self.are_equal(a, b)?;
                self.set_bool(dst, equal);
            }
            Op::Ne { dst, a, b } => {
                let equal = self.are_equal(a, b)?;
                self.set_bool(dst, !equal);
            }
            Op::EqInt { dst, a, value } => {
                let equal = matches!(self.get(a), Value::Int(a) if *a == i64::from(value));
                self.set_bool(dst, equal);
            }
            Op::GetGlobal { dst, global } => {
                let state = self.own.as_ref().unwrap_or(self.base);
                state.global(global.index()).copy_to(&mut self.regs[self.low + dst.index()]);
                if self.records_accesses() {
                    self.log_global(global, op);
                }
            }
            Op::GetGlobalAt { dst, global, index } => {
                let container = self.state().global(global.index());
                let value = match self.at(container, self.get(index)) {
                    Ok(value) => value.clone(),
                    Err(stop) => {
                        // The failed read is an access, too.
                        self.log_access(LoggedPlace::Global(global.0), AccessKind::Read);
                        return Err(stop);
                    }
                };
                if self.records_accesses() {
                    self.log_global_at(global, index, &value, op);
                }
                self.set(dst, value);
            }
            Op::Add { dst, a, b } => self.add(dst, a, b)?,
            Op::Lt { dst, a, b } => match (self.get(a), self.get(b)) {
                (Value::Int(a), Value::Int(b)) => self.set(dst, Value::Bool(a < b)),
                _ => self.arithmetic(op)?,
            },
            Op::Sub { .. }
            | Op::Mul { .. }
            | Op::Div { .. }
            | Op::Rem { .. }
            | Op::Neg { .. }
            | Op::Not { .. }
            | Op::Le { .. }
            | Op::In { .. }
            | Op::Range { .. } => self.arithmetic(op)?,
            Op::Method { dst, method, recv, args } => {
                if method == Builtin::Contains {
                    // Charged twice, like every method that is not quick.
                    self.charge(self.get(recv).nodes() as usize)?;
                    let found = self.contains(recv, args)?;
                    self.set_bool(dst, found);
                } else {
                    let value = self.builtin(method, recv, args)?;
                    self.set(dst, value);
                }
            }
            Op::Enum { dst, ty, variant, args } => {
                let payload =
                    self.machine.program.enums[ty.index()].variants[usize::from(variant)].payload;
                let value = Value::variant(ty.0, variant, self.slice(args, payload));
                self.set_sized(dst, value)?;
            }
            Op::IsVariant { dst, src, ty, variant } => {
                let found = self.get(src).variant_key();
                self.set_bool(dst, found == Some((ty.0, variant)));
            }
            Op::IsObject { dst, src } => {
                let found = matches!(self.get(src), Value::Obj(_));
                self.set_bool(dst, found);
            }
            Op::IsFieldCall { dst, src, name } => {
                let found = match self.get(src) {
                    Value::Obj(number) => self.method_of(*number, name).is_none(),
                    value @ Value::Null => return Err(self.no_member(name, value)),
                    value => matches!(value, Value::Record(_)),
                };
                self.set_bool(dst, found);
            }
            Op::Payload { dst, src, index } => {
                let value = match self.get(src) {
                    Value::VariantInt { value, .. } if index == 0 => Some(Value::Int(*value)),
                    Value::VariantOf(seq) => seq.items().get(usize::from(index)).cloned(),
                    _ => None,
                };
                match value {
                    Some(value) => self.set(dst, value),
                    None => return Err(self.lacks("no such payload", self.get(src))),
                }
            }
            Op::Closure { dst, func, captures } => {
                let count = self.machine.program.functions[func.index()].captures;
                let captured = self.slice(captures, count).to_vec();
                self.set_sized(dst, Value::Func(Arc::new(Seq::new(func.0, 0, captured))))?;
            }
            Op::List { dst, args, count } => {
                let items = self.slice(args, count).to_vec();
                self.set_sized(dst, Value::list(items))?;
            }
            Op::Set { dst, args, count } => {
                let items = self.slice(args, count).to_vec();
                items.iter().try_for_each(|item| self.check_ordered(item))?;
                self.set_sized(dst, Value::Set(Arc::new(Set::new(items))))?;
            }
            Op::Map { dst, args, count } => {
                let items = self.slice(args, count * 2);
                items.iter().step_by(2).try_for_each(|key| self.check_ordered(key))?;
                let entries = items.chunks_exact(2).map(|kv| (kv[0].clone(), kv[1].clone()));
                let map = Map::new(entries.collect());
                self.set_sized(dst, Value::Map(Arc::new(map)))?;
            }
            Op::Record { dst, ty, args } => {
                let count = self.machine.program.records[ty.index()].fields.len() as u16;
                let fields = self.slice(args, count).to_vec();
                self.set_sized(dst, Value::Record(Arc::new(Seq::new(ty.0, 0, fields))))?;
            }
            Op::Array { dst, src, index } => match self.get(src) {
                Value::List(list) => {
                    let list = Seq::array(index, list.items().to_vec());
                    self.poll.work(list.items().len() as u64)?;
                    self.set(dst, Value::List(Arc::new(list)));
                }
                other => return Err(self.bad_type("an array is made of a list, not", other)),
            },
            Op::RecordGet { .. }
            | Op::RecordSet { .. }
            | Op::Index { .. }
            | Op::SetIndex { .. } => {
                self.element(op)?;
            }
            Op::IsType { dst, src, ty } => {
                let (ty, or_null) = self.machine.program.types[ty.index()];
                let value = self.get(src);
                let is = self.is_of(value, ty) || (or_null && matches!(value, Value::Null));
                self.set_bool(dst, is);
            }
            Op::Native { dst, native, args } => self.native(dst, native, args)?,
            Op::Check { src, ty } => {
                let (ty, or_null) = self.machine.program.types[ty.index()];
                let null = or_null && matches!(self.get(src), Value::Null);
                if !null && !self.is_of(self.get(src), ty) {
                    let what = format!("expected {}, found", self.type_name(ty, or_null));
                    return Err(self.bad_type(&what, self.get(src)));
                }
            }
            Op::Assert { cond, message } => {
                if !self.truth(cond)? {
                    let message = self.text(&self.machine.constants[message.index()]);
                    return Err(self.fault(FailureKind::Assertion, message));
                }
            }
            Op::Assume { cond } => {
                if !self.truth(cond)? {
                    return Err(Stop::NoTransition);
                }
            }
            Op::Fail { message } => {
                return Err(self.fault(FailureKind::Fail, self.text(self.get(message))));
            }
            Op::NoMatch { src } => {
                let shown = self.text(self.get(src));
                return Err(self.fault(FailureKind::NoMatch, format!("no case for {shown}")));
            }
            Op::AtomicEnd => self.atomic = self.atomic.saturating_sub(1),
            _ if self.mode == Mode::Pure => self.pure(op)?,
            _ => self.visible(op)?,
        }
        Ok(())
    }

    /// Executes a visible instruction in a guard or property: reads only.
    fn pure(&mut self, op: &Op) -> Result<(), Stop> {
        let reads = match op {
            Op::GetField { .. } | Op::GetFieldAt { .. } | Op::GetMember { .. } => true,
            Op::Enabled { .. } | Op::AtomicBegin => true,
            Op::SetMember { object, .. } => matches!(self.get(*object), Value::Record(_)),
            _ => false,
        };
        match reads {
            true => self.visible(op),
            false => Err(self.fault(FailureKind::Impure, "guards and properties may only read")),
        }
    }

    /// Sets a register to a new value, unless that is too large.
    #[inline]
    pub(crate) fn set_sized(&mut self, dst: crate::program::Reg, value: Value) -> Result<(), Stop> {
        self.check_size(&value)?;
        self.set(dst, value);
        Ok(())
    }

    /// Returns the text of a value for a message: strings without quotes, long texts cut.
    pub(crate) fn text(&self, value: &Value) -> String {
        match value {
            Value::Str(text) => text.as_str().chars().take(400).collect(),
            Value::Null => String::new(),
            value => crate::value::show::plain(&self.machine.program, value),
        }
    }

    fn is_of(&self, value: &Value, ty: Type) -> bool {
        match ty {
            Type::Any => true,
            Type::Null => matches!(value, Value::Null),
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Int => matches!(value, Value::Int(_)),
            Type::Str => matches!(value, Value::Str(_)),
            Type::List => matches!(value, Value::List(_)),
            Type::Set => matches!(value, Value::Set(_)),
            Type::Map => matches!(value, Value::Map(_)),
            Type::Func => matches!(value, Value::Func(_)),
            Type::Handle => matches!(value, Value::Handle(_)),
            Type::Index(id) => matches!(value, Value::Index { of, .. } if *of == id),
            Type::Enum(id) => value.variant_key().is_some_and(|(ty, _)| ty == id.0),
            Type::Record(id) => matches!(value, Value::Record(seq) if seq.ty == id.0),
            Type::Object(id) => match value {
                Value::Obj(number) => {
                    self.state().object(*number).is_some_and(|object| object.class == id.0)
                }
                _ => false,
            },
        }
    }

    fn type_name(&self, ty: Type, or_null: bool) -> String {
        let program = &self.machine.program;
        match ty {
            Type::Index(id) => {
                let index = program.symmetries.get(usize::from(id));
                index.map_or_else(String::new, |index| index.name.clone())
            }
            Type::Enum(id) => program.enums[id.index()].name.clone(),
            Type::Record(id) => program.records[id.index()].name.clone(),
            Type::Object(id) => program.classes[id.index()].name.clone(),
            other => {
                let null = if or_null { "null or " } else { "" };
                format!("{null}{}", format!("{other:?}").to_lowercase())
            }
        }
    }
}
