//! Values of arguments, results and functions of the state.

use std::fmt;
use std::sync::Arc;

/// A value that a condition can use.
///
/// Values of different variants are different: `0`, `false` and `null` are three values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Value {
    /// No value: the result of a method without a result, and of a lookup that finds nothing.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A number, or the bits of a hash that stands for some other value.
    Int(i64),
    /// A text.
    Text(Arc<str>),
}

impl Value {
    /// Returns the truth value, if it is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number, if it is one.
    #[must_use]
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Text(text) => {
                f.write_str("\"")?;
                for letter in text.chars() {
                    match letter {
                        '"' => f.write_str("\\\"")?,
                        '\\' => f.write_str("\\\\")?,
                        '\n' => f.write_str("\\n")?,
                        '\t' => f.write_str("\\t")?,
                        '\r' => f.write_str("\\r")?,
                        '\0' => f.write_str("\\0")?,
                        letter if letter.is_control() => {
                            write!(f, "\\u{{{:X}}}", u32::from(letter))?;
                        }
                        letter => write!(f, "{letter}")?,
                    }
                }
                f.write_str("\"")
            }
        }
    }
}
