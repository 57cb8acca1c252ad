//! Maps.

use super::interp::{Evaluator, Host, Res, unsupported};
use super::scope::ClosureValue;
use super::value::{Map, Value, equal, same_key};
use std::rc::Rc;

/// Returns the value of a key; null without one. Linear in the size of the map.
pub(super) fn get(entries: &[(Value, Value)], key: &Value) -> Value {
    entries
        .iter()
        .find(|(own, _)| same_key(own, key))
        .map_or(Value::Null, |(_, value)| value.clone())
}

/// Sets the value of a key.
pub(super) fn put(entries: &mut Vec<(Value, Value)>, key: Value, value: Value) {
    match entries.iter_mut().find(|(own, _)| same_key(own, &key)) {
        Some((_, own)) => *own = value,
        None => entries.push((key, value)),
    }
}

/// Returns the entries as values.
pub(super) fn entries(entries: &[(Value, Value)]) -> Vec<Value> {
    entries.iter().map(|(k, v)| Value::Entry(Rc::new((k.clone(), v.clone())))).collect()
}

impl<H: Host> Evaluator<'_, H> {
    /// Calls a closure with an entry: one parameter takes the entry, two take its key and value.
    fn with_entry(&mut self, closure: &Value, key: &Value, value: &Value) -> Res {
        let two = matches!(closure, Value::Closure(one) if one.parameters() == 2);
        let arguments = if two {
            vec![key.clone(), value.clone()]
        } else {
            vec![Value::Entry(Rc::new((key.clone(), value.clone())))]
        };
        self.call_value(closure, arguments)
    }

    pub(super) fn map_method(
        &mut self,
        object: &Value,
        map: &Map,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        let own = map.borrow().clone();
        Ok(Some(match (name, arguments) {
            ("size", []) => Value::Int(own.len() as i32),
            ("isEmpty", []) => Value::Bool(own.is_empty()),
            ("get" | "getAt", [key]) => get(&own, key),
            ("get", [key, default]) => match own.iter().find(|(k, _)| same_key(k, key)) {
                Some((_, value)) => value.clone(),
                None => {
                    put(&mut map.borrow_mut(), key.clone(), default.clone());
                    default.clone()
                }
            },
            ("put", [key, value]) => {
                let old = get(&own, key);
                put(&mut map.borrow_mut(), key.clone(), value.clone());
                old
            }
            ("putAt", [key, value]) => {
                put(&mut map.borrow_mut(), key.clone(), value.clone());
                Value::Null
            }
            ("putAll", [Value::Map(more)]) => {
                let more = more.borrow().clone();
                more.into_iter().for_each(|(k, v)| put(&mut map.borrow_mut(), k, v));
                Value::Null
            }
            ("plus" | "minus" | "leftShift", [more]) => {
                let op = match name {
                    "plus" => crate::ast::BinaryOp::Add,
                    "minus" => crate::ast::BinaryOp::Subtract,
                    _ => crate::ast::BinaryOp::ShiftLeft,
                };
                self.binary(op, object, more)?
            }
            ("remove", [key]) => {
                let old = get(&own, key);
                map.borrow_mut().retain(|(k, _)| !same_key(k, key));
                old
            }
            ("clear", []) => {
                map.borrow_mut().clear();
                Value::Null
            }
            ("containsKey", [key]) => Value::Bool(own.iter().any(|(k, _)| same_key(k, key))),
            ("containsValue", [value]) => Value::Bool(own.iter().any(|(_, v)| equal(v, value))),
            ("keySet", []) => Value::list(own.into_iter().map(|(k, _)| k).collect()),
            ("values", []) => Value::list(own.into_iter().map(|(_, v)| v).collect()),
            ("entrySet", []) => Value::list(entries(&own)),
            ("subMap", [keys]) if keys.items().is_some() => {
                let keys = keys.items().unwrap_or_default();
                let of = |key: &Value| own.iter().find(|(k, _)| same_key(k, key)).cloned();
                Value::map(keys.iter().filter_map(of).collect())
            }
            (_, [closure @ Value::Closure(one)]) => {
                return self.map_closure_method(object, own, name, closure, one);
            }
            ("inject", [first, closure @ Value::Closure(one)]) => {
                let mut value = first.clone();
                for (k, v) in own {
                    let arguments = if one.parameters() == 3 {
                        vec![value, k, v]
                    } else {
                        vec![value, Value::Entry(Rc::new((k, v)))]
                    };
                    value = self.call_value(closure, arguments)?;
                }
                value
            }
            (
                "sort" | "groupBy" | "max" | "min" | "count" | "eachWithIndex" | "iterator" | "sum",
                _,
            ) => {
                return unsupported(format!("the method `{name}` of maps"));
            }
            _ => return Ok(None),
        }))
    }

    fn map_closure_method(
        &mut self,
        object: &Value,
        own: Vec<(Value, Value)>,
        name: &str,
        closure: &Value,
        one: &ClosureValue,
    ) -> Res<Option<Value>> {
        let mut kept = Vec::new();
        match name {
            "each" => {
                for (k, v) in &own {
                    self.with_entry(closure, k, v)?;
                }
                return Ok(Some(object.clone()));
            }
            "eachWithIndex" => {
                for (index, (k, v)) in own.iter().enumerate() {
                    let index = Value::Int(index as i32);
                    let arguments = match one.parameters() {
                        3 => vec![k.clone(), v.clone(), index],
                        _ => vec![Value::Entry(Rc::new((k.clone(), v.clone()))), index],
                    };
                    self.call_value(closure, arguments)?;
                }
                return Ok(Some(object.clone()));
            }
            "collect" => {
                for (k, v) in &own {
                    kept.push(self.with_entry(closure, k, v)?);
                }
                return Ok(Some(Value::list(kept)));
            }
            "collectEntries" => {
                let mut entries = Vec::new();
                for (k, v) in &own {
                    let entry = self.with_entry(closure, k, v)?;
                    super::list::add_entry(&mut entries, &entry)?;
                }
                return Ok(Some(Value::map(entries)));
            }
            "find" | "findAll" | "any" | "every" | "count" => {}
            "sort" | "groupBy" | "max" | "min" | "sum" | "removeAll" | "findResult" => {
                return unsupported(format!("the method `{name}` of maps"));
            }
            _ => return Ok(None),
        }
        let mut matching = Vec::new();
        let mut all = true;
        for (k, v) in own {
            let takes = self.with_entry(closure, &k, &v)?;
            if self.truth(&takes)? {
                matching.push((k, v));
                if matches!(name, "find" | "any") {
                    break;
                }
            } else {
                all = false;
                if name == "every" {
                    break;
                }
            }
        }
        Ok(Some(match name {
            "find" => entries(&matching).pop().unwrap_or(Value::Null),
            "findAll" => Value::map(matching),
            "any" => Value::Bool(!matching.is_empty()),
            "count" => Value::Int(matching.len() as i32),
            _ => Value::Bool(all),
        }))
    }
}
