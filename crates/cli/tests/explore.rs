//! `anyorder explore`, `anyorder shrink`, and the same jobs in `anyorder check`: models, and
//! programs behind pipes.

#![expect(clippy::print_stdout, reason = "reports what was skipped, and how often")]

use crate::common;

use common::{Ran, file, folder, path, run, workspace};
use serde_json::Value;
use std::process::Command;

const SLIDES: &str = "examples/models/slide-show.any";
const SIX: &str = "examples/models/slide-show-six.any";
const LATE: &str = "examples/models/late-script-load.any";
const PAIR: &str = "examples/models/smart-home-pair.any";
const PROGRAM: &str = "node examples/pipe/node/double_submit.js";

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The kind and title of each finding that is not harmless.
fn wrong(value: &Value) -> Vec<(String, String)> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let all = value["findings"].as_array().expect("a list");
    let all = all.iter().filter(|one| one["harm"] != "harmless");
    all.map(|one| (text(one, "kind"), text(one, "title"))).collect()
}

/// Returns whether Node.js is installed; prints a line if it is not.
fn has_node() -> bool {
    let there =
        Command::new("node").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !there {
        println!("skipped: there is no node");
    }
    there
}

/// The models of the gallery.
fn gallery() -> Vec<String> {
    let folder = workspace().join("examples/models");
    let mut models: Vec<String> = std::fs::read_dir(folder)
        .expect("the gallery")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".any"))
        .map(|name| format!("examples/models/{name}"))
        .collect();
    models.sort();
    models
}

