//! `anyorder run --replay`, and what cuts a run.

use super::{build, commands_in, folder, found, in_programs, programs, result};
use crate::common::{command, ran};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The programs, and what is seen of their findings.
const SHOWN: [(&str, &str); 4] = [
    ("race-behind-counter", "at the same time"),
    ("use-then-section", "used what was freed"),
    ("use-in-section", "used what was freed"),
    ("wait-blindly", "wait for ever"),
];

/// Confirms the findings of a program until one is reproduced: on a busy machine a thread that gets
/// no processor looks like one that waits. Returns the id.
fn confirmed(which: &str, json: &str, record: &str) -> String {
    let words = ["run", "--confirm", "--format", "json", "-o", json, "--record", record];
    for _ in 0..3 {
        in_programs(&[&words[..], &["./programs", which]].concat());
        let text = fs::read_to_string(json).expect("a result");
        let result: Value = serde_json::from_str(&text).expect("an object");
        let findings = result["findings"].as_array().expect("a list");
        let shown = findings.iter().find(|one| one["reproduced"]["class"] == "reproduced");
        if let Some(finding) = shown {
            let id = finding["id"].as_str().expect("an id").to_owned();
            let replay = finding["replay"].as_str().unwrap_or_default();
            assert!(
                replay.starts_with("anyorder run --replay ") && replay.ends_with(&id),
                "{replay}"
            );
            return id;
        }
    }
    panic!("{which}: never");
}

/// Runs until the finding is reproduced, at most three times.
fn replayed(words: &[&str], expected: &str) {
    let mut last = None;
    for _ in 0..3 {
        let ran = in_programs(words);
        if ran.status == 1 {
            assert!(ran.stderr.contains(expected), "{words:?}: {ran:?}");
            return;
        }
        last = Some(ran);
    }
    panic!("{words:?}: {last:?}");
}

#[test]
fn what_was_reproduced_happens_again() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    for (which, expected) in SHOWN {
        let (json, trace) = (path("result.json"), path("run.trace"));
        let id = confirmed(which, &json, &trace);
        replayed(&["run", "--replay", &json, "--finding", &id], expected);
        // The plan beside the recording says the same.
        let plan = format!("{trace}.{id}.plan");
        replayed(&["run", "--replay", &plan], expected);
        // Another program starts it.
        if expected != "wait for ever" {
            replayed(&["run", "--replay", &plan, "env", "./programs", which], expected);
        }
    }
    let text = in_programs(&["run", "--replay", &path("result.json"), "--finding", "0000"]);
    assert_eq!(text.status, 2);
    assert!(text.stderr.contains("no such finding was reproduced"), "{}", text.stderr);
}

#[test]
fn the_printed_command_makes_it_happen() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (json, trace) = (path("result.json"), path("run.trace"));
    let id = confirmed("use-in-section", &json, &trace);
    let printed = in_programs(&["run", "--replay", &json, "--finding", &id, "--print-command"]);
    assert_eq!(printed.status, 0, "{printed:?}");
    let mut happened = false;
    for _ in 0..3 {
        let shell = Command::new("sh")
            .args(["-c", printed.stdout.trim()])
            .current_dir(programs())
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        assert!(shell.status.success() && shell.stdout == b"done\n", "{shell:?}");
        // The runtime has noted what it saw: 1 is a use of what was freed.
        let plan = printed.stdout.split("ANYORDER_PLAN=").nth(1).expect("a plan");
        let plan = plan.split_whitespace().next().expect("a path");
        let bytes = fs::read(plan).expect("a plan");
        happened |= bytes[40] & 1 == 1;
        if happened {
            let kept = std::path::Path::new(plan).parent().expect("a folder");
            fs::remove_dir_all(kept).expect("removed");
            break;
        }
    }
    assert!(happened);
}

