//! Objects of a program's own types: `anyorder run --spec`.

use super::annotated::build;
use super::{common, found};
use common::{Ran, command, folder, ran, workspace};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

const SPECIFICATION: &str = "\
spec tally {
    add(_) ~ add(_);
    assign(v) ~ assign(w) when v == w;
    add(_) ~ assign(_) when false;
}
spec cell {
    put(_) ~ put(_) when false;
    put(_) ~ take() when false;
    take() ~ take() when false;
}
waits cell {
    take() until put(_) > take();
    put(_) until put(_) <= take();
}
";

/// Returns the folder of the program, which is built once, with its specification.
fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = folder();
        let source = "crates/cli/tests/native/specified.cc";
        fs::write(folder.path().join("types.spec"), SPECIFICATION).expect("written");
        build(source, &folder.path().join("specified"), &["-fsanitize=thread"]).then_some(folder)
    });
    built.as_ref().map(|folder| folder.path())
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(arguments).current_dir(folder))
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Runs a part of the program with the specification, and options. Returns the result.
fn result(folder: &Path, options: &[&str], part: &str) -> Value {
    let all = [&["run", "--format", "json"], options, &["./specified", part]].concat();
    document(&in_folder(folder, &all))
}

const SPEC: [&str; 2] = ["--spec", "types.spec"];

