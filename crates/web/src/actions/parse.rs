//! Reads `actions.json`.
//!
//! ```json
//! {
//!   "visible": true,
//!   "steps": [
//!     {"click": "#next"},
//!     {"click": {"text": "Save", "nth": 1}},
//!     {"type": {"into": "#name", "text": "ab"}},
//!     {"type": {"into": "role=textbox:Name", "text": "ab", "at_once": true}},
//!     {"press": "Enter"},
//!     {"hover": "text=Help"},
//!     {"scroll": {"by": [0, 200]}},
//!     {"drag": {"from": "#card", "to": "#done"}},
//!     {"upload": {"into": "#file", "files": ["a.png"]}},
//!     {"wait": "#ready"},
//!     {"navigate": "#settings"}
//!   ]
//! }
//! ```
//!
//! A target is a CSS selector, or a text that begins with `text=` or `role=`, or an object with one
//! of `css`, `text` and `role`, and perhaps `nth`. A step can run as soon as its target exists;
//! with `visible` (true by default), as soon as it is visible, and a control that is clicked is not
//! disabled, and a field that takes text is not read-only either. Steps keep their order. Typing is
//! one step a character, since something can happen between two keys, unless `at_once` is given.

use super::step::{Actions, Target, TargetKind, UserStepKind};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// Why a text is no list of steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActionsError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ActionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ActionsError {}

/// The kinds of steps.
const KINDS: &[&str] =
    &["click", "type", "press", "hover", "scroll", "drag", "upload", "wait", "navigate"];

/// A mistake in a step: a word in whose place it is, if it is in one, and what is wrong.
type Mistake = (Option<String>, String);

/// Reads a list of steps.
///
/// # Errors
///
/// Fails if the text is not of the documented form. The error has the line and the column.
pub fn parse_actions(text: &str) -> Result<Actions, ActionsError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let whole = error.to_string();
        let message = whole.split(" at line ").next().unwrap_or_default().to_owned();
        ActionsError { line: error.line().max(1), column: error.column().max(1), message }
    })?;
    let at_start = |message: String| place(text, 0, text.len(), None, message);
    let object = value.as_object();
    let object = object.ok_or_else(|| at_start("expected an object with `steps`".to_owned()))?;
    for key in object.keys() {
        if key != "steps" && key != "visible" {
            let message = format!("unknown key `{key}`; known: `steps`, `visible`");
            return Err(place(text, 0, text.len(), Some(key), message));
        }
    }
    let visible = match object.get("visible") {
        None => true,
        Some(Value::Bool(visible)) => *visible,
        Some(_) => {
            let message = "`visible` is true or false".to_owned();
            return Err(place(text, 0, text.len(), Some("visible"), message));
        }
    };
    let list = object.get("steps").and_then(Value::as_array);
    let list = list.ok_or_else(|| at_start("expected a list `steps`".to_owned()))?;
    let ranges = ranges_of_steps(text);
    let mut steps = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let read = step(entry, visible);
        let (start, end) = ranges.get(index).copied().unwrap_or((0, text.len()));
        let mistake = |(word, message): Mistake| {
            let message = format!("step {}: {message}", index + 1);
            place(text, start, end, word.as_deref(), message)
        };
        steps.extend(read.map_err(mistake)?);
    }
    Ok(Actions::new(steps))
}

/// Reads one entry: one step, or one for each character.
fn step(entry: &Value, visible: bool) -> Result<Vec<(UserStepKind, bool)>, Mistake> {
    let object = entry.as_object().ok_or((None, "expected an object".to_owned()))?;
    let mut visible = visible;
    let mut found = None;
    for (key, value) in object {
        if key == "visible" {
            visible = value.as_bool().ok_or_else(|| wrong(key, "is true or false"))?;
        } else if !KINDS.contains(&key.as_str()) {
            let known = KINDS.join("`, `");
            return Err((Some(key.clone()), format!("unknown step `{key}`; known: `{known}`")));
        } else if found.replace((key.as_str(), value)).is_some() {
            return Err((Some(key.clone()), "two kinds in one step".to_owned()));
        }
    }
    let known = KINDS.join("`, `");
    let (kind, value) = found.ok_or((None, format!("expected one of `{known}`")))?;
    let kinds = match kind {
        "click" => vec![UserStepKind::Click(target(kind, value)?)],
        "hover" => vec![UserStepKind::Hover(target(kind, value)?)],
        "wait" => vec![UserStepKind::Wait(target(kind, value)?)],
        "press" => vec![UserStepKind::Press(key_name(kind, value)?)],
        "navigate" => vec![UserStepKind::Navigate(text(kind, value)?)],
        "type" => typed(kind, value)?,
        "scroll" => {
            let fields = fields(kind, value, &["target", "by"])?;
            let target = fields.get("target").map(|value| target("target", value)).transpose()?;
            let by = fields.get("by").and_then(Value::as_array).map(Vec::as_slice);
            let number = |value: &Value| value.as_i64().and_then(|by| i32::try_from(by).ok());
            let by = match by {
                Some([x, y]) => number(x).zip(number(y)),
                _ => None,
            };
            let by = by.ok_or_else(|| wrong("by", "is a list of two whole numbers of pixels"))?;
            vec![UserStepKind::Scroll { target, by }]
        }
        "drag" => {
            let fields = fields(kind, value, &["from", "to"])?;
            let (from, to) = (needed(fields, kind, "from")?, needed(fields, kind, "to")?);
            vec![UserStepKind::Drag { from: target("from", from)?, to: target("to", to)? }]
        }
        _ => {
            let fields = fields(kind, value, &["into", "files"])?;
            let into = target("into", needed(fields, kind, "into")?)?;
            let list = needed(fields, kind, "files")?.as_array();
            let list = list.ok_or_else(|| wrong("files", "is a list of paths"))?;
            let files: Result<Vec<PathBuf>, Mistake> =
                list.iter().map(|file| text("files", file).map(PathBuf::from)).collect();
            vec![UserStepKind::Upload { into, files: files? }]
        }
    };
    Ok(kinds.into_iter().map(|kind| (kind, visible)).collect())
}

