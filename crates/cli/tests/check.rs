//! `anyorder check` and `why` on whole traces: results, statuses, files.

use crate::common;

use common::{NOTES, Ran, file, folder, path, run};
use serde_json::Value;

/// Two threads with a race, and one with a lock around the same accesses.
const RACE: &str = "T0|fork(T1)|f\nT0|w(x)|1\nT1|w(x)|2\n";
const NO_RACE: &str =
    "T0|fork(T1)|f\nT0|acq(l)|1\nT0|w(x)|2\nT0|rel(l)|3\nT1|acq(l)|4\nT1|w(x)|5\nT1|rel(l)|6\n";

fn json(ran: &Ran) -> Value {
    assert!(ran.stdout.ends_with("}\n") && ran.stdout.lines().count() == 1, "{}", ran.stdout);
    serde_json::from_str(&ran.stdout).expect("one JSON object")
}

#[test]
fn the_example_has_races_of_several_kinds() {
    let ran = run(&["check", NOTES, "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let value = json(&ran);
    assert_eq!(value["verdict"], "findings");
    assert_eq!(value["complete"], true);
    assert_eq!(value["options"]["rules"], "mailbox");
    assert_eq!(value["options"]["coverage"], "task");
    let findings = value["findings"].as_array().unwrap();
    let mut categories: Vec<&str> =
        findings.iter().filter_map(|f| f["category"].as_str()).collect();
    categories.sort_unstable();
    categories.dedup();
    assert!(categories.len() >= 3, "{categories:?}");
    let covered = |wanted: bool| {
        findings.iter().filter(|f| f["coverage"]["uncovered"] == Value::Bool(!wanted)).count()
    };
    assert!(covered(true) > 0 && covered(false) > 0, "{}", ran.stdout);
    for name in [
        "events",
        "tasks",
        "handlers",
        "threads",
        "locks",
        "locations",
        "hb_edges",
        "race_pairs",
        "races",
        "races_uncovered",
        "races_by_category",
        "elapsed_ms",
    ] {
        assert!(!value["stats"][name].is_null(), "{name} is missing: {}", value["stats"]);
    }
}

#[test]
fn the_text_for_people() {
    let ran = run(&["check", NOTES]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let elapsed = |line: &str| line.contains(" ms");
    let text: Vec<&str> = ran.stdout.lines().filter(|line| !elapsed(line)).collect();
    insta::assert_snapshot!("check", text.join("\n"));
}

#[test]
fn results_are_the_same_every_time() {
    let once = |_| {
        let mut value = json(&run(&["check", NOTES, "--format", "json"]));
        value["stats"]["elapsed_ms"] = Value::Null;
        value.to_string()
    };
    let all: Vec<String> = (0..3).map(once).collect();
    assert!(all.iter().all(|one| *one == all[0]));
}

#[test]
fn the_status_says_what_was_found() {
    let folder = folder();
    let (race, clean) = (file(&folder, "race.std", RACE), file(&folder, "clean.std", NO_RACE));
    assert_eq!(run(&["check", &race]).status, 1);
    assert_eq!(run(&["check", &clean]).status, 0);
    assert_eq!(run(&["check", &clean, &race]).status, 1);
    assert_eq!(run(&["check", &race, "--fail-on", "error"]).status, 0);
    let both = json(&run(&["check", &clean, &race, "--format", "json"]));
    assert_eq!(both["inputs"].as_array().map(Vec::len), Some(2));
    assert_eq!(both["stats"]["events"], 10, "statistics add up");
    assert_eq!(both["options"]["coverage"], "access", "threads are covered by accesses");
}

#[test]
fn every_form_is_written() {
    let lines = run(&["check", NOTES, "--format", "jsonl"]);
    assert_eq!(lines.status, 1);
    let findings = json(&run(&["check", NOTES, "--format", "json"]))["findings"].clone();
    let parsed: Vec<Value> =
        lines.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(Value::Array(parsed), findings, "JSON lines are the findings");
    let sarif: Value =
        serde_json::from_str(&run(&["check", NOTES, "--format", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let junit = run(&["check", NOTES, "--format", "junit"]);
    assert!(
        junit.stdout.starts_with("<?xml") && junit.stdout.contains("<testsuite"),
        "{}",
        junit.stdout
    );
}

#[test]
fn the_report_is_a_page_and_its_path_the_last_line() {
    let folder = folder();
    let report = path(&folder, "a/report");
    let ran = run(&["check", NOTES, "--report", &report]);
    assert_eq!(ran.status, 1);
    let page = format!("{report}/index.html");
    assert_eq!(ran.stdout.lines().last(), Some(page.as_str()));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("</html>") && html.contains("Content-Security-Policy"));
    let ran = run(&["check", NOTES, "--report", &report, "--format", "json"]);
    json(&ran);
    assert_eq!(ran.stderr.lines().last(), Some(page.as_str()));
}

#[test]
fn a_result_can_go_to_a_file() {
    let folder = folder();
    let out = path(&folder, "result.json");
    let ran = run(&["check", NOTES, "--format", "json", "-o", &out]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(value["tool"], "anyorder");
}

#[test]
fn a_baseline_hides_what_is_known() {
    let folder = folder();
    let (race, known) = (file(&folder, "race.std", RACE), path(&folder, "known.json"));
    assert_eq!(run(&["check", &race, "--write-baseline", &known]).status, 1);
    let ran = run(&["check", &race, "--baseline", &known, "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let value = json(&ran);
    assert_eq!(
        (&value["verdict"], &value["findings"][0]["baseline"]),
        (&Value::from("ok"), &Value::from(true))
    );
    let worse = file(&folder, "worse.std", format!("{RACE}T0|w(y)|7\nT1|w(y)|8\n"));
    assert_eq!(run(&["check", &worse, "--baseline", &known]).status, 1, "new ones count");
    let clean = file(&folder, "clean.std", NO_RACE);
    let gone = run(&["check", &clean, "--baseline", &known]);
    assert!(gone.stderr.contains("1 known finding did not occur"), "{gone:?}");
}

#[test]
fn suppressions_need_a_match() {
    let folder = folder();
    let race = file(&folder, "race.std", RACE);
    let config = file(
        &folder,
        "x.toml",
        "[[suppress]]\nkind = \"race\"\nlocation = \"x\"\nreason = \"test\"\n",
    );
    assert_eq!(run(&["check", &race, "--config", &config]).status, 0);
    let other = file(&folder, "y.toml", "[[suppress]]\nlocation = \"y\"\n");
    let ran = run(&["check", &race, "--config", &other]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("line 1: this suppression matches nothing"), "{ran:?}");
}

#[test]
fn pairs_are_cut_and_counted() {
    let folder = folder();
    let mut text = String::from("T0|fork(T1)|f\n");
    for _ in 0..5 {
        text.push_str("T0|w(x)|1\nT1|w(x)|2\n");
    }
    let input = file(&folder, "pairs.std", text);
    let value = json(&run(&["check", &input, "--max-pairs", "2", "--format", "json"]));
    let finding = &value["findings"][0];
    assert_eq!(finding["pairs"].as_array().map(Vec::len), Some(2));
    assert!(finding["pairs_total"].as_u64() > Some(2), "{finding}");
    assert_eq!(value["complete"], true, "a bound that was asked for is no limit");
}

#[test]
fn hostile_names_make_a_clean_report() {
    let folder = folder();
    let name = "\u{1b}[2J<script>alert(1)</script>";
    let text = format!("T0|fork(T{name})|f\nT0|w({name})|a{name}\nT{name}|w({name})|b\u{202e}\n");
    let input = file(&folder, "hostile.std", text);
    let report = path(&folder, "report");
    let ran = run(&["check", &input, "--report", &report]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{202e}'), "{:?}", ran.stdout);
    let html = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(!html.contains("<script>alert"), "markup from a name");
    let json_text = run(&["check", &input, "--format", "json"]).stdout;
    assert!(!json_text.contains('\u{1b}') && !json_text.contains('\u{202e}'), "{json_text:?}");
}

#[test]
fn why_explains_order_and_disorder() {
    let folder = folder();
    let race = file(&folder, "race.std", RACE);
    let ordered = run(&["why", &race, "1", "3"]);
    assert_eq!((ordered.status, ordered.stderr.as_str()), (0, ""));
    assert!(ordered.stdout.contains("happens before"), "{}", ordered.stdout);
    assert!(
        ordered.stdout.ends_with("An independent checker verified each step.\n"),
        "{}",
        ordered.stdout
    );
    let unordered = run(&["why", &race, "2", "3"]);
    assert_eq!(unordered.status, 0);
    assert!(unordered.stdout.contains("either order"), "{}", unordered.stdout);
    let value = json(&run(&["why", &race, "2", "3", "--format", "json"]));
    assert_eq!((&value["command"], &value["ordered"]), (&Value::from("why"), &Value::from(false)));
    let swapped = run(&["why", &race, "3", "1"]);
    assert!(swapped.stdout.contains("happens before"), "{}", swapped.stdout);
}

#[test]
fn each_finding_names_a_command_that_explains_it() {
    let value = json(&run(&["check", NOTES, "--format", "json"]));
    for finding in value["findings"].as_array().unwrap() {
        let replay = finding["replay"].as_str().expect("a command");
        let words: Vec<&str> = replay.split(' ').skip(1).collect();
        assert_eq!(words[0], "why", "{replay}");
        let ran = run(&words);
        assert_eq!(ran.status, 0, "{replay}: {ran:?}");
        assert!(ran.stdout.contains("either order"), "{replay}: {}", ran.stdout);
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = std::fs::read_to_string(common::workspace().join("README.md")).unwrap();
    let blocks: Vec<&str> =
        readme.split("```text\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert_eq!(blocks.len(), 4, "one finding, one picture, one prediction, one run of a model");
    let model = run(&["check", "examples/models/out-of-order-search.any"]);
    let predicted = run(&["predict", "examples/traces/uaf_locked.std"]);
    assert!(
        predicted.stdout.contains(blocks[2]),
        "the prediction in README.md is not printed any more"
    );
    assert!(model.stdout.contains(blocks[3]), "the run in README.md is not printed any more");
    assert!(
        run(&["check", NOTES]).stdout.contains(blocks[0]),
        "the finding in README.md is not printed any more"
    );
    assert!(
        run(&["info", NOTES]).stdout.contains(blocks[1]),
        "the picture in README.md is not printed any more"
    );
}
