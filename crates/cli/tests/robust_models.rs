//! `anyorder robust` on models: the verdict, the three properties of conflicts, and what was not
//! decided (`docs/robustness.md`, "Models").

use crate::common;

use common::{file, folder, run, workspace};
use serde_json::{Value, json};

/// Returns the status and the result of a model.
fn robust(text: &str, options: &[&str]) -> (i32, Value) {
    let folder = folder();
    let path = file(&folder, "m.any", format!("model m\nsetting granularity = access;\n{text}"));
    let arguments = [&["robust", &path, "--quiet", "--format", "json"], options].concat();
    let ran = run(&arguments);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    if ran.status == 1 {
        replays(&folder, &path, &ran.stdout, &result);
    }
    (ran.status, result)
}

/// Every finding has a run, and the model has it.
fn replays(folder: &tempfile::TempDir, path: &str, stdout: &str, result: &Value) {
    let findings = result["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| one["harm"] == "harmful"), "{result}");
    for finding in findings {
        assert_eq!(finding["confirmed"], true, "{finding}");
        assert_eq!(finding["witness"]["format"], "schedule", "{finding}");
    }
    let stored = file(folder, "result.json", stdout);
    let ran = run(&["certify", path, &stored, "--quiet"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

/// Checks a verdict, and the answers `deterministic`, `serializable`, `start_order`, `states`.
fn expect(text: &str, options: &[&str], verdict: &str, answers: [&str; 4]) -> Value {
    let (status, result) = robust(text, options);
    let wanted = match verdict {
        "robust" => 0,
        "not_robust" => 1,
        _ => 3,
    };
    assert_eq!((status, &result["verdict"]), (wanted, &verdict.into()), "{text}\n{result}");
    let names = ["deterministic", "serializable", "start_order", "states"];
    let found = names.map(|name| result["stats"][name].as_str().unwrap_or_default());
    assert_eq!(found, answers, "{text}\n{result}");
    result
}

#[test]
fn a_conflict_without_harm_has_a_run_that_replays() {
    let folder = folder();
    let model =
        workspace().join("examples/models/dictionary-lookup-fixed.any").display().to_string();
    let ran = run(&["robust", &model, "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).expect("a result");
    let mut tried = 0;
    for finding in value["findings"].as_array().expect("findings") {
        let schedule = &finding["witness"]["inline"];
        if finding["harm"] != "harmless" || schedule["options"]["shows"].is_string() {
            continue;
        }
        let schedule = file(&folder, "schedule.json", schedule.to_string());
        let replayed = run(&["replay", &model, &schedule]);
        assert_eq!(replayed.status, 0, "{replayed:?}");
        let words = "replay: the run is possible; the schedule names no finding\n";
        assert!(replayed.stdout.ends_with(words), "{replayed:?}");
        assert_eq!(run(&["certify", &model, &schedule]).status, 0);
        tried += 1;
    }
    assert!(tried > 0, "{tried} conflicts without harm");
}

#[test]
fn another_end_of_a_pair_of_places_is_found() {
    let text = "var b = 0;\nonce event e on main { async[any] p(); async[any] p(); b = 1; }\n\
                procedure p() { b = 2; }\n";
    expect(text, &[], "not_robust", ["no", "yes", "yes", "no"]);
    // The same value: the conflict remains, and does no harm.
    let same = text.replace("b = 1", "b = 2");
    let result = expect(&same, &[], "robust", ["no", "yes", "yes", "yes"]);
    assert_eq!(result["findings"][0]["harm_class"], "conflict_only");
    assert_eq!(result["complete"], true);
}

#[test]
fn components_change_no_verdict() {
    let text = "var v = 0;\nhandler main: delayed;\nhandler k: delayed;\n\
                once event e0 on main { if v == 1 { v = 0; post p(1) to main after 3; } }\n\
                once event e1 { if v < 1 { v = 1; } }\n\
                once event e2 on k after e1 { if v == v { v = 0; } v = 2; async[any] p(1); }\n\
                task p(i: int) { if v == 1 { v = i; } }\ndriver e1, e2;\n";
    let with = format!("{text}component first: e0;\n");
    for text in [text, &with] {
        expect(text, &["--repeat", "1"], "not_robust", ["yes", "no", "no", "no"]);
    }
}

#[test]
fn an_unfinished_comparison_proves_nothing() {
    let text = "var a = 0;\nvar b = 0;\nonce event e0 on main { async[any] p(); }\n\
                once event e1 on main { async[any] q(); }\n\
                procedure p() { let i = 0; while i < 3000 { a = i; i = i + 1; } }\n\
                procedure q() { b = 1; }\n";
    for limit in [["--time-limit", "1ms"], ["--max-states", "100"], ["--max-states", "5000"]] {
        let (status, result) = robust(text, &limit);
        assert_eq!((status, &result["verdict"]), (3, &"unknown".into()), "{limit:?} {result}");
        assert_eq!(result["complete"], false);
        assert_ne!(result["limits"], json!([]));
    }
}

#[test]
fn events_that_repeat_are_compared_up_to_one_bound() {
    let once = "var n = 0;\nevent click on main { n = n + 1; }\n";
    for repeat in ["1", "2", "5"] {
        let options = ["--repeat", repeat];
        let result = expect(once, &options, "robust", ["yes", "yes", "yes", "yes"]);
        assert_eq!((&result["bounds"], &result["complete"]), (&json!(["repeat"]), &false.into()));
    }
    // A guard ends the repetition.
    let guarded = "var n = 0;\nevent click on main when n < 2 { n += 1; }\n";
    let result = expect(guarded, &[], "robust", ["yes", "yes", "yes", "yes"]);
    assert_eq!((result.get("bounds"), &result["complete"]), (None, &true.into()));
    // An update is lost, although one click alone ends in the same memory.
    let lost = "var n = 0;\nevent click on main { async[any] p(); }\n\
                procedure p() { let t = n; n = t + 1; }\n";
    expect(lost, &[], "not_robust", ["yes", "no", "no", "no"]);
    // An event without a handler does not overlap itself.
    let own = "var n = 0;\nevent click { let t = n; n = t + 1; }\n";
    expect(own, &[], "robust", ["yes", "yes", "yes", "yes"]);
}

#[test]
fn what_init_posts_belongs_to_every_run() {
    let alone = "var x = 0;\nhandler ui: fifo;\ninit { post p(); }\ntask p() on ui { x = 1; }\n";
    let result = expect(alone, &[], "robust", ["yes", "yes", "yes", "yes"]);
    assert_eq!(result["complete"], true);
    let before = "var x = 0;\nvar y = 0;\nhandler ui: fifo;\ninit { post p(); }\n\
                  task p() on ui { x = 1; }\nonce event e on main { y = x; }\n";
    let result = expect(before, &[], "not_robust", ["yes", "yes", "no", "no"]);
    assert_eq!(result["findings"][0]["category"], "start_order");
    let behind = before.replace("event e on main", "event e on ui");
    expect(&behind, &[], "not_robust", ["yes", "yes", "no", "no"]);
    let posted = before.replace("{ y = x; }", "{ post t(); }\ntask t() on ui { y = x; }");
    expect(&posted, &[], "robust", ["yes", "yes", "yes", "yes"]);
    let races = "var x = 0;\ninit { async[any] p(); async[any] q(); }\n\
                 procedure p() { x = 1; }\nprocedure q() { x = 2; }\n";
    let result = expect(races, &[], "not_robust", ["no", "yes", "yes", "no"]);
    assert_eq!(result["stats"]["not_deterministic"], "init");
    // What `init` writes itself is a part of its cycle.
    let cycle = "var x = 0;\ninit { x = 1; async[any] p(); }\nonce event e { x = x; }\n\
                 procedure p() { x = 3; }\n";
    expect(cycle, &[], "not_robust", ["yes", "no", "no", "no"]);
}

#[test]
fn the_violation_of_a_start_order_is_no_nondeterminism() {
    let text = "var a = 0;\nvar b = 0;\nonce event e0 on main { async[main] p(); }\n\
                once event e1 on main { a = 1; }\n\
                procedure p() { if a == 1 { async[any] q(); async[any] r(); } }\n\
                procedure q() { b = 1; }\nprocedure r() { b = 2; }\n";
    let driven = format!("{text}driver e0, e1;\n");
    expect(&driven, &[], "not_robust", ["yes", "yes", "no", "no"]);
    // Without the driver, e1 may come first, and then e0 is not deterministic.
    let result = expect(text, &[], "not_robust", ["no", "yes", "yes", "no"]);
    assert_eq!(result["stats"]["not_deterministic"], "e0");
}

#[test]
fn every_event_that_fails_is_named() {
    let text = "var x = 0;\nonce event e0 { async[any] p(); async[any] q(); }\n\
                once event e1 { async[any] p(); async[any] q(); }\nonce event e2 { async[any] p(); }\n\
                procedure p() { x = 1; }\nprocedure q() { x = 2; }\n";
    let result = expect(text, &[], "not_robust", ["no", "no", "no", "no"]);
    assert_eq!(result["stats"]["not_deterministic"], "e0, e1");
    let titles: Vec<&str> = result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "nondeterminism")
        .map(|one| one["title"].as_str().unwrap())
        .collect();
    for event in ["`e0`", "`e1`"] {
        assert_eq!(titles.iter().filter(|title| title.contains(event)).count(), 1, "{titles:?}");
    }
}

#[test]
fn more_stops_than_asked_for_are_decided_by_all_interleavings() {
    let text = "handler main: fifo;\nvar b = 0;\nvar c = 0;\n\
        once event e0 on main { async[any] p1(); if b == 1 { async[any] p2(); } async[main] p0(); \
        async[main] p0(); }\nonce event e1 on main { b = c; }\nprocedure p0() { assume c == 1; }\n\
        procedure p1() { async[main] p2(); }\nprocedure p2() { b = 1; }\n";
    for stops in ["0", "1", "2"] {
        expect(text, &["--stops", stops], "robust", ["yes", "no", "no", "yes"]);
    }
    let (_, result) = robust(text, &["--max-states", "40", "--stops", "0"]);
    assert_eq!(result["complete"], false, "{result}");
}

#[test]
fn delayed_tasks_run_by_due_time() {
    let text = "var x = 0;\nhandler ui: delayed;\n\
                once event e0 on ui { post t() to ui after 10; post u() to ui after 5; }\n\
                task t() on ui { x = 1; }\ntask u() on ui { x = 2; }\n";
    expect(text, &[], "robust", ["yes", "yes", "yes", "yes"]);
    // The order of two handlers is open.
    let two = text.replace("handler ui: delayed;", "handler ui: delayed;\nhandler io: delayed;");
    let two = two.replace("post u() to ui", "post u() to io").replace("u() on ui", "u() on io");
    expect(&two, &[], "not_robust", ["no", "yes", "yes", "no"]);
    let same = two.replace("x = 2", "x = 1");
    expect(&same, &[], "robust", ["no", "yes", "yes", "yes"]);
}

#[test]
fn each_cycle_is_listed_once() {
    let text = "var n = 0;\nonce event a on main { async[any] p(); }\n\
                once event b on main { async[any] p(); }\nprocedure p() { let t = n; n = t + 1; }\n";
    let result = expect(text, &[], "not_robust", ["yes", "no", "no", "no"]);
    assert_eq!(result["findings"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["stats"]["violations_of_start_order"], 0);
}

#[test]
fn a_deadlock_that_concurrency_adds_is_another_outcome() {
    let text = "lock a;\nlock b;\nonce event e0 { with a { with b { } } }\n\
                once event e1 { with b { with a { } } }\n";
    let result = expect(text, &[], "not_robust", ["yes", "yes", "yes", "no"]);
    assert_eq!(result["findings"][0]["category"], "deadlock");
    let ordered = text.replace("with b { with a", "with a { with b");
    expect(&ordered, &[], "robust", ["yes", "yes", "yes", "yes"]);
    // Each serial run waits at the same place.
    let waits = "var x = 0;\nvar y = 0;\nonce event e { async[any] p(); async[any] q(); }\n\
                 procedure p() { assume x == 1; }\nprocedure q() { y = 1; }\n";
    let result = expect(waits, &[], "robust", ["yes", "yes", "yes", "yes"]);
    assert!(result["warnings"][0]["text"].as_str().unwrap().contains("waits for ever"));
}

#[test]
fn a_failure_that_concurrency_adds_is_another_outcome() {
    let text = "var x = 0;\nvar y = 0;\nonce event u { y = 1; x = 1; }\n\
                once event f { if y == 1 { assert x == 1; } }\n";
    let (status, result) = robust(text, &[]);
    assert_eq!((status, &result["verdict"]), (1, &"not_robust".into()), "{result}");
    let always = "var x = 0;\nonce event f { assert x == 1; }\n";
    expect(always, &[], "robust", ["yes", "yes", "yes", "yes"]);
}

#[test]
fn a_model_without_an_end_has_no_verdict() {
    let text = "var x = 0;\nhandler ui: fifo;\nonce event go { post t(); }\n\
                task t() on ui { x = 1; post t(); }\n";
    let (status, result) = robust(text, &["--max-states", "500"]);
    assert_eq!((status, &result["verdict"]), (3, &"unknown".into()), "{result}");
    assert_eq!(result["limits"], json!(["no-end"]));
    assert!(result["warnings"][0]["text"].as_str().unwrap().contains("no run of the model ends"));
    // One event that does not end is named, and the others are compared.
    let one = format!("{text}once event other {{ x = 1; }}\n");
    let (status, result) = robust(&one, &["--max-states", "500"]);
    assert_eq!((status, &result["verdict"]), (0, &"robust".into()), "{result}");
    let warning = result["warnings"][0]["text"].as_str().unwrap();
    assert!(warning.ends_with("not compared: go"), "{warning}");
}

#[test]
fn a_task_that_is_taken_back_in_time_or_too_late_is_a_conflict() {
    let text = "var x = 0;\nvar g: task? = null;\n\
                once event e on main { async[any] q(); g = post t() to main; }\n\
                procedure q() { cancel g; }\ntask t() { x = 1; }\n";
    let (status, result) = robust(text, &[]);
    assert_eq!((status, &result["stats"]["deterministic"]), (1, &"no".into()), "{result}");
    let before =
        text.replace("async[any] q(); g = post t() to main;", "g = post t() to main; q();");
    let before = before.replace("procedure q", "fn q");
    expect(&before, &[], "robust", ["yes", "yes", "yes", "yes"]);
}

#[test]
fn options_of_the_other_kind_of_input_are_refused() {
    let folder = folder();
    let model = file(&folder, "m.any", "model m\nvar x = 0;\nonce event e { x = 1; }\n");
    let trace = file(&folder, "t.std", "T0|fork(T1)|1\nT1|w(x)|2\nT0|join(T1)|3\n");
    for (input, options) in [
        (&model, vec!["--rules", "mailbox"]),
        (&model, vec!["--ignore", "x"]),
        (&model, vec!["--ignore-forced"]),
        (&model, vec!["--max-pairs", "5"]),
        (&model, vec!["--max-cycles", "5"]),
        (&model, vec!["--max-classed-tasks", "5"]),
        (&trace, vec!["--stops", "1"]),
        (&trace, vec!["--repeat", "2"]),
        (&trace, vec!["--max-states", "9"]),
    ] {
        let ran = run(&[&["robust", input], &options[..]].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{options:?} {ran:?}");
        assert!(ran.stderr.contains(options[0]), "{ran:?}");
        // Both kinds together take the options of both.
        let ran = run(&[&["robust", &model, &trace], &options[..]].concat());
        assert!(ran.status < 2, "{options:?} {ran:?}");
    }
}

#[test]
fn a_refusal_names_the_line() {
    let folder = folder();
    for (text, line) in [
        ("model m\nvar x = 0;\n\nthread t { x = 1; }\n", "line 4"),
        ("model m\nvar x = 0;\nfn f() { x = 1; }\nonce event e {\n  fork f();\n}\n", "line 5"),
        (
            "model m\nlock l;\ncond c;\nonce event e {\n  notify c;\n}\nthread t { with l { notify c; } }\n",
            "line 7",
        ),
    ] {
        let ran = run(&["robust", &file(&folder, "m.any", text)]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(line), "{ran:?}");
    }
}

/// A model of the gallery, with changes to its text.
fn gallery(name: &str, changes: &[(&str, &str)]) -> String {
    let path = common::workspace().join("examples/models").join(format!("{name}.any"));
    let mut text = std::fs::read_to_string(path).expect("a model of the gallery");
    for (before, after) in changes {
        assert!(text.contains(before), "{name}: {before}");
        text = text.replace(before, after);
    }
    text
}

/// Returns the verdict of a model, and the explanations of what does harm.
fn verdict_of(text: &str) -> (String, String) {
    let folder = folder();
    let path = file(&folder, "m.any", text);
    let ran = run(&["robust", &path, "--quiet", "--format", "json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let harmful = result["findings"].as_array().into_iter().flatten();
    let harmful = harmful.filter(|one| one["harm"] == "harmful");
    let texts: Vec<String> = harmful.map(|one| one["explanation"].to_string()).collect();
    (result["verdict"].as_str().unwrap_or_default().to_owned(), texts.join("\n"))
}

/// Repairs that keep the stated property still let concurrency add outcomes: checked by hand.
#[test]
fn repaired_models_of_the_gallery_that_are_not_robust_have_an_outcome_of_their_own() {
    // One event after another, a click on `cancel` never finds a download: no serial run has one.
    let name = "cancel-against-completion-fixed";
    let (verdict, said) = verdict_of(&gallery(name, &[]));
    assert_eq!(verdict, "not_robust");
    assert!(said.contains("started (global state): 1 | 2"), "{said}");
    let never = gallery(name, &[("when current != null", "when current != null && started == 9")]);
    assert_eq!(verdict_of(&never).0, "robust");

    // The rows of the older search may be found last: `cursor` is theirs, although the list is not.
    let name = "search-twice-fixed";
    let (verdict, said) = verdict_of(&gallery(name, &[]));
    assert_eq!(verdict, "not_robust");
    assert!(said.contains("cursor (global state): \\\"stadium\\\" | \\\"station\\\""), "{said}");
    assert_eq!(verdict_of(&gallery(name, &[("    cursor = text;\n", "")])).0, "robust");

    // A request with the old token is refused after the renewal, and the token is renewed again.
    let name = "token-refresh-fixed";
    let (verdict, said) = verdict_of(&gallery(name, &[]));
    assert_eq!(verdict, "not_robust");
    assert!(said.contains("refresh (global state): 1 | 2"), "{said}");
    let once = gallery(
        name,
        &[
            ("post unauthorised(i);", "post unauthorised(i, token);"),
            (
                "task unauthorised(i: int) on app {",
                "task unauthorised(i: int, token: int) on app {\n    \
                 if token != access { post ask(i, access); return; }",
            ),
        ],
    );
    assert_eq!(verdict_of(&once).0, "robust");
}

#[test]
fn an_outcome_that_no_serial_run_has_replays_and_is_certified() {
    let lost = "var x = 0; once event a { let t = x; x = t + 1; }
        once event b { let t = x; x = t + 1; }";
    let folder = folder();
    let model = |name: &str, body: &str| {
        file(&folder, name, format!("model m\nsetting granularity = access;\n{body}\n"))
    };
    let lost = model("m.any", lost);
    let ran = run(&["robust", &lost, "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).expect("a result");
    let findings = value["findings"].as_array().expect("findings");
    assert_eq!((ran.status, findings.len()), (1, 2));
    for finding in findings {
        let schedule = &finding["witness"]["inline"];
        let shows = schedule["options"]["shows"].as_str().expect("a claim");
        assert!(shows.starts_with("state [[\"x\",\"1\"]"), "{shows}");
        let same = file(&folder, "same.json", schedule.to_string());
        let replayed = run(&["replay", &lost, &same]);
        assert_eq!(replayed.status, 1, "{replayed:?}");
        assert!(replayed.stdout.ends_with("replay: it occurs again\n"), "{replayed:?}");
        assert_eq!(run(&["certify", &lost, &same]).status, 0);
        // The run does not end in another state.
        let other = schedule.to_string().replace("\\\"1\\\"", "\\\"2\\\"");
        assert_ne!(other, schedule.to_string());
        let other = file(&folder, "other.json", other);
        let replayed = run(&["replay", &lost, &other]);
        assert!(replayed.stdout.ends_with("replay: it does not occur\n"), "{replayed:?}");
        assert_eq!(run(&["certify", &lost, &other]).status, 1);
        let shrunk = run(&["shrink", &lost, &same]);
        assert_eq!(shrunk.status, 2);
        assert!(shrunk.stderr.contains("a verdict on all runs"), "{shrunk:?}");
    }
    // On the repaired model the run cannot be made.
    let mended = model(
        "n.any",
        "var x = 0; once event a { atomic { x += 1; } }\nonce event b { atomic { x += 1; } }",
    );
    let result = file(&folder, "result.json", ran.stdout);
    assert_ne!(run(&["replay", &mended, &result]).status, 1);
}
