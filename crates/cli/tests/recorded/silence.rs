//! Inputs of which not everything is understood: never `ok`, and each says why.

use crate::common::{file, folder, path, run};
use crate::recorded::{findings, result};
use serde_json::Value;

/// Each trace with words of the warning that it must get.
const NOT_UNDERSTOOD: [(&str, &str, &[&str]); 11] = [
    (
        "all-unknown.std",
        "T1|lock(l)|1\nT1|write(x)|2\nT2|write(x)|3\n",
        &["`lock` is unknown", "did you mean `acq`?", "`write` is unknown", "did you mean `w`?"],
    ),
    ("some-unknown.std", "T1|w(x)|1\nT2|wx(x)|2\n", &["`wx` is unknown", "did you mean `w`?"]),
    ("case.std", "T1|W(x)|1\nT2|R(x)|2\n", &["`W` is unknown", "did you mean `r`?"]),
    ("slip.std", "T0|fork(T1)|1\nT0|w(x)|2\nT1|r(y)|3\nT0|jion(T1)|4\n", &["did you mean `join`?"]),
    ("never-runs.std", "T0|w(x)|1\nT0|fork(T1)|2\n", &["thread `T1` is forked and never runs"]),
    (
        "other-name.std",
        "T0|w(x)|1\nT0|fork(T7)|2\nT1|r(x)|3\n",
        &["thread `T7` is forked and never runs", "`T1` runs and is never forked"],
    ),
    (
        "joined.std",
        "T0|w(x)|1\nT0|join(T9)|2\n",
        &["`T9` is joined, and is neither forked nor runs"],
    ),
    ("swapped.std", "T0|fork(T1)|1\nT1|w(T0)|2\n", &["variable `T0` has the name of a thread"]),
    (
        "two-holders.std",
        "T1|acq(l)|1\nT1|w(x)|2\nT2|acq(l)|3\nT2|w(y)|4\nT2|rel(l)|5\nT1|rel(l)|6\n",
        &["takes lock `l` while handler `T1` has it"],
    ),
    (
        "woken-by-nobody.std",
        "T1|acq(l)|1\nT1|wait(c)|2\nT1|rel(l)|3\nT1|acq(l)|4\nT1|wake(c)|5\nT1|w(x)|6\nT1|rel(l)|7\n\
         T2|acq(l)|8\nT2|r(y)|9\nT2|rel(l)|10\n",
        &["wakes from condition `c`, which nobody signalled"],
    ),
    (
        "only-locks.std",
        "T1|acq(l)|1\nT1|rel(l)|2\nT2|acq(l)|3\nT2|rel(l)|4\n",
        &["nothing to check"],
    ),
];

/// The texts of the warnings that make a result incomplete.
fn reasons(result: &Value) -> String {
    let all = result["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    let ignored = all.iter().filter(|warning| warning["kind"] == "ignored");
    ignored.map(|warning| warning["text"].as_str().expect("a text").to_owned() + "\n").collect()
}

#[test]
fn nothing_of_a_trace_that_was_not_understood_is_ok() {
    let folder = folder();
    for (name, text, wanted) in NOT_UNDERSTOOD {
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, name, text);
            assert_eq!(status, 3, "{command} {name}: {result}");
            assert_eq!(result["verdict"], "incomplete", "{command} {name}: {result}");
            assert_eq!(result["complete"], false, "{command} {name}");
            assert_eq!(result["limits"], serde_json::json!(["not-understood"]), "{name}");
            let reasons = reasons(&result);
            for words in wanted {
                assert!(reasons.contains(words), "{command} {name}: {words}\n{reasons}");
            }
        }
    }
}

#[test]
fn other_verdicts_are_open_where_the_trace_was_not_understood() {
    let folder = folder();
    for (name, text, _) in NOT_UNDERSTOOD {
        let (status, result) = result(&folder, "consistency", name, text);
        assert_eq!((status, &result["verdict"]), (3, &"unknown".into()), "{name}: {result}");
        let input = file(&folder, name, text);
        let ran = run(&["robust", &input, "--format", "json"]);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(value["complete"], false, "robust {name}: {value}");
        assert_ne!(value["verdict"], "robust", "robust {name}: {value}");
        assert_ne!(ran.status, 0, "robust {name}");
    }
}