/// The kind, place and length of each finding. They must not depend on the algorithm.
fn essence(value: &Value) -> Vec<(String, String, usize)> {
    let all = value["findings"].as_array().expect("a list");
    let one = |one: &Value| {
        let steps = one["witness"]["inline"]["choices"].as_array().map_or(0, Vec::len);
        (one["id"].to_string(), one["kind"].to_string(), steps)
    };
    let mut all: Vec<_> = all.iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn reduction_finds_the_same_with_the_same_shortest_runs() {
    let (mut reduced, mut fewer) = (0, 0);
    for model in gallery() {
        let asked = |more: &[&str]| {
            json(&run(&[&["check", &model, "-q", "--format", "json"], more].concat()))
        };
        let (one, full) = (asked(&[]), asked(&["--no-reduction"]));
        assert_eq!(essence(&one), essence(&full), "{model}");
        assert_eq!((&one["verdict"], &one["complete"]), (&full["verdict"], &full["complete"]));
        assert_eq!(full["stats"]["algorithm"], "full", "{model}");
        let number = |value: &Value, name: &str| value["stats"][name].as_u64().expect("a number");
        if one["stats"]["algorithm"] == "stateful" {
            reduced += 1;
            for name in ["states", "transitions"] {
                assert!(number(&one, name) <= number(&full, name), "{model}: {name}");
            }
            fewer += usize::from(number(&one, "transitions") < number(&full, "transitions"));
            number(&one, "executions");
            number(&one, "inferred");
        }
        assert_eq!(one["stats"]["never_run"], full["stats"]["never_run"], "{model}");
    }
    println!("{reduced} searched with reduction, {fewer} with fewer transitions");
    assert!(reduced > 30 && fewer > 10, "{reduced} {fewer}");
}

#[test]
fn full_search_is_used_where_it_must_be_and_says_why() {
    let ran = run(&["check", SLIDES]);
    let why = "note: examples/models/slide-show.any: full search, without reduction: response properties need full search\n";
    assert_eq!((ran.status, ran.stderr.as_str()), (0, why));
    for (option, value) in [("--order", "depth"), ("--storage", "exact"), ("--max-depth", "3")] {
        let ran = run(&["check", PAIR, option, value, "--format", "json"]);
        assert!(ran.stderr.contains(&format!("`{option}`")), "{ran:?}");
        assert_eq!(json(&ran)["stats"]["algorithm"], "full");
        assert_eq!(run(&["check", PAIR, option, value, "-q"]).stderr, "");
    }
    let several = run(&["check", SLIDES, PAIR, "-q", "--format", "json"]);
    assert_eq!(json(&several)["stats"]["algorithm"], "full+stateful");
}

#[test]
fn components_that_overwrite_each_other_are_found_and_replay() {
    let folder = folder();
    let runs = path(&folder, "runs");
    let mut ids = Vec::new();
    for options in [&[][..], &["--no-reduction"], &["--order", "depth"]] {
        let ran =
            run(&[&["check", PAIR, "-q", "--format", "json", "--schedules", &runs], options]
                .concat());
        let value = json(&ran);
        let kinds = wrong(&value);
        assert_eq!((ran.status, kinds.len()), (1, 3), "{value}");
        assert!(kinds.iter().all(|(kind, _)| kind == "update_conflict"), "{kinds:?}");
        ids = value["findings"].as_array().expect("a list").clone();
    }
    let door = ids.iter().find(|one| one["sites"][0]["location"] == "locked").expect("the door");
    let title = "`fire` and `good_night` set `locked` to different values, one after the other";
    assert_eq!(door["title"], title);
    let sites = door["sites"].as_array().expect("sites");
    let told: Vec<_> = sites.iter().map(|site| (&site["handler"], &site["line"])).collect();
    assert_eq!(told, [(&"fire".into(), &16.into()), (&"good_night".into(), &28.into())]);
    for one in &ids {
        let schedule = format!("{runs}/{}.json", one["id"].as_str().expect("an id"));
        assert_eq!(run(&["replay", PAIR, &schedule]).status, 1, "{one}");
    }
    let ran =
        run(&["explore", PAIR, "--algorithm", "r4", "--bound", "2", "-q", "--format", "json"]);
    let kinds = wrong(&json(&ran));
    assert_eq!(kinds.iter().filter(|(kind, _)| kind == "update_conflict").count(), 3, "{kinds:?}");
    let paper = run(&["explore", PAIR, "--algorithm", "paper"]);
    assert_eq!(paper.status, 3, "it does not look for them: {paper:?}");
}

#[test]
fn algorithms_agree_and_tell_their_numbers() {
    for model in [SIX, LATE, "examples/models/dining-philosophers.any"] {
        let asked = |name: &str| {
            json(&run(&["explore", model, "--algorithm", name, "-q", "--format", "json"]))
        };
        let all = ["full", "stateful", "paper"].map(asked);
        for (value, name) in all.iter().zip(["full", "stateful", "paper"]) {
            assert_eq!(value["command"], "explore");
            assert_eq!(value["stats"]["algorithm"], name);
            assert_eq!(essence(value), essence(&all[0]), "{model} {name}");
        }
    }
    let bad = run(&["explore", PAIR, "--algorithm", "full", "--recording", "x.json"]);
    assert_eq!(bad.status, 2, "{bad:?}");
}

#[test]
fn the_slide_show_is_harmless_and_every_reversal_has_its_class() {
    let ran =
        run(&["explore", SLIDES, "--algorithm", "r4", "--bound", "2", "-q", "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, wrong(&value).len()), (0, 0), "{value}");
    let findings = value["findings"].as_array().expect("a list");
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|one| one["kind"] == "race" && one["harm_class"].is_string()));
    let classes = value["stats"]["reversals"].as_object().expect("classes");
    let all: u64 = classes.values().filter_map(Value::as_u64).sum();
    assert_eq!(all + 1, value["stats"]["sequences"].as_u64().expect("a number"));
    let options = ["explore", SLIDES, "--algorithm", "r4", "--bound", "2", "-q", "--strict"];
    assert_eq!(run(&options).status, 1, "harmless ones count with --strict");
}

#[test]
fn the_result_of_reversals_is_the_same_with_any_number_of_threads_and_in_any_order() {
    let asked = |more: &[&str]| {
        let common =
            ["explore", LATE, "--algorithm", "r4", "--bound", "2", "-q", "--format", "json"];
        let value = json(&run(&[&common, more].concat()));
        let kinds = wrong(&value);
        (kinds, value["stats"]["sequences"].clone())
    };
    let one = asked(&["--threads", "1"]);
    assert_eq!(asked(&["--threads", "4"]), one);
    assert_eq!(asked(&["--paper-order"]).1, one.1);
    assert!(one.0.iter().any(|(kind, _)| kind == "assertion"), "{one:?}");
}

#[test]
fn a_schedule_beside_a_model_is_varied() {
    let folder = folder();
    let runs = path(&folder, "runs");
    run(&["check", LATE, "-q", "--schedules", &runs]);
    let schedule =
        std::fs::read_dir(&runs).expect("schedules").next().expect("one").expect("it").path();
    let schedule = schedule.to_str().expect("UTF-8");
    let ran = run(&["check", LATE, schedule, "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, &value["options"]["algorithm"]), (1, &"r4".into()), "{value}");
    assert_eq!(value["inputs"][1]["format"], "schedule");
    assert_eq!(run(&["check", schedule]).status, 2);
    assert_eq!(run(&["check", schedule, LATE, SLIDES]).status, 2);
}

#[test]
fn any_failure_is_shrunk_and_still_occurs() {
    let folder = folder();
    let small = path(&folder, "small.json");
    let mut shrunk = 0;
    for model in [
        "late-script-load",
        "dining-philosophers",
        "lost-wake-up",
        "smart-lock-fire-alarm",
        "dictionary-lookup",
    ] {
        let model = format!("examples/models/{model}.any");
        let runs = path(&folder, &format!("runs{shrunk}"));
        // Random runs are long.
        run(&["simulate", &model, "-q", "--runs", "300", "--schedules", &runs]);
        for entry in std::fs::read_dir(&runs).into_iter().flatten() {
            let long = entry.expect("a file").path();
            let long = long.to_str().expect("UTF-8");
            let ran = run(&["shrink", &model, long, "-o", &small]);
            assert_eq!(ran.status, 0, "{model} {ran:?}");
            assert!(ran.stderr.contains("no task can be left out"), "{ran:?}");
            assert_eq!(run(&["replay", &model, &small]).status, 1, "{model}");
            let count = |file: &str| {
                let text = std::fs::read_to_string(file).expect("a schedule");
                let value: Value = serde_json::from_str(&text).expect("JSON");
                value["choices"].as_array().expect("choices").len()
            };
            assert!(count(&small) <= count(long), "{model}");
            shrunk += 1;
        }
    }
    assert!(shrunk >= 5, "{shrunk}");
    let fine = file(
        &folder,
        "fine.json",
        r#"{"schedule":1,"program":{"name":"x"},"options":{"shows":"deadlock"},"choices":[]}"#,
    );
    assert_eq!(run(&["shrink", LATE, &fine]).status, 3);
}

/// A model and a schedule of its deadlock or failure.
const ORDER: &str = "model order\nvar ready = false;\nhandler ui: fifo;\n\
    once event load { ready = true; }\nonce event click on ui { post show(); }\n\
    task show() on ui { assert ready, \"not ready\"; }\n";

fn stored(folder: &tempfile::TempDir, model: &str) -> Value {
    let runs = path(folder, "stored");
    assert_eq!(run(&["check", model, "--schedules", &runs, "-q"]).status, 1);
    let entry = std::fs::read_dir(&runs).expect("a folder").next().expect("a schedule");
    let text = std::fs::read_to_string(entry.expect("a file").path()).expect("a schedule");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_recording_with_other_names_of_handlers_is_varied_all_the_same() {
    let folder = folder();
    let model = file(&folder, "order.any", ORDER);
    let mut recording = stored(&folder, &model);
    let plain = file(&folder, "plain.json", recording.to_string());
    let choices = recording["choices"].as_array_mut().expect("choices");
    choices.iter_mut().for_each(|choice| choice["handler"] = "main-looper".into());
    let renamed = file(&folder, "renamed.json", recording.to_string());
    let [a, b] = [&plain, &renamed].map(|schedule| {
        let ran = run(&["check", &model, schedule, "--format", "json"]);
        let found = json(&ran)["findings"].clone();
        let ids = found.as_array().expect("findings").iter().map(|one| one["id"].clone());
        assert_eq!(ran.status, 1, "{ran:?}");
        // What is written names the handlers of the model.
        assert!(!found.to_string().contains("main-looper"), "{found}");
        let result = file(&folder, "result.json", &ran.stdout);
        assert_eq!(run(&["certify", &model, &result]).status, 0, "{ran:?}");
        ids.collect::<Vec<Value>>()
    });
    assert_eq!(a, b);
    // Its certificate is about another handler: that one does not hold.
    assert_eq!(run(&["certify", &model, &plain]).status, 0);
    assert_eq!(run(&["certify", &model, &renamed]).status, 1);
    assert_eq!(run(&["replay", &model, &plain]).status, 1);
}

#[test]
fn a_schedule_is_shrunk_on_the_model_as_it_is_now() {
    let folder = folder();
    let model = file(&folder, "order.any", ORDER);
    let schedule = file(&folder, "old.json", stored(&folder, &model).to_string());
    let small = path(&folder, "small.json");
    // Another event, and another name of the handler.
    let text = ORDER.replace("ui", "ux") + "once event idle { }\n";
    file(&folder, "order.any", text);
    let ran = run(&["shrink", &model, &schedule, "-o", &small]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let written = std::fs::read_to_string(&small).expect("a schedule");
    assert!(!written.contains("\"ui\""), "{written}");
    // It is a schedule of the changed model, and of that only.
    assert_eq!(run(&["replay", &model, &small]).status, 1);
    assert_eq!(run(&["certify", &model, &small]).status, 0);
    file(&folder, "order.any", ORDER);
    assert_eq!(run(&["certify", &model, &small]).status, 1);
    // Where the change mends the model, nothing is left to make smaller.
    file(&folder, "order.any", ORDER.replace("click on ui", "click on ui after load"));
    assert_eq!(run(&["shrink", &model, &schedule, "-o", &small]).status, 3);
}

#[test]
fn the_bug_of_a_program_is_found_through_its_pipe() {
    if !has_node() {
        return;
    }
    let folder = folder();
    let report = path(&folder, "report");
    let ran = run(&["check", "--program", PROGRAM, "-q", "--report", &report, "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, &value["inputs"][0]["format"]), (1, &"program".into()));
    let found = wrong(&value);
    let failure = |(kind, title): &(String, String)| {
        kind == "assertion" && title.starts_with("the program fails: ordered twice")
    };
    assert!(found.iter().any(failure), "{found:?}");
    assert!(found.iter().any(|(kind, _)| kind == "race"), "{found:?}");
    let page = std::fs::read_to_string(format!("{report}/index.html")).expect("the page");
    assert!(page.contains("two-runs beside") && page.contains("What differs at the end"));
    assert_eq!(page.matches("<svg").count(), 2 * found.len(), "two runs a finding");
    let all = value["findings"].as_array().expect("a list");
    for one in all.iter().filter(|one| one["harm"] != "harmless") {
        let schedule = format!("{report}/{}.json", one["id"].as_str().expect("an id"));
        let replay = ["replay", "--program", PROGRAM, &schedule];
        assert_eq!(run(&replay).status, 1, "{one}");
        let small = path(&folder, "small.json");
        let shrunk = run(&["shrink", "--program", PROGRAM, &schedule, "-o", &small]);
        assert_eq!(shrunk.status, 0, "{shrunk:?}");
        assert_eq!(run(&["replay", "--program", PROGRAM, &small]).status, 1, "{one}");
    }
    let fixed = run(&[
        "explore",
        "--program",
        &format!("{PROGRAM} --fixed"),
        "--bound",
        "2",
        "-q",
        "--format",
        "json",
    ]);
    assert!(wrong(&json(&fixed)).iter().all(|(kind, _)| kind != "assertion"), "{fixed:?}");
}

#[test]
fn lost_replies_make_nothing_harmful() {
    if !has_node() {
        return;
    }
    let asked = |program: &str| {
        let ran = run(&["explore", "--program", program, "--bound", "2", "--format", "json"]);
        (json(&ran), ran.stderr)
    };
    let (clean, quiet) = asked(PROGRAM);
    assert_eq!(quiet, "");
    let mut harmful = wrong(&clean);
    harmful.sort();
    let mut told = 0;
    for seed in 1..=anyorder_testkit::effort::cases(1).min(3) {
        let (lossy, stderr) = asked(&format!("{PROGRAM} --lose 50 --seed {seed}"));
        let retries = lossy["stats"]["retries"].as_u64().expect("a number");
        let unstable = wrong(&lossy).iter().filter(|(kind, _)| kind == "unstable").count();
        println!("seed {seed}: {retries} attempts repeated, {unstable} findings of instability");
        assert_eq!(retries > 0, stderr.contains("had to be repeated"), "{stderr}");
        told += retries + unstable as u64;
        for one in wrong(&lossy).into_iter().filter(|(kind, _)| kind != "unstable") {
            assert!(harmful.contains(&one), "seed {seed}: {one:?} is not harmful");
        }
    }
    assert!(told > 0, "some reply must have been lost");
}

#[test]
fn commands_that_are_none_are_refused() {
    for program in ["", "'", "no-such-program-anywhere", "true"] {
        let ran = run(&["explore", "--program", program]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("hint:") || ran.stderr.contains("quote"), "{ran:?}");
    }
    assert_eq!(run(&["explore"]).status, 2);
    assert_eq!(run(&["explore", PAIR, "--bound", "x"]).status, 2);
}

#[test]
fn the_help_of_explore_and_shrink() {
    for command in ["explore", "shrink"] {
        let ran = run(&[command, "--help"]);
        assert_eq!(ran.status, 0, "{command}");
        insta::assert_snapshot!(format!("help_{command}"), ran.stdout);
    }
}