/// The words of the warnings about calls.
fn warnings(result: &Value) -> Vec<String> {
    let warnings = result["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(|one| one["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn calls_of_own_types_commute_as_their_specification_says() {
    let Some(folder) = program() else { return };
    for (part, expected) in [("add-add", 0), ("assign-two", 1), ("assign-one", 0), ("cell", 0)] {
        let result = result(folder, &SPEC, part);
        let found = found(&result);
        assert_eq!(found.len(), expected, "{part}: {found:?}");
        let is_it = |one: &(String, String)| one.0 == "calls" && one.1.contains("`tally:object`");
        assert!(found.iter().all(is_it), "{part}: {found:?}");
        assert_eq!(warnings(&result), Vec::<String>::new(), "{part}");
        assert_eq!(result["complete"], true, "{part}");
        assert_eq!(result["options"]["spec"], "types.spec");
    }
    // Without the rule that it waits, a take could come first.
    let without = SPECIFICATION.split("waits").next().expect("a part");
    fs::write(folder.join("no-waits.spec"), without).expect("written");
    let without = result(folder, &["--spec", "no-waits.spec"], "cell");
    assert_eq!(found(&without).len(), 1, "{without}");
}

#[test]
fn what_a_specification_does_not_know_is_named() {
    let Some(folder) = program() else { return };
    let unknown = result(folder, &[], "assign-two");
    assert_eq!((found(&unknown).len(), &unknown["complete"]), (0, &false.into()), "{unknown}");
    assert!(warnings(&unknown)[0].contains("calls of `tally:object` are ignored"), "{unknown}");
    for (part, words) in [
        ("stranger", "calls of `abacus:"),
        (
            "ad",
            "type `tally` has no method `ad`: such a call commutes with nothing (its methods: add, assign)",
        ),
        ("arity", "`add` of type `tally` has 1 argument, and is called with 2"),
        ("guessed", "no type is called `meter`; by its methods, it is taken for a `counter`"),
    ] {
        let result = result(folder, &SPEC, part);
        let warnings = warnings(&result);
        assert!(warnings.iter().any(|text| text.contains(words)), "{part}: {warnings:?}");
        assert_eq!(found(&result).len(), usize::from(part == "ad"), "{part}: {result}");
    }
    let declared = ["--object", "tally:object=counter"];
    let declared = result(folder, &declared, "add-add");
    assert_eq!((found(&declared).len(), warnings(&declared).len()), (0, 0), "{declared}");
}

/// A mistake is shown at its place, and the program does not run.
#[test]
fn mistakes_in_a_specification_come_before_the_run() {
    let Some(folder) = program() else { return };
    let text = "spec tally {\n    add(v) ~ assign(w) when v = w;\n}\n";
    fs::write(folder.join("wrong.spec"), text).expect("written");
    for (options, words) in [
        (["--spec", "wrong.spec"], "wrong.spec:2:31: "),
        (["--spec", "nowhere.spec"], "nowhere.spec: "),
        (["--spec", "-"], "`--spec -`: the program has standard input"),
        (["--object", "tally:object=tall"], "unknown type `tall`"),
    ] {
        let all = [&["run"], &options[..], &["./specified", "add-add"]].concat();
        let ran = in_folder(folder, &all);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{options:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{options:?}: {}", ran.stderr);
    }
}

/// A kept trace has the same findings, and its witness is checked with the same options.
#[test]
fn a_kept_trace_is_checked_by_the_specification() {
    let Some(folder) = program() else { return };
    let record = [&SPEC[..], &["--record", "kept.trace"]].concat();
    let run = result(folder, &record, "assign-two");
    let ids = |result: &Value| -> Vec<Value> {
        let findings = result["findings"].as_array().into_iter().flatten();
        findings.map(|one| one["id"].clone()).collect()
    };
    let check = ["check", "--format", "json", "--group-by", "sites", "kept.trace"];
    let with = document(&in_folder(folder, &[&check[..], &SPEC].concat()));
    assert!(ids(&run).len() == 1 && ids(&run) == ids(&with), "{run}\n{with}");
    let without = document(&in_folder(folder, &check));
    assert_eq!((ids(&without).len(), &without["complete"]), (0, &false.into()), "{without}");
    let replay = run["findings"][0]["replay"].as_str().expect("a command");
    assert!(replay.contains("--spec types.spec --format json"), "{replay}");
    assert!(replay.ends_with("--spec types.spec"), "{replay}");
    fs::write(folder.join("run.json"), run.to_string()).expect("written");
    let certify = ["certify", "kept.trace", "run.json"];
    let needs = "holds only if `tally:object`, which is not understood";
    let certified = in_folder(folder, &[&certify[..], &SPEC].concat());
    assert!(certified.status == 0 && !certified.stdout.contains(needs), "{certified:?}");
    let without = in_folder(folder, &certify);
    assert!(without.status == 0 && without.stdout.contains(needs), "{without:?}");
    let again = ["replay", "kept.trace", "run.json", "--spec", "types.spec"];
    assert_eq!(in_folder(folder, &again).status, 1);
}

/// In second runs and random orders, too.
#[test]
fn the_specification_holds_in_second_runs() {
    let Some(folder) = program() else { return };
    let confirmed = result(folder, &[&SPEC[..], &["--confirm"]].concat(), "assign-two");
    let class = confirmed["findings"][0]["reproduced"]["class"].as_str();
    assert!(class.is_some(), "{confirmed}");
    let stressed = [&SPEC[..], &["--stress", "4", "--stress-check"]].concat();
    assert_eq!(found(&result(folder, &stressed, "add-add")), []);
}

#[test]
fn the_example_has_a_wrong_and_two_right_variants() {
    let folder = folder();
    let spec = workspace().join("examples/native/ledger.spec");
    fs::copy(&spec, folder.path().join("ledger.spec")).expect("a copy");
    let tsan = "-fsanitize=thread";
    let variants = [&[tsan][..], &[tsan, "-DWITHDRAW"], &[tsan, "-DWITHDRAW", "-DFIXED"]];
    for (options, expected) in variants.into_iter().zip([0, 1, 0]) {
        if !build("examples/native/ledger.cc", &folder.path().join("ledger"), options) {
            return;
        }
        let run = ["run", "--format", "json", "--spec", "ledger.spec", "./ledger"];
        let result = document(&in_folder(folder.path(), &run));
        let found = found(&result);
        assert_eq!(found.len(), expected, "{options:?}: {found:?}");
        let is_it = |one: &(String, String)| {
            ["deposit and withdraw", "withdraw and deposit"]
                .iter()
                .any(|both| one.1.starts_with(&format!("{both} of `ledger:bank`")))
        };
        assert!(found.iter().all(is_it), "{options:?}: {found:?}");
        assert_eq!(result["complete"], true, "{options:?}: {}", result["warnings"]);
    }
}

/// Models have their specifications in their own text.
#[test]
fn a_specification_is_for_traces() {
    let folder = folder();
    fs::write(folder.path().join("types.spec"), SPECIFICATION).expect("written");
    fs::write(folder.path().join("one.any"), "model one;\n").expect("written");
    let ran = in_folder(folder.path(), &["check", "one.any", "--spec", "types.spec"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("`--spec` is an option for traces only"), "{}", ran.stderr);
    let program = ["check", "--program", "cat", "--spec", "types.spec"];
    assert_eq!(in_folder(folder.path(), &program).status, 2);
}
