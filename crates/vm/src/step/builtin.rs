//! Built-in methods that only read, and the dispatch of calls.

use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use crate::program::{Builtin, NameId, Reg};
use crate::value::{Seq, Set, Value, show};
use std::sync::Arc;

impl Interpreter<'_> {
    /// Calls a built-in method, which may change the receiver's register.
    pub(crate) fn builtin(&mut self, method: Builtin, recv: Reg, args: Reg) -> Result<Value, Stop> {
        if !method.is_quick() {
            let size = self.get(recv).nodes() as usize;
            self.charge(size)?;
        }
        if method.changes() {
            return self.changing(method, recv, args);
        }
        if method == Builtin::Contains {
            return self.contains(recv, args).map(Value::Bool);
        }
        if method == Builtin::IndexOf {
            self.log_compared(recv, args);
        }
        match self.reading(method, recv, args)? {
            Some(value) => {
                self.check_size(&value)?;
                Ok(value)
            }
            None => Err(self.no_method(method, recv)),
        }
    }

    #[cold]
    pub(crate) fn no_method(&self, method: Builtin, recv: Reg) -> Stop {
        self.lacks(&format!("no method `{}`", method.name()), self.get(recv))
    }

    /// Returns an element of a list or set. Fails if there is none.
    pub(crate) fn one_of(&self, what: &str, item: Option<Value>) -> Result<Option<Value>, Stop> {
        match item {
            Some(item) => Ok(Some(item)),
            None => Err(self.fault(FailureKind::Index, format!("an empty {what}"))),
        }
    }

    fn reading(&mut self, method: Builtin, recv: Reg, args: Reg) -> Result<Option<Value>, Stop> {
        match (method, self.get(recv).len()) {
            (Builtin::Len, Some(length)) => return Ok(Some(Value::Int(length as i64))),
            (Builtin::IsEmpty, Some(length)) => return Ok(Some(Value::Bool(length == 0))),
            _ => {}
        }
        let value = match self.get(recv) {
            Value::List(seq) => self.of_list(method, &seq.clone(), args)?,
            Value::Set(set) => self.of_set(method, &set.clone(), args)?,
            Value::Map(map) => {
                let map = &**map;
                let values = |f: fn(&(Value, Value)) -> &Value| {
                    Value::list(map.entries().iter().map(|entry| f(entry).clone()).collect())
                };
                match method {
                    Builtin::Get => Some(map.get(self.get(args)).cloned().unwrap_or_default()),
                    Builtin::GetOr => {
                        let default = self.get(args.plus(1));
                        Some(map.get(self.get(args)).unwrap_or(default).clone())
                    }
                    Builtin::Has => Some(Value::Bool(map.get(self.get(args)).is_some())),
                    Builtin::Keys | Builtin::Elements => Some(values(|entry| &entry.0)),
                    Builtin::Values => Some(values(|entry| &entry.1)),
                    _ => None,
                }
            }
            Value::Str(text) => self.of_str(method, text.clone().as_str(), args)?,
            _ => None,
        };
        if value.is_none() && method == Builtin::ToStr {
            return self.show_value(recv).map(Some);
        }
        Ok(value)
    }

    fn show_value(&mut self, recv: Reg) -> Result<Value, Stop> {
        let program = &self.machine.program;
        let limit = program.settings.size as usize;
        match show::show(program, self.get(recv), limit) {
            Ok(text) => {
                self.charge(text.len())?;
                Ok(Value::str(&text))
            }
            Err(show::TooLong) => Err(self.too_large()),
        }
    }

    fn of_list(&self, method: Builtin, seq: &Seq, args: Reg) -> Result<Option<Value>, Stop> {
        let items = seq.items();
        let one = |item: Option<&Value>| self.one_of("list", item.cloned());
        Ok(Some(match method {
            Builtin::First => return one(items.first()),
            Builtin::Last => return one(items.last()),
            Builtin::Min => {
                self.check_order_of(items)?;
                return one(items.iter().min());
            }
            Builtin::Max => {
                self.check_order_of(items)?;
                return one(items.iter().max());
            }
            Builtin::IndexOf => {
                let value = self.get(args);
                let at = items.iter().position(|item| item == value);
                Value::Int(at.map_or(-1, |at| at as i64))
            }
            Builtin::Slice => {
                let (from, to) = self.bounds(args, items.len())?;
                Value::list(items[from..to].to_vec())
            }
            Builtin::Sum => {
                let mut sum = 0i64;
                for item in items {
                    let Value::Int(item) = item else {
                        return Err(self.bad_type("a sum is of ints, not", item));
                    };
                    let next = sum.checked_add(*item);
                    sum = next.ok_or_else(|| self.fault(FailureKind::Overflow, "sum"))?;
                }
                Value::Int(sum)
            }
            Builtin::ToSet => {
                items.iter().try_for_each(|item| self.check_ordered(item))?;
                Value::Set(Arc::new(Set::new(items.to_vec())))
            }
            Builtin::ToList | Builtin::Elements => Value::List(Arc::new(seq.clone())),
            _ => return Ok(None),
        }))
    }

    /// Fails unless the values have an order. A single value always has one.
    pub(crate) fn check_order_of(&self, items: &[Value]) -> Result<(), Stop> {
        match items {
            [] | [_] => Ok(()),
            _ => items.iter().try_for_each(|item| self.check_ordered(item)),
        }
    }

    fn of_set(&self, method: Builtin, set: &Set, args: Reg) -> Result<Option<Value>, Stop> {
        let items = set.items();
        let one = |item: Option<&Value>| self.one_of("set", item.cloned());
        Ok(Some(match method {
            Builtin::Min => return one(items.first()),
            Builtin::Max => return one(items.last()),
            Builtin::ToList | Builtin::Elements => Value::list(items.to_vec()),
            Builtin::ToSet => Value::Set(Arc::new(set.clone())),
            Builtin::Union | Builtin::Intersect | Builtin::Minus => {
                let Value::Set(other) = self.get(args) else {
                    return Err(self.bad_type("a set is needed, not", self.get(args)));
                };
                let mut items = items.to_vec();
                match method {
                    Builtin::Union => items.extend_from_slice(other.items()),
                    Builtin::Intersect => items.retain(|item| other.contains(item)),
                    _ => items.retain(|item| !other.contains(item)),
                }
                Value::Set(Arc::new(Set::new(items)))
            }
            _ => return Ok(None),
        }))
    }

    fn of_str(&self, method: Builtin, text: &str, args: Reg) -> Result<Option<Value>, Stop> {
        Ok(Some(match method {
            Builtin::Len => Value::Int(text.chars().count() as i64),
            Builtin::IsEmpty => Value::Bool(text.is_empty()),
            Builtin::StartsWith => match self.get(args) {
                Value::Str(part) => Value::Bool(text.starts_with(part.as_str())),
                other => return Err(self.bad_type("a str is needed, not", other)),
            },
            Builtin::Slice => {
                let (from, to) = self.bounds(args, text.chars().count())?;
                let part: String = text.chars().skip(from).take(to - from).collect();
                Value::str(&part)
            }
            Builtin::ToInt => match text.parse::<i64>() {
                Ok(value) => Value::Int(value),
                Err(_) => {
                    let shown: String = text.chars().take(40).collect();
                    return Err(self.fault(FailureKind::Type, format!("`{shown}` is no int")));
                }
            },
            Builtin::ToStr => Value::str(text),
            _ => return Ok(None),
        }))
    }

    /// Reads two positions. The first is not above the second, the second not past the end.
    fn bounds(&self, args: Reg, length: usize) -> Result<(usize, usize), Stop> {
        match (self.get(args), self.get(args.plus(1))) {
            (Value::Int(from), Value::Int(to)) => {
                match (usize::try_from(*from), usize::try_from(*to)) {
                    (Ok(start), Ok(end)) if start <= end && end <= length => Ok((start, end)),
                    _ => {
                        let message = format!("from {from} to {to} in a length of {length}");
                        Err(self.fault(FailureKind::Index, message))
                    }
                }
            }
            (Value::Int(_), other) | (other, _) => {
                Err(self.bad_type("a position is an int, not", other))
            }
        }
    }

    /// Finds the method of an object's class; `None` where the receiver is no object.
    pub(crate) fn find_method(&self, name: NameId, args: Reg) -> Result<Option<u16>, Stop> {
        let Value::Obj(number) = self.get(args) else { return Ok(None) };
        match self.method_of(*number, name) {
            Some(func) => Ok(Some(func)),
            None => Err(self.no_member(name, self.get(args))),
        }
    }

    /// Returns the method with a name of an object's class.
    pub(crate) fn method_of(&self, number: u32, name: NameId) -> Option<u16> {
        let class = self.state().object(number).map(|object| usize::from(object.class));
        let methods = class.and_then(|class| self.machine.program.classes.get(class));
        let found = methods.and_then(|c| c.methods.iter().find(|(n, _)| *n == name));
        found.map(|(_, func)| func.0)
    }

    /// Calls the built-in method with a name.
    pub(crate) fn call_builtin(
        &mut self,
        dst: Reg,
        name: NameId,
        args: Reg,
        count: u16,
    ) -> Result<(), Stop> {
        let name_text = &self.machine.program.names[name.index()];
        let method = Builtin::ALL.iter().copied().find(|method| method.name() == name_text);
        let Some(method) = method.filter(|m| m.arguments() + 1 == count) else {
            return Err(self.no_member(name, self.get(args)));
        };
        let value = self.builtin(method, args, args.plus(1))?;
        self.set(dst, value);
        Ok(())
    }
}
