//! The command on models that were answered wrongly, and on a sample of random ones: statuses, and
//! schedules that replay.

use crate::common::{Ran, file, folder, path, run};
use crate::robust_brute::answer::{Judged, Options, ask};
use crate::robust_brute::{generate, print};
use anyorder_common::random::Rng;
use serde_json::Value;

const ACCESS: &str = "setting granularity = access;";

fn robust(text: &str, options: &[&str]) -> (Ran, Value) {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{text}"));
    let arguments = [&["robust", &model, "--quiet", "--format", "json"], options].concat();
    let ran = run(&arguments);
    let result = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    (ran, result)
}

/// The status and the answers of a model: determinism, serializability, start order, states.
fn answers(text: &str) -> (i32, [String; 4]) {
    let (ran, result) = robust(&format!("{ACCESS}\n{text}"), &[]);
    let names = ["deterministic", "serializable", "start_order", "states"];
    (ran.status, names.map(|name| result["stats"][name].as_str().unwrap_or_default().to_owned()))
}

fn check(text: &str, status: i32, wanted: [&str; 4]) {
    let (ended, said) = answers(text);
    assert_eq!((ended, said.each_ref().map(String::as_str)), (status, wanted), "{text}");
}

#[test]
fn two_runs_of_one_pair_of_places_may_differ_in_harm() {
    check(
        "var b = 0; once event e on main { async[any] p(); async[any] p(); b = 1; }
         procedure p() { b = 2; }",
        1,
        ["no", "yes", "yes", "no"],
    );
    // The last one to write has the same value, whoever it is.
    check(
        "var b = 0; once event e on main { async[any] p(); async[any] p(); b = 2; }
         procedure p() { b = 2; }",
        0,
        ["no", "yes", "yes", "yes"],
    );
}

#[test]
fn serial_outcomes_that_are_not_all_known_prove_nothing() {
    let text = "var a = 0; var b = 0;
        once event e0 on main { async[any] p(); } once event e1 on main { async[any] q(); }
        procedure p() { let i = 0; while i < 3000 { a = i; i = i + 1; } }
        procedure q() { b = 1; }";
    for limit in ["--time-limit=1ms", "--time-limit=50ms", "--time-limit=3s", "--max-states=100"] {
        let (ran, result) = robust(text, &[limit]);
        assert!([0, 3].contains(&ran.status), "{limit}: {ran:?}");
        assert_eq!(ran.status == 3, result["verdict"] == "unknown", "{limit}: {ran:?}");
        let cut = result["limits"].as_array().is_some_and(|limits| !limits.is_empty());
        assert_eq!(cut, ran.status == 3, "{limit}: {ran:?}");
    }
}

#[test]
fn an_event_that_may_happen_again_is_compared_up_to_the_repeats() {
    let text = "var n = 0; event click on main { n = n + 1; }";
    check(text, 0, ["yes", "yes", "yes", "yes"]);
    let (_, result) = robust(text, &[]);
    assert_eq!(result["bounds"], serde_json::json!(["repeat"]), "{result}");
    // A click reads what the task of another one writes later.
    check(
        "var n = 0; handler a: fifo; event click when n < 2 { n += 1; post t(); }
         task t() on a { n += 0; }",
        1,
        ["yes", "no", "no", "no"],
    );
}

#[test]
fn tasks_that_init_posts_run_before_the_first_event_of_a_serial_run() {
    check(
        "var x = 0; handler ui: fifo; init { post p(); } task p() on ui { x = 1; }",
        0,
        ["yes", "yes", "yes", "yes"],
    );
    check(
        "var x = 0; handler ui: fifo; init { post p(); } task p() on ui { x = 1; }
         once event e { x = 2; }",
        1,
        ["yes", "yes", "no", "no"],
    );
}

