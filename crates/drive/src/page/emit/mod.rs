//! Writes a test in JavaScript that forces both orders of a finding, and fails while they end
//! differently.
//!
//! The test is one file. It has the steps of the user, both orders, and the recorded responses of
//! requests for data; documents, scripts and styles come from the site, so that a repair of the
//! page makes the test pass. Nothing of the finding is code in it: all texts are in one JSON value.

use super::saved::SavedPage;
use crate::Failure;
use crate::failure::Unusable;
use crate::schedules::{Shows, Stored, reference_of};
use anyorder_system::{Schedule, TaskName};
use anyorder_web::{PageOptions, Target, UserStep, UserStepKind, origin_of, write_given};
use serde_json::{Value, json};
use std::path::Path;

const ORDER: &str = include_str!("order.js");
const DEVTOOLS: &str = include_str!("devtools.js");
const PLAYWRIGHT: &str = include_str!("playwright.js");

/// What a test is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestKind {
    /// The test runner of Playwright.
    Playwright,
    /// Node and a Chromium, and nothing else.
    DevTools,
}

/// Kinds of events that a test does not hold back, so that it cannot force their order.
const FREE: &[&str] = &[
    "message",
    "broadcast",
    "worker",
    "socket",
    "stream",
    "posted",
    "database",
    "animation",
    "parse",
    "leave",
];

/// Returns the text of a test for a finding. `folder` is the folder of the site, if it is in one;
/// else the test asks the page's server. `path` names the finding in failures.
///
/// # Errors
///
/// Fails if the finding compares no two runs, or if its pair has events that a test does not force.
pub fn write_test(
    path: &Path,
    page: &SavedPage,
    stored: &Stored,
    kind: TestKind,
    folder: Option<&Path>,
) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::input(path, Unusable::Page(why.to_owned()));
    let schedule = &stored.schedule;
    let Some(Shows::Difference(parts)) = Shows::of(schedule) else {
        return Err(wrong(
            "a test can be written for a finding that compares two orders; this one is a failure in \
             one of them, which `anyorder replay` shows",
        ));
    };
    let reference = reference_of(schedule);
    let reference = reference.ok_or_else(|| wrong("the schedule has no order to compare with"))?;
    // Only where they are reversed does their place matter.
    let is_free = |task: &TaskName| FREE.contains(&task.segment().kind.as_str());
    if let Some(task) = moved(&reference, schedule).into_iter().find(is_free) {
        return Err(wrong(&format!(
            "a test does not force the order of `{}` events",
            task.segment().kind
        )));
    }
    let parts: Vec<[String; 2]> = parts.iter().filter_map(|part| part_of(part)).collect();
    let mut seen: Vec<&[String; 2]> = parts.iter().filter(|part| is_compared(part)).collect();
    // The elements differ wherever the text does, and say less.
    let is_markup = |part: &[String; 2]| part[0] == "page" && part[1] == "html";
    if seen.iter().any(|part| !is_markup(part)) {
        seen.retain(|part| !is_markup(part));
    }
    if seen.is_empty() {
        return Err(wrong("the two orders differ only in what a test does not compare: pixels"));
    }
    let options = PageOptions::default();
    let steps = page.settings.actions.steps();
    let data = json!({
        "title": page.title.as_deref().unwrap_or("both orders end alike"),
        "url": page.url, "epoch": options.epoch_ms, "size": [options.size.0, options.size.1],
        "orders": [order(&reference), order(schedule)],
        "steps": steps.iter().filter_map(step).collect::<Vec<Value>>(),
        "parts": seen,
        "replies": replies(page),
    });
    let data = serde_json::to_string_pretty(&data).map_err(|error| wrong(&error.to_string()))?;
    let site = folder.map(|folder| folder.to_string_lossy().into_owned());
    let site = json!(site).to_string();
    Ok(text(kind, &data, &site))
}

/// Returns the tasks whose places differ in two schedules: those that are not in the common
/// beginning and end.
fn moved(before: &Schedule, after: &Schedule) -> Vec<TaskName> {
    let (a, b) = (&before.choices, &after.choices);
    let start = a.iter().zip(b).take_while(|(a, b)| a.task == b.task).count();
    let ends = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a.task == b.task).count();
    let middle = &b[start..b.len() - end];
    // The pair is at the ends of what was moved.
    middle.first().into_iter().chain(middle.last()).map(|choice| choice.task.clone()).collect()
}