#[test]
fn what_is_no_plan_is_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    fs::write(path("text"), "no plan").expect("written");
    fs::write(path("object.json"), "{}").expect("written");
    let found = path("found.json");
    in_programs(&["run", "--format", "json", "-o", &found, "./programs", "use-in-section"]);
    for (file, words) in [
        (path("text"), "expected a result as JSON, or a plan"),
        (path("object.json"), "expected a result as JSON, or a plan"),
        (found, "no such finding was reproduced"),
        (path("nothing"), "nothing"),
    ] {
        let ran = in_programs(&["run", "--replay", &file]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{file}: {ran:?}");
        assert!(ran.stderr.contains(words), "{file}: {}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_a_signal_cut_says_so() {
    for (format, signal) in [("json", "-INT"), ("text", "-TERM")] {
        let mut child = command(&["run", "--format", format, "./programs", "hang"]);
        let child = child.current_dir(programs()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = child.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(700));
        let kill = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
        assert!(kill.expect("kill").success());
        let output = child.wait_with_output().expect("it ends");
        if format == "json" {
            let result: Value = serde_json::from_slice(&output.stdout).expect("one object");
            assert_eq!(result["limits"], serde_json::json!(["run-interrupt"]));
            assert_eq!(
                (&result["complete"], &result["stats"]["program_signal"]),
                (&false.into(), &2.into())
            );
        } else {
            let text = String::from_utf8_lossy(&output.stderr);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("a signal (Ctrl-C) ended the program, and only"), "{words}");
        }
    }
    // A run that ends by itself was not cut.
    assert_eq!(result("race-joined", &[])["limits"], serde_json::json!([]));
}

#[test]
fn a_recording_that_grows_too_large_is_cut() {
    let folder = folder();
    let source = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static int n;\nstatic void *work(void *x) { for (int i = 0; i < 400000; i++) {\n\
        pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } return x; }\n\
        int main(void) { pthread_t a; pthread_create(&a, 0, work, 0); work(0);\n\
        pthread_join(a, 0); return 0; }\n";
    fs::write(folder.path().join("much.c"), source).expect("written");
    build(&folder.path().join("much.c"), &folder.path().join("much"), &["-fsanitize=thread"]);
    let words = ["run", "--max-recording", "1M", "--format", "json", "./much"];
    let ran = commands_in(folder.path(), &words);
    let result: Value = serde_json::from_str(&ran.stdout).expect("one object");
    // What one thread does after the events of the other have ended tells nothing.
    assert_eq!(found(&result), [], "{:?}", result["warnings"]);
    let limits = result["limits"].as_array().expect("a list");
    assert!(limits.contains(&"max-recording".into()), "{limits:?}");
    assert_eq!((&result["verdict"], ran.status), (&"incomplete".into(), 3), "{ran:?}");
    assert_eq!(result["options"]["max-recording"], 1 << 20);
    let ran =
        commands_in(folder.path(), &["run", "--max-trace", "5000", "--format", "json", "./much"]);
    let result: Value = serde_json::from_str(&ran.stdout).expect("one object");
    assert_eq!(found(&result), [], "{:?}", result["warnings"]);
    assert_eq!(result["limits"].as_array().expect("a list"), &["max-trace"]);
    assert_eq!(result["stats"]["parts"], 1);
    assert_eq!((&result["verdict"], ran.status), (&"incomplete".into(), 3), "{ran:?}");
    assert!(result["stats"]["events"].as_u64().is_some_and(|events| events <= 5_000), "{result}");
    let small = commands_in(folder.path(), &["run", "--max-recording", "1K", "./much"]);
    assert_eq!(small.status, 2);
    assert!(small.stderr.contains("expected at least 1M"), "{}", small.stderr);
}

#[test]
fn a_long_run_is_checked_in_parts() {
    let folder = folder();
    // The race on `seen` is in all parts, that on `late` only in the last one.
    let source = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static pthread_barrier_t b;\nstatic int n; int seen, late;\n\
        static void *work(void *x) {\n for (int i = 0; i < 200; i++) {\n\
        pthread_barrier_wait(&b);\n seen = i;\n\
        for (int j = 0; j < 10; j++) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } }\n\
        pthread_barrier_wait(&b);\n late = 1;\n return x; }\n\
        int main(void) { pthread_t a; pthread_barrier_init(&b, 0, 2);\n\
        pthread_create(&a, 0, work, 0); work(0); pthread_join(a, 0); return 0; }\n";
    fs::write(folder.path().join("long.c"), source).expect("written");
    build(&folder.path().join("long.c"), &folder.path().join("long"), &["-fsanitize=thread"]);
    let run = |words: &[&str]| -> (Value, i32) {
        let ran = commands_in(
            folder.path(),
            &[&["run", "--format", "json"], words, &["./long"]].concat(),
        );
        (serde_json::from_str(&ran.stdout).expect("one object"), ran.status)
    };
    let (whole, status) = run(&[]);
    assert_eq!((&whole["limits"], &whole["stats"]["parts"]), (&serde_json::json!([]), &1.into()));
    assert_eq!(status, 1);
    let (divided, status) = run(&["--max-part", "2000"]);
    assert_eq!(divided["limits"], serde_json::json!(["max-part"]), "{divided}");
    assert_eq!((status, &divided["complete"]), (1, &false.into()));
    let parts = divided["stats"]["parts"].as_u64().expect("a number");
    assert!((6..=20).contains(&parts), "{parts} of {} events", divided["stats"]["events"]);
    let places = |result: &Value| -> Vec<(u64, u64, u64)> {
        let all = result["findings"].as_array().expect("a list");
        let line = |one: &Value, at: usize| one["sites"][at]["line"].as_u64().unwrap_or(0);
        let mut all: Vec<_> = all
            .iter()
            .map(|one| {
                let (a, b) = (line(one, 0), line(one, 1));
                (a.min(b), a.max(b), one["pairs_total"].as_u64().unwrap_or(0))
            })
            .collect();
        all.sort_unstable();
        all
    };
    for result in [&whole, &divided] {
        let found = places(result);
        let lines: Vec<(u64, u64)> = found.iter().map(|(a, b, _)| (*a, *b)).collect();
        assert_eq!(lines, [(8, 8), (11, 11)], "{result}");
        // Each part adds its pairs to the one finding.
        assert!(found[0].2 >= parts && found[1].2 == 1, "{found:?}");
    }
    // What is kept is the first part, and the result says so.
    let (kept, _) = run(&["--max-part", "2000", "--record", "long.trace"]);
    assert_eq!(kept["limits"], serde_json::json!(["max-part"]));
    assert_eq!(kept["stats"]["parts"], 1);
    let told = commands_in(folder.path(), &["info", "long.trace"]);
    assert!(told.stdout.contains("main"), "{told:?}");
}

#[cfg(unix)]
#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let folder = folder();
    let left = || fs::read_dir(folder.path()).expect("a folder").count();
    let mut killed = command(&["run", "sh", "-c", "echo ready; read line"]);
    killed.env("TMPDIR", folder.path()).stdin(Stdio::piped());
    let mut killed = killed.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    let stdin = killed.stdin.take().expect("a pipe");
    let mut said = [0; 5];
    // The program runs now, and goes on when we are killed.
    killed.stdout.as_mut().expect("a pipe").read_exact(&mut said).expect("it prints");
    let run = || {
        let next = ["run", "--format", "json", "./programs", "status", "0"];
        let next = ran(command(&next).current_dir(programs()).env("TMPDIR", folder.path()));
        assert_eq!(next.status, 0, "{next:?}");
    };
    run();
    assert_eq!(left(), 1, "a run that lives keeps its folder");
    killed.kill().expect("it is killed");
    killed.wait().expect("it ended");
    assert_eq!(left(), 1, "nobody removed it");
    run();
    assert_eq!(left(), 0);
    drop(stdin);
}
