//! Writes `actions.json`.

use super::step::{Actions, Target, TargetKind, UserStepKind};
use serde_json::{Value, json};

/// Returns the steps as the text of an `actions.json`, one entry a line. [`parse_actions`] reads
/// the same steps from it: characters that are typed one by one into one element become one entry.
///
/// [`parse_actions`]: super::parse_actions
#[must_use]
pub fn write_actions(actions: &Actions) -> String {
    let mut entries: Vec<(Value, bool)> = Vec::new();
    // The element and the characters of the entry that may get more of them.
    let mut typing: Option<(Target, bool, String)> = None;
    for step in actions.steps() {
        if let UserStepKind::Type { into, text } = &step.kind
            && text.chars().count() == 1
        {
            match &mut typing {
                Some((target, visible, typed)) if target == into && *visible == step.visible => {
                    typed.push_str(text);
                    entries.pop();
                }
                _ => typing = Some((into.clone(), step.visible, text.clone())),
            }
            let typed = typing.as_ref().map_or("", |(_, _, typed)| typed);
            let entry = json!({"type": {"into": target(into), "text": typed}});
            entries.push((entry, step.visible));
        } else {
            typing = None;
            entries.push((entry(&step.kind), step.visible));
        }
    }
    let line = |(entry, visible): &(Value, bool)| {
        let mut entry = entry.clone();
        if !visible {
            entry["visible"] = Value::from(false);
        }
        format!("    {entry}")
    };
    let lines: Vec<String> = entries.iter().map(line).collect();
    match lines.is_empty() {
        true => "{\"steps\": []}\n".to_owned(),
        false => format!("{{\n  \"steps\": [\n{}\n  ]\n}}\n", lines.join(",\n")),
    }
}

/// Returns the entry of one step.
fn entry(kind: &UserStepKind) -> Value {
    match kind {
        UserStepKind::Click(to) => json!({"click": target(to)}),
        UserStepKind::Type { into, text } => {
            json!({"type": {"into": target(into), "text": text, "at_once": true}})
        }
        UserStepKind::Press(key) => json!({"press": key}),
        UserStepKind::Hover(over) => json!({"hover": target(over)}),
        UserStepKind::Scroll { target: Some(on), by: (x, y) } => {
            json!({"scroll": {"target": target(on), "by": [x, y]}})
        }
        UserStepKind::Scroll { target: None, by: (x, y) } => json!({"scroll": {"by": [x, y]}}),
        UserStepKind::Drag { from, to } => {
            json!({"drag": {"from": target(from), "to": target(to)}})
        }
        UserStepKind::Upload { into, files } => {
            json!({"upload": {"into": target(into), "files": files}})
        }
        UserStepKind::Wait(on) => json!({"wait": target(on)}),
        UserStepKind::Navigate(url) => json!({"navigate": url}),
    }
}

/// Returns a target in its shortest form.
fn target(target: &Target) -> Value {
    let Target { kind, text, nth } = target;
    let reads_as_other = ["text=", "role="].iter().any(|start| text.starts_with(start));
    match kind {
        TargetKind::Css if *nth == 0 && !reads_as_other => json!(text),
        TargetKind::Css => json!({"css": text, "nth": nth}),
        kind if *nth == 0 => json!(format!("{}={text}", kind.word())),
        kind => json!({kind.word(): text, "nth": nth}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_actions;

    #[test]
    fn what_is_written_is_read_again() {
        let text = r##"{"steps": [
            {"click": "#next"}, {"click": "#next", "visible": false},
            {"click": {"text": "Save", "nth": 1}}, {"click": {"css": "text=x"}},
            {"click": "text=\"a\" \\ b"}, {"type": {"into": "#q", "text": "aa"}},
            {"type": {"into": "#q", "text": "b", "at_once": true}},
            {"type": {"into": "role=textbox:Name", "text": "ab", "at_once": true}},
            {"type": {"into": "#r", "text": "é\n"}, "visible": false},
            {"press": "Control+a"}, {"hover": "text=Help"}, {"scroll": {"by": [0, 200]}},
            {"scroll": {"target": "#list", "by": [-3, 0]}},
            {"drag": {"from": "#a", "to": "#b"}}, {"upload": {"into": "#f", "files": ["x.png"]}},
            {"wait": "#ready"}, {"navigate": "#settings"}
        ]}"##;
        let actions = parse_actions(text).unwrap();
        let written = write_actions(&actions);
        assert_eq!(parse_actions(&written).unwrap(), actions, "{written}");
        assert!(written.contains(r##"{"type":{"into":"#q","text":"aab"}}"##), "{written}");
        assert_eq!(parse_actions(&write_actions(&Actions::default())), Ok(Actions::default()));
    }
}
