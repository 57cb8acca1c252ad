//! The tags of Home Assistant that stand for other files.

use super::files::Files;
use crate::place::Severity;
use crate::yaml::{Node, Value};
use std::path::{Path, PathBuf};

/// How deep files may include each other.
const DEPTH_MAX: usize = 20;

/// Replaces the includes of a node. `directory` is that of the file with the node.
pub(super) fn resolve(files: &mut Files, node: Node, directory: &Path, depth: usize) -> Node {
    if let Some(tag) = node.tag.as_deref().filter(|tag| tag.starts_with("include")) {
        let Some(name) = node.as_str() else {
            files.problem(node.place, Severity::Mistake, "include", "an include needs a path");
            return Node { tag: None, value: Value::Null, ..node };
        };
        if depth >= DEPTH_MAX {
            let text = "files include each other too deep";
            files.problem(node.place, Severity::NotUnderstood, "include", text);
            return Node { tag: None, value: Value::Null, ..node };
        }
        let path = directory.join(name);
        let value = included(files, tag, &path, &node, depth + 1);
        return value.unwrap_or(Node { tag: None, value: Value::Null, place: node.place });
    }
    let Node { place, tag, value } = node;
    let value = match value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|i| resolve(files, i, directory, depth)).collect())
        }
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key, resolve(files, value, directory, depth)))
                .collect(),
        ),
        other => other,
    };
    Node { place, tag, value }
}

/// Reads a file with the includes in it.
pub(super) fn file(files: &mut Files, path: &Path, from: &Node, depth: usize) -> Option<Node> {
    let node = files.read(path, from.place)?;
    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
    Some(resolve(files, node, &directory, depth))
}

fn included(files: &mut Files, tag: &str, path: &Path, from: &Node, depth: usize) -> Option<Node> {
    if tag == "include" {
        return file(files, path, from, depth);
    }
    let mut list = Vec::new();
    let mut map: Vec<(Node, Node)> = Vec::new();
    for path in files.below(path, from.place) {
        let Some(node) = file(files, &path, from, depth) else { continue };
        match tag {
            "include_dir_list" => list.push(node),
            "include_dir_merge_list" => {
                if let Value::List(items) = node.value {
                    list.extend(items);
                }
            }
            "include_dir_named" => map.push((Node::text(node.place, stem(&path)), node)),
            "include_dir_merge_named" => {
                for (key, value) in node.entries() {
                    map.retain(|(k, _)| k.value != key.value);
                    map.push((key.clone(), value.clone()));
                }
            }
            other => {
                let text = format!("the tag `!{other}` is unknown");
                files.problem(from.place, Severity::Mistake, "unknown tag", text);
                return None;
            }
        }
    }
    let value = if tag.ends_with("list") { Value::List(list) } else { Value::Map(map) };
    Some(Node { place: from.place, tag: None, value })
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the path of a blueprint.
pub(super) fn blueprint_path(domain: &str, name: &str) -> PathBuf {
    Path::new("blueprints").join(domain).join(name)
}
