//! Ids of findings do not depend on how a path is written, nor on the order of the inputs.

#![cfg(unix)]

use crate::common;

use common::{command, folder, ran, workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Two findings at one place of each file, and a third kind without a line.
const MODEL: &str = "model m\nvar x = 0;\nevent a { x = 1; }\nevent b { assert x == 0; x = 2; }\n\
    component c0: a;\ncomponent c1: b;\ninvariant low: x < 2;\n";

/// A race in a file that two folders have.
fn trace(folder: &str) -> String {
    format!(
        "anyorder-trace 1\nhandler h0 \"main\" none\nhandler h1 \"other\" none\n\
         task t0 \"main\" initial h0\ntask t1 \"other\" initial h1\nlocation x0 \"x\"\n\
         site s1 file=\"{folder}/src/a.c\" line=3\nt0 fork h1\nt0 write x0 @s1\n\
         t1 write x0 @s1\n"
    )
}

/// The ids of a command that runs in a folder, each with the input of its finding.
fn ids(folder: &Path, arguments: &[&str]) -> BTreeMap<String, String> {
    let ran = ran(command(&[arguments, &["--format", "json"]].concat()).current_dir(folder));
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let findings = value["findings"].as_array().expect("findings").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ids: BTreeMap<String, String> =
        findings.clone().map(|one| (text(&one["id"]), text(&one["input"]))).collect();
    assert_eq!(ids.len(), findings.len(), "ids are unique: {value}");
    assert!(!ids.is_empty(), "{ran:?}");
    ids
}

/// The ids without the inputs.
fn plain(folder: &Path, arguments: &[&str]) -> Vec<String> {
    ids(folder, arguments).into_keys().collect()
}

fn folders() -> tempfile::TempDir {
    let top = folder();
    for name in ["a", "b", "sub"] {
        fs::create_dir(top.path().join(name)).unwrap();
    }
    for name in ["m.any", "a/m.any", "b/m.any", "sub/copy.any"] {
        fs::write(top.path().join(name), MODEL).unwrap();
    }
    std::os::unix::fs::symlink("m.any", top.path().join("link.any")).unwrap();
    std::os::unix::fs::symlink("a", top.path().join("linked")).unwrap();
    top
}

#[test]
fn a_path_written_in_another_way_gives_the_same_ids() {
    let top = folders();
    let at = |name: &str| top.path().join(name);
    let absolute = at("m.any").to_str().unwrap().to_owned();
    let elsewhere = workspace();
    for words in [
        &["check"][..],
        &["check", "--no-reduction"],
        &["simulate", "--runs", "50"],
        &["explore", "--algorithm", "r4"],
        &["explore", "--algorithm", "full"],
    ] {
        let of = |folder: &Path, path: &str| plain(folder, &[words, &[path]].concat());
        let ids = of(top.path(), "m.any");
        for (folder, path) in [
            (top.path(), "./m.any"),
            (top.path(), "a/../m.any"),
            (top.path(), absolute.as_str()),
            (&elsewhere, absolute.as_str()),
            (&at("sub"), "../m.any"),
            (top.path(), "link.any"),
            (&at("a"), "m.any"),
            (top.path(), "linked/m.any"),
        ] {
            assert_eq!(of(folder, path), ids, "{words:?} {path}");
        }
    }
}

#[test]
fn models_of_one_name_are_told_apart_in_any_order_and_by_no_more_than_is_needed() {
    let top = folders();
    let both = ids(top.path(), &["check", "a/m.any", "b/m.any"]);
    assert_eq!(ids(top.path(), &["check", "b/m.any", "a/m.any"]), both);
    let from_a = ids(&top.path().join("a"), &["check", "./m.any", "../b/m.any"]);
    assert!(from_a.keys().eq(both.keys()), "{from_a:?} {both:?}");
    let alone = plain(top.path(), &["check", "a/m.any"]);
    assert!(alone.iter().all(|id| !both.contains_key(id)));
    // A third input of another name changes nothing.
    let three = ids(top.path(), &["check", "a/m.any", "sub/copy.any", "b/m.any"]);
    assert!(both.keys().all(|id| three.contains_key(id)));
}

#[test]
fn a_baseline_made_elsewhere_matches_and_hides_no_other_model() {
    let top = folders();
    let check = |folder: &Path, words: &[&str]| {
        ran(command(&[&["check"], words].concat()).current_dir(folder)).status
    };
    assert_eq!(check(&top.path().join("a"), &["m.any", "--write-baseline", "../known"]), 1);
    assert_eq!(check(top.path(), &["./a/m.any", "--baseline", "known"]), 0);
    assert_eq!(check(top.path(), &["linked/m.any", "--baseline", "known"]), 0);
    assert_eq!(check(top.path(), &["sub/copy.any", "--baseline", "known"]), 1, "another name");
    let both = ["a/m.any", "b/m.any"];
    assert_eq!(check(top.path(), &[both[0], both[1], "--baseline", "known"]), 1);
    assert_eq!(check(top.path(), &[both[0], both[1], "--write-baseline", "two"]), 1);
    assert_eq!(check(top.path(), &[both[1], both[0], "--baseline", "two"]), 0);
    // A model of the same file name that calls itself otherwise is another one.
    fs::write(top.path().join("b/m.any"), MODEL.replace("model m", "model other")).unwrap();
    assert_eq!(check(top.path(), &["b/m.any", "--baseline", "known"]), 1);
}

#[test]
fn a_source_path_in_a_trace_is_known_by_its_last_part() {
    let top = folders();
    for (name, folder) in [("one", "/build/1"), ("two", "/home/me")] {
        fs::write(top.path().join(name), trace(folder)).unwrap();
    }
    for words in ["check", "predict"] {
        let one = plain(top.path(), &[words, "one"]);
        assert_eq!(one, plain(top.path(), &[words, "two"]), "{words}");
        assert_eq!(one.len(), 1, "{words}");
    }
    // Of two runs in one call, each has an id of its own, and a baseline of one covers both.
    let both = ids(top.path(), &["check", "one", "two"]);
    assert_eq!(both, ids(top.path(), &["check", "two", "one"]));
    let check =
        |words: &[&str]| ran(command(&[&["check"], words].concat()).current_dir(top.path())).status;
    assert_eq!(check(&["one", "--write-baseline", "known"]), 1);
    assert_eq!(check(&["one", "two", "--baseline", "known"]), 0);
}

#[test]
fn a_baseline_of_an_earlier_version_still_matches() {
    let top = folders();
    // The id that an earlier version gave the conflict of this model, read as `m.any`.
    let text = "model m\nvar x = 0;\nevent a { x = 1; }\nevent b { x = 0; x = 1; }\n\
        component c0: a;\ncomponent c1: b;\n";
    fs::write(top.path().join("m.any"), text).unwrap();
    fs::write(top.path().join("old"), "[{\"id\":\"c53e6d307b4acc4f\"}]").unwrap();
    let ran = ran(command(&["check", "m.any", "--baseline", "old"]).current_dir(top.path()));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stderr.contains("did not occur"), "{ran:?}");
}
