//! Values that outlive an execution of a handler: attributes, `state`, the mode.

use crate::capability::AttributeValue;
use anyorder_groovy::eval::{Decimal, Value, show};
use anyorder_program::Literal;

/// A value without sharing and without code. It is compared by what it holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Stored {
    /// `null`
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A decimal number: its digits and how many of them stand behind the point.
    Decimal(i128, i32),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Stored>),
    /// A map in the order of its entries.
    Map(Vec<(Stored, Stored)>),
}

/// How deep a stored value may nest.
const NESTING_MAX: u32 = 32;

impl Stored {
    /// Returns what is kept of a value; `None` for closures, devices and what nests too deeply.
    pub(crate) fn of(value: &Value) -> Option<Stored> {
        of_at(value, 0)
    }

    /// Returns a fresh value for an execution.
    pub(crate) fn value(&self) -> Value {
        match self {
            Stored::Null => Value::Null,
            Stored::Bool(value) => Value::Bool(*value),
            Stored::Number(number) => match i32::try_from(*number) {
                Ok(small) => Value::Int(small),
                Err(_) => Value::Long(*number),
            },
            Stored::Decimal(unscaled, scale) => {
                Value::Decimal(Decimal { unscaled: *unscaled, scale: *scale })
            }
            Stored::Text(text) => Value::text(text),
            Stored::List(items) => Value::list(items.iter().map(Stored::value).collect()),
            Stored::Map(entries) => Value::map(
                entries.iter().map(|(key, value)| (key.value(), value.value())).collect(),
            ),
        }
    }

    /// Returns the value in the machine. Two different values have different literals.
    pub(crate) fn literal(&self) -> Literal {
        match self {
            Stored::Null => Literal::Null,
            Stored::Bool(value) => Literal::Bool(*value),
            Stored::Number(number) => Literal::Int(*number),
            Stored::Text(text) => Literal::Str(text.clone()),
            // What is no text of itself is a list: no program computes with it.
            other => Literal::List(vec![Literal::Str(other.to_string())]),
        }
    }
}

impl std::fmt::Display for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stored::Text(text) => f.write_str(text),
            other => f.write_str(&show(&other.value())),
        }
    }
}

impl From<&AttributeValue> for Stored {
    fn from(value: &AttributeValue) -> Stored {
        match value {
            AttributeValue::Number(number) => Stored::Number(*number),
            AttributeValue::Text(text) => Stored::Text(text.clone()),
        }
    }
}

impl From<&str> for Stored {
    fn from(text: &str) -> Stored {
        Stored::Text(text.to_owned())
    }
}

fn of_at(value: &Value, depth: u32) -> Option<Stored> {
    if depth > NESTING_MAX {
        return None;
    }
    let one = |value: &Value| of_at(value, depth + 1);
    Some(match value {
        Value::Null => Stored::Null,
        Value::Bool(value) => Stored::Bool(*value),
        Value::Int(value) => Stored::Number(i64::from(*value)),
        Value::Long(value) => Stored::Number(*value),
        Value::BigInt(value) => match i64::try_from(*value) {
            Ok(small) => Stored::Number(small),
            Err(_) => Stored::Decimal(*value, 0),
        },
        Value::Decimal(value) => decimal(value.unscaled, value.scale),
        Value::Float(_) | Value::Double(_) => double(&show(value)),
        Value::Text(text) => Stored::Text(text.to_string()),
        Value::List(_) | Value::Range(..) => {
            Stored::List(value.items()?.iter().map(one).collect::<Option<Vec<_>>>()?)
        }
        Value::Map(entries) => {
            let both = |(key, value): &(Value, Value)| Some((one(key)?, one(value)?));
            Stored::Map(entries.borrow().iter().map(both).collect::<Option<Vec<_>>>()?)
        }
        Value::Class(name) => Stored::Text(name.to_string()),
        Value::Entry(_)
        | Value::Closure(_)
        | Value::Exception(_)
        | Value::Object(_)
        | Value::Matcher(_) => return None,
    })
}

/// Returns a decimal without zeros at its end, so that equal numbers are equal.
fn decimal(mut unscaled: i128, mut scale: i32) -> Stored {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    match i64::try_from(unscaled) {
        Ok(small) if scale == 0 => Stored::Number(small),
        _ => Stored::Decimal(unscaled, scale),
    }
}

/// Returns the number that a `double` shows as, or its text where it is not a plain number.
fn double(shown: &str) -> Stored {
    let (whole, part) = shown.split_once('.').unwrap_or((shown, ""));
    match format!("{whole}{part}").parse() {
        Ok(unscaled) => decimal(unscaled, i32::try_from(part.len()).unwrap_or(0)),
        Err(_) => Stored::Text(shown.to_owned()),
    }
}