#[test]
fn the_contents_of_a_trace_are_listed_with_what_was_not_understood() {
    let folder = folder();
    for (name, text, wanted) in NOT_UNDERSTOOD {
        let input = file(&folder, name, text);
        let ran = run(&["info", &input, "--format", "json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        // A listing does not check that the run can have happened.
        if ["two-holders.std", "woken-by-nobody.std"].contains(&name) {
            continue;
        }
        let reasons = reasons(&value);
        let told = run(&["info", &input]).stderr;
        for words in wanted {
            assert!(reasons.contains(words), "{name}: {words}\n{reasons}");
            assert!(told.contains(words), "{name}: {words}\n{told}");
        }
    }
}

#[test]
fn every_format_says_that_the_answer_is_open_and_why() {
    let folder = folder();
    let (name, text, _) = NOT_UNDERSTOOD[5];
    let input = file(&folder, name, text);
    let report = path(&folder, "report");
    let ran = run(&["check", &input, "--report", &report]);
    let one_line = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("verdict: incomplete"), "{one_line}");
    assert!(one_line.contains("thread `T7` is forked and never runs"), "{one_line}");
    assert!(!one_line.contains("--not-understood"), "it is no option: {one_line}");
    let page = std::fs::read_to_string(format!("{report}/index.html")).expect("a page");
    assert!(page.contains("is forked and never runs") && !page.contains("--not-understood"));
    let sarif = run(&["check", &input, "--format", "sarif"]).stdout;
    assert!(sarif.contains("is forked and never runs"), "{sarif}");
    let junit = run(&["check", &input, "--format", "junit"]).stdout;
    assert!(junit.contains("not everything of the input was understood"), "{junit}");
    assert!(junit.contains("errors=\"1\""), "{junit}");
}

#[test]
fn a_race_with_a_thread_that_may_have_been_forked_claims_nothing() {
    let folder = folder();
    let (name, text, _) = NOT_UNDERSTOOD[5];
    let (_, result) = result(&folder, "check", name, text);
    for finding in findings(&result) {
        assert!(finding["confirmed"].is_null(), "{finding}");
        assert_eq!(finding["severity"], "note", "{finding}");
        assert!(finding["explanation"].to_string().contains("only if thread `T1` is not"));
    }
    // Other races of the same trace count.
    let more = format!("{text}T2|w(y)|4\nT0|w(y)|5\n");
    let (status, result) = self::result(&folder, "check", "more.std", &more);
    assert_eq!((status, &result["complete"]), (1, &false.into()), "{result}");
}

#[test]
fn a_long_trace_that_is_streamed_is_not_ok_either() {
    let folder = folder();
    let checked = ["two-holders.std", "woken-by-nobody.std"];
    for (name, text, _) in NOT_UNDERSTOOD.into_iter().filter(|one| !checked.contains(&one.0)) {
        let input = file(&folder, name, text);
        let ran = run(&["predict", &input, "--max-events", "1", "--format", "json"]);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(value["complete"], false, "{name}: {value}");
        assert!(!reasons(&value).is_empty(), "{name}: {value}");
        assert_ne!(ran.status, 0, "{name}");
    }
}

/// A wait for the end of a context, a value of a future and an item, each recorded too early.
fn early(object: &str, wait: &str, other: &str) -> String {
    format!(
        "anyorder-trace 1\nhandler h0 \"main\"\nhandler h1 \"worker\"\n\
         task t0 \"main\" initial h0\ntask t1 \"worker\" initial h1\n\
         invocation v0 \"{object}\" {wait}\ninvocation v1 \"{object}\" {other}\n\
         t0 fork h1\nt1 invoke v0\nt0 invoke v1\n"
    )
}

#[test]
fn a_call_that_returned_before_what_it_waits_for_is_told() {
    let folder = folder();
    for (object, wait, other) in [
        ("context:c", "\"done\"", "\"cancel\""),
        ("future:f", "\"get\" -> 7", "\"set\" 7 -> 1"),
        ("channel:q", "\"recv\" -> 7", "\"send\" 7 -> 1"),
        ("condition:c", "\"wake\"", "\"signal\""),
    ] {
        let text = early(object, wait, other);
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, "early.trace", &text);
            assert_ne!(status, 0, "{command} {object}: {result}");
            assert_eq!(result["complete"], false, "{command} {object}: {result}");
            let reasons = reasons(&result);
            assert!(reasons.contains("returns before what it waits for"), "{object}: {result}");
        }
        // In the order in which it can happen, the trace is understood.
        let right = text.replace("t1 invoke v0\nt0 invoke v1\n", "t0 invoke v1\nt1 invoke v0\n");
        let (_, result) = result(&folder, "check", "right.trace", &right);
        assert_eq!(result["complete"], true, "{object}: {result}");
    }
}

#[test]
fn traces_that_are_understood_stay_ok() {
    let folder = folder();
    for text in [
        "T0|w(x)|1\nT0|fork(T1)|2\nT1|r(x)|3\nT0|join(T1)|4\n",
        // Threads that run from the start, beside others that are forked.
        "T0|w(x)|1\nT2|w(y)|2\nT0|fork(T1)|3\nT1|r(x)|4\n",
        // Operations of other tools that order nothing and access nothing.
        "T1|req(l)|1\nT1|acq(l)|2\nT1|w(x)|3\nT1|branch|4\nT1|rel(l)|5\nT1|dummy(0)|6\n",
        // Bare numbers name threads, locks and variables alike.
        "0|fork(1)|0\n1|acq(0)|1\n1|w(1)|2\n1|rel(0)|3\n",
    ] {
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, "right.std", text);
            assert_eq!((status, &result["verdict"]), (0, &"ok".into()), "{text}: {result}");
        }
    }
}
