//! Runs of models: schedules, replay, random walks, comparisons; interrupted and resumed searches.

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

#[test]
fn a_search_goes_on_from_its_checkpoint() {
    let folder = folder();
    let saved = path(&folder, "search");
    let ran = run(&["check", LOCKS, "--max-states", "5", "--checkpoint", &saved]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stderr.contains("continues it"), "{}", ran.stderr);
    let whole = json(&run(&["check", LOCKS, "--no-reduction", "--format", "json"]));
    let rest = json(&run(&["check", LOCKS, "--resume", &saved, "--format", "json"]));
    assert_eq!(rest["findings"][0]["explanation"], whole["findings"][0]["explanation"]);
    assert_eq!(rest["stats"]["states"], whole["stats"]["states"]);
    let other = run(&["check", FIXED, "--resume", &saved]);
    assert_eq!((other.status, other.stdout.as_str()), (2, ""));
    assert!(other.stderr.contains("of something else"), "{}", other.stderr);
    let bad = run(&["check", LOCKS, "--resume", LOCKS]);
    assert_eq!(bad.status, 2, "{bad:?}");
    let nowhere = path(&folder, "no such folder/search");
    let ran = run(&["check", LOCKS, "--checkpoint", &nowhere]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "found before the search: {ran:?}");
    let precious = file(&folder, "precious.any", "model precious\n");
    for kept in [precious.as_str(), "/dev/null", folder.path().to_str().expect("UTF-8")] {
        let ran = run(&["check", LOCKS, "--checkpoint", kept]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{kept}");
        assert!(ran.stderr.contains("not a checkpoint"), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(&precious).expect("still there"), "model precious\n");
    assert_eq!(run(&["check", LOCKS, "--checkpoint", &saved]).status, 1, "one of its own it may");
}

/// A model of half a million states.
const LARGE: &str = "model large\nconst N = 6;\nvar turn: [int; N] = [0; N];\n\
    event step[i in 0..N] when turn[i] < 7 { turn[i] += 1; }\n\
    invariant early: turn[0] + turn[1] != 3;\n";

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_what_it_found_and_is_gone_on_with() {
    let folder = folder();
    let model = file(&folder, "large.any", LARGE);
    let saved = path(&folder, "search");
    let other = path(&folder, "other");
    let whole = json(&run(&["check", &model, "--checkpoint", &other, "--format", "json"]));
    assert_eq!(whole["stats"]["states"], 262_144);
    // Independent turns run in one order only.
    let reduced = json(&run(&["check", &model, "--format", "json"]));
    assert!(reduced["stats"]["states"].as_u64().is_some_and(|states| states < 1_000), "{reduced}");
    assert_eq!(reduced["findings"][0]["id"], whole["findings"][0]["id"]);
    let arguments = [
        "check",
        &model,
        "--format",
        "json",
        "--threads",
        "1",
        "--checkpoint",
        &saved,
        "--checkpoint-every",
        "0s",
    ];
    // Interrupt only after the first checkpoint. On a slow disk, checkpoints are so rare that the
    // search may end first.
    let child = (0..8).find_map(|_| {
        let _ = std::fs::remove_file(&saved);
        let mut child = common::command(&arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the binary runs");
        while child.try_wait().is_ok_and(|status| status.is_none()) {
            std::thread::sleep(std::time::Duration::from_millis(10));
            if std::fs::metadata(&saved).is_ok_and(|meta| meta.len() > 1 << 19) {
                return Some(child);
            }
        }
        None
    });
    let child = child.expect("a checkpoint is written while the search goes on");
    // A killed process would leave this file.
    let copy = path(&folder, "copy");
    std::fs::copy(&saved, &copy).expect("the checkpoint is there");
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.is_ok_and(|status| status.success()), "a signal can be sent");
    let output = child.wait_with_output().expect("the binary ends");
    let cut: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(output.status.code(), Some(1), "{cut}");
    assert_eq!(cut["limits"], serde_json::json!(["interrupt"]), "{cut}");
    assert_eq!(
        (&cut["complete"], &cut["findings"][0]["kind"]),
        (&false.into(), &"invariant".into())
    );
    assert!(cut["stats"]["states"].as_u64() < whole["stats"]["states"].as_u64());
    for file in [&saved, &copy] {
        let ran = run(&["check", &model, "--resume", file, "--format", "json"]);
        let mut rest = json(&ran);
        rest["stats"]["elapsed_ms"] = whole["stats"]["elapsed_ms"].clone();
        assert_eq!(rest, whole, "{file}");
    }
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
    let piped = run_with_stdin(&["replay", LATE, "-", LOCKS], result.stdout.as_bytes());
    assert_eq!(piped.status, 1, "{piped:?}");
    assert_eq!(piped.stdout.matches("it occurs again").count(), 2);
    let id = json(&result)["findings"][0]["id"].as_str().expect("an id").to_owned();
    let arguments = ["replay", LATE, LOCKS, "-", "--finding", &id];
    let one = run_with_stdin(&arguments, result.stdout.as_bytes());
    assert_eq!(one.stdout.matches("it occurs again").count(), 1);
    let half = run_with_stdin(&["replay", LATE, "-"], result.stdout.as_bytes());
    assert_eq!((half.status, half.stdout.matches("it occurs again").count()), (1, 1));
    assert!(half.stderr.contains("1 finding of other models left out"), "{}", half.stderr);
}

#[test]
fn a_mended_model_does_not_show_it_and_another_diverges() {
    let folder = folder();
    let result = path(&folder, "result.json");
    assert_eq!(run(&["check", LATE, "--format", "json", "-o", &result]).status, 1);
    let text = std::fs::read_to_string(workspace().join(LATE)).expect("the model is there");
    let mended = file(&folder, "mended.any", text.replace("assert phase", "assert true || phase"));
    let ran = run(&["replay", &mended, &result]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("it does not occur"), "{}", ran.stdout);
    let ran = run(&["replay", &result, FIXED]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("diverged at choice 1: `click#1` cannot run"), "{}", ran.stdout);
    let gone = run(&["replay", &result, "no-such.any"]);
    assert_eq!((gone.status, gone.stdout.as_str()), (2, ""));
    for bad in ["{}", "[", "{\"schedule\":9}", "{\"findings\":[]}"] {
        let ran = run_with_stdin(&["replay", LATE, "-"], bad.as_bytes());
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
    assert_eq!(run(&["replay", &mended, &result]).status, 0);

    let spin = "model spin\nvar on = false;\nvar n = 0;\nevent begin when !on { on = true; }\n\
                event tick when on { n = (n + 1) % 3; }\nresponse ends: on leads_to n == 7;\n";
    let model = file(&folder, "spin.any", spin);
    let ran = run(&["check", &model, "--format", "json"]);
    let value = json(&ran);
    assert_eq!(value["findings"][0]["kind"], "response", "{value}");
    let mut schedule = value["findings"][0]["witness"]["inline"].clone();
    assert_eq!(schedule["options"]["repeats-from"], "1", "{schedule}");
    let replayed = |schedule: &Value| {
        run_with_stdin(&["replay", &model, "-"], schedule.to_string().as_bytes()).status
    };
    assert_eq!(replayed(&schedule), 1);
    // The run does not return to this state.
    schedule["options"]["repeats-from"] = "0".into();
    assert_eq!(replayed(&schedule), 0);
    // A loop in which the event stays enabled but never happens is not fair.
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
    let ran = run_with_stdin(&["replay", LOCKS, "-"], result.as_bytes());
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("hint: give that file: /etc/passwd"), "{}", ran.stderr);

    // Nor is the model that a schedule names opened.
    let schedule = format!(r#"{{"schedule":1,"program":{{"name":"{LOCKS}"}},"choices":[]}}"#);
    let ran = run_with_stdin(&["replay", "-"], schedule.as_bytes());
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("the model of this schedule is missing"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("hint: it was made for {LOCKS}")), "{}", ran.stderr);
    let alone = run(&["replay", LOCKS]);
    assert_eq!(alone.status, 2, "{alone:?}");
    assert!(alone.stderr.contains("no schedule and no result"), "{}", alone.stderr);
}

#[test]
fn random_runs_find_what_is_common() {
    let ran = run(&["simulate", LOCKS, "--runs", "200", "--seed", "7", "--format", "json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let value = json(&ran);
    assert_eq!(value["command"], "simulate");
    assert_eq!(value["findings"][0]["kind"], "deadlock");
    assert_eq!(value["stats"]["executions"], 200);
    let again = run_with_stdin(&["replay", LOCKS, "-"], ran.stdout.as_bytes());
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
    let told = run(&["simulate", SEARCH, "--runs", "20"]).stderr;
    assert!(told.contains("random runs do not check responses"), "{told}");
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
    let ran = run(&["diff", SEARCH, &good, &bad]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("the runs part after 1 equal steps"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  wanted: 1 | 2\n"), "{}", ran.stdout);
    let same = run(&["diff", &good, &good, SEARCH]);
    assert_eq!((same.status, same.stdout.as_str()), (0, "the runs are the same: 4 steps\n"));
    let lost = schedule("lost.json", &["key#1", "key#7"]);
    let ran = run(&["diff", SEARCH, &good, &lost]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stderr.contains("diverged at choice 2"), "{}", ran.stderr);
}
