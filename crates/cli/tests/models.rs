//! Models: check, replay, simulate, diff, graph and fmt.

mod common;

use common::{Ran, file, folder, path, run, run_with_stdin, workspace};
use serde_json::Value;

const LATE: &str = "crates/cli/tests/data/late_script.any";
const LOCKS: &str = "crates/cli/tests/data/locks.any";
const SEARCH: &str = "crates/cli/tests/data/search_box.any";
const FIXED: &str = "crates/cli/tests/data/fixed.any";

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// What is printed, without the times in it.
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
    assert_eq!(ran.stderr, format!("warning: {SEARCH}: event `never` never happens\n"));
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
        let ran = run(&[&["check", SEARCH, LOCKS, "-q", "--format", "json"], options].concat());
        let value = json(&ran);
        (value["findings"].clone(), value["stats"]["states"].clone())
    };
    let one = findings(&["--threads", "1"]);
    assert_eq!(one.1, 42);
    for options in [&["--threads", "4"][..], &["--order", "depth"], &["--storage", "exact"]] {
        assert_eq!(findings(options), one, "{options:?}");
    }
}

#[test]
fn limits_end_in_incomplete() {
    for (option, limit) in [("--max-states", "max-states"), ("--max-depth", "max-depth")] {
        let ran = run(&["check", FIXED, option, "2", "--format", "json"]);
        let value = json(&ran);
        assert_eq!((ran.status, &value["verdict"]), (3, &"incomplete".into()), "{option}");
        assert_eq!(value["limits"], serde_json::json!([limit]));
    }
    let ran = run(&["check", FIXED, "--time-limit", "0s"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let ran = run(&["check", FIXED, "--storage", "bitstate", "--storage-size", "64K"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("cut by --storage"), "{}", ran.stdout);
    let first = run(&["check", LATE, "--first", "--format", "json"]);
    assert_eq!((first.status, &json(&first)["complete"]), (1, &false.into()));
}

#[test]
fn a_search_goes_on_from_its_checkpoint() {
    let folder = folder();
    let saved = path(&folder, "search");
    let ran = run(&["check", LOCKS, "--max-states", "5", "--checkpoint", &saved]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stderr.contains("goes on with it"), "{}", ran.stderr);
    let whole = json(&run(&["check", LOCKS, "--format", "json"]));
    let rest = json(&run(&["check", LOCKS, "--resume", &saved, "--format", "json"]));
    assert_eq!(rest["findings"][0]["explanation"], whole["findings"][0]["explanation"]);
    assert_eq!(rest["stats"]["states"], whole["stats"]["states"]);
    let other = run(&["check", FIXED, "--resume", &saved]);
    assert_eq!((other.status, other.stdout.as_str()), (2, ""));
    assert!(other.stderr.contains("of something else"), "{}", other.stderr);
    let bad = run(&["check", LOCKS, "--resume", LOCKS]);
    assert_eq!(bad.status, 2, "{bad:?}");
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
fn schedules_show_the_same_again() {
    let folder = folder();
    let runs = path(&folder, "runs");
    for model in [LATE, LOCKS, SEARCH] {
        let ran = run(&["check", model, "-q", "--schedules", &runs, "--format", "json"]);
        let command = json(&ran)["findings"][0]["replay"].as_str().expect("a command").to_owned();
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[..2], ["anyorder", "replay"], "{command}");
        let again = run(&words[1..]);
        assert_eq!(again.status, 1, "{again:?}");
        assert!(again.stdout.ends_with("replay: it occurs again\n"), "{}", again.stdout);
    }
    assert_eq!(std::fs::read_dir(&runs).expect("the folder is there").count(), 3);
    let result = run(&["check", LATE, LOCKS, "--format", "json"]);
    let piped = run_with_stdin(&["replay", "-"], result.stdout.as_bytes());
    assert_eq!(piped.status, 1, "{piped:?}");
    assert_eq!(piped.stdout.matches("it occurs again").count(), 2);
    let id = json(&result)["findings"][0]["id"].as_str().expect("an id").to_owned();
    let one = run_with_stdin(&["replay", "-", "--finding", &id], result.stdout.as_bytes());
    assert_eq!(one.stdout.matches("it occurs again").count(), 1);
}

#[test]
fn a_mended_model_does_not_show_it_and_another_diverges() {
    let folder = folder();
    let result = path(&folder, "result.json");
    assert_eq!(run(&["check", LATE, "--format", "json", "-o", &result]).status, 1);
    let text = std::fs::read_to_string(workspace().join(LATE)).expect("the model is there");
    let mended = file(&folder, "mended.any", text.replace("assert phase", "assert true || phase"));
    let ran = run(&["replay", &result, "--model", &mended]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("it does not occur"), "{}", ran.stdout);
    let ran = run(&["replay", &result, "--model", FIXED]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("diverged at choice 1: `click#1` cannot run"), "{}", ran.stdout);
    let gone = run(&["replay", &result, "--model", "no-such.any"]);
    assert_eq!((gone.status, gone.stdout.as_str()), (2, ""));
    for bad in ["{}", "[", "{\"schedule\":9}", "{\"findings\":[]}"] {
        let ran = run_with_stdin(&["replay", "-"], bad.as_bytes());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{bad}");
    }
}

#[test]
fn a_response_is_replayed_with_its_loop() {
    let folder = folder();
    let result = path(&folder, "result.json");
    assert_eq!(run(&["check", SEARCH, "-q", "--format", "json", "-o", &result]).status, 1);
    let text = std::fs::read_to_string(workspace().join(SEARCH)).expect("the model is there");
    let later = text.replace("shown = query;", "if query > shown { shown = query; }");
    assert_ne!(later, text);
    let mended = file(&folder, "mended.any", later);
    assert_eq!(run(&["replay", &result, "--model", &mended]).status, 0);

    let spin = "model spin\nvar on = false;\nvar n = 0;\nevent begin when !on { on = true; }\n\
                event tick when on { n = (n + 1) % 3; }\nresponse ends: on leads_to n == 7;\n";
    let model = file(&folder, "spin.any", spin);
    let ran = run(&["check", &model, "--format", "json"]);
    let value = json(&ran);
    assert_eq!(value["findings"][0]["kind"], "response", "{value}");
    let mut schedule = value["findings"][0]["witness"]["inline"].clone();
    assert_eq!(schedule["options"]["repeats-from"], "1", "{schedule}");
    let replayed =
        |schedule: &Value| run_with_stdin(&["replay", "-"], schedule.to_string().as_bytes()).status;
    assert_eq!(replayed(&schedule), 1);
    // The run does not come back to this state.
    schedule["options"]["repeats-from"] = "0".into();
    assert_eq!(replayed(&schedule), 0);
    // To stay where the event can go on for ever is not fair.
    schedule["options"]["repeats-from"] = "4".into();
    assert_eq!(replayed(&schedule), 0);
}

#[test]
fn names_that_are_as_long_as_the_run_give_no_schedule() {
    let folder = folder();
    let text = |most: u32| {
        format!(
            "model chain\nvar x = 0;\nhandler ui: fifo;\ninit {{ post tick() to ui; }}\n\
             task tick() on ui {{ x += 1; assert x < {most}; post tick() to ui; }}\n"
        )
    };
    for (most, has_schedule) in [(100, true), (2_100, false)] {
        let model = file(&folder, "chain.any", text(most));
        let value = json(&run(&["check", &model, "--format", "json"]));
        let finding = &value["findings"][0];
        assert_eq!(finding.get("witness").is_some(), has_schedule, "{most}");
        assert_eq!(finding.get("replay").is_some(), has_schedule, "{most}");
        let steps = finding["explanation"].as_array().expect("a list");
        assert_eq!(steps.len(), most as usize + usize::from(!has_schedule));
    }
}

#[test]
fn no_path_in_a_witness_is_opened() {
    let result = r#"{"schema":1,"tool":"anyorder","version":"0","command":"check","verdict":"findings","complete":true,
        "findings":[{"id":"1","kind":"deadlock","severity":"error","harm":"harmful","witness":{"format":"schedule","path":"/etc/passwd"}}]}"#;
    let ran = run_with_stdin(&["replay", "-"], result.as_bytes());
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("hint: give that file: /etc/passwd"), "{}", ran.stderr);
}

#[test]
fn random_runs_find_what_is_common() {
    let ran = run(&["simulate", LOCKS, "--runs", "200", "--seed", "7", "--format", "json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let value = json(&ran);
    assert_eq!(value["command"], "simulate");
    assert_eq!(value["findings"][0]["kind"], "deadlock");
    assert_eq!(value["stats"]["executions"], 200);
    let again = run_with_stdin(&["replay", "-"], ran.stdout.as_bytes());
    assert_eq!(again.status, 1, "{again:?}");
    let counts = |seed: &str| {
        let ran = run(&["simulate", LOCKS, "--runs", "50", "--seed", seed, "--format", "json"]);
        json(&ran)["stats"]["transitions"].clone()
    };
    assert_eq!(counts("1"), counts("1"));
    let seeds: std::collections::BTreeSet<String> =
        ["1", "2", "3", "4"].iter().map(|seed| counts(seed).to_string()).collect();
    assert!(seeds.len() > 1, "{seeds:?}");
    assert_eq!(run(&["simulate", FIXED, "--runs", "20"]).status, 0);
}

#[test]
fn two_runs_are_compared() {
    let folder = folder();
    let schedule = |name: &str, tasks: &[&str]| {
        let choices: Vec<String> =
            tasks.iter().map(|task| format!("{{\"task\":\"{task}\"}}")).collect();
        let text = format!(
            "{{\"schedule\":1,\"program\":{{\"name\":\"{SEARCH}\"}},\"choices\":[{}]}}",
            choices.join(",")
        );
        file(&folder, name, text)
    };
    let good = schedule("good.json", &["key#1", "key#1/ask", "key#1/ask/reply", "key#2"]);
    let bad = schedule("bad.json", &["key#1", "key#2", "key#2/ask"]);
    let ran = run(&["diff", &good, &bad]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("the runs part after 1 equal steps"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  wanted: 1 | 2\n"), "{}", ran.stdout);
    let same = run(&["diff", &good, &good]);
    assert_eq!((same.status, same.stdout.as_str()), (0, "the runs are the same: 4 steps\n"));
    let lost = schedule("lost.json", &["key#1", "key#7"]);
    let ran = run(&["diff", &good, &lost]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stderr.contains("diverged at choice 2"), "{}", ran.stderr);
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
