//! Triggers.

use super::reader::Reader;
use super::words::{Bound, Duration, clock, duration, entities, is_entity, number, texts};
use crate::place::Place;
use crate::yaml::{Node, Value};

/// What starts an automation.
#[derive(Clone, PartialEq, Debug)]
pub struct Trigger {
    /// Where it is.
    pub place: Place,
    /// Its `id`; without one, its number.
    pub id: String,
    /// What it waits for.
    pub kind: TriggerKind,
}

/// Which states match.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Match {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// Any state (`to:` with nothing), but not a change of attributes alone.
    Any,
    /// One of these.
    In(Vec<String>),
    /// None of these.
    NotIn(Vec<String>),
}

/// A time of day.
#[derive(Clone, PartialEq, Debug)]
pub enum At {
    /// Seconds since midnight.
    Clock(i64),
    /// What an entity says.
    Entity(String),
    /// A template, or a time that could not be read.
    Unknown,
}

/// The kinds of triggers.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields have the names of Home Assistant")]
pub enum TriggerKind {
    /// A change of a state or an attribute.
    State {
        entities: Vec<String>,
        attribute: Option<String>,
        from: Match,
        to: Match,
        lasts: Option<Duration>,
    },
    /// A number comes into a range.
    Numeric {
        entities: Vec<String>,
        attribute: Option<String>,
        above: Option<Bound>,
        below: Option<Bound>,
        template: Option<String>,
        lasts: Option<Duration>,
    },
    /// A time of day.
    Time(Vec<At>),
    /// A template becomes true.
    Template { template: String, lasts: Option<Duration> },
    /// Someone comes into a zone or leaves it.
    Zone { entities: Vec<String>, zone: String, enter: bool },
    /// An event of the bus, with the data that it must have.
    Event { types: Vec<String>, data: Vec<(String, String)> },
    /// Sunrise or sunset. With an offset it is a time of its own.
    Sun { event: String, offset: Option<String> },
    /// Home Assistant starts or stops.
    HomeAssistant { event: String },
    /// Anything that comes from outside: what it is, for people. Equal words are one event.
    External(String),
    /// It is disabled.
    Disabled,
}

/// Reads triggers; nested lists and `triggers:` inside are flat.
pub(super) fn triggers(reader: &mut Reader, node: &Node) -> Vec<Trigger> {
    let mut found = Vec::new();
    flatten(node, &mut |item| {
        let id = found.len().to_string();
        found.extend(trigger(reader, item, id));
    });
    found
}

fn flatten(node: &Node, each: &mut dyn FnMut(&Node)) {
    for item in node.items() {
        match (&item.value, item.get("triggers")) {
            (Value::List(_), _) => flatten(item, each),
            (_, Some(inner)) => flatten(inner, each),
            _ => each(item),
        }
    }
}

fn trigger(reader: &mut Reader, node: &Node, number: String) -> Option<Trigger> {
    let platform = node.first_of(&["trigger", "platform"]).and_then(Node::as_str);
    let id = node.get("id").and_then(Node::scalar).unwrap_or(number);
    let Some(platform) = platform else {
        reader.mistake(node.place, "trigger", "a trigger needs `trigger:` or `platform:`");
        return None;
    };
    let off = node.get("enabled").is_some_and(|e| e.value == Value::Bool(false));
    let kind = if off { TriggerKind::Disabled } else { kind(reader, node, platform) };
    Some(Trigger { place: node.place, id, kind })
}

/// Reads `for:` of a trigger or condition.
pub(super) fn lasts(reader: &mut Reader, node: &Node) -> Option<Duration> {
    let given = node.get("for").filter(|given| !given.is_null())?;
    let read = duration(given);
    if read.is_none() {
        reader.mistake(given.place, "duration", "this is no duration");
    }
    Some(read.unwrap_or(Duration::Unknown))
}

