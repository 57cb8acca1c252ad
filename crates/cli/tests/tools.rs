//! The smaller commands: info, convert, explain, schema, completions, man, help.

use crate::common;

use common::{NOTES, command, file, folder, path, ran, run, run_with_stdin, workspace};
use serde_json::Value;

#[test]
fn info_shows_what_is_in_a_trace() {
    let ran = run(&["info", NOTES]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("info", ran.stdout);
}

#[test]
fn info_in_ascii() {
    let unicode = run(&["info", NOTES]).stdout;
    assert!(!unicode.is_ascii());
    assert!(run(&["info", NOTES, "--ascii"]).stdout.is_ascii());
    assert!(ran(command(&["info", NOTES]).env("LC_ALL", "C")).stdout.is_ascii());
    assert_eq!(ran(command(&["info", NOTES]).env("LANG", "de_DE.UTF-8")).stdout, unicode);
}

#[test]
fn info_keeps_to_the_width() {
    for columns in ["40", "80", "200"] {
        let ran = ran(command(&["info", NOTES]).env("COLUMNS", columns));
        let picture: Vec<&str> = ran.stdout.lines().filter(|line| line.ends_with('│')).collect();
        assert_eq!(picture.len(), 4, "{}", ran.stdout);
        let width: usize = columns.parse().unwrap();
        assert!(picture.iter().all(|line| line.chars().count() <= width), "{}", ran.stdout);
    }
}

#[test]
fn info_as_json() {
    let ran = run(&["info", NOTES, "--format", "json", "--top", "3"]);
    assert_eq!(ran.status, 0);
    assert_eq!(ran.stdout.lines().count(), 1);
    let value: Value = serde_json::from_str(&ran.stdout).expect("valid JSON");
    assert_eq!(value["command"], "info");
    assert_eq!(value["inputs"][0]["format"], "text");
    assert_eq!(value["stats"]["events"], 113);
    assert_eq!(value["stats"]["tasks_posted"], 13);
    assert_eq!(value["handlers"].as_array().map(Vec::len), Some(3));
    let kinds = value["stats"]["events_by_kind"].as_object().unwrap();
    let sum: u64 = kinds.values().filter_map(Value::as_u64).sum();
    assert_eq!(sum, 113, "every event is of one kind");
}

#[test]
fn info_reads_pipes() {
    let bytes = std::fs::read(workspace().join(NOTES)).unwrap();
    let piped = run_with_stdin(&["info", "-", "--format", "json"], &bytes);
    assert_eq!(piped.status, 0, "{piped:?}");
    let value: Value = serde_json::from_str(&piped.stdout).unwrap();
    assert_eq!(value["stats"]["events"], 113);
    assert_eq!(value["stats"].get("file_bytes"), None, "a pipe has no size");
}

#[test]
fn convert_round_trips() {
    let folder = folder();
    let (binary, text) = (path(&folder, "a.bin"), path(&folder, "a.trace"));
    let ran = run(&["convert", NOTES, &binary, "--to", "binary"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, format!("wrote 113 events to {binary} as native binary\n"));
    let ran = run(&["convert", "--quiet", &binary, &text, "--to", "text"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let before = std::fs::read_to_string(workspace().join(NOTES)).unwrap();
    assert_eq!(std::fs::read_to_string(&text).unwrap(), before);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names.len(), 2, "no temporary file is left: {names:?}");
}

#[test]
fn convert_writes_pipes_and_its_own_input() {
    let folder = folder();
    let binary = path(&folder, "a.bin");
    assert_eq!(run(&["convert", NOTES, &binary, "--to", "binary"]).status, 0);
    let ran = run(&["convert", &binary, "-", "--to", "text"]);
    let before = std::fs::read_to_string(workspace().join(NOTES)).unwrap();
    assert_eq!((ran.status, ran.stdout), (0, before));
    assert_eq!(run(&["convert", &binary, &binary, "--to", "text"]).status, 0);
    assert_eq!(run(&["info", &binary]).status, 0);
}

#[test]
fn convert_loses_only_what_it_may() {
    let folder = folder();
    let out = path(&folder, "a.std");
    let strict = run(&["convert", NOTES, &out, "--to", "std"]);
    assert_eq!(strict.status, 2);
    assert!(strict.stderr.contains("hint: `--lossy`"), "{}", strict.stderr);
    assert!(!std::path::Path::new(&out).exists(), "nothing is written");
    let lossy = run(&["convert", NOTES, &out, "--to", "std", "--lossy"]);
    assert_eq!(lossy.status, 0, "{lossy:?}");
    assert!(lossy.stderr.contains("warning: "), "it says what is lost: {}", lossy.stderr);
    let plain = file(&folder, "b.std", "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\n");
    let again = run(&["convert", &plain, "-", "--to", "std"]);
    assert_eq!((again.status, again.stdout.as_str()), (0, "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\n"));
}

#[test]
fn sites_beside_a_std_trace_are_used() {
    let folder = folder();
    let trace = file(&folder, "t.std", "T1|w(x)|7\n");
    let without = run(&["convert", &trace, "-", "--to", "text"]).stdout;
    assert!(!without.contains("main.c"), "{without}");
    file(&folder, "sites.tsv", "7\tf\tmain.c:12\n");
    let with = run(&["convert", &trace, "-", "--to", "text"]).stdout;
    assert!(with.contains("file=\"main.c\" line=12"), "{with}");
    file(&folder, "sites.tsv", "no table\n");
    let odd = run(&["convert", &trace, "-", "--to", "text"]);
    assert_eq!(odd.status, 0);
    assert!(odd.stderr.contains("is not a table of sites"), "{odd:?}");
    let other = file(&folder, "other.tsv", "7\tg\tother.c:3\n");
    let named = run(&["convert", &trace, "-", "--to", "text", "--sites", &other]).stdout;
    assert!(named.contains("other.c"), "{named}");
}

#[test]
fn every_topic_is_explained() {
    let list = run(&["explain"]);
    assert_eq!(list.status, 0);
    let topics: Vec<&str> = list.stdout.lines().skip(1).map(str::trim).collect();
    assert!(topics.contains(&"race"), "{topics:?}");
    for topic in topics {
        let ran = run(&["explain", topic]);
        assert_eq!(ran.status, 0, "{topic}");
        assert!(ran.stdout.len() > 40, "{topic}: {}", ran.stdout);
    }
}

#[test]
fn the_schema_is_json() {
    let ran = run(&["schema"]);
    assert_eq!(ran.status, 0);
    let value: Value = serde_json::from_str(&ran.stdout).expect("valid JSON");
    assert!(value["$schema"].as_str().is_some_and(|uri| uri.contains("json-schema.org")));
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{shell}");
        for word in ["anyorder", "check", "max-pairs", "completions"] {
            assert!(ran.stdout.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn manual_pages_are_made() {
    let ran = run(&["man"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains(".TH anyorder 1"), "{}", ran.stdout);
    let folder = folder();
    let dir = path(&folder, "man1");
    assert_eq!(run(&["man", "--dir", &dir]).status, 0);
    let check = std::fs::read_to_string(folder.path().join("man1/anyorder-check.1")).unwrap();
    assert!(check.contains("max\\-pairs") && check.contains("Examples"), "{check}");
    assert!(!folder.path().join("man1/anyorder-bug.1").exists(), "hidden commands have no page");
}

#[test]
fn help_has_examples_for_every_command() {
    let help = run(&["--help"]);
    assert_eq!(help.status, 0);
    insta::assert_snapshot!("help", help.stdout);
    for command in [
        "check",
        "why",
        "consistency",
        "robust",
        "info",
        "convert",
        "generate",
        "explain",
        "schema",
        "completions",
        "man",
    ] {
        assert!(help.stdout.contains(&format!("  {command} ")), "{command} is listed");
        let ran = run(&[command, "--help"]);
        assert_eq!(ran.status, 0);
        assert!(ran.stdout.contains("Examples:\n  anyorder "), "{command}: {}", ran.stdout);
    }
    let version = run(&["--version"]);
    assert_eq!(version.stdout, format!("anyorder {}\n", env!("CARGO_PKG_VERSION")));
}
