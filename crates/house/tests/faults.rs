//! Faults that tests put in on purpose are in no binary: they exist only under `cfg(test)` of the
//! crate that has them, by `anyorder_common::sabotage`.

use crate::files;
use crate::layers::metadata;
use serde_json::Value;
use std::fs;

/// The file that declares faults for all crates.
const MACRO: &str = "common/src/sabotage.rs";

/// The package whose users may turn its allocator off. No binary of ours has it.
const FOR_USERS: &str = "anyorder";

/// Returns the packages that have features. Cargo builds a package once for all that need it, with
/// all features that any of them asks for: what only tests enable would be in the command, too.
fn with_features(metadata: &Value) -> Vec<&str> {
    let packages = metadata["packages"].as_array().expect("a list of packages").iter();
    let featured = packages.filter(|package| {
        package["features"].as_object().is_some_and(|features| !features.is_empty())
    });
    featured.map(|package| package["name"].as_str().expect("a name")).collect()
}

#[test]
fn no_package_has_a_feature_that_tests_could_enable() {
    let metadata = metadata();
    assert!(metadata["packages"].as_array().is_some_and(|packages| packages.len() > 20));
    assert_eq!(with_features(&metadata), [FOR_USERS]);
}

#[test]
fn a_feature_for_faults_is_noticed() {
    let packages = serde_json::json!({ "packages": [
        { "name": "anyorder-order", "features": { "sabotage": [] } },
        { "name": "anyorder-trace", "features": {} },
    ]});
    assert_eq!(with_features(&packages), ["anyorder-order"]);
}

/// Returns what a source declares that only tests may have, and that tests alone do not have.
fn declared(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut wrong = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split([' ', ';', '{', '(', ':']).collect();
        let named = |kind: &str, names: &[&str]| {
            words.windows(2).any(|pair| pair[0] == kind && names.contains(&pair[1]))
        };
        let is_test = number > 0 && lines[number - 1] == "#[cfg(test)]";
        let types = ["Sabotage", "Switches"];
        let by_hand = named("enum", &types) || named("struct", &types);
        let door = named("mod", &["testing"]) && !is_test;
        if (by_hand || door) && !line.starts_with("//") {
            wrong.push(format!("{}: {line}", number + 1));
        }
    }
    wrong
}

#[test]
fn faults_are_declared_in_one_way() {
    let (mut wrong, mut users) = (Vec::new(), 0);
    for path in files::code_of_all() {
        let text = fs::read_to_string(&path).expect("a text");
        users += usize::from(text.contains("anyorder_common::sabotage! {"));
        if !path.ends_with(MACRO) {
            let all = declared(&text);
            wrong.extend(all.into_iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(users >= 4, "{users} crates declare faults");
    assert!(wrong.is_empty(), "faults for tests, in what users get:\n{}", wrong.join("\n"));
}

#[test]
fn a_door_for_tests_is_noticed() {
    assert_eq!(declared("pub struct Switches {\n").len(), 1);
    assert_eq!(declared("#[doc(hidden)]\npub mod testing;\n"), ["2: pub mod testing;"]);
    assert_eq!(declared("    pub(crate) enum Sabotage {\n").len(), 1);
    assert_eq!(declared("#[cfg(test)]\nmod testing;\n"), [""; 0]);
    assert_eq!(declared("fn f(sabotage: Sabotage) {}\n// a struct Switches\n"), [""; 0]);
}
