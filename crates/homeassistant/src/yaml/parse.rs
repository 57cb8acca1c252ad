//! From a text to nodes, through the events of a YAML parser.

use super::node::{Node, Value};
use super::scalar::plain;
use crate::place::{Place, Problem, Severity};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum size of one file in bytes.
pub const YAML_BYTES_MAX: usize = 1 << 24;

/// The maximum number of nodes of one file, with those that aliases repeat.
const NODES_MAX: usize = 1_000_000;

/// How deep nodes may nest.
const DEPTH_MAX: usize = 100;

/// Parses the first document of a text. A text without a document is null. `file` is the number of
/// the file in places. Linear in the text and what its aliases repeat.
///
/// # Errors
///
/// Fails with the place of the first mistake.
pub fn parse(text: &str, file: u16) -> Result<(Node, Vec<Problem>), Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        file,
        anchors: BTreeMap::new(),
        problems: Vec::new(),
        nodes: 0,
    };
    loop {
        let (event, place) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd | Event::DocumentEnd => return Ok((Node::default(), Vec::new())),
            event => {
                let node = reader.node(event, place, 0)?;
                return Ok((node, reader.problems));
            }
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    file: u16,
    anchors: BTreeMap<usize, Node>,
    problems: Vec<Problem>,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn place(&self, mark: Marker) -> Place {
        let part = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Place { file: self.file, line: part(mark.line()), column: part(mark.col() + 1) }
    }

    fn next(&mut self) -> Result<(Event<'t>, Place), Problem> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, self.place(span.start))),
            Some(Err(error)) => {
                let place = self.place(*error.marker());
                let text = format!("not YAML: {}", error.info());
                Err(Problem::new(place, Severity::NotUnderstood, "file that is not YAML", text))
            }
            None => Ok((Event::StreamEnd, Place::default())),
        }
    }

    fn too_much(&self, place: Place, what: &str) -> Problem {
        Problem::new(place, Severity::NotUnderstood, "file that is too large", what.to_owned())
    }

    fn node(&mut self, event: Event<'t>, place: Place, depth: usize) -> Result<Node, Problem> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(self.too_much(place, "too many nodes"));
        }
        if depth > DEPTH_MAX {
            return Err(self.too_much(place, "nodes nest too deep"));
        }
        let (anchor, node) = match event {
            Event::Alias(id) => {
                let node = self.anchors.get(&id).cloned().unwrap_or_default();
                self.nodes += count(&node);
                return Ok(node);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let quoted = style != ScalarStyle::Plain;
                (anchor, scalar(&text, quoted, tag.as_deref(), place))
            }
            Event::SequenceStart(anchor, tag) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, place) => items.push(self.node(event, place, depth + 1)?),
                    }
                }
                (anchor, Node { place, tag: own_tag(tag.as_ref()), value: Value::List(items) })
            }
            Event::MappingStart(anchor, tag) => {
                let value = Value::Map(self.entries(depth)?);
                (anchor, Node { place, tag: own_tag(tag.as_ref()), value })
            }
            _ => (0, Node { place, ..Node::default() }),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(Node, Node)>, Problem> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut merged: Vec<(Node, Node)> = Vec::new();
        loop {
            let (event, place) = self.next()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                break;
            }
            let key = self.node(event, place, depth + 1)?;
            let (event, place) = self.next()?;
            let value = self.node(event, place, depth + 1)?;
            if key.as_str() == Some("<<") {
                // Of several merged mappings the first one wins, and own keys win over all.
                for source in value.items() {
                    merged.extend(source.entries().iter().cloned());
                }
            } else if let Some(known) = entries.iter_mut().find(|(k, _)| k.value == key.value) {
                let text = format!("the key `{}` is here twice; the last one counts", shown(&key));
                let place = key.place;
                self.problems.push(Problem::new(place, Severity::Note, "duplicate key", text));
                known.1 = value;
            } else {
                entries.push((key, value));
            }
        }
        for (key, value) in merged {
            if entries.iter().all(|(k, _)| k.value != key.value) {
                entries.push((key, value));
            }
        }
        Ok(entries)
    }
}

fn shown(key: &Node) -> String {
    key.scalar().unwrap_or_else(|| "...".to_owned())
}

fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(k, v)| count(k) + count(v)).sum(),
        _ => 0,
    }
}

/// The tag of Home Assistant: local ones only.
fn own_tag(tag: Option<&Cow<'_, Tag>>) -> Option<String> {
    tag.filter(|tag| tag.handle == "!").map(|tag| tag.suffix.clone())
}

fn scalar(text: &str, quoted: bool, tag: Option<&Tag>, place: Place) -> Node {
    let own = tag.filter(|tag| tag.handle == "!").map(|tag| tag.suffix.clone());
    let core = tag.filter(|tag| tag.handle != "!").map(|tag| tag.suffix.as_str());
    let value = match core {
        Some("str") => Value::Text(text.to_owned()),
        Some(_) => plain(text),
        None if quoted || own.is_some() => Value::Text(text.to_owned()),
        None => plain(text),
    };
    Node { place, tag: own, value }
}
