//! Files of findings: replayed without the page, on a repaired page, and as tests.

use super::{check, has_browser, wrong};
use crate::common::{command, folder, ran};
use anyorder_testkit::effort::is_due;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Checks an example and returns the file of its finding, in a folder that lives as long.
fn finding(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let place = folder.path().to_string_lossy().into_owned();
    let found = wrong(&check(name, &["--format", "json", "--schedules", &place]));
    let id = found[0]["id"].as_str().expect("an id");
    let file = folder.path().join(format!("{id}.json"));
    (folder, file)
}

#[test]
fn a_file_of_a_finding_is_enough_to_replay_it_and_to_see_it_repaired() {
    if !is_due(0, 3) || !has_browser() {
        return;
    }
    let (_folder, file) = finding("double_submit");
    let path = file.to_string_lossy();
    let alone = ran(&mut command(&["replay", &path]));
    assert_eq!(alone.status, 1, "{alone:?}");
    // The steps come from the file. On the repaired page the second click cannot be made any more.
    for (name, status) in [("double_submit", 1), ("double_submit_fixed", 3)] {
        let page = format!("examples/web/{name}/index.html");
        let on_page = ran(&mut command(&["replay", &page, &path]));
        assert_eq!(on_page.status, status, "{name}: {on_page:?}");
    }
    let text = std::fs::read_to_string(&file).expect("the file");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    value["page"]["responses"][0]["status"] = Value::from("x");
    std::fs::write(&file, value.to_string()).expect("written");
    let broken = ran(&mut command(&["replay", &path]));
    assert_eq!(broken.status, 2, "{broken:?}");
    assert!(broken.stderr.contains("response 1: `status` is missing or wrong"), "{broken:?}");
    value["page"].as_object_mut().expect("a page").remove("responses");
    std::fs::write(&file, value.to_string()).expect("written");
    let without = ran(&mut command(&["replay", &path]));
    assert_eq!(without.status, 2, "{without:?}");
    assert!(without.stderr.contains("the page has to be given, too"), "{without:?}");
}

fn has_node() -> bool {
    let there =
        Command::new("node").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !there {
        println!("skipped: there is no node");
    }
    there
}

#[test]
fn a_test_that_is_written_fails_until_the_page_is_repaired() {
    for (index, name) in ["search", "double_submit", "late_script"].iter().enumerate() {
        if !is_due(index, 3) || !has_browser() || !has_node() {
            continue;
        }
        let repaired = match *name {
            "search" => "search_guarded".to_owned(),
            name => format!("{name}_fixed"),
        };
        let (folder, file) = finding(name);
        let test = folder.path().join("order.mjs");
        let (path, out) = (file.to_string_lossy(), test.to_string_lossy());
        let written = ran(&mut command(&["replay", &path, "--emit-test", "devtools", "-o", &out]));
        assert_eq!((written.status, written.stderr.as_str()), (0, ""), "{written:?}");
        for (site, status) in [(None, 1), (Some(format!("examples/web/{repaired}")), 0)] {
            let mut node = Command::new("node");
            node.arg(&test).current_dir(crate::common::workspace());
            if let Some(site) = &site {
                node.env("SITE", site);
            }
            let output = node.output().expect("node runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(status), "{name} {site:?}: {said} {output:?}");
            assert!(said.contains(if status == 1 { "FAIL: " } else { "PASS: " }), "{said}");
        }
        let playwright = ran(&mut command(&["replay", &path, "--emit-test", "playwright"]));
        assert_eq!(playwright.status, 0, "{playwright:?}");
        assert!(playwright.stdout.contains("from '@playwright/test'"), "{playwright:?}");
    }
}

#[test]
fn a_test_is_written_for_pages_only() {
    let folder = folder();
    let file = folder.path().join("x.json");
    std::fs::write(&file, r#"{"schedule": 1, "program": {"name": "a"}, "choices": []}"#)
        .expect("written");
    let path = file.to_string_lossy();
    let ran = ran(&mut command(&["replay", &path, "--emit-test", "devtools"]));
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("`--emit-test` needs the finding of a web page"), "{ran:?}");
}

#[test]
fn commands_without_pages_say_so() {
    let page = "examples/web/search/index.html";
    for (command_name, more) in [("shrink", &["x.json"][..]), ("explore", &[])] {
        let ran = ran(&mut command(&[&[command_name, page][..], more].concat()));
        assert_eq!(ran.status, 2, "{ran:?}");
        let expected = format!("{page}: `{command_name}` does not take web pages");
        assert!(ran.stderr.contains(&expected), "{ran:?}");
        assert!(ran.stderr.contains("hint: `anyorder check` reverses the events"), "{ran:?}");
    }
    // The file of a finding has its page.
    let folder = folder();
    let file = folder.path().join("x.json");
    let page = r#"{"format": 1, "url": "http://localhost/", "actions": {"steps": []}}"#;
    let program = r#""program": {"name": "http://localhost/"}"#;
    let text = format!("{{\"schedule\": 1, {program}, \"choices\": [], \"page\": {page}}}");
    std::fs::write(&file, text).expect("written");
    let ran = ran(&mut command(&["shrink", &file.to_string_lossy()]));
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("`shrink` does not take web pages"), "{ran:?}");
}
