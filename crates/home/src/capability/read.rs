//! Reads a table of capabilities.

use super::{Attribute, AttributeValue, Capabilities, Capability, Effect};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Why a table is refused.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is not TOML of this form.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// An attribute without a value, or with values of two kinds.
    #[error(
        "the attribute `{1}` of `{0}` needs `values` or `numbers`, and an `initial` of that kind"
    )]
    Attribute(String, String),
    /// A command with an effect on an attribute that is not there.
    #[error("the command `{1}` of `{0}` sets `{2}`, which is no attribute of it")]
    Command(String, String, String),
    /// A source that the table does not name.
    #[error("the capability `{0}` has no known source")]
    Source(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    #[serde(default)]
    sources: BTreeMap<String, String>,
    #[serde(default)]
    capability: BTreeMap<String, RawCapability>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCapability {
    source: String,
    #[serde(default)]
    attributes: BTreeMap<String, RawAttribute>,
    #[serde(default)]
    commands: BTreeMap<String, BTreeMap<String, RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAttribute {
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    numbers: Vec<i64>,
    initial: RawValue,
    #[serde(default)]
    press: bool,
    #[serde(default = "yes")]
    outside: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawValue {
    Number(i64),
    Text(String),
}

fn yes() -> bool {
    true
}

pub(super) fn read(text: &str) -> Result<Capabilities, TableError> {
    let raw: RawTable = toml::from_str(text)?;
    let mut by_name = BTreeMap::new();
    for (name, raw_capability) in raw.capability {
        if !raw.sources.contains_key(&raw_capability.source) {
            return Err(TableError::Source(name));
        }
        let capability = capability(&name, raw_capability)?;
        by_name.insert(name, capability);
    }
    Ok(Capabilities { sources: raw.sources, by_name })
}

fn capability(name: &str, raw: RawCapability) -> Result<Capability, TableError> {
    let mut attributes = BTreeMap::new();
    for (attribute, raw) in raw.attributes {
        let found = attribute_of(raw);
        let wrong = || TableError::Attribute(name.to_owned(), attribute.clone());
        let found = found.ok_or_else(wrong)?;
        attributes.insert(attribute, found);
    }
    let mut commands = BTreeMap::new();
    for (command, effects) in raw.commands {
        let mut list = Vec::new();
        for (attribute, effect) in effects {
            if !attributes.contains_key(&attribute) {
                return Err(TableError::Command(name.to_owned(), command, attribute));
            }
            list.push((attribute, effect_of(effect)));
        }
        commands.insert(command, list);
    }
    Ok(Capability { source: raw.source, attributes, commands })
}

fn attribute_of(raw: RawAttribute) -> Option<Attribute> {
    let values: Vec<AttributeValue> = match (raw.values.is_empty(), raw.numbers.is_empty()) {
        (false, true) => raw.values.into_iter().map(AttributeValue::Text).collect(),
        (true, false) => raw.numbers.into_iter().map(AttributeValue::Number).collect(),
        _ => return None,
    };
    let initial = value_of(raw.initial);
    if std::mem::discriminant(&initial) != std::mem::discriminant(values.first()?) {
        return None;
    }
    Some(Attribute { values, initial, is_press: raw.press, is_outside: raw.outside })
}

fn value_of(raw: RawValue) -> AttributeValue {
    match raw {
        RawValue::Number(number) => AttributeValue::Number(number),
        RawValue::Text(text) => AttributeValue::Text(text),
    }
}

fn effect_of(raw: RawValue) -> Effect {
    let argument = match &raw {
        RawValue::Text(text) => text.strip_prefix('$'),
        RawValue::Number(_) => None,
    };
    let Some(argument) = argument else { return Effect::Value(value_of(raw)) };
    let (position, entry) = match argument.split_once('.') {
        Some((position, entry)) => (position, Some(entry)),
        None => (argument, None),
    };
    match (position.parse::<usize>(), entry) {
        (Ok(at @ 1..), None) => Effect::Argument(at - 1),
        (Ok(at @ 1..), Some(entry)) => Effect::Entry(at - 1, entry.to_owned()),
        _ => Effect::Value(value_of(raw)),
    }
}
