//! Every command obeys its limits while it reads, and takes the same options.

use super::common::{NOTES, command, file, folder, path, run};
use super::{ended, is_guarded, json, send, signals, start};
use serde_json::json;
use std::process::Command;

const MODEL: &str = "crates/cli/tests/data/locks.any";

/// Every command that reads an input, with standard input as that input. The flag says whether its
/// result is a document.
const READERS: &[(&[&str], bool)] = &[
    (&["check", "-", "--format", "json"], true),
    (&["check", NOTES, "-", "--format", "json"], true),
    (&["check", MODEL, "-", "--format", "json"], true),
    (&["check", NOTES, "--baseline", "/dev/stdin", "--format", "json"], true),
    (&["check", NOTES, "--config", "/dev/stdin", "--format", "json"], true),
    (&["predict", "-", "--format", "json"], true),
    (&["predict", NOTES, "--spec", "/dev/stdin", "--format", "json"], true),
    (&["consistency", "-", "--format", "json"], true),
    (&["robust", "-", "--format", "json"], true),
    (&["explore", "-", "--format", "json"], true),
    (&["explore", MODEL, "--recording", "-", "--format", "json"], true),
    (&["simulate", "-", "--format", "json"], true),
    (&["why", "-", "1", "2"], false),
    (&["info", "-"], false),
    (&["convert", "-", "-", "--to", "text"], false),
    (&["fmt", "-"], false),
    (&["graph", "-"], false),
    (&["replay", MODEL, "-"], false),
    (&["replay", NOTES, "-"], false),
    (&["diff", MODEL, "-", "-"], false),
    (&["shrink", MODEL, "-"], false),
];

#[test]
fn a_time_limit_holds_while_a_command_reads() {
    for (words, is_document) in READERS {
        let words = [words, &["--time-limit", "100ms"][..]].concat();
        let ran = ended(start(&mut command(&words)));
        assert_eq!(ran.status, 3, "{words:?}: {ran:?}");
        if *is_document {
            let value = json(&ran);
            let parts = (&value["complete"], &value["limits"]);
            assert_eq!(parts, (&json!(false), &json!(["time-limit"])), "{words:?}: {value}");
            assert_eq!(value["options"]["time-limit"], 100, "{words:?}");
        } else {
            assert_eq!(ran.stdout, "", "{words:?}");
            let expected = "error: time limit reached: standard input was not read\n";
            assert_eq!(ran.stderr, expected, "{words:?}");
        }
    }
}

#[test]
fn signals_hold_while_a_command_reads() {
    // Every command with one signal, and every signal with some commands.
    let signals = signals();
    for (at, (words, is_document)) in READERS.iter().enumerate() {
        let child = start(&mut command(words));
        is_guarded(&child);
        send(signals[at % signals.len()], &child);
        let ran = ended(child);
        assert_eq!(ran.status, 3, "{words:?}: {ran:?}");
        if *is_document {
            assert_eq!(json(&ran)["limits"], json!(["interrupt"]), "{words:?}");
        } else {
            assert_eq!(
                ran.stderr, "error: interrupted: standard input was not read\n",
                "{words:?}"
            );
        }
    }
}

#[test]
fn an_input_without_a_writer_does_not_hold_the_process() {
    let folder = folder();
    let pipe = path(&folder, "pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    for words in [
        &["check", &pipe][..],
        &["info", &pipe],
        &["check", NOTES, "--baseline", &pipe],
        &["fmt", &pipe],
    ] {
        let words = [words, &["--time-limit", "100ms"]].concat();
        assert_eq!(ended(start(&mut command(&words))).status, 3, "{words:?}");
    }
}

#[test]
fn what_was_found_before_the_limit_is_kept() {
    // The first input has races; the second one never ends.
    let words = ["check", NOTES, "-", "--format", "json", "--time-limit", "3s"];
    let ran = ended(start(&mut command(&words)));
    let whole = json(&run(&["check", NOTES, "--format", "json"]));
    let cut = json(&ran);
    let number = |value: &serde_json::Value| value["findings"].as_array().map(Vec::len);
    // `-` is opened first, to recognise it: nothing was checked then.
    assert!(number(&cut) == number(&whole) || number(&cut) == Some(0), "{cut}");
    assert_eq!(cut["complete"], false);
}

#[test]
fn a_converted_file_is_whole_or_not_there() {
    let folder = folder();
    let out = path(&folder, "out.bin");
    let old = file(&folder, "old.bin", "as it was");
    for target in [&out, &old] {
        let words = ["convert", "-", target, "--to", "binary", "--time-limit", "100ms"];
        assert_eq!(ended(start(&mut command(&words))).status, 3);
    }
    assert!(!std::path::Path::new(&out).exists());
    assert_eq!(std::fs::read_to_string(&old).expect("the old file is there"), "as it was");
}

#[test]
fn every_command_takes_the_limits() {
    let help = run(&["--help"]);
    let commands: Vec<&str> = help
        .stdout
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.trim_start().split(' ').next())
        .filter(|word| *word != "help" && !word.is_empty())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for one in commands {
        let help = run(&[one, "--help"]).stdout;
        for option in ["--time-limit <TIME>", "--memory-limit <SIZE>"] {
            assert_eq!(help.matches(option).count(), 1, "{one} {option}");
        }
    }
}

#[test]
fn what_no_machine_has_is_an_error_of_usage() {
    for words in [
        &["check", MODEL, "--threads", "100000"][..],
        &["explore", MODEL, "--threads", "100000"],
        &["check", MODEL, "--storage", "bitstate", "--storage-size", "1000000T"],
    ] {
        let ran = run(words);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words:?}");
        assert!(ran.stderr.starts_with("error: invalid value"), "{words:?}: {}", ran.stderr);
    }
}
