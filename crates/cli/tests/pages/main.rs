//! `anyorder check` and `anyorder replay` of web pages, with a real browser.

#![expect(clippy::print_stdout, reason = "reports what was skipped")]

mod ends;
mod files;
mod shown;
mod user;

use crate::common::{Ran, command, folder, ran};
use anyorder_testkit::effort::is_due;
use serde_json::Value;
use std::process::Command;

/// Each example, and what the title of its only finding that counts says; empty: it has none.
const PAGES: &[(&str, &[&str])] = &[
    ("search", &["response of `/search?q=a` (fetch at index.html:7)", "shows `apple, avocado`"]),
    ("search_guarded", &[]),
    // Its typing and the response before it conflict, so the responses change places only in a run
    // whose user does not wait.
    (
        "search_waiting",
        &["response of `/search?q=a` (fetch at index.html:8)", "shows `apple, avocado`"],
    ),
    ("double_submit", &["the second click on `#buy`", "sent 2 times instead of 1"]),
    ("double_submit_fixed", &[]),
    ("late_script", &["the script `/prepare.js`", "the field `#name` has"]),
    ("late_script_fixed", &[]),
    ("late_handler", &["the click on `#menu`", "the page shows"]),
    ("late_handler_fixed", &[]),
];

/// Returns whether there is a browser; says so if not.
pub(super) fn has_browser() -> bool {
    let there = ["chromium", "google-chrome-stable", "google-chrome"].iter().any(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success())
    });
    if !there {
        println!("skipped: there is no browser");
    }
    there
}

pub(super) fn check(name: &str, more: &[&str]) -> Ran {
    let (page, steps) =
        (format!("examples/web/{name}/index.html"), format!("examples/web/{name}/actions.json"));
    let mut arguments = vec!["check", &page, "--actions", &steps, "--budget", "0s"];
    arguments.extend(more);
    ran(&mut command(&arguments))
}

#[test]
fn a_step_that_cannot_be_taken_is_a_warning() {
    if !has_browser() {
        return;
    }
    let folder = folder();
    let steps = folder.path().join("steps.json");
    std::fs::write(&steps, r##"{"steps": [{"click": "#query"}, {"click": "#none"}]}"##).unwrap();
    let steps = steps.display().to_string();
    let page = "examples/web/search/index.html";
    let ran = ran(&mut command(&["check", page, "--actions", &steps, "--budget", "0s"]));
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains("steps that could not be taken: the click on `#none`"), "{all}");
}

/// The findings that are not harmless.
pub(super) fn wrong(ran: &Ran) -> Vec<Value> {
    let value: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let all = value["findings"].as_array().expect("a list");
    all.iter().filter(|one| one["harm"] != "harmless").cloned().collect()
}

#[test]
fn mistakes_of_pages_are_found_and_repaired_ones_are_silent() {
    for (index, (name, expected)) in PAGES.iter().enumerate() {
        // A page and its repaired twin on the same day.
        if !is_due(index / 2, 3) || !has_browser() {
            continue;
        }
        let ran = check(name, &["--format", "json"]);
        let found = wrong(&ran);
        assert_eq!(found.len(), usize::from(!expected.is_empty()), "{name}: {ran:?}");
        assert_eq!(ran.status, i32::from(!expected.is_empty()), "{name}: {ran:?}");
        for one in &found {
            let title = one["title"].as_str().unwrap_or_default();
            assert!(expected.iter().all(|words| title.contains(words)), "{name}: {title}");
            assert_eq!(one["confirmed"], true, "{name}: {one}");
            let file = one["sites"][0]["file"].as_str().unwrap_or_default();
            assert!(file.starts_with(&format!("examples/web/{name}/")), "{name}: {file}");
        }
    }
}

#[test]
fn a_finding_of_a_page_is_replayed_and_not_on_the_repaired_page() {
    if !has_browser() {
        return;
    }
    let folder = folder();
    let schedules = folder.path().to_string_lossy().into_owned();
    let more = ["--format", "json", "--schedules", &schedules, "--report", &schedules];
    let found = wrong(&check("late_script", &more));
    let report = std::fs::read_to_string(folder.path().join("index.html")).expect("a report");
    let pictures = report.matches("src=\"data:image/png;base64,").count();
    assert!((3..=4).contains(&pictures), "both orders, after the pair and at the end: {pictures}");
    assert!(report.contains("img-src data:"), "the policy allows them");
    let id = found[0]["id"].as_str().expect("an id");
    let schedule = format!("{schedules}/{id}.json");
    for (name, status) in [("late_script", 1), ("late_script_fixed", 0)] {
        let (page, steps) = (
            format!("examples/web/{name}/index.html"),
            format!("examples/web/{name}/actions.json"),
        );
        let ran = ran(&mut command(&["replay", &page, "--actions", &steps, &schedule]));
        assert_eq!(ran.status, status, "{name}: {ran:?}");
    }
}

#[test]
fn what_is_wrong_with_a_page_is_said_in_place() {
    let ran_with = |arguments: &[&str]| ran(&mut command(arguments));
    let none = ran_with(&["check", "examples/models/slide-show.any", "--network-faults"]);
    assert_eq!((none.status, none.stdout.as_str()), (2, ""), "{none:?}");
    assert!(none.stderr.contains("`--network-faults` is an option for web pages only"), "{none:?}");
    let absent = ran_with(&["check", "http://localhost:9/", "--browser", "/nowhere/chromium"]);
    assert_eq!(absent.status, 2, "{absent:?}");
    assert!(absent.stderr.contains("`/nowhere/chromium` is no program"), "{absent:?}");
    if !has_browser() {
        return;
    }
    let page = "examples/web/search/index.html";
    let steps = ran_with(&["check", page, "--actions", page]);
    assert_eq!(steps.status, 2, "{steps:?}");
    assert!(steps.stderr.starts_with(&format!("error: {page}:")), "{steps:?}");
    let silent = ran_with(&["check", "http://127.0.0.1:9/"]);
    assert_eq!(silent.status, 2, "{silent:?}");
    assert!(silent.stderr.contains("nothing answers at http://127.0.0.1:9/"), "{silent:?}");
}

#[test]
fn what_nothing_answers_is_a_warning() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let page = "<!DOCTYPE html><img src=none.png><script>fetch('none.txt'); fetch('none.txt');
        fetch('known'); fetch('http://other.test/x').catch(() => 0)</script>";
    write("index.html", page);
    write("replies.json", r#"{"GET /known": {"status": 404}}"#);
    let page = folder.path().join("index.html").to_string_lossy().into_owned();
    if is_due(2, 3) && has_browser() {
        let ran = ran(&mut command(&["check", &page, "--budget", "0s", "--format", "json"]));
        let value: Value = serde_json::from_str(&ran.stdout).expect("a result");
        let warnings = value["warnings"].as_array().expect("a list");
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        let text = warning.to_string();
        assert!(text.contains("nothing answers"), "{text}");
        for url in ["localhost/none.png", "localhost/none.txt", "other.test/x"] {
            assert_eq!(text.matches(url).count(), 1, "{text}");
        }
        assert!(!text.contains("known"), "{text}");
        assert_eq!((ran.status, &value["complete"]), (0, &Value::Bool(true)), "{value}");
    }
    write("sockets.json", "{\n  x");
    let ran = ran(&mut command(&["check", &page]));
    let place = folder.path().join("sockets.json");
    let expected = format!("error: {}:2:3: key must be a string", place.display());
    assert_eq!((ran.status, ran.stderr.lines().next()), (2, Some(&*expected)), "{ran:?}");
}