#[test]
fn an_event_that_is_deterministic_alone_is_not_named_for_another_one() {
    let text = "var a = 0; var b = 0;
        once event e0 on main { async[main] p(); } once event e1 on main { a = 1; }
        procedure p() { if a == 1 { async[any] q(); async[any] r(); } }
        procedure q() { b = 1; } procedure r() { b = 2; } driver e0, e1;";
    check(text, 1, ["yes", "yes", "no", "no"]);
}

#[test]
fn a_violation_that_needs_two_unfinished_tasks_is_found() {
    let text = "handler main: fifo; var b = 0; var c = 0;
        once event e0 on main {
            async[any] p1(); if b == 1 { async[any] p2(); } async[main] p0(); async[main] p0();
        }
        once event e1 on main { b = c; }
        procedure p0() { assume c == 1; } procedure p1() { async[main] p2(); }
        procedure p2() { b = 1; }";
    let (_, [_, serializable, start_order, _]) = answers(text);
    assert_eq!([&*serializable, &*start_order], ["no", "no"]);
}

#[test]
fn delayed_tasks_have_the_order_in_which_they_are_due() {
    check(
        "var x = 0; handler ui: delayed;
         once event e0 on ui { post t() to ui after 10; post u() to ui after 5; }
         procedure t() { x = 1; } procedure u() { x = 2; }",
        0,
        ["yes", "yes", "yes", "yes"],
    );
    // Handlers do not wait for one another.
    check(
        "var x = 0; handler ui: delayed; handler db: delayed;
         once event e0 on ui { post t() to ui after 10; post u() to db after 5; }
         procedure t() { x = 1; } procedure u() { x = 2; }",
        1,
        ["no", "yes", "yes", "no"],
    );
}

#[test]
fn a_child_that_its_mailbox_delivers_late_keeps_its_place_before_later_ones() {
    // `a` overtakes `b`, which is before the child of `a` nevertheless.
    for order in ["bag", "fifo", "delayed"] {
        let text = format!(
            "var x = 0; handler h: {order};
             once event e on h {{ post b() to h; post a() to h front; }}
             procedure a() {{ async[any] c(); }} procedure b() {{ x = 1; }}
             procedure c() {{ assume x == 1; x = 2; }}"
        );
        check(&text, 0, ["yes", "yes", "yes", "yes"]);
    }
    // `c` waits in its mailbox behind `b`, and is before the child of `b`.
    for (order, delay) in [("fifo", ""), ("delayed", ""), ("delayed", "after 2")] {
        let text = format!(
            "var x = 0; handler h: {order};
             once event e on h {{ post a() to h {delay}; post b() to h {delay}; }}
             procedure a() {{ post c() to h; }} procedure b() {{ async[any] d(); }}
             procedure c() {{ x = 1; }} procedure d() {{ assume x == 1; x = 2; }}"
        );
        check(&text, 0, ["yes", "yes", "yes", "yes"]);
    }
}

#[test]
fn a_cancel_that_comes_too_late_writes_what_becomes_of_the_task() {
    // `e1` comes between the beginning of `p` and the cancel of `p`.
    let text = "var x = 0; var g: task? = null;
        once event e0 on main { g = post p() to main; } once event e1 { cancel g; }
        task p() { x = 1; cancel g; }";
    check(text, 1, ["yes", "no", "no", "no"]);
    // Nothing depends on whether `p` runs.
    check(&text.replace("x = 1", "x = 0"), 0, ["yes", "no", "no", "yes"]);
    // A task that cancels itself, with nobody in between.
    check(&text.replace("once event e1 { cancel g; }", "once event e1 { }"), 0, ["yes"; 4]);
}

/// The answer of the job in this process.
fn job(text: &str, options: &Options) -> Value {
    ask(&Judged::Job, &format!("model m\n{ACCESS}\n{text}"), options).expect("a result")
}