fn typed(kind: &str, value: &Value) -> Result<Vec<UserStepKind>, Mistake> {
    let fields = fields(kind, value, &["into", "text", "at_once"])?;
    let into = target("into", needed(fields, kind, "into")?)?;
    let text = text("text", needed(fields, kind, "text")?)?;
    let at_once = match fields.get("at_once") {
        None => false,
        Some(value) => value.as_bool().ok_or_else(|| wrong("at_once", "is true or false"))?,
    };
    if at_once {
        return Ok(vec![UserStepKind::Type { into, text }]);
    }
    let one =
        |character: char| UserStepKind::Type { into: into.clone(), text: character.to_string() };
    Ok(text.chars().map(one).collect())
}

fn wrong(key: &str, how: &str) -> Mistake {
    (Some(key.to_owned()), format!("`{key}` {how}"))
}

fn text(key: &str, value: &Value) -> Result<String, Mistake> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "is a text"))
}

fn key_name(key: &str, value: &Value) -> Result<String, Mistake> {
    let name = text(key, value)?;
    match crate::page::input::key_of(&name) {
        Some(_) => Ok(name),
        None => Err(wrong(key, "names no key; examples: `Enter`, `a`, `Control+a`, `ArrowDown`")),
    }
}

type Fields = serde_json::Map<String, Value>;

fn fields<'v>(kind: &str, value: &'v Value, known: &[&str]) -> Result<&'v Fields, Mistake> {
    let list = known.join("`, `");
    let object = value.as_object().ok_or_else(|| wrong(kind, &format!("has the keys `{list}`")))?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            Err((Some(key.clone()), format!("unknown key `{key}` of `{kind}`; known: `{list}`")))
        }
        None => Ok(object),
    }
}

fn needed<'v>(fields: &'v Fields, kind: &str, key: &str) -> Result<&'v Value, Mistake> {
    fields.get(key).ok_or_else(|| wrong(kind, &format!("needs `{key}`")))
}

fn target(key: &str, value: &Value) -> Result<Target, Mistake> {
    let checked = |kind, text: &str, nth| match text.trim() {
        "" => Err(wrong(key, "names no element")),
        text => Ok(Target { kind, text: text.to_owned(), nth }),
    };
    if let Some(text) = value.as_str() {
        return match text.split_once('=') {
            Some(("text", rest)) => checked(TargetKind::Text, rest, 0),
            Some(("role", rest)) => checked(TargetKind::Role, rest, 0),
            _ => checked(TargetKind::Css, text, 0),
        };
    }
    let fields = fields(key, value, &["css", "text", "role", "nth"])?;
    let nth = match fields.get("nth") {
        None => 0,
        Some(value) => value
            .as_u64()
            .and_then(|nth| u32::try_from(nth).ok())
            .ok_or_else(|| wrong("nth", "is a number from 0"))?,
    };
    let kinds = [TargetKind::Css, TargetKind::Text, TargetKind::Role];
    let mut given = kinds.iter().filter_map(|kind| Some((*kind, fields.get(kind.word())?)));
    match (given.next(), given.next()) {
        (Some((kind, value)), None) => checked(kind, &text(kind.word(), value)?, nth),
        _ => Err(wrong(key, "has exactly one of `css`, `text`, `role`")),
    }
}

