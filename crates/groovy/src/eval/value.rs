//! Values, and how they are shown and compared.

use super::number::{Decimal, compare_numbers};
use super::scope::ClosureValue;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

/// A list that is shared by all who hold it.
pub type List = Rc<RefCell<Vec<Value>>>;

/// A map that is shared by all who hold it. Keys keep the order in which they were added.
pub type Map = Rc<RefCell<Vec<(Value, Value)>>>;

/// A value of a program.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `int`; its arithmetic wraps.
    Int(i32),
    /// `long`; its arithmetic wraps.
    Long(i64),
    /// `BigInteger`, up to 38 digits.
    BigInt(i128),
    /// `BigDecimal`, up to 38 digits.
    Decimal(Decimal),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `String` or `GString`: the text is made when the string is read.
    Text(Rc<str>),
    /// A list.
    List(List),
    /// A range of numbers, with both ends inside.
    Range(i32, i32),
    /// A map.
    Map(Map),
    /// An entry of a map.
    Entry(Rc<(Value, Value)>),
    /// A closure.
    Closure(Rc<ClosureValue>),
    /// An exception: its class and message.
    Exception(Rc<(String, Option<String>)>),
    /// A class by its simple name.
    Class(Rc<str>),
    /// What `=~` gives: a text and a pattern.
    Matcher(Rc<(String, String)>),
    /// Something of the host.
    Object(u32),
}

impl Value {
    /// Returns a string.
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Rc::from(text.as_ref()))
    }

    /// Returns a new list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(RefCell::new(items)))
    }

    /// Returns a new map.
    pub fn map(entries: Vec<(Value, Value)>) -> Value {
        Value::Map(Rc::new(RefCell::new(entries)))
    }

    /// Returns what the value counts as in a condition.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Long(value) => *value != 0,
            Value::BigInt(value) => *value != 0,
            Value::Decimal(value) => value.unscaled != 0,
            Value::Float(value) => *value != 0.0,
            Value::Double(value) => *value != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.borrow().is_empty(),
            Value::Map(entries) => !entries.borrow().is_empty(),
            Value::Matcher(one) => super::regex::is_found(&one.0, &one.1).unwrap_or(false),
            _ => true,
        }
    }

    /// Returns whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Int(_)
                | Value::Long(_)
                | Value::BigInt(_)
                | Value::Decimal(_)
                | Value::Float(_)
                | Value::Double(_)
        )
    }

    /// Returns the items of a list or range; `None` for anything else.
    pub fn items(&self) -> Option<Vec<Value>> {
        match self {
            Value::List(items) => Some(items.borrow().clone()),
            Value::Range(from, to) if from <= to => Some((*from..=*to).map(Value::Int).collect()),
            Value::Range(from, to) => Some((*to..=*from).rev().map(Value::Int).collect()),
            _ => None,
        }
    }

    /// Returns the simple name of the class.
    pub fn class(&self) -> &str {
        match self {
            Value::Null => "NullObject",
            Value::Bool(_) => "Boolean",
            Value::Int(_) => "Integer",
            Value::Long(_) => "Long",
            Value::BigInt(_) => "BigInteger",
            Value::Decimal(_) => "BigDecimal",
            Value::Float(_) => "Float",
            Value::Double(_) => "Double",
            Value::Text(_) => "String",
            Value::List(_) => "ArrayList",
            Value::Range(..) => "IntRange",
            Value::Map(_) => "LinkedHashMap",
            Value::Entry(_) => "Entry",
            Value::Closure(_) => "Closure",
            Value::Exception(one) => &one.0,
            Value::Class(_) => "Class",
            Value::Matcher(_) => "Matcher",
            Value::Object(_) => "Object",
        }
    }
}

/// How deep values may nest to be shown or compared: one that holds itself ends there.
const NESTING_MAX: u32 = 64;

/// Returns the text of a value as `toString` gives it.
pub fn show(value: &Value) -> String {
    let mut out = String::new();
    show_into(value, &mut out, 0);
    out
}

fn show_into(value: &Value, out: &mut String, depth: u32) {
    if depth > NESTING_MAX {
        return out.push_str("...");
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => *out += if *value { "true" } else { "false" },
        Value::Int(value) => *out += &value.to_string(),
        Value::Long(value) => *out += &value.to_string(),
        Value::BigInt(value) => *out += &value.to_string(),
        Value::Decimal(value) => *out += &value.to_string(),
        Value::Float(value) => *out += &super::number::show_float(*value),
        Value::Double(value) => *out += &super::number::show_double(*value),
        Value::Text(text) => out.push_str(text),
        Value::List(_) | Value::Range(..) => {
            out.push('[');
            for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                *out += if index == 0 { "" } else { ", " };
                show_into(item, out, depth + 1);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            // `println` and strings show a map so, `toString` too in Groovy code.
            let entries = entries.borrow();
            *out += if entries.is_empty() { "[:" } else { "[" };
            for (index, (key, value)) in entries.iter().enumerate() {
                *out += if index == 0 { "" } else { ", " };
                show_into(key, out, depth + 1);
                out.push(':');
                show_into(value, out, depth + 1);
            }
            out.push(']');
        }
        Value::Entry(entry) => {
            show_into(&entry.0, out, depth + 1);
            out.push('=');
            show_into(&entry.1, out, depth + 1);
        }
        Value::Closure(_) => out.push_str("closure"),
        Value::Exception(one) => {
            *out += &super::interp::full_name(&one.0);
            if let Some(message) = &one.1 {
                *out += &format!(": {message}");
            }
        }
        Value::Class(name) => *out += &format!("class {name}"),
        Value::Matcher(_) => out.push_str("matcher"),
        Value::Object(id) => *out += &format!("object {id}"),
    }
}

/// Returns whether two values are equal for `==`.
pub fn equal(a: &Value, b: &Value) -> bool {
    equal_at(a, b, 0)
}

fn equal_at(a: &Value, b: &Value, depth: u32) -> bool {
    if depth > NESTING_MAX {
        return false;
    }
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Class(a), Value::Class(b)) => a == b,
        (Value::Object(a), Value::Object(b)) => a == b,
        (Value::Entry(a), Value::Entry(b)) => {
            equal_at(&a.0, &b.0, depth + 1) && equal_at(&a.1, &b.1, depth + 1)
        }
        (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
        (Value::Exception(a), Value::Exception(b)) => Rc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            let same = |key: &Value, value: &Value| {
                let found = b.iter().find(|(other, _)| same_key(key, other));
                found.is_some_and(|(_, other)| equal_at(value, other, depth + 1))
            };
            a.len() == b.len() && a.iter().all(|(key, value)| same(key, value))
        }
        _ if a.is_number() && b.is_number() => compare_numbers(a, b) == Some(Ordering::Equal),
        _ => match (a.items(), b.items()) {
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| equal_at(a, b, depth + 1))
            }
            _ => false,
        },
    }
}

/// Returns whether two keys are the same: numbers of two types are not.
pub(super) fn same_key(a: &Value, b: &Value) -> bool {
    let types = !a.is_number() || std::mem::discriminant(a) == std::mem::discriminant(b);
    types && equal(a, b)
}

/// Returns the order of two values for `<` and `<=>`; `None` if they have none.
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Null, _) => Some(Ordering::Less),
        (_, Value::Null) => Some(Ordering::Greater),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
        _ if a.is_number() && b.is_number() => compare_numbers(a, b),
        _ if equal(a, b) => Some(Ordering::Equal),
        _ => None,
    }
}