#[test]
fn an_answer_with_an_open_event_is_not_complete() {
    let (mut open, mut closed) = (0, 0);
    for text in [OPEN_BY_CHOICE, OPEN_BY_ORDER] {
        let of = |max_states| job(text, &Options { max_states, ..Options::default() });
        let named = |result: &Value| result["stats"]["not_deterministic"].clone();
        let all = named(&of(None));
        for most in (20..160).step_by(5) {
            let result = of(Some(most));
            let complete = result["complete"] == true;
            assert!(!complete || named(&result) == all, "{most}: {}", result["stats"]);
            let some = result["stats"]["deterministic"] == "no";
            open += u32::from(some && named(&result) != all);
            closed += u32::from(named(&result) == all);
        }
    }
    assert!(open > 0 && closed > 0, "{open} {closed}");
}

#[test]
fn a_job_that_is_stopped_shows_a_run_for_each_finding() {
    let mut stopped = 0;
    for polls in (0..1_500).step_by(11) {
        let options = Options { polls: Some(polls), ..Options::default() };
        let result = job(STOPPED, &options);
        for finding in result["findings"].as_array().into_iter().flatten() {
            let choices = &finding["witness"]["inline"]["choices"];
            assert!(choices.is_array(), "{polls}: {}", finding["title"]);
            stopped += u32::from(crate::robust_brute::is_cut(&result));
        }
    }
    assert!(stopped > 10, "{stopped}");
}

const OPEN_BY_CHOICE: &str = "var v0 = 1; var v1: task? = null;
    event e0[i in 0..2] when v0 == i { v1 = post any p0(); v0 = v0 - 1; }
    procedure p0() { v0 = 1; v1 = async[main] p1(); }
    task p1() on main {
        if v0 >= 0 { enable e0[0]; } else if v0 == 0 || (enabled(e0) && v0 == 1) { cancel v1; }
    }";

const OPEN_BY_ORDER: &str = "var v0 = 0; var v1 = 0; var v2 = 0; lock m0; lock m1;
    handler h[2]: fifo;
    once event e0 on h[1] { v0 = 1; }
    once event e1 { post p0() to h[0]; async[any] p0(); }
    once event e2 on h[1] { post p0() to h[0]; v0 = 2; v1 = 1; }
    task p0() on h[0] {
        acquire m1; v0 = v2; release m1;
        acquire m0; v1 = 0; release m0;
    }
    driver e2, e1;";

/// Its steps are long enough to be stopped inside.
const STOPPED: &str = "var b = 0; handler h: fifo;
    once event e on h {
        let all: list<int> = []; for i in 0..3000 { all.push(i); }
        async[any] p(); b = all.len();
    }
    procedure p() { let all: list<int> = []; for i in 0..3000 { all.push(i); } b = 2; }";

#[test]
fn runs_without_end_and_added_deadlocks_are_not_robust_without_a_word() {
    let (ran, result) =
        robust("handler ui: fifo; init { post p(); } task p() on ui { post p(); }", &[]);
    assert_eq!((ran.status, &result["verdict"]), (3, &"unknown".into()), "{ran:?}");
    assert_eq!(result["limits"], serde_json::json!(["no-end"]), "{ran:?}");
    check(
        "lock a; lock b; var x = 0;
         once event e0 { with a { with b { x = 0; } } } once event e1 { with b { with a { x = 0; } } }",
        1,
        ["yes", "yes", "yes", "no"],
    );
}

#[test]
fn failures_with_other_values_are_other_outcomes() {
    let text = "var x = 4611686018427387904;
        once event e { async[any] p(); x = x + x; } procedure p() { x = 5000000000000000000; }";
    check(text, 1, ["no", "yes", "yes", "no"]);
    // The same value, so the same failure.
    check(
        &text.replace("5000000000000000000", "4611686018427387904"),
        0,
        ["no", "yes", "yes", "yes"],
    );
}

