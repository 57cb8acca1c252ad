//! Built-in methods that change their receiver.

use super::element::copy_cost;
use super::fault::Stop;
use super::interpreter::Interpreter;
use crate::program::{Builtin, Reg};
use crate::value::{Map, Seq, Set, Value};
use std::sync::Arc;

impl Interpreter<'_> {
    /// Calls a method that changes its receiver. Takes the receiver out of its register, so that an
    /// unshared value changes in place, and puts it back.
    pub(crate) fn changing(
        &mut self,
        method: Builtin,
        recv: Reg,
        args: Reg,
    ) -> Result<Value, Stop> {
        let copy_cost = copy_cost(self.get(recv));
        self.charge(copy_cost)?;
        let mut slot = std::mem::take(&mut self.regs[self.low + recv.index()]);
        let arg = |at: u16| match args.plus(at) {
            _ if method.arguments() <= at => Value::Null,
            // An argument may be the receiver itself.
            reg if reg == recv => slot.clone(),
            reg => self.get(reg).clone(),
        };
        let (first, second) = (arg(0), arg(1));
        let (set, map) = (matches!(slot, Value::Set(_)), matches!(slot, Value::Map(_)));
        if (set && method == Builtin::Add || map && method == Builtin::Set)
            && let Err(stop) = self.check_ordered(&first)
        {
            self.set(recv, slot);
            return Err(stop);
        }
        let result = match &mut slot {
            Value::List(seq) => self.change_list(method, Arc::make_mut(seq), first, second),
            Value::Set(set) if method == Builtin::Add && Arc::strong_count(set) > 1 => {
                let larger = set.with(first);
                let added = larger.is_some();
                if let Some(larger) = larger {
                    *set = Arc::new(larger);
                }
                Ok(Some(Value::Bool(added)))
            }
            Value::Set(set) => Self::change_set(method, Arc::make_mut(set), first),
            Value::Map(map) => Self::change_map(method, Arc::make_mut(map), first, second),
            _ => Ok(None),
        };
        let sized = self.check_size(&slot);
        self.set(recv, slot);
        sized?;
        result?.ok_or_else(|| self.no_method(method, recv))
    }

    fn change_list(
        &self,
        method: Builtin,
        seq: &mut Seq,
        first: Value,
        second: Value,
    ) -> Result<Option<Value>, Stop> {
        let length = seq.items().len();
        let position = |value: &Value, end: usize| match value {
            Value::Int(at) => match usize::try_from(*at) {
                Ok(i) if i < end => Ok(i),
                _ => Err(self.out_of_range(*at, length)),
            },
            other => Err(self.bad_type("a position is an int, not", other)),
        };
        match method {
            Builtin::Push => seq.push(first),
            Builtin::Pop => return self.one_of("list", seq.pop()),
            Builtin::TakeFirst => {
                let first = |items: &mut Vec<Value>| {
                    if items.is_empty() { None } else { Some(items.remove(0)) }
                };
                return self.one_of("list", seq.edit(first));
            }
            Builtin::Insert => {
                let at = position(&first, length + 1)?;
                seq.edit(|items| items.insert(at, second));
            }
            Builtin::Remove => {
                let at = position(&first, length)?;
                return Ok(Some(seq.edit(|items| items.remove(at))));
            }
            Builtin::Reverse => seq.edit(|items| items.reverse()),
            Builtin::Sort => {
                self.check_order_of(seq.items())?;
                seq.edit(|items| items.sort());
            }
            Builtin::Clear => seq.edit(Vec::clear),
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    fn change_set(method: Builtin, set: &mut Set, first: Value) -> Result<Option<Value>, Stop> {
        Ok(Some(match method {
            Builtin::Add => Value::Bool(set.add(first)),
            Builtin::Remove => Value::Bool(set.remove(&first)),
            Builtin::Clear => {
                *set = Set::default();
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn change_map(
        method: Builtin,
        map: &mut Map,
        first: Value,
        second: Value,
    ) -> Result<Option<Value>, Stop> {
        Ok(Some(match method {
            Builtin::Set => {
                map.set(first, second);
                Value::Null
            }
            Builtin::Remove => map.remove(&first).unwrap_or_default(),
            Builtin::Clear => {
                *map = Map::default();
                Value::Null
            }
            _ => return Ok(None),
        }))
    }
}
