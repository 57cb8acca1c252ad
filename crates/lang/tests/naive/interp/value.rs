//! Values: semantics.md, section 1.

use anyorder_lang::ast::{Closure, NodeId};
use std::cmp::Ordering;

/// A value. The order of the variants is the order of values (V4); the last three have none (V5).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// Enum, variant, payload.
    Enum(usize, usize, Vec<Value>),
    Str(String),
    /// Record type, fields in order of declaration.
    Record(usize, Vec<Value>),
    List(Vec<Value>),
    /// Sorted, without repetition.
    Set(Vec<Value>),
    /// Sorted by key.
    Map(Vec<(Value, Value)>),
    Func(Code, Vec<(String, Value)>),
    Handle(u64),
    Obj(u64),
}

/// The code of a function value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Code {
    Named(String),
    Closure(Lambda),
}

/// A function expression: the one with this number.
#[derive(Clone, Copy, Debug)]
pub struct Lambda(pub NodeId, pub &'static Closure);

impl PartialEq for Lambda {
    fn eq(&self, other: &Lambda) -> bool {
        self.0 == other.0
    }
}

impl Eq for Lambda {}

impl PartialOrd for Lambda {
    fn partial_cmp(&self, other: &Lambda) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lambda {
    fn cmp(&self, other: &Lambda) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl Value {
    /// V5: whether it has a place in the order of values.
    pub fn is_data(&self) -> bool {
        match self {
            Value::Func(..) | Value::Handle(_) | Value::Obj(_) => false,
            Value::Enum(_, _, items)
            | Value::Record(_, items)
            | Value::List(items)
            | Value::Set(items) => items.iter().all(Value::is_data),
            Value::Map(entries) => entries.iter().all(|(k, v)| k.is_data() && v.is_data()),
            _ => true,
        }
    }

    /// Calls `f` for every handle and object in it.
    pub fn each_reference(&self, f: &mut dyn FnMut(&Value)) {
        match self {
            Value::Handle(_) | Value::Obj(_) => f(self),
            Value::Enum(_, _, items)
            | Value::Record(_, items)
            | Value::List(items)
            | Value::Set(items) => items.iter().for_each(|item| item.each_reference(f)),
            Value::Map(entries) => entries.iter().for_each(|(k, v)| {
                k.each_reference(f);
                v.each_reference(f);
            }),
            Value::Func(_, captured) => captured.iter().for_each(|(_, v)| v.each_reference(f)),
            _ => {}
        }
    }

    /// Replaces every handle.
    pub fn map_handles(&self, f: &dyn Fn(u64) -> u64) -> Value {
        let all = |items: &[Value]| items.iter().map(|item| item.map_handles(f)).collect();
        match self {
            Value::Handle(h) => Value::Handle(f(*h)),
            Value::Enum(ty, variant, items) => Value::Enum(*ty, *variant, all(items)),
            Value::Record(ty, items) => Value::Record(*ty, all(items)),
            Value::List(items) => Value::List(all(items)),
            Value::Map(entries) => {
                Value::Map(entries.iter().map(|(k, v)| (k.clone(), v.map_handles(f))).collect())
            }
            Value::Func(code, captured) => Value::Func(
                code.clone(),
                captured.iter().map(|(n, v)| (n.clone(), v.map_handles(f))).collect(),
            ),
            other => other.clone(),
        }
    }
}
