//! `anyorder predict`, the predictions of `check` for threads, and `replay` of witnesses.

use crate::common;

use anyorder_mutate::schema;
use common::{NOTES, Ran, file, folder, path, run, run_with_stdin, workspace};
use serde_json::Value;
use std::collections::BTreeSet;

/// A use and a free under the same lock: no race, but no order between them.
const UAF: &str = "examples/traces/uaf_locked.std";

pub(crate) fn json(ran: &Ran) -> Value {
    assert!(ran.stdout.ends_with("}\n") && ran.stdout.lines().count() == 1, "{ran:?}");
    serde_json::from_str(&ran.stdout).expect("one JSON object")
}

pub(crate) fn predict(input: &str) -> Value {
    json(&run(&["predict", input, "--format", "json"]))
}

/// Checks invariants of the counts of a result, and its JSON Schema.
pub(crate) fn balanced(value: &Value) {
    let schema: Value = serde_json::from_str(&run(&["schema"]).stdout).expect("a schema");
    assert_eq!(schema::check(&schema, value), Vec::<String>::new());
    let stat =
        |name: &str| value["stats"][name].as_u64().unwrap_or_else(|| panic!("{name}: {value}"));
    assert_eq!(stat("candidates"), stat("racy") + stat("non_racy"));
    assert_eq!(stat("candidates"), stat("confirmed") + stat("dropped") + stat("unconfirmed"));
    for name in [
        "events",
        "threads",
        "accesses",
        "invocations",
        "locks",
        "race_pairs",
        "missed_by_order",
        "elapsed_ms",
        "peak_memory_kb",
    ] {
        stat(name);
    }
    assert!(stat("missed_by_order") <= stat("confirmed"));
    let listed = |confirmed: Value| -> u64 {
        let all = value["findings"].as_array().unwrap().iter();
        // A deadlock has no pairs.
        all.filter(|f| f["confirmed"] == confirmed && f["kind"] != "deadlock")
            .map(|f| f["pairs_total"].as_u64().unwrap())
            .sum()
    };
    assert_eq!(listed(Value::Bool(true)), stat("confirmed"), "all confirmed pairs are listed");
}

fn all_traces() -> Vec<String> {
    let folder = workspace().join("examples/traces");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the examples are there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".std") || name.ends_with(".trace"))
        .map(|name| format!("examples/traces/{name}"))
        .collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    names
}

#[test]
fn the_examples_are_found_and_their_witnesses_replay() {
    let mut seen = BTreeSet::new();
    for name in all_traces() {
        let value = predict(&name);
        balanced(&value);
        assert!(value["stats"].get("rejected").is_none(), "{name}: {value}");
        let findings = value["findings"].as_array().unwrap();
        let folder = folder();
        let result = file(&folder, "result.json", value.to_string());
        for finding in findings {
            // A deadlock has no category.
            let category = finding["category"].as_str().or(finding["kind"].as_str());
            seen.insert(category.unwrap().to_owned());
            assert_eq!(finding["confirmed"], true, "{name}");
            assert_eq!(finding["witness"]["format"], "reordering");
            let witness = &finding["witness"]["inline"];
            assert_eq!(witness["form"], finding["form"]);
            let again =
                run(&["replay", &name, &result, "--finding", finding["id"].as_str().unwrap()]);
            assert_eq!((again.status, again.stderr.lines().count() > 9), (1, false), "{again:?}");
            assert!(again.stdout.contains("replay: the witness holds"), "{again:?}");
        }
        let counts = findings.iter().any(|f| f["harm"] != "harmless");
        assert_eq!(value["verdict"], if counts { "findings" } else { "ok" }, "{name}");
        if name.contains("ordered") {
            assert!(!counts, "{name} is well ordered: {value}");
        }
    }
    for category in [
        "use_after_free",
        "double_free",
        "destroyed_lock",
        "lost_signal",
        "closed_channel",
        "closed_file",
        "early_err",
        "multi_threaded",
        "deadlock",
    ] {
        assert!(seen.contains(category), "{category} is not among {seen:?}");
    }
}

