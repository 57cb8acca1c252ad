//! What devices can do: attributes, commands, and where each fact comes from.

mod read;

pub use read::TableError;

use std::collections::BTreeMap;

/// A value of an attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AttributeValue {
    /// A whole number, in the unit of the platform (degrees, percent, watts).
    Number(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for AttributeValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AttributeValue::Number(number) => write!(f, "{number}"),
            AttributeValue::Text(text) => f.write_str(text),
        }
    }
}

/// An attribute of a capability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// The values that the outside may give it: all texts, or samples of the numbers.
    pub values: Vec<AttributeValue>,
    /// Its value before the first event.
    pub initial: AttributeValue,
    /// Whether an event with the value of before is an event: a button.
    pub is_press: bool,
    /// Whether it changes without a command.
    pub is_outside: bool,
}

impl Attribute {
    /// Returns whether its values are numbers.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self.initial, AttributeValue::Number(_))
    }
}

/// What a command gives an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// This value.
    Value(AttributeValue),
    /// An argument by its position, from 0.
    Argument(usize),
    /// An entry of an argument that is a map. A map without it leaves the attribute as it is.
    Entry(usize, String),
}

/// A capability.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Capability {
    /// Which of the table's sources says so.
    pub source: String,
    /// Its attributes by name.
    pub attributes: BTreeMap<String, Attribute>,
    /// Its commands by name, each with the attributes that it sets, in their order.
    pub commands: BTreeMap<String, Vec<(String, Effect)>>,
}

/// The capabilities by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Capabilities {
    /// The sources by their short names.
    pub sources: BTreeMap<String, String>,
    by_name: BTreeMap<String, Capability>,
}

/// The table of this crate.
const BUILT_IN: &str = include_str!("../../data/capabilities.toml");

impl Capabilities {
    /// Returns the table of this crate.
    #[must_use]
    pub fn built_in() -> Capabilities {
        // A test reads the table, so it has no mistake.
        Capabilities::read(BUILT_IN).unwrap_or_default()
    }

    /// Reads a table.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake of the text.
    pub fn read(text: &str) -> Result<Capabilities, TableError> {
        read::read(text)
    }

    /// Returns the text of the table of this crate.
    #[must_use]
    pub fn built_in_text() -> &'static str {
        BUILT_IN
    }

    /// Adds the capabilities of another table. Those of the same name are replaced.
    pub fn extend(&mut self, more: Capabilities) {
        self.sources.extend(more.sources);
        self.by_name.extend(more.by_name);
    }

    /// Returns a capability by its name, without `capability.`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Capability> {
        self.by_name.get(name)
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}
