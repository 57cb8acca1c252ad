//! `anyorder certify`: certificates of all kinds, and what is refused.

use crate::common;
use crate::deadlocks::permits;

use common::{NOTES, file, folder, path, run, run_with_stdin};
use serde_json::Value;

const LATE: &str = "examples/models/late-script-load.any";

/// An order proof about the example, as `why` writes it.
fn order_proof(folder: &tempfile::TempDir) -> String {
    let proof = path(folder, "order.proof");
    let ran = run(&["why", NOTES, "1", "12", "--certificate", &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    proof
}

#[test]
fn a_proof_of_an_order_is_checked_again() {
    let folder = folder();
    let proof = order_proof(&folder);
    let ran = run(&["certify", NOTES, &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("happens before"), "{}", ran.stdout);
    let text = std::fs::read_to_string(&proof).unwrap();
    let wrong = file(&folder, "wrong", text.replace(" po", " post"));
    let ran = run(&["certify", NOTES, &wrong, &proof]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("line 5 (path, step 1)"), "{}", ran.stdout);
    let cut = file(&folder, "cut", "order-proof 1\nrules mailbox\n");
    assert_eq!(run(&["certify", NOTES, &cut]).status, 2);
    assert_eq!(run(&["certify", NOTES, &cut, &wrong]).status, 1);
}

#[test]
fn a_pair_without_an_order_has_no_proof() {
    let folder = folder();
    let proof = path(&folder, "none");
    let ran = run(&["why", NOTES, "80", "88", "--certificate", &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("was not written"), "{}", ran.stderr);
    assert!(!std::path::Path::new(&proof).exists());
}

#[test]
fn the_findings_of_a_result_are_checked_and_their_titles_are_not_repeated() {
    let result = run(&["predict", NOTES, "--format", "json"]).stdout;
    let mut value: Value = serde_json::from_str(&result).unwrap();
    value["findings"][0]["title"] = "a lie".into();
    value["findings"][0]["witness"]["inline"]["title"] = "a lie".into();
    let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("a lie"), "{}", ran.stdout);
    for (field, wrong) in [("events", 1.into()), ("more", true.into()), ("left_out", 1.into())] {
        let mut value: Value = serde_json::from_str(&result).unwrap();
        value["findings"][0]["witness"]["inline"][field] = wrong;
        let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
        assert_eq!(ran.status, if field == "events" { 1 } else { 2 }, "{field}: {ran:?}");
    }
    let mut value: Value = serde_json::from_str(&result).unwrap();
    value["findings"][0]["witness"]["inline"]["steps"][0]["text"] = "a lie".into();
    let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
    assert_eq!(ran.status, 1, "{ran:?}");
}

#[test]
fn a_schedule_of_a_model_is_run_step_by_step() {
    let result = run(&["check", LATE, "--format", "json"]).stdout;
    let ran = run_with_stdin(&["certify", LATE, "-", "--format", "json"], result.as_bytes());
    assert_eq!(ran.status, 0, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["certificates"][0]["kind"], "schedule");
    assert_eq!(answer["certificates"][0]["verdict"], "holds");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&result).unwrap();
        change(&mut value["findings"][0]["witness"]["inline"]);
        run_with_stdin(&["certify", LATE, "-"], value.to_string().as_bytes()).status
    };
    assert_eq!(changed(&|one| one["options"]["shows"] = "deadlock".into()), 1);
    assert_eq!(changed(&|one| one["choices"][0]["handler"] = "nobody".into()), 1);
    assert_eq!(changed(&|one| one["program"]["hash"] = "0".repeat(32).into()), 1);
    assert_eq!(changed(&|one| one["options"]["note"] = "x".into()), 2);
    assert_eq!(changed(&|one| one["choices"][0]["more"] = 1.into()), 2);
}

#[test]
fn a_certificate_of_another_kind_of_input_is_none() {
    let folder = folder();
    let proof = order_proof(&folder);
    assert_eq!(run(&["certify", LATE, &proof]).status, 2);
    let text = file(&folder, "text", "nothing of the trace\n");
    assert_eq!(run(&["certify", NOTES, &text]).status, 2);
    let ran = run(&["certify", "-", "-"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("given twice"), "{}", ran.stderr);
}

#[test]
fn consistency_is_checked_by_the_rule_of_its_mailboxes() {
    let folder = folder();
    let trace = file(
        &folder,
        "t.edt",
        "edtrace 1\np1 ui - post m1\np2 ui - post m2\ng2 k m2 get\nr2 k m2 r x init\n\
         g1 k m1 get\nw1 k m1 w x\n",
    );
    let proof = path(&folder, "proof");
    let ran = run(&["consistency", &trace, "--certificate", &proof, "-q"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(run(&["certify", &trace, &proof]).status, 0);
    let bag = run(&["certify", &trace, &proof, "--mailbox", "bag"]);
    assert_eq!(bag.status, 1, "{bag:?}");
    assert!(bag.stdout.contains("--mailbox bag"), "{}", bag.stdout);
    let witness = path(&folder, "run");
    let bag = ["--mailbox", "bag"];
    let ran = run(&["consistency", &trace, "--witness", &witness, bag[0], bag[1], "-q"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(run(&["certify", &trace, &witness, bag[0], bag[1]]).status, 0);
    assert_eq!(run(&["certify", &trace, &witness]).status, 1);
}

/// Two events with equal effects: the second step is not the first one again.
const EQUAL_EFFECTS: &str = "model m\nvar x = 0;\nevent a { x = 1; }\n\
    event b { x = 0; x = 1; }\ncomponent c0: a;\ncomponent c1: b;\n";

#[test]
fn a_schedule_names_the_steps_of_its_run_and_not_others_with_the_same_effect() {
    let folder = folder();
    let model = file(&folder, "m.any", EQUAL_EFFECTS);
    for more in [&[][..], &["--no-reduction"], &["--algorithm", "r4"]] {
        let command = if more.contains(&"r4") { "explore" } else { "check" };
        let ran = run(&[&[command, &model, "--format", "json"], more].concat());
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        let findings = result["findings"].as_array().unwrap();
        let finding = findings.iter().find(|one| one["kind"] == "update_conflict");
        let choices = &finding.expect("a conflict")["witness"]["inline"]["choices"];
        assert_eq!(choices[0]["task"], "a#1", "{more:?}: {choices}");
        assert_eq!(choices[1]["task"], "b#1", "{more:?}: {choices}");
        let certified = run_with_stdin(&["certify", &model, "-"], ran.stdout.as_bytes());
        assert_eq!(certified.status, 0, "{more:?}: {certified:?}");
        let replayed = run_with_stdin(&["replay", &model, "-"], ran.stdout.as_bytes());
        assert_eq!(replayed.status, 1, "{more:?}: {replayed:?}");
    }
}

#[test]
fn a_run_in_which_a_notify_wakes_another_than_the_first_has_a_schedule() {
    // The threads that wait stand in the state in another order than that of their names.
    let folder = folder();
    let text = "model n\nvar got = 0;\nvar ready = 0;\nlock l;\ncond c;\n\
        fn w(i: int) { acquire l; ready += 1; wait c with l; got = got * 4 + i; release l; }\n\
        thread start { fork w(3); fork w(2); fork w(1); }\n\
        thread go { assume ready == 3; acquire l; notify c; release l; }\n\
        invariant one: got != 1;\ninvariant two: got != 2;\ninvariant three: got != 3;\n";
    let model = file(&folder, "n.any", text);
    let ran = run(&["check", &model, "--format", "json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let certified = run_with_stdin(&["certify", &model, "-"], ran.stdout.as_bytes());
    assert_eq!(certified.status, 0, "{certified:?}");
    assert!(certified.stdout.ends_with("4 certificates: 4 hold\n"), "{certified:?}");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = result["findings"].as_array().unwrap();
    assert!(findings.iter().all(|one| one["confirmed"] == true), "{}", ran.stdout);
}

/// The status of the checker in Python; `None` without Python.
fn python(trace: &str, certificate: &str) -> Option<i32> {
    let script = common::workspace().join("tools/checker/certify.py");
    let mut command = std::process::Command::new("python3");
    command.arg(script).args([trace, certificate]).env("PYTHONDONTWRITEBYTECODE", "1");
    command.output().ok()?.status.code()
}

#[test]
fn both_checkers_refuse_what_has_another_form_or_says_nothing() {
    let folder = folder();
    let trace = file(
        &folder,
        "t.trace",
        "anyorder-trace 1\nhandler h0 \"m\" none\nhandler h1 \"n\" none\ntask t0 \"m\" initial h0\n\
         task t1 \"n\" initial h1\nlocation x0 \"x\"\nt0 fork h1\nt0 write x0\nt1 write x0\n",
    );
    let mark = "\u{feff}";
    let proof = "order-proof 1\nrules threads\norder 1 3\npath 1\n  1 3 fork\n";
    let reordering = r#"{"reordering":1,"form":"last","first":"2","second":"3","reorders":"threads",
        "prefix":1,"events":2,"steps":[{"event":"3"},{"event":"2"}]}"#;
    for (text, expected) in [
        (proof.to_owned(), 0),
        (format!("{mark}{proof}"), 0),
        (format!("{mark}\n# a comment\n{proof}"), 0),
        (format!("\n{mark}{proof}"), 2),
        (proof.replace("path 1", "path 01"), 2),
        (proof.replace("1 3 fork", "@0 @2 fork"), 0),
        (proof.replace("1 3 fork", "@00 @2 fork"), 1),
        (format!("{proof}# the end\n"), 0),
        (format!("{proof}path 1\n"), 2),
        (format!("{mark}1\n2\n3\n"), 0),
        ("1\n2\n3\n".to_owned(), 0),
        ("trace-schedule 1\nrun 1\nrun 2\nrun 3\n".to_owned(), 0),
        (format!("{mark}trace-schedule 1\nadjacent 2 3\nrun 1\nrun 2\nrun 3\n"), 0),
        ("trace-schedule 1\nadjacent 1 1\nrun 1\nrun 2\nrun 3\n".to_owned(), 1),
        ("trace-schedule 1\nadjacent 3 @2\nrun 1\nrun 2\nrun 3\n".to_owned(), 1),
        ("trace-schedule 1\nadjacent 1 2\nadjacent 1 2\nrun 1\nrun 2\n".to_owned(), 2),
        (reordering.to_owned(), 0),
        (format!("{mark}{reordering}"), 0),
        (format!(" \n{reordering}\n "), 0),
        (format!("{reordering} {{}}"), 2),
        (format!("\u{a0}{reordering}"), 2),
        (reordering.replace("\"prefix\":1", "\"prefix\":01"), 2),
        (reordering.replace("\"prefix\":1", "\"prefix\":1.0"), 2),
        (reordering.replace("\"prefix\":1", "\"prefix\":1,\"prefix\":1"), 2),
        (reordering.replace("{\"event\":\"3\"}", "{\"event\":\"3\",\"lane\":\"\"}"), 1),
        (reordering.replace("\"first\":\"2\"", "\"first\":\"\""), 1),
    ] {
        let certificate = file(&folder, "certificate", &text);
        let ran = run(&["certify", &trace, &certificate]);
        assert_eq!(ran.status, expected, "{text}\n{ran:?}");
        if let Some(theirs) = python(&trace, &certificate) {
            assert_eq!(theirs, expected, "the checker in Python: {text}");
        }
    }
}

/// `n` waits for a signal with lock `a`, which `m` takes before it gives one. `o` gives another.
#[test]
fn both_checkers_know_who_waits_for_a_signal() {
    let folder = folder();
    let head = "anyorder-trace 1\nhandler h0 \"m\" none\nhandler h1 \"n\" none\nhandler h2 \"o\" none\n\
        task t0 \"m\" initial h0\ntask t1 \"n\" initial h1\ntask t2 \"o\" initial h2\n\
        lock l0 \"a\"\ncondition c0 \"c\"\ncondition c1 \"d\"\n";
    let text = format!(
        "{head}t0 acquire l0\nt0 release l0\nt1 acquire l0\nt1 wait c0\nt2 signal c0\n\
         t0 signal c0\nt1 wake c0\nt1 release l0\n"
    );
    let trace = file(&folder, "t.trace", &text);
    let of = |requests: &str, steps: &str| {
        let list = |names: &str, one: fn(&str) -> String| {
            names.split_whitespace().map(one).collect::<Vec<String>>().join(",")
        };
        format!(
            r#"{{"reordering":1,"form":"deadlock","requests":[{}],"reorders":"threads",
            "prefix":0,"events":{},"steps":[{}]}}"#,
            list(requests, |name| format!("\"{name}\"")),
            steps.split_whitespace().count(),
            list(steps, |name| format!("{{\"event\":\"{name}\"}}")),
        )
    };
    for (requests, steps, expected) in [
        ("7 1", "5 3 4", 0),
        ("1 7", "5 3 4", 0),
        ("7 1", "3 5 4", 0),
        // The other signal wakes it, or can still come.
        ("7 1", "3 4 5", 1),
        ("7 1", "3 4", 1),
        // The wait has not begun; nobody has the lock; `o` has no signal left.
        ("7 1", "5 3", 1),
        ("7 1", "5", 1),
        ("7 6", "1 2 5 3 4", 1),
        ("7 5", "3 4", 1),
    ] {
        let certificate = file(&folder, "certificate", of(requests, steps));
        let ran = run(&["certify", &trace, &certificate]);
        assert_eq!(ran.status, expected, "{requests}: {steps}\n{ran:?}");
        if let Some(theirs) = python(&trace, &certificate) {
            assert_eq!(theirs, expected, "the checker in Python: {requests}: {steps}");
        }
    }
}

/// The checker in Python leaves calls to this one.
#[test]
fn the_checker_knows_who_waits_for_a_permit() {
    let folder = folder();
    // Who gives a permit has a lock that the other one has, while it waits.
    let crossed = file(&folder, "crossed.trace", permits("1+A 1p 1v 1-A 2p 2+A 2-A 2v 3p 3v"));
    // The second one has a permit to give only when it has taken one.
    let later = file(&folder, "later.trace", permits("2+A 2-A 2p 2v 1+A 1p 1v 1-A 3p"));
    let more = file(&folder, "more.trace", permits("3p 1+A 1p 1v 1-A 2p 2+A 2-A 2v"));
    for (trace, requests, steps, expected) in [
        (&crossed, [2, 6], &[9, 10, 1, 5][..], 0),
        (&crossed, [6, 2], &[1, 9, 10, 5], 0),
        // The third thread would give a permit only after it has taken one: it waits, too.
        (&crossed, [2, 6], &[1, 5], 0),
        (&crossed, [2, 6], &[9, 1, 5], 1),
        (&crossed, [2, 6], &[9, 10, 5], 1),
        (&crossed, [2, 5], &[9, 10, 1], 1),
        (&crossed, [5, 6], &[9, 10, 1, 5], 1),
        (&later, [6, 1], &[9, 5], 1),
        (&later, [6, 1], &[5], 1),
        // There are two permits.
        (&more, [3, 7], &[1, 2, 6], 0),
        (&more, [3, 7], &[2, 6], 1),
    ] {
        let steps: Vec<String> = steps.iter().map(|id| format!(r#"{{"event":"{id}"}}"#)).collect();
        let text = format!(
            r#"{{"reordering":1,"form":"deadlock","requests":["{}","{}"],"reorders":"threads",
            "prefix":0,"events":{},"steps":[{}]}}"#,
            requests[0],
            requests[1],
            steps.len(),
            steps.join(","),
        );
        let certificate = file(&folder, "certificate", text);
        let ran = run(&["certify", trace, &certificate]);
        assert_eq!(ran.status, expected, "{requests:?}: {steps:?}\n{ran:?}");
        if let Some(theirs) = python(trace, &certificate) {
            assert_eq!(theirs, 3, "the checker in Python: {requests:?}");
        }
    }
}

#[test]
fn a_field_of_a_schedule_that_is_there_is_checked() {
    let folder = folder();
    let model = file(&folder, "m.any", EQUAL_EFFECTS);
    let result = run(&["check", &model, "--format", "json"]).stdout;
    let value: Value = serde_json::from_str(&result).unwrap();
    let whole = &value["findings"][0]["witness"]["inline"];
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut one = whole.clone();
        change(&mut one);
        run_with_stdin(&["certify", &model, "-"], one.to_string().as_bytes()).status
    };
    assert_eq!(changed(&|_| ()), 0);
    assert_eq!(changed(&|one| one["choices"][0]["handler"] = "".into()), 1);
    assert_eq!(changed(&|one| one["choices"][0]["task"] = "a#01".into()), 2);
    assert_eq!(changed(&|one| one["choices"][0]["task"] = "%61#1".into()), 2);
    assert_eq!(changed(&|one| one["choices"][1]["alternative"] = 1.into()), 1);
    assert_eq!(changed(&|one| one["choices"][1]["inject"] = serde_json::json!([])), 2);
    assert_eq!(changed(&|one| one["program"]["version"] = "2".into()), 1);
    assert_eq!(changed(&|one| one["options"]["shows"] = "update_conflict x c1 c0".into()), 0);
    assert_eq!(changed(&|one| one["options"]["shows"] = "update_conflict x c0 c0".into()), 1);
    assert_eq!(changed(&|one| one["options"]["shows"] = "update_conflict y c0 c1".into()), 1);
    let marked = format!("\u{feff}{whole}");
    assert_eq!(run_with_stdin(&["certify", &model, "-"], marked.as_bytes()).status, 0);
}
