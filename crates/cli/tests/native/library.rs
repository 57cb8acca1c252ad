//! A program that uses templates of the library of C++, and a lock on the heap.

use super::annotated::build;
use super::common;
use common::{command, folder, ran};
use serde_json::Value;
use std::path::Path;

/// Runs the program. Returns the findings that count.
fn findings(folder: &Path) -> Vec<Value> {
    let ran = ran(command(&["run", "--format", "json", "./library"]).current_dir(folder));
    let result: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let findings = result["findings"].as_array().expect("a list");
    findings.iter().filter(|finding| finding["harm"] != "harmless").cloned().collect()
}

/// Returns the ids, sorted.
fn ids(findings: &[Value]) -> Vec<&str> {
    let mut ids: Vec<&str> = findings.iter().filter_map(|one| one["id"].as_str()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn places_are_those_of_the_program_and_ids_those_of_every_run() {
    let folder = folder();
    let source = "crates/cli/tests/native/library.cc";
    if !build(source, &folder.path().join("library"), &["-fsanitize=thread"]) {
        return;
    }
    let found = findings(folder.path());
    for site in found.iter().flat_map(|one| one["sites"].as_array().expect("a list")) {
        let file = site["file"].as_str().unwrap_or_default();
        assert!(file.ends_with("library.cc"), "{site}");
    }
    let titles: Vec<&str> = found.iter().filter_map(|one| one["title"].as_str()).collect();
    let of = |word: &str| titles.iter().filter(|title| title.contains(word)).count();
    assert_eq!(of("`values"), 1, "both instances of the template: {titles:?}");
    assert!(of("after it is freed") > 1, "the lock and the counter: {titles:?}");
    let lock = |one: &Value| one["sites"][0]["access"] == "acquire";
    assert!(found.iter().any(lock), "{titles:?}");
    let again = findings(folder.path());
    assert_eq!(ids(&found), ids(&again), "addresses are others: {found:?}\n{again:?}");
}
