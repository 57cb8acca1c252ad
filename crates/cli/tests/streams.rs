//! What goes to which stream: broken pipes, colours, quiet, limits.

use crate::common;

use common::{NOTES, command, file, folder, path, ran, run};
use std::io::Read;
use std::process::Stdio;

/// An STD trace with many races, so that its findings are longer than a pipe holds.
fn many_races() -> String {
    let mut text = String::from("T0|fork(T1)|f1\nT0|fork(T2)|f2\n");
    for i in 0..2000 {
        text.push_str(&format!("T1|w(x{i})|a{i}\nT2|w(x{i})|b{i}\n"));
    }
    text
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let input = file(&folder, "many.std", many_races());
    for (arguments, status) in [
        (&["check", input.as_str(), "--format", "jsonl", "--no-predict"][..], 1),
        (&["convert", input.as_str(), "-", "--to", "text"], 0),
        (&["completions", "bash"], 0),
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdout = child.stdout.take().expect("stdout is a pipe");
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("one byte of output");
        drop(stdout);
        let output = child.wait_with_output().expect("the binary ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let plain = run(&["info", NOTES]).stdout;
    assert!(!plain.contains('\u{1b}'));
    let coloured = run(&["info", NOTES, "--color", "always"]).stdout;
    assert!(coloured.contains("\u{1b}[1m"), "{coloured:?}");
    let check = run(&["check", NOTES, "--color", "always"]).stdout;
    assert!(check.contains("\u{1b}["), "{check:?}");
    let never =
        ran(command(&["check", NOTES, "--color", "never"]).env("CLICOLOR_FORCE", "1")).stdout;
    assert!(!never.contains('\u{1b}'));
    let no_color = ran(command(&["check", NOTES]).env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1"));
    assert!(!no_color.stdout.contains('\u{1b}'));
    let error = run(&["info", "no/such", "--color", "always"]).stderr;
    assert!(error.contains("\u{1b}["), "{error:?}");
}

#[test]
fn quiet_has_errors_only() {
    let folder = folder();
    let whole = path(&folder, "whole.bin");
    assert_eq!(run(&["convert", NOTES, &whole, "--to", "binary", "--quiet"]).stderr, "");
    let bytes = std::fs::read(&whole).unwrap();
    let cut = file(&folder, "cut.bin", &bytes[..bytes.len() - 1]);
    assert!(run(&["info", "--salvage", &cut]).stderr.starts_with("warning: "));
    assert_eq!(run(&["info", "--salvage", &cut, "--quiet"]).stderr, "");
    assert!(run(&["info", &cut, "--quiet"]).stderr.starts_with("error: "));
}

#[test]
fn a_time_limit_gives_an_incomplete_answer() {
    let ran = run(&["check", NOTES, "--time-limit", "0s", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("valid JSON");
    assert_eq!(value["complete"], false);
    assert_eq!(value["limits"][0], "time-limit");
    let found = value["findings"].as_array().is_some_and(|list| !list.is_empty());
    assert_eq!(ran.status, if found { 1 } else { 3 });
}

#[cfg(target_os = "linux")]
#[test]
fn a_memory_limit_gives_an_incomplete_answer() {
    let folder = folder();
    let mut text = many_races();
    for i in 0..300_000 {
        text.push_str(&format!("T1|w(y{i})|a\n"));
    }
    let input = file(&folder, "large.std", text);
    let ran = run(&["check", &input, "--memory-limit", "1M", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("valid JSON");
    assert_eq!(value["complete"], false, "{}", ran.stdout);
    assert_eq!(value["limits"][0], "memory-limit");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_check_with_what_was_found() {
    use std::io::Write;
    let mut child = command(&["check", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    // More bytes than the recognition of the format reads, so that reading has begun.
    let events = "T1|w(x)|1\n".repeat(200_000);
    stdin.write_all(events.as_bytes()).expect("the binary reads");
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(kill.is_ok_and(|status| status.success()), "kill works");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let _ = stdin.write_all(events.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(value["limits"][0], "interrupt", "{value}");
    assert_eq!(output.status.code(), Some(3));
}
