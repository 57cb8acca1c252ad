//! A tree of nodes with their places.

use crate::place::Place;

/// A node of a document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// Its tag without the `!`, if it has one: `include`, `secret`, `input`.
    pub tag: Option<String>,
    /// What it is.
    pub value: Value,
}

/// The value of a node.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// `true`, and also `yes` and `on`.
    Bool(bool),
    /// An integer; `10:30:00` is 37,800 and `010` is 8.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in the order of its keys; no key occurs twice.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Makes a text.
    #[must_use]
    pub fn text(place: Place, text: impl Into<String>) -> Node {
        Node { place, tag: None, value: Value::Text(text.into()) }
    }

    /// Returns the value of a key of a mapping. Linear in its keys.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v)
    }

    /// Returns the value of the first of several keys that is there, and is not null.
    #[must_use]
    pub fn first_of(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().find_map(|key| self.get(key)).filter(|node| !node.is_null())
    }

    /// Returns the entries of a mapping; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[(Node, Node)] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// Returns the elements of a list, or the node itself as the only one. Null has none.
    #[must_use]
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// Returns the text of a text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Returns whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null && self.tag.is_none()
    }

    /// Returns whether it is a mapping.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Returns the text that Python's `str` makes of a scalar; `None` for null, lists and mappings.
    #[must_use]
    pub fn scalar(&self) -> Option<String> {
        Some(match &self.value {
            Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => python_float(*value),
            Value::Text(text) => text.clone(),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        })
    }

    /// Returns whether the node, or one below it, is a template.
    #[must_use]
    pub fn has_template(&self) -> bool {
        match &self.value {
            Value::Text(text) => is_template(text),
            Value::List(items) => items.iter().any(Node::has_template),
            Value::Map(entries) => entries.iter().any(|(_, value)| value.has_template()),
            _ => false,
        }
    }
}

/// Returns whether a text is a template.
#[must_use]
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// Returns a number as Python shows it.
pub(crate) fn python_float(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e16 {
        format!("{value:.1}")
    } else {
        value.to_string()
    }
}
