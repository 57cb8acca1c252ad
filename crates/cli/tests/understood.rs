//! Every output format reports the parts of an input that were not understood, also on the findings
//! that rest on them.

use crate::common;

use common::{file, folder, path, run};
use serde_json::Value;

/// A use after free with a witness, after two calls without a specification. If `inv` waits, the
/// free can never come first.
const UNKNOWN: &str = "main|alloc(0x1000+8)|main.c:30\nmain|fork(T1)|main.c:31\nmain|fork(T2)|main.c:32\n\
    T1|w(0x1000+8)|main.c:11\nT1|inv(o.done)|main.c:12\nT2|inv(o.done)|main.c:20\nT2|free(0x1000)|main.c:21\n";

/// The same, with the calls after the end of the witness.
const BEHIND: &str = "main|alloc(0x1000+8)|main.c:30\nmain|fork(T1)|main.c:31\nmain|fork(T2)|main.c:32\n\
    T1|w(0x1000+8)|main.c:11\nT2|free(0x1000)|main.c:21\nT1|inv(o.done)|main.c:12\nT2|inv(o.done)|main.c:20\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON object")
}

#[test]
fn a_finding_that_rests_on_an_unknown_operation_is_not_confirmed() {
    let folder = folder();
    let input = file(&folder, "unknown.std", UNKNOWN);
    for command in ["check", "predict"] {
        let ran = run(&[command, &input, "--format", "json"]);
        assert_eq!(ran.status, 1, "{ran:?}");
        let result = json(&ran.stdout);
        let warning = &result["warnings"][0];
        assert_eq!(warning["kind"], "ignored", "{warning}");
        assert!(warning["text"].as_str().unwrap().contains("`inv`"), "{warning}");
        assert_eq!(warning["count"], 2, "{warning}");
        assert_eq!(warning["places"], serde_json::json!(["event 5", "event 6"]));
        assert_eq!(warning["input"], input.as_str());
        let finding = &result["findings"][0];
        assert_eq!(finding["category"], "use_after_free", "{finding}");
        assert!(finding["confirmed"].is_null(), "{finding}");
        assert_eq!(finding["severity"], "warning", "{finding}");
        assert!(finding["witness"].is_object(), "{finding}");
        let steps = finding["explanation"].as_array().unwrap();
        let step = steps.iter().find(|step| step["rule"] == "ignored").expect("a remark");
        assert!(step["text"].as_str().unwrap().contains("only if `inv`"), "{step}");
    }
}

#[test]
fn a_finding_that_ends_before_the_first_unknown_operation_stays_confirmed() {
    let folder = folder();
    let input = file(&folder, "behind.std", BEHIND);
    let ran = run(&["check", &input, "--format", "json"]);
    let result = json(&ran.stdout);
    assert_eq!(result["warnings"][0]["kind"], "ignored", "{ran:?}");
    let finding = &result["findings"][0];
    assert_eq!(finding["confirmed"], true, "{finding}");
    assert_eq!(finding["severity"], "error", "{finding}");
}

#[test]
fn a_refuted_race_is_not_refuted_if_an_unknown_operation_may_write() {
    // The happens-before race on `x` is refuted: in the other order, the reader would read another
    // value of `y`.
    let folder = folder();
    let known = "T1|w(x)|1\nT1|w(y)|2\nT2|r(y)|3\nT2|w(x)|4\n";
    let text = known.replace("T2|r(y)|3\n", "T2|swap(y)|9\nT2|r(y)|3\n");
    for (name, text, rests) in [("known.std", known, false), ("unknown.std", &text, true)] {
        let input = file(&folder, name, text);
        let result = json(&run(&["check", &input, "--format", "json"]).stdout);
        for finding in result["findings"].as_array().unwrap() {
            let explanation = finding["explanation"].to_string();
            let on_x = finding["sites"][0]["location"] == "x";
            if on_x {
                assert_eq!(explanation.contains("\"ignored\""), rests, "{finding}");
                assert_eq!(finding["confirmed"].is_null(), rests, "{finding}");
            }
        }
    }
}

#[test]
fn every_form_says_what_was_ignored() {
    let folder = folder();
    let input = file(&folder, "unknown.std", UNKNOWN);
    let report = path(&folder, "report");
    let text = run(&["check", &input, "--report", &report]);
    assert!(text.stdout.contains("ignored: operation `inv` is unknown"), "{}", text.stdout);
    assert!(text.stdout.contains("ignored: this holds only if `inv`"), "{}", text.stdout);
    assert!(text.stdout.contains("1 finding rests on what was ignored"), "{}", text.stdout);
    assert!(!text.stdout.contains("confirmed:"), "{}", text.stdout);
    let page = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(page.contains("operation `inv` is unknown"), "{page}");
    assert!(page.contains("1 finding rests on what was ignored"), "{page}");
    let sarif = json(&run(&["check", &input, "--format", "sarif"]).stdout);
    let notes = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(
        notes.contains("operation `inv` is unknown") && notes.contains("unknown.std"),
        "{notes}"
    );
    let junit = run(&["check", &input, "--format", "junit"]).stdout;
    assert!(junit.contains("operation `inv` is unknown"), "{junit}");
    assert!(junit.contains("rests on what was ignored"), "{junit}");
}

#[test]
fn a_trace_with_an_unknown_operation_is_never_ok() {
    let folder = folder();
    let input = file(&folder, "clean.std", "T1|w(x)|1\nT1|inv(o)|2\nT2|r(y)|3\n");
    let ran = run(&["check", &input]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let expected = "verdict: incomplete; what was not understood may hide something";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn what_was_ignored_survives_a_conversion() {
    let folder = folder();
    let input = file(&folder, "unknown.std", UNKNOWN);
    let binary = path(&folder, "unknown.bin");
    let ran = run(&["convert", &input, &binary, "--to", "binary"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = json(&run(&["check", &binary, "--format", "json"]).stdout);
    assert_eq!(result["warnings"][0]["kind"], "ignored", "{result}");
    assert!(result["findings"][0]["confirmed"].is_null(), "{result}");
}

#[test]
fn unknown_operations_of_a_droidracer_log_are_told() {
    let folder = folder();
    let log = "Android bug-checker log messages\n\n1 START\n2 THREADINIT tid:1\n3 FROBNICATE tid:1 obj:7\n4 FROBNICATE obj:7\n";
    let input = file(&folder, "log.txt", log);
    let result = json(&run(&["check", &input, "--format", "json"]).stdout);
    let texts: Vec<&str> = result["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["text"].as_str().unwrap())
        .collect();
    assert!(texts.iter().any(|text| text.contains("`FROBNICATE` is unknown")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("without a thread is left out")), "{texts:?}");
}

#[test]
fn a_witness_that_rests_on_what_was_ignored_says_so_when_it_is_checked_again() {
    let folder = folder();
    let input = file(&folder, "unknown.std", UNKNOWN);
    let result = path(&folder, "result.json");
    run(&["check", &input, "--format", "json", "--output", &result]);
    let ran = run(&["replay", &input, &result]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("only if `inv`, which is not understood"), "{}", ran.stdout);
}

#[test]
fn calls_without_a_specification_are_told_in_the_result() {
    let folder = folder();
    let trace = common::workspace().join("examples/traces/channel.trace");
    let trace = std::fs::read_to_string(trace).unwrap();
    let strange = trace.replace("channel:results", "widget").replace("close", "frob");
    let input = file(&folder, "strange.trace", strange);
    let result = json(&run(&["predict", &input, "--format", "json"]).stdout);
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("are ignored: they have no specification"), "{warnings} {result}");
}
