//! Conditions.

use super::reader::Reader;
use super::trigger::{At, at_time, bounds, lasts};
use super::words::{Bound, Duration, entities, texts};
use crate::place::Place;
use crate::yaml::{Node, Value};

/// What must hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// Where it is.
    pub place: Place,
    /// What it asks.
    pub kind: ConditionKind,
}

/// The kinds of conditions.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields have the names of Home Assistant")]
pub enum ConditionKind {
    /// All hold.
    And(Vec<Condition>),
    /// One holds.
    Or(Vec<Condition>),
    /// None holds.
    Not(Vec<Condition>),
    /// States are among some.
    State {
        entities: Vec<String>,
        any: bool,
        attribute: Option<String>,
        states: Vec<String>,
        lasts: Option<Duration>,
    },
    /// Numbers are in a range.
    Numeric {
        entities: Vec<String>,
        attribute: Option<String>,
        above: Option<Bound>,
        below: Option<Bound>,
        template: Option<String>,
    },
    /// A template is true.
    Template(String),
    /// The time of day is in a range, the day among some.
    Time { after: Option<At>, before: Option<At>, weekday: Vec<String> },
    /// The sun: `sunrise` or `sunset`, without offsets.
    Sun { after: Option<String>, before: Option<String> },
    /// Someone is in a zone.
    Zone { entities: Vec<String>, zones: Vec<String> },
    /// One of these triggers started the run.
    Trigger(Vec<String>),
    /// Something that is true or false, and nobody knows which: what, for people.
    Unknown(String),
    /// It is disabled: it counts nowhere.
    Disabled,
    /// It is a constant.
    Constant(bool),
}

/// Reads conditions: one, or a list of which all must hold.
pub(super) fn conditions(reader: &mut Reader, node: &Node) -> Vec<Condition> {
    node.items().iter().map(|item| condition(reader, item)).collect()
}

/// Returns whether a step of a sequence is a condition.
pub(super) fn is_condition(node: &Node) -> bool {
    ["condition", "and", "or", "not"].iter().any(|key| node.get(key).is_some())
        || node.as_str().is_some()
}

/// Reads a condition.
pub(super) fn condition(reader: &mut Reader, node: &Node) -> Condition {
    let place = node.place;
    let made = |kind| Condition { place, kind };
    if node.get("enabled").is_some_and(|enabled| enabled.value == Value::Bool(false)) {
        return made(ConditionKind::Disabled);
    }
    if let Some(text) = node.as_str() {
        return made(ConditionKind::Template(text.to_owned()));
    }
    if let Value::Bool(value) = node.value {
        return made(ConditionKind::Constant(value));
    }
    if let Value::List(_) = node.value {
        return made(ConditionKind::And(conditions(reader, node)));
    }
    for (key, of) in [("and", 0), ("or", 1), ("not", 2)] {
        if let Some(inner) = node.get(key) {
            return made(combined(of, conditions(reader, inner)));
        }
    }
    let kind = match node.get("condition") {
        Some(Node { value: Value::List(_), .. }) => ConditionKind::And(conditions(
            reader,
            &node.get("condition").cloned().unwrap_or_default(),
        )),
        Some(name) => match name.as_str() {
            Some(word) => by_name(reader, node, word),
            None => ConditionKind::Unknown("a condition that is no word".to_owned()),
        },
        None => {
            reader.mistake(place, "condition", "a condition needs `condition:`");
            ConditionKind::Unknown("a condition without a kind".to_owned())
        }
    };
    made(kind)
}

fn combined(of: u8, inner: Vec<Condition>) -> ConditionKind {
    match of {
        0 => ConditionKind::And(inner),
        1 => ConditionKind::Or(inner),
        _ => ConditionKind::Not(inner),
    }
}

fn by_name(reader: &mut Reader, node: &Node, word: &str) -> ConditionKind {
    match word {
        "and" | "or" | "not" => {
            let inner = node.get("conditions").map(|inner| conditions(reader, inner));
            let of = if word == "and" { 0 } else { u8::from(word == "not") + 1 };
            combined(of, inner.unwrap_or_default())
        }
        "state" => state(reader, node),
        "numeric_state" => {
            let Some(entities) = listed(reader, node) else {
                return ConditionKind::Unknown("a number of unknown entities".to_owned());
            };
            let attribute = node.get("attribute").and_then(Node::scalar);
            let (above, below) = bounds(reader, node);
            let template = node.get("value_template").and_then(Node::scalar);
            ConditionKind::Numeric { entities, attribute, above, below, template }
        }
        "template" => match node.get("value_template").map(|t| (t.scalar(), t)) {
            Some((Some(template), _)) => ConditionKind::Template(template),
            _ => ConditionKind::Unknown("a template that is no text".to_owned()),
        },
        "time" => {
            let after = node.get("after").filter(|n| !n.is_null()).map(at_time);
            let before = node.get("before").filter(|n| !n.is_null()).map(at_time);
            let weekday = node.get("weekday").map(texts).unwrap_or_default();
            ConditionKind::Time { after, before, weekday }
        }
        "zone" => {
            let Some(entities) = listed(reader, node) else {
                return ConditionKind::Unknown("the zone of unknown entities".to_owned());
            };
            let zones = node.get("zone").map(texts).unwrap_or_default();
            ConditionKind::Zone { entities, zones }
        }
        "trigger" => ConditionKind::Trigger(node.get("id").map(texts).unwrap_or_default()),
        "sun" => {
            let word = |key: &str| node.get(key).and_then(Node::scalar);
            let is_plain =
                |key: &str| word(key).is_none_or(|word| ["0", "00:00:00"].contains(&word.as_str()));
            if is_plain("after_offset") && is_plain("before_offset") {
                return ConditionKind::Sun { after: word("after"), before: word("before") };
            }
            let part =
                |key: &str| node.get(key).and_then(Node::scalar).map(|v| format!("{key} {v}"));
            let keys = ["after", "after_offset", "before", "before_offset"];
            let parts: Vec<String> = keys.iter().filter_map(|k| part(k)).collect();
            reader.havoc(node.place, "sun condition", "the sun may or may not be there");
            ConditionKind::Unknown(format!("the sun is {}", parts.join(" and ")))
        }
        text if crate::yaml::is_template(text) => ConditionKind::Template(text.to_owned()),
        other => {
            reader.havoc(
                node.place,
                &format!("{other} condition"),
                format!("a `{other}` condition may or may not hold"),
            );
            ConditionKind::Unknown(format!("a `{other}` condition"))
        }
    }
}

fn listed(reader: &mut Reader, node: &Node) -> Option<Vec<String>> {
    let read = node.get("entity_id").and_then(entities).filter(|list| !list.is_empty());
    if read.is_none() {
        reader.havoc(node.place, "entities of a condition", "the entities are not known");
    }
    read
}

fn state(reader: &mut Reader, node: &Node) -> ConditionKind {
    let Some(entities) = listed(reader, node) else {
        return ConditionKind::Unknown("the state of unknown entities".to_owned());
    };
    let given = node.get("state");
    for item in given.map(Node::items).unwrap_or_default() {
        if let Value::Bool(value) = item.value {
            let word = if value { "on" } else { "off" };
            let text = format!("YAML reads this word as a boolean: write \"{word}\" in quotes");
            reader.mistake(item.place, "state that is a boolean", text);
        }
    }
    let any = node.get("match").and_then(Node::as_str) == Some("any");
    let attribute = node.get("attribute").and_then(Node::scalar);
    let states = given.map(texts).unwrap_or_default();
    let lasts = lasts(reader, node);
    ConditionKind::State { entities, any, attribute, states, lasts }
}