/// Returns the place of a word between two offsets, or of the first offset.
fn place(
    text: &str,
    start: usize,
    end: usize,
    word: Option<&str>,
    message: String,
) -> ActionsError {
    let range = text.get(start..end).unwrap_or_default();
    let quoted = word.map(|word| Value::from(word).to_string());
    let inner = quoted.and_then(|quoted| range.find(&quoted)).unwrap_or(0);
    let before = text.get(..start + inner).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ActionsError { line, column, message }
}

/// Returns the byte ranges of the entries of the list `steps`, of a text that is valid JSON.
/// Linear.
fn ranges_of_steps(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let (mut depth, mut start) = (0usize, None);
    let mut key = String::new();
    let mut in_steps = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let mut end = at + 1;
                while let Some((inner, byte)) = bytes.next() {
                    end = inner;
                    match byte {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
                if depth == 1 {
                    key = text.get(at + 1..end).unwrap_or_default().to_owned();
                } else if depth == 2 && in_steps {
                    start = start.or(Some(at));
                }
            }
            b'[' | b'{' => {
                if depth == 1 {
                    in_steps = byte == b'[' && key == "steps";
                } else if depth == 2 && in_steps {
                    start = start.or(Some(at));
                }
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 1 && in_steps {
                    ranges.extend(start.take().map(|start| (start, at)));
                    in_steps = false;
                }
            }
            b',' if depth == 2 && in_steps => {
                ranges.extend(start.take().map(|start| (start, at)));
            }
            byte if depth == 2 && in_steps && !byte.is_ascii_whitespace() => {
                start = start.or(Some(at));
            }
            _ => {}
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let actions = parse_actions(text).unwrap();
        actions.steps().iter().map(|step| step.name.to_string()).collect()
    }

    #[test]
    fn every_step_is_read() {
        let text = r##"{"steps": [
            {"click": "#next"}, {"click": "#next", "visible": false},
            {"click": {"text": "Save", "nth": 1}},
            {"type": {"into": "#q", "text": "aa"}},
            {"type": {"into": "role=textbox:Name", "text": "ab", "at_once": true}},
            {"press": "Control+a"}, {"hover": "text=Help"}, {"scroll": {"by": [0, 200]}},
            {"drag": {"from": "#a", "to": "#b"}}, {"upload": {"into": "#f", "files": ["x.png"]}},
            {"wait": "#ready"}, {"navigate": "#settings"}
        ]}"##;
        let expected = [
            "click@%23next",
            "click@%23next#1",
            "click@text=Save[1]",
            "type@%23q%20a",
            "type@%23q%20a#1",
            "type@role=textbox:Name%20ab",
            "press@Control+a",
            "hover@text=Help",
            "scroll",
            "drag@%23a%20%23b",
            "upload@%23f",
            "wait@%23ready",
            "navigate@%23settings",
        ];
        assert_eq!(names(text), expected);
        let actions = parse_actions(text).unwrap();
        let visible: Vec<bool> = actions.steps().iter().take(3).map(|step| step.visible).collect();
        assert_eq!(visible, [true, false, true]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let cases = [
            ("{", "1:1: EOF while parsing an object"),
            ("[]", "1:1: expected an object with `steps`"),
            ("{\"steps\": 3}", "1:1: expected a list `steps`"),
            ("{\n \"step\": []}", "2:2: unknown key `step`; known: `steps`, `visible`"),
            ("{\"steps\": [{}, 3]}", "1:12: step 1: expected one of `click`"),
            (
                "{\"steps\": [\n  {\"click\": \"a\"},\n  {\"clik\": \"b\"}]}",
                "3:4: step 2: unknown step `clik`",
            ),
            (
                "{\"steps\": [{\"type\": {\"into\": \"a\",\n\"txt\": \"b\"}}]}",
                "2:1: step 1: unknown key `txt` of `type`",
            ),
            ("{\"steps\": [{\"type\": {\"into\": \"a\"}}]}", "1:13: step 1: `type` needs `text`"),
            ("{\"steps\": [{\"press\": \"Foo\"}]}", "1:13: step 1: `press` names no key"),
            ("{\"steps\": [{\"click\": \"\"}]}", "1:13: step 1: `click` names no element"),
            (
                "{\"steps\": [{\"click\": {\"nth\": 1}}]}",
                "1:13: step 1: `click` has exactly one of",
            ),
            ("{\"steps\": [{\"scroll\": {\"by\": [1]}}]}", "1:24: step 1: `by` is a list of two"),
        ];
        for (text, expected) in cases {
            let error = parse_actions(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_entries() {
        let text = r#"{"a": [1, {"steps": [9]}], "steps": [ {"x": "],{"} , 3,"y" ]}"#;
        let ranges = ranges_of_steps(text);
        let shown: Vec<&str> = ranges.iter().map(|(from, to)| text[*from..*to].trim()).collect();
        assert_eq!(shown, [r#"{"x": "],{"}"#, "3", "\"y\""]);
        assert_eq!(ranges_of_steps(r#"{"steps": []}"#), []);
    }
}
