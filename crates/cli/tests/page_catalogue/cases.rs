//! Pages whose author did not know how they are checked: for each, whether it has a harmful race.

use super::{has_browser, run, workspace};
use anyorder_testkit::effort::is_due;
use serde_json::Value;
use std::fs;

/// The folder of the cases, each with `case.json`: whether it is harmful, why, and which events;
/// the budget, if one reversal of the recording is not enough; and how many findings it has, if
/// that is the point.
const CASES: &str = "crates/cli/tests/page_cases";

/// A push checks one case in so many.
const PARTS: usize = 64;

#[test]
fn harmful_pages_are_found_and_right_ones_are_not() {
    if !has_browser() {
        return;
    }
    let names = super::names(&workspace().join(CASES));
    assert!(names.len() >= 80, "{}", names.len());
    let mut faults = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if !is_due(index, PARTS) {
            continue;
        }
        let folder = format!("{CASES}/{name}");
        let text = fs::read_to_string(workspace().join(&folder).join("case.json"));
        let case: Value = serde_json::from_str(&text.expect("a case")).expect("JSON");
        let is_harmful = case["harmful"].as_bool().expect("whether it is harmful");
        let (page, steps) = (format!("{folder}/index.html"), format!("{folder}/actions.json"));
        let budget = case["budget"].as_str().unwrap_or("0s");
        let checked =
            run(&["check", &page, "--actions", &steps, "--budget", budget, "--format", "json"]);
        println!("{name} | harmful: {is_harmful} | {}", checked.status);
        if checked.status != i32::from(is_harmful) {
            faults.push(format!("{name}: {} ({})", checked.status, case["why"]));
        }
        let Some(most) = case["findings"].as_u64() else { continue };
        let found: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        let all = found["findings"].as_array().expect("findings");
        let harmful = all.iter().filter(|one| one["harm"] != "harmless").count();
        if harmful as u64 != most {
            let titles: Vec<&Value> = all.iter().map(|one| &one["title"]).collect();
            faults.push(format!("{name}: {harmful} findings instead of {most}: {titles:#?}"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