/// A known bug of a real program: main destroys and frees the queue while its consumers may still
/// use it.
#[test]
fn the_queue_that_is_freed_under_its_consumers_is_found_in_the_real_trace() {
    let trace = "data/native/pbzip2/trace.std";
    for command in ["predict", "check"] {
        let value = json(&run(&[command, trace, "--format", "json"]));
        let lines = |category: &str| -> BTreeSet<(u64, u64)> {
            let all = value["findings"].as_array().unwrap().iter();
            all.filter(|f| f["category"] == category && f["confirmed"] == true)
                .filter(|f| f["severity"] == "error")
                .map(|f| {
                    let line = |at: usize| f["sites"][at]["line"].as_u64().unwrap();
                    (line(0), line(1))
                })
                .collect()
        };
        // Uses in the consumer, before the `delete` of the queue and of its mutexes.
        let freed = lines("use_after_free");
        assert!(freed.iter().any(|(_, free)| *free == 1065), "{command}: {freed:?}");
        let destroyed = lines("destroyed_lock");
        assert!(destroyed.contains(&(889, 1046)), "{command}: {destroyed:?}");
        assert!(value["stats"].get("rejected").is_none() && value["complete"] == true);
    }
}

#[test]
fn the_text_for_people() {
    let ran = run(&["predict", UAF]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let text: Vec<&str> = ran.stdout.lines().filter(|line| !line.contains(" ms")).collect();
    insta::assert_snapshot!("predict", text.join("\n"));
}

#[test]
fn check_lists_each_race_once_and_what_happens_before_does_not_see() {
    // Happens-before orders the two sections by the lock, so it reports nothing.
    let without = json(&run(&["check", UAF, "--no-predict", "--format", "json"]));
    assert_eq!((&without["verdict"], &without["findings"]), (&"ok".into(), &Value::Array(vec![])));
    let value = json(&run(&["check", UAF, "--format", "json"]));
    assert_eq!(value["findings"][0]["category"], "use_after_free");
    assert_eq!(value["stats"]["confirmed"], 1);
    // A race that both analyses report is one finding, with its witness.
    let folder = folder();
    let race = file(&folder, "race.std", "T0|fork(T1)|f\nT0|w(x)|1\nT1|w(x)|2\n");
    let value = json(&run(&["check", &race, "--format", "json"]));
    let findings = value["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{value}");
    assert_eq!(
        (&findings[0]["confirmed"], &findings[0]["coverage"]["uncovered"]),
        (&true.into(), &true.into())
    );
    let plain = json(&run(&["check", &race, "--no-predict", "--format", "json"]));
    assert_eq!(plain["findings"][0]["id"], findings[0]["id"], "baselines stay as they are");
    // A race that depends on another race: no order of the events shows it.
    let decided = "T0|fork(T1)|f\nT0|w(x)|1\nT0|w(flag)|2\nT1|r(flag)|3\nT1|w(x)|4\n";
    let decided = file(&folder, "decided.std", decided);
    let value = json(&run(&["check", &decided, "--format", "json"]));
    balanced_check(&value);
    let of_x =
        value["findings"].as_array().unwrap().iter().find(|f| f["sites"][0]["location"] == "x");
    let of_x = of_x.expect("the race of x");
    assert_eq!(
        (&of_x["confirmed"], &of_x["explanation"][0]["rule"]),
        (&false.into(), &"impossible".into())
    );
    let (races, ids): (usize, BTreeSet<&str>) = {
        let all = value["findings"].as_array().unwrap();
        (all.len(), all.iter().filter_map(|f| f["id"].as_str()).collect())
    };
    assert_eq!((races, ids.len()), (2, 2), "{value}");
}

fn balanced_check(value: &Value) {
    let stat =
        |name: &str| value["stats"][name].as_u64().unwrap_or_else(|| panic!("{name}: {value}"));
    assert_eq!(stat("candidates"), stat("racy") + stat("non_racy"));
    assert_eq!(stat("candidates"), stat("confirmed") + stat("dropped") + stat("unconfirmed"));
}

#[test]
fn commands_of_findings_show_them_again() {
    for command in ["predict", "check"] {
        let value = json(&run(&[command, UAF, "--format", "json"]));
        let replay = value["findings"][0]["replay"].as_str().expect("a command").to_owned();
        let (first, second) = replay.split_once(" | ").expect("two commands");
        let words = |text: &str| text.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>();
        let (first, second) = (words(first), words(second));
        let result = run(&first.iter().map(String::as_str).collect::<Vec<_>>());
        let second: Vec<&str> = second.iter().map(String::as_str).collect();
        let again = run_with_stdin(&second, result.stdout.as_bytes());
        assert_eq!(again.status, 1, "{replay}: {again:?}");
        assert!(again.stdout.contains("the witness holds"), "{again:?}");
    }
}

#[test]
fn witnesses_go_to_a_folder_and_wrong_ones_are_refused() {
    let folder = folder();
    let runs = path(&folder, "runs");
    let result = json(&run(&["predict", UAF, "--schedules", &runs, "--format", "json"]));
    let finding = &result["findings"][0];
    let stored = format!("{runs}/{}.json", finding["id"].as_str().unwrap());
    assert!(finding["replay"].as_str().unwrap().ends_with(&stored), "{finding}");
    let again = run(&["replay", UAF, &stored]);
    assert_eq!(again.status, 1, "{again:?}");
    let good = std::fs::read_to_string(&stored).unwrap();
    let mut value: Value = serde_json::from_str(&good).unwrap();
    // The order of the trace reverses nothing.
    let steps = value["steps"].as_array_mut().unwrap();
    let (last, before) = (steps.len() - 1, steps.len() - 2);
    steps.swap(last, before);
    let wrong = file(&folder, "wrong.json", value.to_string());
    let refused = run(&["replay", UAF, &wrong]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(
        refused.stdout.contains("does not hold: step 7, event 6: event 5 must come first"),
        "{refused:?}"
    );
    // An unknown event, an unknown form, no witness.
    let strange =
        file(&folder, "strange.json", good.replace("\"event\":\"3\"", "\"event\":\"9999\""));
    let ran = run(&["replay", UAF, &strange]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("the trace has no event 9999"), "{ran:?}");
    for (text, what) in [
        (good.replace("\"form\":\"", "\"form\":\"x"), "unknown form"),
        (good.replace("\"reordering\":1", "\"reordering\":2"), "not a witness"),
        ("{\"steps\": [".to_owned(), "not JSON"),
    ] {
        let bad = file(&folder, "bad.json", text);
        let ran = run(&["replay", UAF, &bad]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{what}");
        assert!(ran.stderr.contains(what), "{what}: {ran:?}");
    }
}

#[test]
fn limits_leave_candidates_open_and_give_status_3() {
    let ran = run(&["predict", UAF, "--max-tries", "0", "--format", "json"]);
    let value = json(&ran);
    balanced(&value);
    assert_eq!((ran.status, &value["verdict"]), (3, &"incomplete".into()));
    assert_eq!(value["limits"], serde_json::json!(["max-tries"]));
    let finding = &value["findings"][0];
    assert_eq!((&finding["confirmed"], &finding["severity"]), (&Value::Null, &"note".into()));
    assert_eq!(run(&["predict", UAF, "--max-tries", "0", "--strict"]).status, 1);
    let none = run(&[
        "predict",
        UAF,
        "--max-candidates",
        "0",
        "--pairs",
        "candidates",
        "--format",
        "json",
    ]);
    balanced(&json(&none));
    assert_eq!((none.status, &json(&none)["limits"]), (3, &serde_json::json!(["max-candidates"])));
}

#[test]
fn a_time_limit_keeps_what_was_found_and_says_so() {
    let ran = run(&["predict", UAF, "--time-limit", "0s", "--format", "json"]);
    let value = json(&ran);
    balanced(&value);
    assert_eq!((ran.status, &value["limits"]), (3, &serde_json::json!(["time-limit"])));
    let posted = run(&["predict", NOTES, "--time-limit", "0s", "--format", "json"]);
    assert_eq!((posted.status, &json(&posted)["limits"]), (3, &serde_json::json!(["time-limit"])));
}

#[test]
fn long_traces_are_streamed_and_not_confirmed() {
    let ran = run(&["predict", UAF, "--max-events", "3", "--format", "json"]);
    let value = json(&ran);
    balanced(&value);
    assert_eq!((ran.status, &value["limits"]), (3, &serde_json::json!(["max-events"])));
    assert_eq!(value["stats"]["candidates"], 1);
    let finding = &value["findings"][0];
    assert_eq!(
        (&finding["confirmed"], &finding["category"]),
        (&Value::Null, &"use_after_free".into())
    );
    let held = predict(UAF);
    for part in ["sites", "pairs", "id"] {
        assert_eq!(
            finding[part], held["findings"][0][part],
            "streamed or held, it is the same finding"
        );
    }
    // With `--no-confirm`, the candidates are the findings.
    let ran = run(&["predict", UAF, "--no-confirm", "--format", "json"]);
    let value = json(&ran);
    assert_eq!(
        (ran.status, &value["complete"], &value["limits"]),
        (1, &true.into(), &Value::Array(vec![]))
    );
    assert_eq!(value["bounds"], serde_json::json!(["no-confirm"]));
    assert_eq!(value["findings"][0]["id"], finding["id"]);
    // Standard input cannot be read twice, so it is held in memory.
    let bytes = std::fs::read(workspace().join(UAF)).unwrap();
    let piped = run_with_stdin(&["predict", "-", "--no-confirm", "--format", "json"], &bytes);
    assert_eq!((piped.status, &json(&piped)["findings"][0]["id"]), (1, &finding["id"]));
    let posted = run(&["predict", NOTES, "--max-events", "3"]);
    assert_eq!(posted.status, 2);
    assert!(posted.stderr.contains("needs the whole trace in memory"), "{posted:?}");
}

#[test]
fn the_header_of_a_trace_of_threads_counts_them_as_check_does() {
    let folder = common::folder();
    let trace = "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\nT0|join(T1)|4\n";
    let trace = common::file(&folder, "t.std", trace);
    for command in ["check", "predict"] {
        let ran = run(&[command, &trace]);
        assert!(ran.stdout.contains("4 events · 2 threads · "), "{command}: {ran:?}");
    }
}

/// A complete list of candidates says nothing about the pairs that the analysis orders.
#[test]
fn a_result_about_candidates_says_that_there_is_more() {
    let bounds = |arguments: &[&str]| {
        let value = json(&run(&[&["predict", UAF, "--format", "json"], arguments].concat()));
        assert_eq!(value["complete"], true);
        value["bounds"].clone()
    };
    assert_eq!(bounds(&["--pairs", "candidates"]), serde_json::json!(["pairs"]));
    assert_eq!(bounds(&["--analysis", "wdc"]), serde_json::json!(["pairs"]));
    assert_eq!((bounds(&[]), bounds(&["--pairs", "all"])), (Value::Null, Value::Null));
    let told = run(&["predict", UAF, "--pairs", "candidates"]).stdout;
    assert!(told.contains("only the candidates of the"), "{told}");
}

#[test]
fn analyses_differ_in_what_they_leave_open() {
    let candidates = |analysis: &str| {
        let arguments =
            ["predict", UAF, "--analysis", analysis, "--pairs", "candidates", "--format", "json"];
        let value = json(&run(&arguments));
        balanced(&value);
        assert_eq!(value["options"]["analysis"], analysis);
        value["stats"]["candidates"].as_u64().unwrap()
    };
    assert_eq!((candidates("hb"), candidates("wdc"), candidates("edc")), (0, 1, 1));
    let missed = run(&["predict", UAF, "--analysis", "hb", "--pairs", "all", "--format", "json"]);
    let value = json(&missed);
    balanced(&value);
    assert_eq!((missed.status, &value["stats"]["missed_by_order"]), (1, &1.into()));
    let notes = json(&run(&["predict", NOTES, "--format", "json"]));
    balanced(&notes);
    assert_eq!(notes["options"]["analysis"], "event-driven");
    let categories: BTreeSet<&str> = notes["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["category"].as_str())
        .collect();
    assert!(categories.contains("same_handler"), "{categories:?}");
    let found = notes["findings"].as_array().unwrap();
    let overtaking =
        found.iter().find(|f| f["form"] == "overtakes").expect("a task that overtakes");
    let steps = overtaking["witness"]["inline"]["steps"].as_array().unwrap();
    assert!(steps.last().unwrap()["text"].as_str().unwrap().starts_with("get "), "{overtaking}");
    // An independent check sees the same.
    let folder = folder();
    let result = file(&folder, "notes.json", notes.to_string());
    let id = overtaking["id"].as_str().unwrap();
    assert_eq!(run(&["replay", NOTES, &result, "--finding", id]).status, 1);
}

#[test]
fn specifications_of_a_user_are_used_and_their_mistakes_told() {
    let folder = folder();
    let trace = "examples/traces/channel.trace";
    assert_eq!(predict(trace)["stats"]["candidates"], 1);
    let kind = "spec channel { send(v) ~ close(); send(_) ~ send(_); close() ~ close(); }";
    let spec = file(&folder, "own.spec", kind);
    let ran = run(&["predict", trace, "--spec", &spec, "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, &value["stats"]["candidates"]), (0, &0.into()), "{ran:?}");
    let text = std::fs::read_to_string(workspace().join(trace)).unwrap();
    let strange = text.replace("channel:results", "widget").replace("close", "frob");
    let strange = file(&folder, "strange.trace", strange);
    let ran = run(&["predict", &strange]);
    assert_eq!(ran.status, 3, "nothing of it was understood: {ran:?}");
    assert!(ran.stderr.contains("2 calls ignored, no specification for `widget`"), "{ran:?}");
    let declared = ["predict", &strange, "--object", "widget=memory", "--format", "json"];
    let value = json(&run(&declared));
    assert_eq!(
        (&value["stats"]["invocations"], &value["options"]["object"]),
        (&2.into(), &"widget=memory".into())
    );
    assert_eq!(
        value["stats"]["candidates"], 1,
        "a type that knows neither method: they do not commute"
    );
    for (object, what) in
        [("widget", "expected NAME=TYPE"), ("widget=gadget", "unknown type `gadget`")]
    {
        let ran = run(&["predict", &strange, "--object", object]);
        assert!(ran.status == 2 && ran.stderr.contains(what), "{ran:?}");
    }
    let wrong = file(&folder, "wrong.spec", "spec channel {\n  send(v) ~ ;\n}");
    let ran = run(&["predict", trace, "--spec", &wrong]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("wrong.spec:2:") && ran.stderr.contains("^"), "{ran:?}");
}

#[test]
fn every_form_is_written_and_the_same_every_time() {
    let arguments = ["predict", "examples/traces/lock-destroyed.std"];
    let with = |format: &str| run(&[&arguments[..], &["--format", format]].concat());
    let lines = with("jsonl");
    let findings = json(&with("json"))["findings"].clone();
    let parsed: Vec<Value> =
        lines.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(Value::Array(parsed), findings);
    let sarif: Value = serde_json::from_str(&with("sarif").stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(with("junit").stdout.contains("<testsuite"));
    let folder = folder();
    let report = path(&folder, "report");
    let ran = run(&[&arguments[..], &["--report", &report]].concat());
    assert_eq!(ran.status, 1);
    let html = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(
        html.contains("class=\"threads\"") && html.contains("As recorded"),
        "a table of threads"
    );
    let once = |_| {
        let mut value = json(&with("json"));
        value["stats"]["elapsed_ms"] = Value::Null;
        value["stats"]["peak_memory_kb"] = Value::Null;
        value.to_string()
    };
    let all: Vec<String> = (0..3).map(once).collect();
    assert!(all.iter().all(|one| *one == all[0]));
}

#[test]
fn baselines_and_suppressions_apply() {
    let folder = folder();
    let known = path(&folder, "known.json");
    assert_eq!(run(&["predict", UAF, "--write-baseline", &known]).status, 1);
    assert_eq!(run(&["predict", UAF, "--baseline", &known]).status, 0);
    assert_eq!(run(&["check", UAF, "--baseline", &known]).status, 0, "check has the same ids");
    let config = file(&folder, "x.toml", "[[suppress]]\ncategory = \"use_after_free\"\n");
    assert_eq!(run(&["predict", UAF, "--config", &config]).status, 0);
    let guarded =
        "T0|fork(T1)|f\nT0|acq(l)|1\nT0|w(x)|2\nT0|rel(l)|3\nT1|acq(l)|4\nT1|w(x)|5\nT1|rel(l)|6\n";
    let guarded = file(&folder, "guarded.std", guarded);
    assert_eq!(run(&["predict", &guarded]).status, 0, "notes do not count");
    assert_eq!(run(&["predict", &guarded, "--strict"]).status, 1);
}

#[test]
fn hostile_names_make_clean_reports() {
    let folder = folder();
    let name = "\u{1b}[2J<script>alert(1)</script>";
    let text = format!("T0|fork(T{name})|f\nT0|w({name})|a{name}\nT{name}|w({name})|b\u{202e}\n");
    let input = file(&folder, "hostile.std", text);
    let (report, runs) = (path(&folder, "report"), path(&folder, "runs"));
    let ran = run(&["predict", &input, "--report", &report, "--schedules", &runs]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let clean = |text: &str| !text.contains('\u{1b}') && !text.contains('\u{202e}');
    assert!(clean(&ran.stdout), "{:?}", ran.stdout);
    let html = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(!html.contains("<script>alert") && clean(&html));
    let stored: Vec<_> = std::fs::read_dir(&runs).unwrap().flatten().collect();
    assert_eq!(stored.len(), 1);
    let again = run(&["replay", &input, stored[0].path().to_str().unwrap()]);
    assert!(again.status == 1 && clean(&again.stdout), "{again:?}");
    let not_well_formed = file(&folder, "bad.std", "T0|rel(l)|1\n");
    let refused = run(&["predict", &not_well_formed]);
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{refused:?}");
}

#[test]
fn the_help_has_examples() {
    let ran = run(&["predict", "--help"]);
    assert_eq!(ran.status, 0);
    insta::assert_snapshot!("help_predict", ran.stdout);
}

#[test]
fn a_witness_that_rests_on_a_barrier_of_which_too_little_is_known_is_not_confirmed() {
    let folder = folder();
    // B arrives after its read, and A passed before that.
    let text = "anyorder-trace 1\nhandler h0 \"A\"\nhandler h1 \"B\"\ntask t0 \"A\" initial h0\n\
                task t1 \"B\" initial h1\ncondition c0 \"b\"\nlocation x0 \"x\"\n\
                t0 barrier c0\nt0 write x0\nt1 read x0\nt1 barrier c0\n";
    let value = predict(&file(&folder, "barrier.trace", text));
    let finding = &value["findings"][0];
    assert_eq!(finding["confirmed"], false, "{value}");
    assert!(finding.to_string().contains("who had arrived"), "{value}");
}

/// What a thread reads and never looks at may be anything, if the trace says where threads look.
#[test]
fn branches_free_the_reads_before_them() {
    let folder = folder();
    let events =
        "T1|w(x)|1\nT1|acq(L)|2\nT1|w(y)|3\nT1|rel(L)|4\nT2|acq(L)|5\nT2|r(y)|6\nT2|rel(L)|7\n";
    let kept = format!("{events}T2|w(x)|8\n");
    let free = format!("T3|branch|0\n{kept}");
    let tested = format!("{events}T2|branch|7\nT2|w(x)|8\n");
    for (name, text, races) in [("kept", kept, 0), ("free", free, 1), ("tested", tested, 0)] {
        let value = predict(&file(&folder, &format!("{name}.std"), text));
        let found = value["findings"].as_array().expect("a list").iter();
        let races_found = found.filter(|one| one["confirmed"] == true && one["kind"] == "race");
        assert_eq!(races_found.count(), races, "{name}: {value}");
        assert!(value["warnings"].as_array().is_none_or(Vec::is_empty), "{name}: {value}");
        let says = value.to_string().contains("reads on which no recorded branch depends");
        assert_eq!(says, races > 0, "{name}: {value}");
    }
}
