//! Jobs that never poll are ended from outside, with what they had published.

use super::common::{command, folder, path, run};
use super::{PATIENCE, ended, is_guarded, json, send, signals, start, status};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

/// The arguments of a job that misbehaves, with JSON as its form.
fn bug<'a>(kind: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["bug", kind, "--format", "json"];
    words.extend(more);
    words
}

#[test]
fn a_job_that_polls_nothing_ends_with_what_it_had_found() {
    for (found, expected) in [("2", 1), ("0", 3)] {
        let ran = run(&bug("spin", &["--findings", found, "--time-limit", "200ms"]));
        let value = json(&ran);
        assert_eq!(ran.status, expected, "{ran:?}");
        assert_eq!(value["complete"], false, "{value}");
        assert_eq!(value["limits"], json!(["time-limit"]), "{value}");
        assert_eq!(value["findings"].as_array().map(Vec::len).unwrap_or(9).to_string(), found);
        assert_eq!(value["warnings"][0]["kind"], "stopped", "{value}");
        assert!(ran.stderr.starts_with("warning: time limit reached, and the job"), "{ran:?}");
    }
}

#[test]
fn a_job_that_holds_its_result_ends_without_findings() {
    let ran = run(&bug("hold", &["--findings", "2", "--time-limit", "200ms"]));
    let value = json(&ran);
    assert_eq!((ran.status, &value["findings"]), (3, &json!([])), "{ran:?}");
    assert_eq!((&value["command"], &value["complete"]), (&json!("bug"), &json!(false)));
}

#[test]
fn every_form_of_a_cut_result_is_whole() {
    let folder = folder();
    for (form, part) in [
        ("text", "verdict: findings"),
        ("jsonl", "race number 1"),
        ("sarif", "the search was cut by --time-limit"),
        ("junit", "</testsuites>"),
    ] {
        let file = path(&folder, form);
        let words = ["bug", "spin", "--findings", "2", "--time-limit", "200ms", "--format", form];
        let ran = run(&[&words[..], &["-o", &file]].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran:?}");
        let text = std::fs::read_to_string(&file).expect("the result is written");
        assert!(text.contains(part), "{form}: {text}");
        if form == "sarif" {
            serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
        }
        let to_stdout = run(&words);
        let lines = |text: &str| text.lines().count();
        assert_eq!((to_stdout.status, lines(&to_stdout.stdout)), (1, lines(&text)), "{form}");
    }
}

#[test]
fn signals_end_a_job_that_polls_nothing() {
    for signal in signals() {
        let child = start(&mut command(&bug("spin", &["--findings", "1"])));
        is_guarded(&child);
        send(signal, &child);
        let ran = ended(child);
        assert_eq!((ran.status, &json(&ran)["limits"]), (1, &json!(["interrupt"])), "{signal}");
    }
}

#[test]
fn signals_that_come_together_are_one() {
    // As `timeout` sends them: to the process, and to its group.
    let child = start(&mut command(&bug("spin", &["--findings", "1"])));
    is_guarded(&child);
    let id = child.id();
    let both = format!("kill -TERM {id}; sleep 0.01; kill -TERM {id}");
    let sent = std::process::Command::new("sh").args(["-c", &both]).status();
    assert!(sent.is_ok_and(|status| status.success()), "the signals can be sent");
    let ran = ended(child);
    assert_eq!((ran.status, &json(&ran)["limits"]), (1, &json!(["interrupt"])));
}

#[test]
fn a_second_signal_ends_at_once() {
    // The search saves nothing and prints nothing: there is no time for it.
    let child = start(&mut command(&bug("spin", &["--findings", "1"])));
    is_guarded(&child);
    send("-TERM", &child);
    // Signals of one kind that come together are one.
    thread::sleep(Duration::from_millis(100));
    send("-TERM", &child);
    let ran = ended(child);
    // On a busy machine the first signal may have ended it.
    assert!(ran.status == 130 && ran.stdout.is_empty() || ran.status == 1, "{ran:?}");
}

