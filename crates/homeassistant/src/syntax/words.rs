//! Durations, times of day, numbers and names of entities.

use crate::yaml::{Node, Value};

/// How long something lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duration {
    /// So many milliseconds.
    Known(i64),
    /// A template decides.
    Unknown,
}

/// A bound of a comparison of numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// A number.
    Number(f64),
    /// The state of another entity.
    Entity(String),
}

/// Reads a duration: seconds, `HH:MM[:SS]`, or a mapping with `hours`, `minutes` and so on.
pub(super) fn duration(node: &Node) -> Option<Duration> {
    if node.has_template() || node.tag.is_some() {
        return Some(Duration::Unknown);
    }
    let millis = |seconds: f64| Duration::Known((seconds * 1000.0).round() as i64);
    Some(match &node.value {
        Value::Int(seconds) => millis(*seconds as f64),
        Value::Float(seconds) => millis(*seconds),
        Value::Text(text) => millis(clock(text).or_else(|| text.trim().parse().ok())?),
        Value::Map(entries) => {
            let mut sum = 0.0;
            for (key, value) in entries {
                let factor = match key.as_str()? {
                    "days" => 86_400.0,
                    "hours" => 3600.0,
                    "minutes" => 60.0,
                    "seconds" => 1.0,
                    "milliseconds" => 0.001,
                    _ => return None,
                };
                sum += factor * number(value)?;
            }
            millis(sum)
        }
        _ => return None,
    })
}

/// Reads `HH:MM` or `HH:MM:SS` as seconds.
pub(super) fn clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.trim().split(':').collect();
    let part = |at: usize| parts.get(at).map_or(Some(0.0), |part| part.parse::<f64>().ok());
    let valid = matches!(parts.len(), 2 | 3);
    let (hours, minutes, seconds) = (part(0)?, part(1)?, part(2)?);
    (valid && minutes < 60.0 && seconds < 60.0).then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Reads a number, also from a text.
pub(crate) fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Text(text) => text.trim().parse().ok().filter(|v: &f64| v.is_finite()),
        _ => None,
    }
}

/// Returns whether a text is the name of an entity: `light.kitchen`.
pub(crate) fn is_entity(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    text.split_once('.').is_some_and(|(domain, object)| {
        word(domain) && word(object) && !domain.as_bytes()[0].is_ascii_digit()
    })
}

/// Returns the names of entities of a node: a list, one, or several with commas. `None` if one of
/// them is a template or no name.
pub(crate) fn entities(node: &Node) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for item in node.items() {
        let text = item.as_str().filter(|_| item.tag.is_none())?;
        for name in text.split(',') {
            let name = name.trim().to_lowercase();
            if !is_entity(&name) {
                return None;
            }
            found.push(name);
        }
    }
    Some(found)
}

/// Returns the texts of a list or of one.
pub(super) fn texts(node: &Node) -> Vec<String> {
    node.items().iter().filter_map(Node::scalar).collect()
}

/// Returns the name that Home Assistant makes of a text: lower case, `_` for all else.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_matches('_').to_owned()
}

/// Returns a number in the shortest form.
pub(crate) fn shown(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{}", value as i64)
    } else {
        value.to_string()
    }
}
