//! `anyorder robust`: verdicts, statuses, findings, and what does not count.

use crate::common;

use common::{file, folder, path, run, run_with_stdin};
use serde_json::Value;

/// A click saves in the background; a second click changes the text before it is saved.
const SAVE: &str = "anyorder-trace 1
meta labels=position order=observed
handler h0 \"user\" none untracked
handler h1 \"ui\" fifo
handler h2 \"pool\" bag
task t0 \"user\" initial h0
task t1 \"click\" posted h1
task t2 \"again\" posted h1
task t3 \"save\" posted h2
location x0 \"text\"
t0 post t1
t0 post t2
t1 get h1
t1 write x0
t1 post t3
t1 end
t2 get h1
t2 write x0
t2 end
t3 get h2
t3 read x0
t3 end
";

/// One event posts two tasks to a bag; the second runs first, and both write.
const SWAPPED: &str = "anyorder-trace 1
meta labels=position order=observed
handler h0 \"ui\" fifo
handler h1 \"pool\" bag
task t0 \"ui\" initial h0
task t1 \"first\" posted h1
task t2 \"second\" posted h1
location x0 \"adapter\"
t0 post t1
t0 post t2
t2 get h1
t2 write x0
t2 end
t1 get h1
t1 write x0
t1 end
";

fn json(stdout: &str) -> Value {
    serde_json::from_str(stdout).expect("one JSON object")
}

fn robust(text: &str, options: &[&str]) -> (i32, Value) {
    let arguments = [&["robust", "-", "--quiet", "--format", "json"], options].concat();
    let ran = run_with_stdin(&arguments, text.as_bytes());
    assert_eq!(ran.stderr, "", "{options:?}");
    (ran.status, json(&ran.stdout))
}

#[test]
fn events_that_interleave_are_not_serializable() {
    let (status, result) = robust(SAVE, &[]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()));
    let [finding] = result["findings"].as_array().unwrap().as_slice() else { panic!("{result}") };
    assert_eq!(finding["kind"], "not_serializable");
    assert_eq!((&finding["root"], &finding["pivot"]), (&"8".into(), &"11".into()));
    let cycle = finding["cycle"].as_array().unwrap();
    let edges: Vec<[&str; 4]> = cycle
        .iter()
        .map(|c| ["from", "to", "before", "after"].map(|key| c[key].as_str().unwrap()))
        .collect();
    assert_eq!(edges, [["again", "click", "8", "11"], ["click", "again", "4", "8"]]);
    // The mailbox orders the clicks; nothing orders the second one and the save.
    assert_eq!([&cycle[0]["forced"], &cycle[1]["forced"]], [false, true]);
    for (name, count) in [("events", 2), ("tasks", 3), ("accesses", 3), ("components", 1)] {
        assert_eq!(result["stats"][name], count, "{name}: {result}");
    }
    assert_eq!(result["stats"]["violations"], 0);
    assert!(result["stats"]["elapsed_ms"].is_u64());
}

#[test]
fn tasks_against_the_order_of_one_thread_are_not_deterministic() {
    let (status, result) = robust(SWAPPED, &[]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()));
    let finding = &result["findings"][0];
    assert_eq!(finding["kind"], "nondeterminism");
    assert_eq!((&finding["root"], &finding["pivot"]), (&"4".into(), &"7".into()));
    assert_eq!(result["stats"]["violations"], 1);
    // In a mailbox that keeps the order of posts, the same tasks run in that order.
    let fifo = SWAPPED.replace("bag", "fifo");
    let (first, second) = fifo.split_once("t2 get").unwrap();
    let (t2, t1) = second.split_once("t1 get").unwrap();
    let (status, result) = robust(&format!("{first}t1 get{t1}t2 get{t2}"), &[]);
    assert_eq!((status, &result["verdict"]), (0, &"robust".into()));
}

#[test]
fn ignored_locations_and_accepted_findings_do_not_count() {
    let (status, result) = robust(SAVE, &["--ignore", "t?xt"]);
    assert_eq!((status, &result["verdict"]), (0, &"robust".into()));
    let folder = folder();
    let (trace, known) = (file(&folder, "save.trace", SAVE), path(&folder, "known.json"));
    let ran = run(&["robust", &trace, "--write-baseline", &known]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let ran = run(&["robust", &trace, "--baseline", &known]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("verdict: not_robust"), "{ran:?}");
    let config = file(&folder, "s.toml", "[[suppress]]\nlocation = \"text\"\nreason = \"so\"\n");
    let ran = run(&["robust", &trace, "--config", &config]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_thread_that_reads_what_it_joined_is_forced() {
    let text = "T0|fork(T1)|1\nT1|w(x)|2\nT0|join(T1)|3\nT0|r(x)|4\n";
    let (status, result) = robust(text, &[]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()));
    assert_eq!(result["findings"][0]["filters"][0], "forced");
    assert_eq!(result["findings"][0]["severity"], "note");
    assert!(result["warnings"][0]["text"].as_str().unwrap().contains("no task was posted"));
    let ran = run_with_stdin(&["robust", "-"], text.as_bytes());
    assert!(ran.stderr.contains("no task was posted"), "{ran:?}");
    let (status, result) = robust(text, &["--ignore-forced"]);
    assert_eq!((status, &result["verdict"]), (0, &"robust".into()));
    let (status, _) = robust(text, &["--ignore-forced", "--strict"]);
    assert_eq!(status, 1);
    // The order that only a lock gives is racing.
    let text =
        "T0|fork(T1)|1\nT1|acq(l)|2\nT1|w(x)|3\nT1|rel(l)|4\nT0|acq(l)|5\nT0|r(x)|6\nT0|rel(l)|7\n";
    let (status, result) = robust(text, &["--ignore-forced"]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()));
}

#[test]
fn a_trace_of_many_tasks_has_no_classes() {
    let (status, result) = robust(SAVE, &["--max-classed-tasks", "2", "--ignore-forced"]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()));
    assert_eq!(result["bounds"], serde_json::json!(["max-classed-tasks"]));
    assert!(result["findings"][0]["cycle"][0].get("forced").is_none(), "{result}");
}

#[test]
fn every_format_of_a_result_has_the_findings() {
    let folder = folder();
    let (one, two) = (file(&folder, "save.trace", SAVE), file(&folder, "swap.trace", SWAPPED));
    let report = path(&folder, "report");
    let ran = run(&["robust", &one, &two, "--report", &report]);
    assert_eq!(ran.status, 1, "{ran:?}");
    for text in ["not_serializable", "nondeterminism", "[racing]", "verdict: not_robust"] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).unwrap();
    assert!(page.contains("interleave"), "the page shows the finding");
    for format in ["sarif", "jsonl", "junit"] {
        let ran = run(&["robust", &one, "--format", format]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("interleave"), "{format}: {}", ran.stdout);
    }
}

#[test]
fn what_has_no_recorded_order_is_refused() {
    for (name, text) in [
        ("partial.edt", "edtrace 1\ne1 A - w x\n"),
        ("model.any", "int x = 0;\n"),
        ("nothing.bin", "\u{1}\u{2}"),
    ] {
        let folder = folder();
        let ran = run(&["robust", &file(&folder, name, text)]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{name}: {ran:?}");
        assert!(ran.stderr.contains(name), "{ran:?}");
    }
    assert_eq!(run(&["robust"]).status, 2);
}

#[test]
fn a_limit_leaves_the_answer_open() {
    let ran = run_with_stdin(
        &["robust", "-", "--format", "json", "--time-limit", "0ms"],
        SAVE.as_bytes(),
    );
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(json(&ran.stdout)["verdict"], "unknown");
}