fn kind(reader: &mut Reader, node: &Node, platform: &str) -> TriggerKind {
    match platform {
        "state" => state(reader, node),
        "numeric_state" => {
            let Some(entities) = listed(reader, node) else { return unread(platform) };
            let attribute = node.get("attribute").and_then(Node::scalar);
            let (above, below) = bounds(reader, node);
            let template = node.get("value_template").and_then(Node::scalar);
            let lasts = lasts(reader, node);
            TriggerKind::Numeric { entities, attribute, above, below, template, lasts }
        }
        "time" => {
            let at = node.get("at").map(|at| at.items().iter().map(at_time).collect());
            TriggerKind::Time(at.unwrap_or_default())
        }
        "time_pattern" => {
            let part = |key: &str| {
                node.get(key).and_then(Node::scalar).map(|value| format!("{key} {value}"))
            };
            let parts: Vec<String> =
                ["hours", "minutes", "seconds"].iter().filter_map(|k| part(k)).collect();
            TriggerKind::External(format!("the clock is at {}", parts.join(", ")))
        }
        "template" => {
            let template = node.get("value_template").and_then(Node::scalar).unwrap_or_default();
            TriggerKind::Template { template, lasts: lasts(reader, node) }
        }
        "zone" => {
            let Some(entities) = listed(reader, node) else { return unread(platform) };
            let zone = node.get("zone").and_then(Node::scalar).unwrap_or_default();
            let enter = node.get("event").and_then(Node::as_str) != Some("leave");
            TriggerKind::Zone { entities, zone, enter }
        }
        "event" => {
            let types = node.get("event_type").map(texts).unwrap_or_default();
            let data = node.get("event_data").map(|data| {
                let pair = |(k, v): &(Node, Node)| Some((k.scalar()?, v.scalar()?));
                data.entries().iter().filter_map(pair).collect()
            });
            TriggerKind::Event { types, data: data.unwrap_or_default() }
        }
        "sun" => {
            let event = node.get("event").and_then(Node::scalar).unwrap_or_default();
            let offset = node.get("offset").and_then(Node::scalar).filter(|o| o != "0");
            TriggerKind::Sun { event, offset }
        }
        "homeassistant" => {
            let event = node.get("event").and_then(Node::scalar).unwrap_or_default();
            TriggerKind::HomeAssistant { event }
        }
        other => TriggerKind::External(outside(node, other)),
    }
}

fn unread(platform: &str) -> TriggerKind {
    TriggerKind::External(format!("a `{platform}` trigger whose entities are not known"))
}

/// The words of something from outside: the platform, and what tells it from others.
fn outside(node: &Node, platform: &str) -> String {
    let telling = [
        "topic",
        "payload",
        "webhook_id",
        "tag_id",
        "command",
        "device_id",
        "type",
        "subtype",
        "entity_id",
        "event",
        "domain",
    ];
    let part = |key: &&str| {
        let value = node.get(key)?;
        let text = texts(value).join(", ");
        (!text.is_empty()).then(|| format!("{key} {text}"))
    };
    let parts: Vec<String> = telling.iter().filter_map(part).collect();
    format!("{platform}: {}", parts.join(", "))
}

fn listed(reader: &mut Reader, node: &Node) -> Option<Vec<String>> {
    let given = node.get("entity_id");
    let read = given.and_then(entities).filter(|list| !list.is_empty());
    if read.is_none() {
        let place = given.map_or(node.place, |given| given.place);
        reader.unknown(place, "entities of a trigger", "the entities are not known");
    }
    read
}

fn state(reader: &mut Reader, node: &Node) -> TriggerKind {
    let Some(entities) = listed(reader, node) else { return unread("state") };
    let from = matched(reader, node, "from", "not_from");
    let to = matched(reader, node, "to", "not_to");
    let attribute = node.get("attribute").and_then(Node::scalar);
    TriggerKind::State { entities, attribute, from, to, lasts: lasts(reader, node) }
}

fn matched(reader: &mut Reader, node: &Node, key: &str, not_key: &str) -> Match {
    if let Some(given) = node.get(key) {
        if given.is_null() {
            return Match::Any;
        }
        for item in given.items() {
            if let Value::Bool(value) = item.value {
                let word = if value { "on" } else { "off" };
                let text = format!(
                    "YAML reads this word as {}, which no state is: write \"{word}\" in quotes",
                    if value { "true" } else { "false" }
                );
                reader.mistake(item.place, "state that is a boolean", text);
            }
        }
        return Match::In(texts(given));
    }
    match node.get(not_key).filter(|given| !given.is_null()) {
        Some(given) => Match::NotIn(texts(given)),
        None => Match::Unsaid,
    }
}

/// Reads `above` and `below`.
pub(super) fn bounds(reader: &mut Reader, node: &Node) -> (Option<Bound>, Option<Bound>) {
    let mut bound = |key: &str| {
        let given = node.get(key).filter(|given| !given.is_null())?;
        if let Some(value) = number(given) {
            return Some(Bound::Number(value));
        }
        let entity = given.scalar().filter(|text| is_entity(text));
        if entity.is_none() {
            reader.unknown(given.place, "threshold", "this threshold is no number");
        }
        Some(Bound::Entity(entity.unwrap_or_default()))
    };
    (bound("above"), bound("below"))
}

/// Reads a time of day of a trigger or a condition.
pub(super) fn at_time(node: &Node) -> At {
    if let Some(entity) = node.get("entity_id").and_then(Node::scalar) {
        return At::Entity(format!("{entity} with an offset"));
    }
    match &node.value {
        // `07:00:00` without quotes is a number of seconds; what begins with 0 stays a text.
        Value::Int(seconds) => At::Clock(*seconds),
        Value::Text(text) if is_entity(text) => At::Entity(text.clone()),
        Value::Text(text) => clock(text).map_or(At::Unknown, |value| At::Clock(value as i64)),
        _ => At::Unknown,
    }
}
