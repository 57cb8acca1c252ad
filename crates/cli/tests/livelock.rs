//! Livelocks: from here no run can end. The command on programs that have one, and on right
//! programs of the same shapes.

use crate::common;

use common::searched::{self, json};
use common::{file, folder, run};
use serde_json::Value;

const SEARCHES: &[&[&str]] =
    &[&[], &["--no-reduction"], &["--order", "depth"], &["--storage", "exact", "--threads", "2"]];

/// Returns kind and id of each finding, by every search.
fn found(body: &str) -> Vec<(String, String)> {
    searched::found(body, SEARCHES)
}

fn kinds(body: &str) -> Vec<String> {
    found(body).into_iter().map(|(kind, _)| kind).collect()
}

const LOST: &str = "var flag = false;\nonce event a { flag = true; }\nonce event b { flag = false; }\nthread t {\nwhile !flag {\nyield;\n}\n}";

#[test]
fn a_loop_that_nothing_can_end_any_more_is_a_finding() {
    let livelocks = [
        LOST,
        // Tasks that post themselves, and each other.
        "handler ui: fifo; var up = false; var closed = false; once event connect on ui { if !closed { up = true; } } once event close on ui { closed = true; } once event go on ui { post poll(); } task poll() on ui { if !up { post poll(); } }",
        "handler a: fifo; handler b: fifo; var done = false; var off = false; init { post ping(); } task ping() on a { if !done { post pong(); } } task pong() on b { post ping(); } once event stop { done = !off; } once event reset { off = true; }",
        // Retries that cannot succeed any more.
        "var busy = false; var tries = 0; once event take { busy = true; } thread t { while busy { tries = 1 - tries; } }",
        // Daemons beside it change nothing.
        "var flag = false; daemon thread d { assume flag; } once event a { flag = true; } once event b { flag = false; } thread t { while !flag { yield; } }",
        // What is unfair need not help.
        "var flag = false; unfair once event a { flag = true; } once event b { flag = false; } thread t { while !flag { yield; } }",
        // With steps of bodies.
        "setting granularity = access; handler h: fifo; var flag = false; init { post wait(); } task wait() on h { while !flag { yield; } } once event a { flag = true; } once event b { flag = false; }",
        // Inputs that come again, and timers: where the model says that it ends.
        "var open = true; var n = 0; once event lose { open = false; } event retry when n < 2 { if open { n = 2; } else { n = 1 - n; } } final: n == 2;",
        "handler ui: fifo; var n = 0; unfair once event start on ui { post tick(); } task tick() on ui { n = 1 - n; post tick(); } final: n == 0;",
    ];
    for body in livelocks {
        assert_eq!(kinds(body), ["livelock"], "{body}");
    }
}

