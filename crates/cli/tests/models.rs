//! Models: check, graph, fmt, and the help of the commands that run models.

use crate::common;

use common::{Ran, file, folder, path, run, run_with_stdin, workspace};
use serde_json::Value;

const LATE: &str = "crates/cli/tests/data/late_script.any";
const LOCKS: &str = "crates/cli/tests/data/locks.any";
const SEARCH: &str = "crates/cli/tests/data/search_box.any";
const FIXED: &str = "crates/cli/tests/data/fixed.any";

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns the output without times.
fn timeless(text: &str) -> String {
    let is_time = |part: &str| part.ends_with(" ms") || part.ends_with(" s");
    let line = |line: &str| {
        line.split(" · ").filter(|part| !is_time(part)).collect::<Vec<_>>().join(" · ")
    };
    text.lines().map(|one| line(one) + "\n").collect()
}

#[test]
fn an_assertion_is_found_with_its_run() {
    let ran = run(&["check", LATE]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("late_script", timeless(&ran.stdout));
}

#[test]
fn a_deadlock_is_found_with_its_run() {
    let ran = run(&["check", LOCKS]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("locks", timeless(&ran.stdout));
}

#[test]
fn a_response_is_found_with_its_run_and_what_never_runs_is_told() {
    let ran = run(&["check", SEARCH]);
    assert_eq!(ran.status, 1);
    let note = "full search, without reduction: response properties need full search";
    let warning = "event `never` never happens";
    assert_eq!(ran.stderr, format!("note: {SEARCH}: {note}\nwarning: {SEARCH}: {warning}\n"));
    insta::assert_snapshot!("search_box", timeless(&ran.stdout));
    assert_eq!(run(&["check", SEARCH, "--quiet"]).stderr, "");
}

#[test]
fn a_model_without_mistake_is_ok() {
    let ran = run(&["check", FIXED, "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let value = json(&ran);
    assert_eq!(value["verdict"], "ok");
    assert_eq!(value["complete"], true);
    assert_eq!(value["inputs"][0]["format"], "model");
    assert_eq!(value["stats"]["states"], 5);
    assert_eq!(value["stats"]["transitions"], 4);
    for name in ["executions", "max_depth", "frontier_peak", "bytes_per_state", "elapsed_ms"] {
        assert!(value["stats"][name].is_u64(), "{name}: {}", value["stats"]);
    }
}

#[test]
fn findings_have_kind_site_steps_and_schedule() {
    let finding = |model: &str| {
        let value = json(&run(&["check", model, "--format", "json", "--quiet"]));
        assert_eq!(value["findings"].as_array().map(Vec::len), Some(1), "{model}");
        value["findings"][0].clone()
    };
    let late = finding(LATE);
    assert_eq!(late["kind"], "assertion");
    assert_eq!(late["sites"][0]["file"], LATE);
    assert_eq!((&late["sites"][0]["line"], &late["sites"][0]["column"]), (&28.into(), &5.into()));
    assert_eq!(late["sites"][0]["handler"], "ui");
    assert_eq!(late["witness"]["format"], "schedule");
    assert_eq!(late["witness"]["inline"]["choices"][0]["task"], "click#1");
    assert_eq!(late["confirmed"], true);
    let locks = finding(LOCKS);
    assert_eq!(locks["kind"], "deadlock");
    assert_eq!(locks["sites"][0]["thread"], "left");
    assert_eq!(locks["sites"][1]["line"], 18);
    let search = finding(SEARCH);
    assert_eq!(search["kind"], "response");
    let steps = search["explanation"].as_array().expect("a list");
    assert_eq!(steps.len(), 7, "{steps:?}");
    assert_eq!(steps[3]["text"], "ui runs reply(2): shown: 0 -> 2");
}

#[test]
fn other_failures_and_invariants_have_their_kinds() {
    let folder = folder();
    let cases = [
        ("invariant small: x < 2;", "invariant", 4),
        ("event spin { while x >= 0 { x = 0; } }", "step_limit", 4),
        ("event div { x = 1 / (x - x); }", "assertion", 4),
        ("event oops { fail \"no \u{202e}way\"; }", "assertion", 4),
    ];
    for (text, kind, line) in cases {
        let text =
            format!("// one\nmodel m\nvar x = 0; event up when x < 3 {{ x += 1; }}\n{text}\n");
        let model = file(&folder, "m.any", text);
        let ran = run(&["check", &model, "--format", "json"]);
        let value = json(&ran);
        assert_eq!((ran.status, &value["findings"][0]["kind"]), (1, &kind.into()), "{value}");
        assert_eq!(value["findings"][0]["sites"][0]["line"], line, "{value}");
        let shown = run(&["check", &model]);
        assert!(!shown.stdout.contains('\u{202e}'), "{}", shown.stdout);
    }
}

#[test]
fn the_result_is_the_same_with_any_number_of_threads_and_in_any_order() {
    let findings = |options: &[&str]| {
        let common = ["check", SEARCH, LOCKS, "-q", "--no-reduction", "--format", "json"];
        let ran = run(&[&common, options].concat());
        let value = json(&ran);
        (value["findings"].clone(), value["stats"]["states"].clone())
    };
    let one = findings(&["--threads", "1"]);
    assert_eq!(one.1, 42);
    for options in [&["--threads", "4"][..], &["--order", "depth"], &["--storage", "exact"]] {
        assert_eq!(findings(options), one, "{options:?}");
    }
    let reduced = |threads: &str| {
        let ran = run(&["check", LOCKS, LATE, "-q", "--threads", threads, "--format", "json"]);
        let mut value = json(&ran);
        value["stats"]["elapsed_ms"] = 0.into();
        (value["findings"].clone(), value["stats"].clone())
    };
    assert_eq!(reduced("1"), reduced("4"));
}

#[test]
fn limits_end_in_incomplete() {
    let ran = run(&["check", FIXED, "--max-states", "2", "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, &value["verdict"]), (3, &"incomplete".into()));
    assert_eq!(value["limits"], serde_json::json!(["max-states"]));
    let ran = run(&["check", FIXED, "--time-limit", "0s"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let ran = run(&["check", FIXED, "--storage", "bitstate", "--storage-size", "64K"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("cut by --storage"), "{}", ran.stdout);
    let first = run(&["check", LATE, "--first", "--format", "json"]);
    assert_eq!((first.status, &json(&first)["complete"]), (1, &false.into()));
}

#[test]
fn a_depth_that_was_asked_for_is_no_limit() {
    let ran = run(&["check", FIXED, "--max-depth", "2", "--format", "json"]);
    let value = json(&ran);
    assert_eq!(
        (ran.status, &value["verdict"], &value["complete"]),
        (0, &"ok".into(), &true.into())
    );
    assert_eq!(value["bounds"], serde_json::json!(["max-depth"]));
    assert_eq!(value["limits"], serde_json::json!([]));
    let shown = run(&["check", FIXED, "--max-depth", "2"]);
    assert!(shown.stdout.contains("ok; only runs of at most 2 steps were searched"), "{shown:?}");
    // No state lies beyond the bound.
    let whole = json(&run(&["check", FIXED, "--max-depth", "50", "--format", "json"]));
    assert_eq!((&whole["complete"], whole.get("bounds")), (&true.into(), None));
    // A violation of a response has no finite length.
    let spin = "model spin\nvar on = false;\nvar n = 0;\nevent begin when !on { on = true; }\n\
                event tick when on { n = (n + 1) % 3; }\nresponse ends: on leads_to n == 1;\n";
    let folder = folder();
    let model = file(&folder, "spin.any", spin);
    let ran = run(&["check", &model, "--max-depth", "1", "--format", "json"]);
    assert_eq!((ran.status, &json(&ran)["limits"][0]), (3, &"max-depth".into()), "{ran:?}");
    assert_eq!(run(&["graph", FIXED, "--max-depth", "2"]).status, 0);
}

#[test]
fn mistakes_are_shown_with_their_lines() {
    let folder = folder();
    let model = file(&folder, "bad.any", "model bad\nvar x = 0;\nevent e { x = y; z(); }\n");
    let ran = run(&["check", &model]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("bad.any:3:15"), "{}", ran.stderr);
    assert!(ran.stderr.contains("| event e { x = y; z(); }"), "{}", ran.stderr);
    assert!(ran.stderr.matches("error[").count() >= 2, "{}", ran.stderr);
    for command in ["simulate", "graph"] {
        assert_eq!(run(&[command, &model]).status, 2, "{command}");
    }
    let latin = file(&folder, "latin.any", b"model m\nvar x = \"\xe4\";\n");
    let ran = run(&["check", &latin]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("line 2: not UTF-8"), "{}", ran.stderr);
}

#[test]
fn models_are_recognised_by_content_and_read_from_pipes() {
    let folder = folder();
    let text = std::fs::read_to_string(workspace().join(LOCKS)).expect("the model is there");
    let model = file(&folder, "x.trace", format!("/* T1|acq(l)|1 */ {text}"));
    assert_eq!(run(&["check", &model]).status, 1);
    let piped = run_with_stdin(&["check", "-"], text.as_bytes());
    assert_eq!(piped.status, 1, "{piped:?}");
    assert!(piped.stdout.contains("- (model)"), "{}", piped.stdout);
    let info = run(&["info", LOCKS]);
    assert_eq!(info.status, 2);
    assert!(info.stderr.contains("a model, expected a trace"), "{}", info.stderr);
    let both = run(&["check", LOCKS, common::NOTES, "--format", "json"]);
    let kinds = json(&both)["findings"].as_array().map_or(0, Vec::len);
    assert!(both.status == 1 && kinds > 1, "{both:?}");
}

#[test]
fn graphs_are_written() {
    let ran = run(&["graph", FIXED]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("graph", ran.stdout);
    let ran = run(&["graph", FIXED, "--format", "json"]);
    let value = json(&ran);
    assert_eq!(value["states"].as_array().map(Vec::len), Some(5));
    assert_eq!(value["complete"], true);
    let cut = run(&["graph", FIXED, "--max-states", "2"]);
    assert_eq!(cut.status, 3);
    assert!(cut.stderr.contains("cut by --max-states"), "{}", cut.stderr);
}

#[test]
fn models_are_formatted_in_place() {
    let folder = folder();
    let ugly = "model m\nvar x=0;\nevent e{x+=1;}\n";
    let model = file(&folder, "m.any", ugly);
    let check = run(&["fmt", "--check", &model]);
    assert_eq!((check.status, check.stdout), (1, format!("{model}\n")));
    assert_eq!(std::fs::read_to_string(&model).unwrap(), ugly, "nothing is written");
    let piped = run_with_stdin(&["fmt", "-"], ugly.as_bytes());
    let ran = run(&["fmt", &model]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    let pretty = std::fs::read_to_string(&model).unwrap();
    assert!(pretty.contains("var x = 0;"), "{pretty}");
    assert_eq!((piped.status, piped.stdout), (0, pretty));
    assert_eq!(run(&["fmt", "--check", &model]).status, 0);
    let broken = file(&folder, "broken.any", "model m\nvar = ;\n");
    let ran = run(&["fmt", &broken]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "model m\nvar = ;\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn the_report_has_a_diagram() {
    let folder = folder();
    let report = path(&folder, "report");
    let ran = run(&["check", SEARCH, "-q", "--report", &report]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.ends_with("index.html\n"), "{}", ran.stdout);
    let page = std::fs::read_to_string(format!("{report}/index.html")).expect("the page is there");
    assert!(page.contains("class=\"sequence\"") && page.contains("reply(2)"));
    assert_eq!(page.matches("class=\"box\"").count(), 6);
}

#[test]
fn the_help_of_the_commands() {
    for command in ["check", "replay", "simulate", "diff", "graph", "fmt"] {
        let ran = run(&[command, "--help"]);
        assert_eq!(ran.status, 0, "{command}");
        insta::assert_snapshot!(format!("help_{command}"), ran.stdout);
    }
}

#[test]
fn a_wrong_end_is_no_deadlock() {
    let folder = folder();
    let text = "model ends\nvar x = 0;\nlock a;\nthread t { if x == 1 { acquire a; acquire a; } else { x = 2; } }\n\
                thread u { x = 1; }\nfinal: x == 2;\n";
    let model = file(&folder, "ends.any", text);
    let value = json(&run(&["check", &model, "--format", "json"]));
    let kinds: Vec<&str> = value["findings"]
        .as_array()
        .map_or(Vec::new(), |all| all.iter().filter_map(|one| one["kind"].as_str()).collect());
    assert_eq!(kinds, ["deadlock", "final"], "{value}");
    let end = &value["findings"][1];
    assert_eq!(end["title"], "all is done, and `final` does not hold");
    assert_eq!(end["sites"][0]["line"], 6);
    let told = end["explanation"].as_array().and_then(|steps| steps.last()).expect("steps");
    assert_eq!(told["text"], "all is done, and `final` does not hold: x = 1");
    let runs = path(&folder, "runs");
    run(&["check", &model, "--schedules", &runs]);
    for one in [&value["findings"][0], end] {
        let schedule = format!("{runs}/{}.json", one["id"].as_str().expect("an id"));
        assert_eq!(run(&["replay", &model, &schedule]).status, 1, "{one}");
    }
    let simulated = json(&run(&["simulate", &model, "--runs", "200", "--format", "json"]));
    assert_eq!(simulated["findings"].as_array().map(Vec::len), Some(2), "{simulated}");
}

#[test]
fn deadlocks_of_different_models_have_different_ids() {
    let id = |name: &str, handler: &str| {
        let text = format!(
            "model {name}\nsetting granularity = access;\nlock l;\nhandler {handler}: fifo;\n\
             init {{ post t() to {handler}; post t() to {handler}; }}\n\
             task t() on {handler} {{ acquire l; acquire l; }}\n"
        );
        let ran = run_with_stdin(&["check", "-", "--format", "json"], text.as_bytes());
        let value = json(&ran);
        let finding = &value["findings"][0];
        assert_eq!(finding["kind"], "deadlock", "{text} {value}");
        let access = format!("waits for lock l, held by {handler}");
        assert_eq!(finding["sites"][0]["access"], access, "{value}");
        // The message behind it waits for what it waits for.
        assert_eq!(finding["sites"].as_array().map(Vec::len), Some(1), "{value}");
        finding["id"].as_str().expect("an id").to_owned()
    };
    assert_eq!(id("a", "ui"), id("a", "ui"));
    assert_ne!(id("a", "ui"), id("b", "ui"));
    assert_ne!(id("a", "ui"), id("a", "net"));
}

#[test]
fn a_null_dereference_says_that_the_value_is_null() {
    let value =
        json(&run(&["check", "examples/models/cancel-against-completion.any", "--format", "json"]));
    let finding = &value["findings"][0];
    assert_eq!(finding["category"], "null");
    let title = "the value is null: no field `bytes` (cancel-against-completion.any:37)";
    assert_eq!(finding["title"], title);
}

#[test]
fn objects_keep_their_numbers_and_reads_are_told() {
    let ran = run(&["check", "examples/models/cancel-against-completion.any"]);
    insta::assert_snapshot!("cancel", timeless(&ran.stdout));
    let ran = run(&["check", "examples/models/crawler.any"]);
    insta::assert_snapshot!("crawler", timeless(&ran.stdout));
}
