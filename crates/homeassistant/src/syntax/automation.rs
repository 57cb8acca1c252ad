//! Automations and scripts.

use super::action::{Action, sequence};
use super::condition::{Condition, conditions};
use super::reader::Reader;
use super::trigger::{Trigger, triggers};
use super::words::{number, slug};
use crate::place::Place;
use crate::yaml::{Node, Value};

/// What happens if a run is started while another one lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// It is refused.
    #[default]
    Single,
    /// The other one is ended.
    Restart,
    /// It waits.
    Queued,
    /// Both run.
    Parallel,
}

/// An automation, or a script (which has no triggers).
#[derive(Clone, PartialEq, Debug)]
pub struct Automation {
    /// Its entity: `automation.hall_light`, `script.good_night`.
    pub entity: String,
    /// What people call it.
    pub alias: String,
    /// Where it begins.
    pub place: Place,
    /// What happens to a second run.
    pub mode: Mode,
    /// The most runs that live or wait at once.
    pub max: u32,
    /// Whether it is on at the start.
    pub enabled: bool,
    /// What starts it.
    pub triggers: Vec<Trigger>,
    /// What must hold then.
    pub conditions: Vec<Condition>,
    /// What it does.
    pub actions: Vec<Action>,
    /// Variables that are set before the conditions.
    pub variables: Vec<(String, Node)>,
}

impl Automation {
    /// Returns whether it is a script.
    #[must_use]
    pub fn is_script(&self) -> bool {
        self.entity.starts_with("script.")
    }
}

/// Reads an automation. `number` is its position, for one without a name.
pub(super) fn automation(reader: &mut Reader, node: &Node, number: usize) -> Automation {
    let alias = node.get("alias").and_then(Node::scalar);
    let id = node.get("id").and_then(Node::scalar);
    let name = alias.clone().or(id).unwrap_or_else(|| format!("automation {number}"));
    let mut found = body(reader, node, format!("automation.{}", slug(&name)), name);
    found.triggers = node
        .first_of(&["triggers", "trigger"])
        .map(|given| triggers(reader, given))
        .unwrap_or_default();
    found.conditions = node
        .first_of(&["conditions", "condition"])
        .map(|given| conditions(reader, given))
        .unwrap_or_default();
    let actions = node.first_of(&["actions", "action"]);
    found.actions = actions.map(|given| sequence(reader, given)).unwrap_or_default();
    if node.first_of(&["triggers", "trigger"]).is_none() {
        reader.mistake(node.place, "automation without triggers", "it has no trigger");
    }
    if actions.is_none() {
        reader.mistake(node.place, "automation without actions", "it has no action");
    }
    found
}

/// Reads a script.
pub(super) fn script(reader: &mut Reader, name: &str, node: &Node) -> Automation {
    let alias = node.get("alias").and_then(Node::scalar).unwrap_or_else(|| name.to_owned());
    let mut found = body(reader, node, format!("script.{name}"), alias);
    found.actions = node.get("sequence").map(|given| sequence(reader, given)).unwrap_or_default();
    found
}

fn body(reader: &mut Reader, node: &Node, entity: String, alias: String) -> Automation {
    let mode = match node.get("mode").and_then(Node::as_str) {
        None | Some("single") => Mode::Single,
        Some("restart") => Mode::Restart,
        Some("queued") => Mode::Queued,
        Some("parallel") => Mode::Parallel,
        Some(other) => {
            let text = format!("`{other}` is no mode");
            reader.mistake(node.place, "mode", text);
            Mode::Single
        }
    };
    let max = node.get("max").and_then(number).filter(|max| *max >= 1.0).unwrap_or(10.0) as u32;
    let mut variables = Vec::new();
    for key in ["trigger_variables", "variables"] {
        for (name, value) in node.get(key).map(Node::entries).unwrap_or_default() {
            variables.extend(name.scalar().map(|name| (name, value.clone())));
        }
    }
    let enabled = node.get("initial_state").is_none_or(|state| state.value != Value::Bool(false));
    Automation {
        entity,
        alias,
        place: node.place,
        mode,
        max,
        enabled,
        triggers: Vec::new(),
        conditions: Vec::new(),
        actions: Vec::new(),
        variables,
    }
}