#[test]
fn of_two_steps_that_can_fail_the_one_with_the_other_outcome_is_shown() {
    check(
        "var v2: list<int> = []; handler h[2]: fifo; once event e0 on h[1] { }
         once event e1 on h[0] { post p0(); v2.pop(); } task p0() on h[1] { let a = 1 / (1 - 1); }
         driver e0, e1;",
        1,
        ["yes", "yes", "yes", "no"],
    );
}

#[test]
fn an_element_that_is_missing_does_not_depend_on_the_others() {
    let text = "var a: [int; 2]; once event e { async[any] p(); let x = a[2]; }
        procedure p() { a[0] = 1; }";
    check(text, 0, ["yes", "yes", "yes", "yes"]);
    // The whole decides whether there is such an element.
    let text = "var a: list<int> = []; once event e { async[any] p(); let x = a[2]; }
        procedure p() { a = [1, 2, 3]; }";
    check(text, 1, ["no", "yes", "yes", "no"]);
}

#[test]
fn a_model_in_which_nothing_runs_is_robust_whatever_init_chooses() {
    let text = "var v = 0; init { let l = choose 0..2; v = l; } disabled event e { v = 2; }";
    check(text, 0, ["yes", "yes", "yes", "yes"]);
    check(&text.replace("let l = choose 0..2", "let l = 1"), 0, ["yes", "yes", "yes", "yes"]);
    // Something runs, and does not end.
    let text = text.replace("disabled event e { v", "once event e { while v >= 0 { v = 1; } v");
    let (ran, result) = robust(&format!("{ACCESS}\n{text}"), &[]);
    assert_eq!((ran.status, &result["limits"]), (3, &serde_json::json!(["no-end"])), "{ran:?}");
}

/// Tasks that post themselves, twice each.
const GROWS: &str = "var v0 = 0; handler main: bag; once event e1 { post p0(); }
    once event e2 on main after e1 { async[any] p0(); }
    task p0() on main {
        v0 = 1; let l1 = 0;
        while l1 < 2 { l1 += 1; post p0(); if v0 == 0 { break; } }
    }";

#[test]
fn tasks_that_post_without_end_are_searched_in_time_that_the_states_bound() {
    let start = std::time::Instant::now();
    for max_states in [200, 2_000] {
        let result = job(GROWS, &Options { max_states: Some(max_states), ..Options::default() });
        assert_eq!(result["verdict"], "unknown");
        assert_eq!(result["limits"], serde_json::json!(["max-states"]));
        assert_eq!(result["stats"]["states"], "unknown");
    }
    // It took half a minute when the search of pivots counted a step of a long run as one.
    assert!(start.elapsed().as_secs() < 8, "{:?}", start.elapsed());
}

#[test]
fn an_event_with_many_tasks_is_deterministic_if_one_mailbox_orders_them() {
    let text = "var x = 0; handler ui: fifo;
        once event e on ui { let i = 0; while i < 200 { post t(); i += 1; } }
        task t() on ui { x = 1; }";
    check(text, 0, ["yes", "yes", "yes", "yes"]);
    // The last of them breaks the order.
    let text = text
        .replace("i += 1; }", "i += 1; } async[any] u(); post t();")
        .replace("task t()", "procedure u() { assume x == 1; x = 2; } task t()");
    let result = job(&text, &Options { max_states: Some(20_000), ..Options::default() });
    assert_eq!(result["stats"]["deterministic"], "no", "{result}");
}

#[test]
fn a_job_that_is_stopped_shows_a_run_for_each_of_many_findings() {
    let mut most = 0;
    for polls in [20_000, 60_000, 120_000] {
        let result = job(MANY, &Options { polls: Some(polls), ..Options::default() });
        let findings = result["findings"].as_array().expect("findings");
        for finding in findings {
            assert!(finding["witness"]["inline"]["choices"].is_array(), "{}", finding["title"]);
        }
        if crate::robust_brute::is_cut(&result) {
            most = most.max(findings.len());
        }
    }
    assert!(most > 5, "{most}");
}

