//! How models end: `unfair`, several deadlocks, properties that say nothing, runs that are cut. The
//! command against the definitions, with right programs of the same shapes.

use crate::common;

use anyorder_common::random::{Random, Rng};
use common::searched::{self, json};
use common::{file, folder, run};
use serde_json::Value;

/// Returns the kinds of the findings and their ids, by each algorithm that decides the model.
fn checked(body: &str) -> (Vec<String>, Vec<String>) {
    searched::found(body, &[&[], &["--no-reduction"]]).into_iter().unzip()
}

fn kinds(body: &str) -> Vec<String> {
    checked(body).0
}

const OWED: &str = "response r: x == 0 leads_to x == 1;";

#[test]
fn a_response_may_stay_away_where_only_unfair_things_could_bring_it() {
    for body in [
        "unfair once event t { x = 1; }",
        "unfair once event t { x = 1; } event other { }",
        "unfair event t { x = 1; }",
        "unfair thread t { x = 1; }",
        "unfair thread t[i in 0..2] { x = 1; }",
        "unfair handler h: fifo; init { post p(); } task p() on h { x = 1; }",
        "setting granularity = access; unfair handler h: bag; init { post p(); } task p() on h { x = 1; }",
        "unfair once event t { x = 1; } once event fair { }",
        "unfair once event t { x = 1; } daemon thread d { assume x == 7; }",
        "unfair thread t { x = 1; } thread u { yield; }",
    ] {
        let body = format!("var x = 0; {body} {OWED}");
        assert_eq!(kinds(&body), ["response"], "{body}");
    }
    for body in [
        "once event t { x = 1; }",
        "thread t { x = 1; }",
        "handler h: fifo; init { post p(); } task p() on h { x = 1; }",
        "unfair once event t { } once event u { x = 1; }",
        "unfair thread t { yield; } thread u { x = 1; }",
        "init { choose { { x = 1; } { x = 2; } } } unfair event t { }",
    ] {
        let body = format!("var x = 0; {body} {OWED}");
        assert_eq!(kinds(&body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn an_optional_event_need_not_come_for_final() {
    let spinner = |more: &str, last: &str| {
        format!(
            "handler ui: fifo; var spinner = false; once event open on ui {{ spinner = true; }} {more} {last}"
        )
    };
    let gives_up = "once event user_gives_up on ui when spinner { spinner = false; }";
    assert_eq!(kinds(&spinner(&format!("unfair {gives_up}"), "final: !spinner;")), ["final"]);
    let idle = format!("unfair {gives_up} unfair event other on ui {{ }}");
    assert_eq!(kinds(&spinner(&idle, "final: !spinner;")), ["final"]);
    let waits = format!("unfair {gives_up} thread w {{ assume !spinner; }}");
    assert_eq!(kinds(&spinner(&waits, "final: !spinner;")), ["final"]);
    assert_eq!(kinds("var x = 0; unfair thread t { x = 1; } final: x == 1;"), ["final"]);
    // Right: it comes; it does not matter; something else does it.
    assert!(
        kinds(&spinner(
            &format!("{gives_up} once event done on ui after open {{ spinner = false; }}"),
            "final: !spinner;"
        ))
        .is_empty()
    );
    assert!(kinds(&spinner(&format!("unfair {gives_up}"), "final: true;")).is_empty());
    let timer =
        format!("unfair {gives_up} once event timeout on ui after open {{ spinner = false; }}");
    assert!(kinds(&spinner(&timer, "final: !spinner;")).is_empty());
}

#[test]
fn what_waits_for_an_optional_event_is_no_deadlock() {
    // Something can still happen; without `final`, a run may end so.
    assert!(
        kinds("var x = 0; unfair once event e { x = 1; } thread t { assume x == 1; }").is_empty()
    );
    assert!(kinds("lock l; unfair thread t { acquire l; yield; release l; } thread u { with l { yield; } }").is_empty());
    // Nothing can.
    assert_eq!(
        kinds("var x = 0; unfair once event e { x = 2; } thread t { assume x == 1; }"),
        ["deadlock"]
    );
}

#[test]
fn each_set_of_waiting_places_is_a_deadlock_of_its_own() {
    let shop = "var answered = false; var paid = false;\nthread shop {\nchoose {\n\"ask\" => { assume answered; }\n\"pay\" => { yield; assume paid; }\n}\n}";
    let folder = folder();
    let (kinds, ids) = checked(shop);
    assert_eq!(kinds, ["deadlock", "deadlock"]);
    // The one in a baseline does not hide the other.
    let model = file(&folder, "m.any", format!("model m\n{shop}\n"));
    let ran = run(&["check", &model, "--format", "json"]);
    let first = &json(&ran)["findings"][0];
    let known = serde_json::json!([{ "id": first["id"], "title": first["title"] }]);
    let baseline = file(&folder, "base.json", known.to_string());
    let ran = run(&["check", &model, "--baseline", &baseline, "--format", "json"]);
    assert_eq!((ran.status, json(&ran)["verdict"].as_str()), (1, Some("findings")));
    // Ids are stable: another text before it changes only lines, another order of search nothing.
    assert_eq!(checked(shop).1, ids);
}

#[test]
fn symmetric_lanes_have_one_deadlock() {
    let forks = "lock stick[3];\nthread p[i in 0..3] {\nacquire stick[i];\nacquire stick[(i + 1) % 3];\nrelease stick[i];\nrelease stick[(i + 1) % 3];\n}";
    assert_eq!(kinds(forks), ["deadlock"]);
    let lanes = "var x = 0;\nlock a;\nlock b;\nthread t[i in 0..2] {\nchoose {\n{\nacquire a;\nacquire b;\n}\n{\nacquire b;\nacquire a;\n}\n}\nrelease a;\nrelease b;\n}";
    // Both at the two places. With one choice twice, the second lane waits at no second place.
    assert_eq!(kinds(lanes), ["deadlock"]);
    // Two locks that are left behind are two mistakes.
    let left = "lock a; lock b; once event e { choose { { acquire a; } { acquire b; } { } } }";
    assert_eq!(kinds(left), ["deadlock", "deadlock"]);
}

/// The texts of the warnings of a result.
fn warnings(body: &str) -> Vec<String> {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{body}\n"));
    let result = json(&run(&["check", &model, "--format", "json"]));
    let all = result["warnings"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| one["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn properties_that_say_nothing_are_named() {
    let endless = "var n = 0; event tick { n = 1 - n; } final: n == 7;";
    assert_eq!(warnings(endless), ["`final` says nothing: no run ends where it is checked"]);
    let dead = "var n = 0; once event e { n = 1; } once event never when n == 5 { n = 2; } handler h: fifo; task t() on h { }";
    assert_eq!(warnings(dead), ["event `never` never happens", "task `t` never runs"]);
    let never = "var n = 0; once event e { n = 1; } response r: n == 5 leads_to n == 1;";
    assert_eq!(warnings(never), ["response `r` says nothing: its trigger never holds"]);
    for right in [
        "var n = 0; event tick when n < 3 { n += 1; } final: n == 3;",
        "var n = 0; unfair event tick { n = 1 - n; } final: true;",
        "var n = 0; event tick { n = 1 - n; }",
        "var n = 0; once event e { n = 1; } response r: n == 0 leads_to n == 1;",
    ] {
        assert_eq!(warnings(right), Vec::<String>::new(), "{right}");
    }
}

#[test]
fn a_simulation_whose_runs_are_cut_is_not_complete() {
    let folder = folder();
    let walk = |body: &str, steps: &str| {
        let model = file(&folder, "s.any", format!("model s\n{body}\n"));
        let ran =
            run(&["simulate", &model, "--runs", "20", "--max-steps", steps, "--format", "json"]);
        (ran.status, json(&ran))
    };
    let (status, cut) = walk("var n = 0; event tick { n = 1 - n; }", "10");
    assert_eq!((status, cut["complete"].as_bool()), (3, Some(false)));
    assert_eq!(cut["limits"], serde_json::json!(["max-steps"]));
    assert_eq!(cut["stats"]["cut"], 20);
    let three = "var n = 0; event tick when n < 3 { n += 1; } final: n == 3;";
    let (status, whole) = walk(three, "3");
    assert_eq!((status, &whole["complete"], &whole["stats"]["cut"]), (0, &true.into(), &0.into()));
    // An end that something optional could leave is checked on the way.
    let (status, found) = walk("var x = 0; unfair once event e { x = 1; } final: x == 1;", "9");
    assert_eq!((status, &found["findings"][0]["kind"]), (1, &"final".into()));
}

/// The deadlocks, by their ids, and wrong ends of a full search and of all orders by R4.
fn by_both(folder: &tempfile::TempDir, body: &str) -> [Vec<(String, String)>; 2] {
    let model = file(folder, "b.any", format!("model b\n{body}\n"));
    let r4 = ["explore", &model, "--algorithm", "r4", "--bound", "none", "--format", "json"];
    [&["check", &*model, "--format", "json"][..], &r4].map(|words| {
        let ran = run(words);
        let result = json(&ran);
        assert_eq!(result["complete"], true, "{body}: {ran:?}");
        let all = result["findings"].as_array().expect("findings").iter();
        let ends = all.filter(|one| one["kind"] == "deadlock" || one["kind"] == "final");
        let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
        // Which wrong end is shown depends on the order of the search.
        let id = |one: &Value| if one["kind"] == "final" { String::new() } else { text(one, "id") };
        let mut found: Vec<_> = ends.map(|one| (text(one, "kind"), id(one))).collect();
        found.sort();
        found
    })
}

#[test]
fn reversals_find_each_deadlock_and_each_optional_end() {
    let folder = folder();
    let spinner = "handler ui: fifo; var spinner = false;
        once event open on ui { spinner = true; }
        unfair once event gives_up on ui when spinner { spinner = false; }";
    let timer = "once event timeout on ui after open { spinner = false; }";
    for (body, wanted) in [
        ("var a = false; var b = false; thread shop { choose { \"ask\" => { assume a; } \"pay\" => { yield; assume b; } } }".to_owned(), &["deadlock", "deadlock"][..]),
        ("lock a; lock b; once event e { choose { { acquire a; } { acquire b; } { } } }".to_owned(), &["deadlock", "deadlock"]),
        ("lock l; lock k; thread t { with l { with k { yield; } } } thread u { with k { with l { yield; } } }".to_owned(), &["deadlock"]),
        (format!("{spinner} final: !spinner;"), &["final"]),
        // It could end before anything has run.
        ("var x = 0; unfair thread t { x = 1; } final: x == 1;".to_owned(), &["final"]),
        // What is optional depends on nothing, and could as well come first.
        ("var x = 0; var y = 0; unfair once event t { x = 1; } once event w { y = 1; } final: x == y;".to_owned(), &["final"]),
        ("var x = 0; var y = 0; unfair once event t { x = 1; } thread w { y = 1; yield; y = 2; } final: x == 1;".to_owned(), &["final"]),
        // Right programs of the same shapes.
        (format!("{spinner} final: true;"), &[]),
        (format!("{spinner} {timer} final: !spinner;"), &[]),
        (format!("{spinner} final: !spinner;").replace("unfair ", ""), &[]),
        ("lock l; lock k; thread t { with l { with k { yield; } } } thread u { with l { with k { yield; } } }".to_owned(), &[]),
        ("var x = 0; unfair once event e { x = 1; } thread t { assume x == 1; }".to_owned(), &[]),
    ] {
        let [full, reversed] = by_both(&folder, &body);
        assert_eq!(full, reversed, "{body}");
        let kinds: Vec<&str> = full.iter().map(|(kind, _)| &**kind).collect();
        assert_eq!(kinds, wanted, "{body}");
    }
}

/// A model of two or three parts, some of them optional, with locks, waits and a condition at the
/// end.
fn random_ends(random: &mut Rng) -> String {
    let mut body = "setting granularity = access; var x = 0; var y = 0; lock l; lock k;".to_owned();
    for part in 0..2 + random.index(2) {
        let unfair = if random.percent(40) { "unfair " } else { "" };
        let head = if random.percent(50) { "once event" } else { "thread" };
        let mut text = String::new();
        for _ in 0..1 + random.index(2) {
            text += random.pick(&[
                "x = 1;",
                "y = 1;",
                "x = y;",
                "y += 1;",
                "assume x == 1;",
                "yield;",
                "with l { with k { x = 2; } }",
                "with k { with l { y = 2; } }",
                "choose { { x = 0; } { acquire k; } }",
            ]);
        }
        body += &format!("\n{unfair}{head} p{part} {{ {text} }}");
    }
    body + random.pick(&["", "\nfinal: x == 1;", "\nfinal: x == y;", "\nfinal: y != 1;"])
}

#[test]
fn reversals_find_the_ends_of_random_models() {
    let folder = folder();
    let count = std::env::var("ANYORDER_ENDS").ok().and_then(|value| value.parse().ok());
    let mut seen = [0; 3];
    for case in 0..count.unwrap_or(40) {
        let body = random_ends(&mut Rng::new(case));
        let [full, reversed] = by_both(&folder, &body);
        assert_eq!(full, reversed, "case {case}: {body}");
        let of = |wanted: &str| full.iter().filter(|(kind, _)| kind == wanted).count();
        let (deadlocks, wrong) = (of("deadlock"), of("final"));
        for (seen, now) in seen.iter_mut().zip([deadlocks > 0, deadlocks > 1, wrong > 0]) {
            *seen += u32::from(now);
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn of_more_than_a_thousand_deadlocks_the_rest_is_a_limit() {
    // Each thread waits in one of two places: two to the number of threads sets of places.
    let model = |threads: usize| {
        let thread = |at| {
            format!(
                "thread t{at} {{ choose {{ \"left\" => {{ assume never; }} \
                 \"right\" => {{ yield; assume never; }} }} }}\n"
            )
        };
        format!("model many\nvar never = false;\n{}", (0..threads).map(thread).collect::<String>())
    };
    let folder = folder();
    for (threads, findings, limits) in [(5, 32, "[]"), (10, 1000, "[\"max-deadlocks\"]")] {
        let file = file(&folder, "many.any", model(threads));
        let ran = run(&["check", &file, "-q", "--format", "json"]);
        let value = json(&ran);
        let found = value["findings"].as_array().expect("findings");
        assert!(found.iter().all(|one| one["kind"] == "deadlock"), "{threads}");
        assert_eq!((ran.status, found.len()), (1, findings));
        assert_eq!(value["limits"].to_string(), limits, "{threads}");
        assert_eq!(value["complete"], limits == "[]", "{threads}");
    }
}