fn text(kind: TestKind, data: &str, site: &str) -> String {
    let (imports, run, driver) = match kind {
        TestKind::Playwright => (
            "import { expect, test } from '@playwright/test';\n",
            "npx playwright test",
            PLAYWRIGHT,
        ),
        TestKind::DevTools => (
            "import { spawn } from 'node:child_process';\n\
             import { mkdtempSync, rmSync } from 'node:fs';\n\
             import { tmpdir } from 'node:os';\n\
             import { delimiter, join } from 'node:path';\n",
            "node",
            DEVTOOLS,
        ),
    };
    format!(
        "// A regression test that anyorder wrote for one finding: DATA.title says what.\n\
         // It forces two orders of the page's events, and fails while they end differently.\n\
         //\n\
         // Run it: {run} FILE\n\
         // SITE=folder   has documents, scripts and styles of the page in this folder\n\
         // SITE=         asks the server at DATA.url for them\n\
         {imports}\
         import {{ existsSync, readFileSync }} from 'node:fs';\n\
         import {{ extname, resolve }} from 'node:path';\n\n\
         const SITE = process.env.SITE ?? {site};\n\
         const DATA = {data};\n\n{ORDER}\n{driver}"
    )
}

/// Returns the events of a schedule, as their names without escapes.
fn order(schedule: &Schedule) -> Value {
    let one = |choice: &anyorder_system::Choice| json!({"path": path(&choice.task), "alternative": choice.alternative});
    schedule.choices.iter().map(one).collect()
}

/// Returns the segments of a name, the first event first.
fn path(task: &TaskName) -> Value {
    let mut segments = Vec::new();
    let mut at = Some(task);
    while let Some(task) = at {
        let segment = task.segment();
        segments.push(json!([segment.kind, segment.label, segment.ordinal]));
        at = task.creator();
    }
    segments.reverse();
    Value::from(segments)
}

/// Returns a step of the user; `None` for an upload or a drag, which a test skips.
fn step(step: &UserStep) -> Option<Value> {
    let target = |target: &Target| {
        json!({
            "kind": target.kind.word(), "text": target.text, "nth": target.nth,
            "visible": step.visible,
        })
    };
    let mut value = match &step.kind {
        UserStepKind::Click(on) => json!({"do": "click", "target": target(on)}),
        UserStepKind::Type { into, text } => {
            json!({"do": "type", "target": target(into), "text": text})
        }
        UserStepKind::Press(key) => json!({"do": "press", "text": key}),
        UserStepKind::Hover(over) => json!({"do": "hover", "target": target(over)}),
        UserStepKind::Scroll { by: (x, y), .. } => json!({"do": "scroll", "by": [x, y]}),
        UserStepKind::Wait(on) => json!({"do": "wait", "target": target(on)}),
        UserStepKind::Navigate(url) => json!({"do": "navigate", "text": url}),
        UserStepKind::Drag { .. } | UserStepKind::Upload { .. } => return None,
    };
    value["path"] = path(&step.name);
    Some(value)
}

/// Returns the responses to requests for data.
fn replies(page: &SavedPage) -> Value {
    let is_data = |event: &str| {
        let task: Option<TaskName> = event.parse().ok();
        let kind = task.map(|task| task.segment().kind.clone()).unwrap_or_default();
        ["fetch", "beacon", "request"].contains(&kind.as_str())
    };
    let data = page.responses.iter().filter(|given| is_data(&given.event)).cloned();
    let mut data: Vec<_> = data.collect();
    data.iter_mut().for_each(|given| given.response.allow(origin_of(&page.url)));
    let mut list = write_given(&data);
    for one in list.as_array_mut().into_iter().flatten() {
        // The test knows what a request sends, not its hash.
        if let Some(one) = one.as_object_mut() {
            one.remove("sent");
            one.remove("event");
        }
    }
    list
}

/// Splits the path of a part into its group and its name.
fn part_of(text: &str) -> Option<[String; 2]> {
    let (group, name) = text.split_once('/')?;
    let plain = |text: &str| text.replace("~1", "/").replace("~0", "~");
    Some([plain(group), plain(name)])
}

/// Whether a test compares a part.
fn is_compared([group, name]: &[String; 2]) -> bool {
    match group.as_str() {
        "page" => ["text", "title", "url", "html"].contains(&name.as_str()),
        "fields" | "local" | "session" | "requests" | "errors" | "console" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_their_names_again() {
        let part = part_of("requests/POST http:~1~1a~1order~0");
        assert_eq!(part, Some(["requests".to_owned(), "POST http://a/order~".to_owned()]));
        assert!(!is_compared(&["page".to_owned(), "pixels".to_owned()]));
        assert_eq!(part_of("page"), None);
    }

    #[test]
    fn names_lose_their_escapes() {
        let task: TaskName = "type@%23q%20a/fetch@%2Fs?q=a#1".parse().expect("a name");
        assert_eq!(path(&task), json!([["type", "#q a", 0], ["fetch", "/s?q=a", 1]]));
    }
}