#[test]
fn right_programs_that_go_on_are_no_livelocks() {
    let right = [
        // Loops that wait for what can still come, or comes in time.
        "var flag = false; once event a { flag = true; } thread t { while !flag { yield; } }",
        "var flag = false; once event a { flag = true; } once event b after a { } thread t { while !flag { yield; } }",
        "var flag = false; unfair once event a { flag = true; } thread t { while !flag { yield; } }",
        "var flag = false; once event a { flag = true; } once event b { flag = false; } once event c after b, a { flag = true; } thread t { while !flag { yield; } }",
        // The repair: what was set stays set.
        "var flag = false; once event a { flag = true; } once event b { } thread t { while !flag { yield; } }",
        // Retries that can succeed, however often they fail.
        "thread t { let done = false; while !done { choose { { done = true; } { yield; } } } }",
        "lock l; thread t[i in 0..2] { let done = false; while !done { choose { { with l { done = true; } } { yield; } } } }",
        "handler net: fifo; init { post send(); } task send() on net { choose { { } { post send(); } } } final: true;",
        // Programs of which no run ends: servers, loops over inputs, timers.
        "var n = 0; event click { n = 1 - n; }",
        "handler ui: fifo; init { post tick(); } task tick() on ui { post tick(); }",
        "thread server { while true { yield; } } once event e { }",
        // Some run ends before they begin.
        "handler ui: fifo; var n = 0; unfair once event start on ui { post tick(); } task tick() on ui { n = 1 - n; post tick(); }",
        "var open = false; var n = 0; unfair once event unlock { open = true; } event press when open { n = 1 - n; }",
        "handler ui: fifo; var n = 0; unfair once event start on ui { post tick(); } daemon task tick() on ui { n = 1 - n; post tick(); } final: true;",
        "daemon handler clock: fifo; var n = 0; unfair once event start { post tick(); } task tick() on clock { n = 1 - n; post tick(); } final: true;",
        "var on = false; var n = 0; unfair once event start { on = true; } daemon thread beat { assume on; while true { n = 1 - n; } } final: true;",
        // A timer that is stopped.
        "handler ui: fifo; var on = false; once event start on ui { on = true; post tick(); } once event stop on ui after start { on = false; } task tick() on ui { if on { post tick(); } } final: !on;",
        // Inputs until it is closed.
        "var closed = false; var n = 0; event click when !closed { n = 1 - n; } once event close { closed = true; } final: closed;",
    ];
    for body in right {
        assert_eq!(kinds(body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn each_set_of_places_is_a_livelock_of_its_own() {
    let two = "var flag = false;\nonce event a { flag = true; }\nonce event b { flag = false; }\nthread t {\nwhile !flag {\nyield;\n}\n}\nthread u {\nwhile !flag {\nyield;\n}\n}";
    let all = found(two);
    assert_eq!(all.len(), 3, "one alone, the other, both: {all:?}");
    // Lanes of one family have the same places.
    let family = LOST.replace("thread t", "thread t[i in 0..3]");
    assert_eq!(kinds(&family), ["livelock"]);
    // Two loops of one thread are two places; one in a baseline does not hide the other.
    let places = "var flag = false;\nonce event a { flag = true; }\nonce event b { flag = false; }\nthread t {\nchoose {\n{\nwhile !flag {\nyield;\n}\n}\n{\nyield;\nwhile !flag {\nyield;\n}\n}\n}\n}";
    let ids: Vec<String> = found(places).into_iter().map(|(_, id)| id).collect();
    assert_eq!(ids.len(), 2);
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{places}\n"));
    let known = serde_json::json!([{ "id": ids[0], "title": "known" }]);
    let baseline = file(&folder, "base.json", known.to_string());
    let ran = run(&["check", &model, "--baseline", &baseline, "--format", "json"]);
    assert_eq!((ran.status, json(&ran)["verdict"].as_str()), (1, Some("findings")));
    let known: Value =
        ids.iter().map(|id| serde_json::json!({ "id": id, "title": "known" })).collect();
    let baseline = file(&folder, "base.json", known.to_string());
    let ran = run(&["check", &model, "--baseline", &baseline, "--format", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn symmetry_finds_the_same_livelocks() {
    let folder = folder();
    for lanes in [2, 3] {
        let body = format!(
            "index Lane = {lanes};\nvar flag = false;\nvar seen: [bool; Lane];\nonce event a {{ flag = true; }}\nonce event b {{ flag = false; }}\nthread t[i in Lane] {{\nwhile !flag {{\nseen[i] = !seen[i];\n}}\n}}"
        );
        let model = file(&folder, "m.any", format!("model m\n{body}\n"));
        let check = |options: &[&str]| {
            let ran = run(&[&["check", &*model, "--format", "json"], options].concat());
            let result = json(&ran);
            assert_eq!(result["complete"], true, "{ran:?}");
            let stored = file(&folder, "r.json", &ran.stdout);
            let certified = run(&["certify", &model, &stored]);
            assert_eq!(certified.status, 0, "{certified:?}");
            let findings = result["findings"].as_array().cloned().unwrap_or_default();
            findings.iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
        };
        let plain = check(&["--no-reduction"]);
        assert_eq!(plain.len(), 1);
        assert_eq!(check(&["--symmetry"]), plain);
        assert_eq!(check(&[]), plain);
    }
}

#[test]
fn certify_checks_the_loop_and_says_what_it_does_not_check() {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{LOST}\n"));
    let ran = run(&["check", &model, "--format", "json"]);
    let finding = &json(&ran)["findings"][0];
    assert_eq!(finding["title"], "no run can end any more: thread `t` repeats for ever");
    let schedule = &finding["witness"]["schedule"];
    let schedule = if schedule.is_null() { &finding["witness"]["inline"] } else { schedule };
    let schedule = if schedule.is_null() {
        finding["witness"]
            .as_object()
            .expect("a witness")
            .values()
            .find(|one| one.is_object())
            .expect("inline")
    } else {
        schedule
    };
    let certified = |change: &dyn Fn(&mut Value)| {
        let mut changed = schedule.clone();
        change(&mut changed);
        let stored = file(&folder, "s.json", changed.to_string());
        run(&["certify", &model, &stored])
    };
    let whole = certified(&|_| ());
    assert_eq!(whole.status, 0, "{whole:?}");
    assert!(whole.stdout.contains("no end on the way"), "{whole:?}");
    assert!(whole.stdout.contains("is known from the search of all states"), "{whole:?}");
    // The loop must be there, close, and hold a step.
    let steps = schedule["choices"].as_array().expect("choices").len();
    for from in ["0", "1", &steps.to_string()] {
        let ran = certified(&|one| one["options"]["repeats-from"] = from.into());
        assert_ne!(ran.status, 0, "{from}: {ran:?}");
    }
    let ran = certified(&|one| _ = one["options"].as_object_mut().unwrap().remove("repeats-from"));
    assert_ne!(ran.status, 0, "{ran:?}");
    let cut = certified(&|one| _ = one["choices"].as_array_mut().unwrap().pop());
    assert_ne!(cut.status, 0, "{cut:?}");
    // A loop that is unfair to what could end it is none: `t` polls, and `a` could come.
    let mut unfair = schedule.clone();
    let last = unfair["choices"].as_array().unwrap()[steps - 2..].to_vec();
    unfair["choices"] = last.into();
    unfair["options"]["repeats-from"] = "0".into();
    let stored = file(&folder, "s.json", unfair.to_string());
    let ran = run(&["certify", &model, &stored]);
    assert_eq!(ran.status, 1, "{ran:?}");
    // Nor is one in which a run may end.
    let ends = "model m\nvar n = 0;\nunfair event e { n = 1 - n; }\n";
    let other = file(&folder, "e.any", ends);
    let options = serde_json::json!({ "shows": "livelock", "repeats-from": "0" });
    let choice = |number: u32| serde_json::json!({ "task": format!("e#{number}") });
    let made = serde_json::json!({ "schedule": 1, "program": { "name": "e.any" }, "options": options, "choices": [choice(1), choice(2)] });
    let stored = file(&folder, "s.json", made.to_string());
    let ran = run(&["certify", &other, &stored]);
    assert_eq!(ran.status, 1, "{ran:?}");
    // It cannot be made smaller step by step.
    let stored = file(&folder, "s.json", schedule.to_string());
    let ran = run(&["shrink", &model, &stored]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("cannot be shrunk"), "{ran:?}");
}

#[test]
fn a_search_that_is_cut_claims_no_more_than_it_saw() {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{LOST}\n"));
    let check = |options: &[&str]| {
        let ran = run(&[&["check", &*model, "--format", "json"], options].concat());
        let result = json(&ran);
        let findings = result["findings"].as_array().cloned().unwrap_or_default();
        (ran.status, findings.len(), result)
    };
    let (status, count, result) = check(&["--max-states", "4"]);
    assert_eq!((status, count, &result["limits"]), (3, 0, &serde_json::json!(["max-states"])));
    // Within the depth the loop is whole, or it is not reported.
    let (status, count, result) = check(&["--max-depth", "2"]);
    assert_eq!((status, count), (0, 0), "{result}");
    assert_eq!(result["bounds"], serde_json::json!(["max-depth"]));
    let (status, count, _) = check(&["--max-depth", "9"]);
    assert_eq!((status, count), (1, 1));
    // A bit field is never complete, a simulation looks at single runs.
    let (status, count, _) = check(&["--storage", "bitstate"]);
    assert_eq!((status, count), (3, 0));
    let ran = run(&["simulate", &model, "--format", "json"]);
    assert_eq!(json(&ran)["findings"], serde_json::json!([]), "{ran:?}");
    // A search that is saved finds it by another one.
    let saved = folder.path().join("c").to_string_lossy().into_owned();
    let (status, count, result) = check(&["--checkpoint", &saved]);
    assert_eq!((status, count, &result["complete"]), (1, 1, &true.into()));
}

#[test]
fn reports_know_livelocks() {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{LOST}\n"));
    for format in ["sarif", "junit", "jsonl", "text"] {
        let ran = run(&["check", &model, "--format", format]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("repeats for ever"), "{format}: {ran:?}");
    }
    let ran = run(&["explain", "livelock"]);
    assert!(ran.status == 0 && ran.stdout.contains("no run of it can end"), "{ran:?}");
}
