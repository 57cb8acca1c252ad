//! Blueprints: inputs are put in their places before anything else is read.

use super::files::Files;
use super::include::{blueprint_path, file};
use crate::place::Severity;
use crate::yaml::{Node, Value};

/// Returns an automation or script with its blueprint filled in. `None` if that cannot be done,
/// which is then among the problems.
pub(super) fn instantiate(files: &mut Files, domain: &str, node: Node) -> Option<Node> {
    let Some(used) = node.get("use_blueprint") else { return Some(node) };
    let Some(name) = used.get("path").and_then(Node::as_str) else {
        files.problem(used.place, Severity::Mistake, "blueprint", "a blueprint needs a `path`");
        return None;
    };
    let path = blueprint_path(domain, name);
    if !files.exists(&path) {
        let text = format!("the blueprint `{name}` is not in `blueprints/{domain}`");
        files.problem(used.place, Severity::NotUnderstood, "missing blueprint", text);
        return None;
    }
    let mut inputs: Vec<(String, Node)> = Vec::new();
    if let Some(given) = used.get("input") {
        for (key, value) in given.entries() {
            inputs.extend(key.scalar().map(|key| (key, value.clone())));
        }
    }
    let blueprint = file(files, &path, used, 0)?;
    if let Some(declared) = blueprint.get("blueprint").and_then(|b| b.get("input")) {
        defaults(declared, &mut inputs);
    }
    let mut entries: Vec<(Node, Node)> = Vec::new();
    for (key, value) in blueprint.entries() {
        if key.as_str() != Some("blueprint") {
            entries.push((key.clone(), fill(files, value, &inputs)));
        }
    }
    for (key, value) in node.entries() {
        if key.as_str() != Some("use_blueprint") {
            entries.retain(|(k, _)| k.value != key.value);
            entries.push((key.clone(), value.clone()));
        }
    }
    Some(Node { place: node.place, tag: None, value: Value::Map(entries) })
}

/// Adds the defaults of inputs that were not given; sections of inputs have inputs inside.
fn defaults(declared: &Node, inputs: &mut Vec<(String, Node)>) {
    for (key, value) in declared.entries() {
        if let Some(section) = value.get("input") {
            defaults(section, inputs);
        } else if let (Some(name), Some(default)) = (key.scalar(), value.get("default"))
            && inputs.iter().all(|(known, _)| *known != name)
        {
            inputs.push((name, default.clone()));
        }
    }
}

/// Replaces `!input NAME`.
fn fill(files: &mut Files, node: &Node, inputs: &[(String, Node)]) -> Node {
    if node.tag.as_deref() == Some("input") {
        let name = node.scalar().unwrap_or_default();
        if let Some((_, value)) = inputs.iter().find(|(known, _)| *known == name) {
            return value.clone();
        }
        let text = format!("the input `{name}` has no value");
        files.problem(node.place, Severity::Mistake, "blueprint", text);
        return Node { place: node.place, ..Node::default() };
    }
    let value = match &node.value {
        Value::List(items) => Value::List(items.iter().map(|i| fill(files, i, inputs)).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(k, v)| (k.clone(), fill(files, v, inputs))).collect())
        }
        other => other.clone(),
    };
    Node { place: node.place, tag: node.tag.clone(), value }
}