const MANY: &str = "var v0 = 0; var v1 = 0; handler main: fifo;
    event e0 on main { async[main] p0(0); v1 = v0; }
    event e1 { post p0(0) to main; post p1(1) to main; v1 = 2; }
    event e2 on main {
        choose { { post any p0(0); } { if v0 == v1 { async[any] p0(1); } } }
    }
    procedure p0(i: int) { v0 = 0; } procedure p1(i: int) { v0 = v0 - i; }";

#[test]
fn a_limit_after_all_states_leaves_the_verdict() {
    // All states are few; the tasks of `e` have too many orders for the stop.
    let mut decided = 0;
    for polls in (0..6_000).step_by(100) {
        let options = Options { polls: Some(polls), ..Options::default() };
        let result = job(MANY_ORDERS, &options);
        let states = result["stats"]["states"].as_str().unwrap_or_default();
        assert_eq!(result["verdict"] == "robust", states == "yes", "{polls}: {result}");
        if states == "yes" && result["complete"] == false {
            decided += 1;
            assert_eq!(result["bounds"], serde_json::json!(["interrupt"]), "{polls}: {result}");
            assert_eq!(result["limits"], serde_json::json!([]), "{polls}: {result}");
        }
    }
    assert!(decided > 3, "{decided}");
}

const MANY_ORDERS: &str = "var x = 0; var y = 0; handler main: fifo;
    once event e on main { async[any] p(); async[any] p(); async[any] q(); async[any] q(); }
    procedure p() { x = 1; x = 1; } procedure q() { y = 1; y = 1; }";

#[test]
fn options_of_the_other_kind_of_input_are_refused_before_the_work() {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{ACCESS}\n{GROWS}"));
    let start = std::time::Instant::now();
    let ran = run(&["robust", &model, "--rules", "mailbox"]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("`--rules` is an option for traces only"), "{ran:?}");
    // The search of the model takes much longer.
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn what_is_refused_has_its_line() {
    let folder = folder();
    for (text, line) in [
        ("model m\nvar x = 0;\nthread t { x = 1; }\n", "line 3"),
        (
            "model m\nsetting granularity = access;\nevent e { let h = fork f(); }\nfn f() { }\n",
            "line 3",
        ),
    ] {
        let model = file(&folder, "m.any", text);
        let ran = run(&["robust", &model]);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(line), "{ran:?}");
    }
}

#[test]
fn every_run_that_the_command_shows_replays() {
    let mut replayed = 0;
    for case in 1..200 {
        let text = print::print(&generate::model(&mut Rng::new(case)));
        let folder = folder();
        let model = file(&folder, "m.any", &text);
        let options = ["--quiet", "--format", "json", "--max-states", "5000"];
        let ran = run(&[&["robust", &model], &options[..]].concat());
        if ran.status != 1 {
            continue;
        }
        let result = path(&folder, "result.json");
        std::fs::write(&result, &ran.stdout).expect("a file");
        let again = run(&["replay", &model, &result]);
        assert!([0, 1].contains(&again.status), "case {case}: {again:?}\n{text}");
        assert!(!again.stdout.contains("cannot be followed"), "case {case}: {again:?}\n{text}");
        replayed += 1;
        if replayed == 12 {
            return;
        }
    }
    panic!("only {replayed} models of 200 are not robust");
}

#[test]
fn a_family_whose_members_differ_is_read_as_a_whole() {
    // A driver makes one event of each member; without it the family is one event.
    let body = "handler main: bag; once event e[i in 0..2] { async[main] p(); }
        procedure p() { let all = enabled(e); }";
    for driver in ["", "driver e[0], e[1];", "driver e[1], e[0];"] {
        let (_, result) = robust(&format!("{body} {driver}"), &[]);
        let stats = &result["stats"];
        assert_eq!(
            (stats["serializable"].as_str(), stats["states"].as_str()),
            (Some("no"), Some("yes"))
        );
    }
}