#[test]
fn a_hangup_that_the_parent_ignores_is_ignored() {
    let words = bug("spin", &["--time-limit", "2s"]).join(" ");
    let line = format!("trap '' HUP; exec \"$0\" {words}");
    let binary = assert_cmd::cargo::cargo_bin("anyorder");
    let mut shell = std::process::Command::new("sh");
    let child = start(shell.arg("-c").arg(line).arg(binary));
    is_guarded(&child);
    send("-HUP", &child);
    let ran = ended(child);
    assert_eq!((ran.status, &json(&ran)["limits"]), (3, &json!(["time-limit"])), "{ran:?}");
}

#[test]
fn memory_is_bounded_however_it_is_taken() {
    const LIMIT: u64 = 200 << 20;
    for kind in ["grow", "large", "fill"] {
        let limit = LIMIT.to_string();
        let mut child =
            start(&mut command(&bug(kind, &["--findings", "2", "--memory-limit", &limit])));
        let mut peak = 0;
        let start = Instant::now();
        while child.try_wait().expect("the child can be asked").is_none() {
            assert!(start.elapsed() < PATIENCE, "{kind} does not end");
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
            let line = status.unwrap_or_default();
            let line = line.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            peak = peak.max(kb.unwrap_or(0) * 1024);
            thread::sleep(Duration::from_millis(1));
        }
        let ran = ended(child);
        let value = json(&ran);
        assert_eq!(
            (ran.status, &value["limits"]),
            (1, &json!(["memory-limit"])),
            "{kind}: {ran:?}"
        );
        assert_eq!(value["findings"].as_array().map(Vec::len), Some(2), "{kind}");
        assert!(peak < LIMIT / 2 * 3, "{kind}: {peak} bytes");
    }
}

#[test]
fn memory_that_the_system_refuses_is_no_crash() {
    let ran = run(&bug("huge", &["--findings", "2"]));
    let value = json(&ran);
    assert_eq!((ran.status, &value["limits"]), (1, &json!(["out-of-memory"])), "{ran:?}");
    assert!(ran.stderr.starts_with("warning: the system has no more memory"), "{ran:?}");
    let text = run(&["bug", "huge"]);
    assert_eq!(text.status, 3, "{text:?}");
    let words = "incomplete; the search ended when the system had no more memory";
    assert!(text.stdout.contains(words), "{text:?}");
}

#[test]
fn an_output_that_nobody_reads_does_not_hold_the_process() {
    // The guard cannot write the result: a pipe holds less.
    let words = bug("spin", &["--findings", "5000", "--time-limit", "200ms"]);
    let mut child = start(&mut command(&words));
    assert_eq!(status(&mut child), 1);
    // The job writes a stream.
    let words = ["generate", "android", "--size", "300000", "--time-limit", "3s"];
    let mut child = start(&mut command(&words));
    assert_eq!(status(&mut child), 3);
    // A signal ends it, too.
    let mut child = start(&mut command(&words[..4]));
    is_guarded(&child);
    send("-TERM", &child);
    assert_eq!(status(&mut child), 3);
}

#[test]
fn a_result_that_is_whole_is_not_called_cut() {
    // As a job that frees much memory after it has printed its result.
    let ran = run(&["bug", "linger", "--time-limit", "200ms"]);
    let parts = (ran.status, ran.stdout.as_str(), ran.stderr.as_str());
    assert_eq!(parts, (3, "all of it\n", ""));
}

#[test]
fn a_file_that_is_half_written_never_gets_its_name() {
    let folder = folder();
    let file = path(&folder, "result.json");
    let ran = run(&bug("write", &["--findings", "1", "--time-limit", "200ms", "-o", &file]));
    assert_eq!(ran.status, 1, "{ran:?}");
    let text = std::fs::read_to_string(&file).expect("the result is there");
    let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(value["complete"], false);
    assert!(!folder.path().join("result.beside").exists());
    let names = std::fs::read_dir(folder.path()).expect("the folder").filter_map(Result::ok);
    let left: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["result.json"], "the unfinished file is removed");
}
