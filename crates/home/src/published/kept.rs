//! Values that a state keeps, with their types.

use anyorder_groovy::eval::{Decimal, Value};
use serde::{Deserialize, Serialize};

/// An object that a state can hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) enum Held {
    /// The group of a device, by the number of the device.
    Group(usize),
    /// The item of a device.
    Item(usize),
    Location,
    App,
    Log,
    Routines,
    TimeZone,
    /// A moment, in milliseconds.
    Date(i64),
    /// A method of an app: `this.&name`.
    Method(usize, String),
    /// An app itself.
    This(usize),
    Event(Box<Happened>),
    /// A class of the platform by its name.
    Class(String),
    /// A formatter of dates with its pattern.
    Format(String),
    /// Something that is only passed on.
    Opaque(String),
}

/// An event that was delivered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Happened {
    pub(super) name: String,
    pub(super) value: Kept,
    pub(super) device: String,
    pub(super) is_manual: bool,
    /// Its data, if they are not those of other events.
    pub(super) data: Option<String>,
}

/// A value without sharing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub(super) enum Kept {
    #[default]
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Big(i128),
    Decimal(i128, i32),
    /// The bits of a `double`.
    Double(u64),
    Text(String),
    List(Vec<Kept>),
    Map(Vec<(Kept, Kept)>),
    Held(Held),
}

impl From<&str> for Kept {
    fn from(text: &str) -> Kept {
        Kept::Text(text.to_owned())
    }
}

/// How deep a kept value may nest.
const NESTING_MAX: u32 = 32;

impl Kept {
    /// Returns what is kept of a value; `None` for closures and what nests too deeply. `held`
    /// says what an object is.
    pub(super) fn of(value: &Value, held: &dyn Fn(u32) -> Option<Held>) -> Option<Kept> {
        of_at(value, held, 0)
    }

    /// Returns a fresh value; `object` makes the number of an object.
    pub(super) fn value(&self, object: &mut dyn FnMut(&Held) -> u32) -> Value {
        match self {
            Kept::Null => Value::Null,
            Kept::Bool(one) => Value::Bool(*one),
            Kept::Int(one) => Value::Int(*one),
            Kept::Long(one) => Value::Long(*one),
            Kept::Big(one) => Value::BigInt(*one),
            Kept::Decimal(unscaled, scale) => {
                Value::Decimal(Decimal { unscaled: *unscaled, scale: *scale })
            }
            Kept::Double(bits) => Value::Double(f64::from_bits(*bits)),
            Kept::Text(text) => Value::text(text),
            Kept::List(items) => Value::list(items.iter().map(|one| one.value(object)).collect()),
            Kept::Map(entries) => {
                let both = |(key, one): &(Kept, Kept)| (key.value(object), one.value(object));
                Value::map(entries.iter().map(both).collect())
            }
            Kept::Held(held) => Value::Object(object(held)),
        }
    }
}

fn of_at(value: &Value, held: &dyn Fn(u32) -> Option<Held>, depth: u32) -> Option<Kept> {
    if depth > NESTING_MAX {
        return None;
    }
    let one = |value: &Value| of_at(value, held, depth + 1);
    Some(match value {
        Value::Null => Kept::Null,
        Value::Bool(one) => Kept::Bool(*one),
        Value::Int(one) => Kept::Int(*one),
        Value::Long(one) => Kept::Long(*one),
        Value::BigInt(one) => Kept::Big(*one),
        Value::Decimal(one) => Kept::Decimal(one.unscaled, one.scale),
        Value::Float(one) => Kept::Double(f64::from(*one).to_bits()),
        Value::Double(one) => Kept::Double(one.to_bits()),
        Value::Text(text) => Kept::Text(text.to_string()),
        Value::List(_) | Value::Range(..) => {
            Kept::List(value.items()?.iter().map(one).collect::<Option<_>>()?)
        }
        Value::Map(entries) => {
            let both = |(key, value): &(Value, Value)| Some((one(key)?, one(value)?));
            Kept::Map(entries.borrow().iter().map(both).collect::<Option<_>>()?)
        }
        Value::Object(id) => Kept::Held(held(*id)?),
        Value::Class(_)
        | Value::Entry(_)
        | Value::Closure(_)
        | Value::Exception(_)
        | Value::Matcher(_) => return None,
    })
}
