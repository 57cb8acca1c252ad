//! What lies between threads and the kernel: descriptors, streams, mappings, processes.

use super::{built_once, common, found};
use common::{command, ran};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

fn program() -> &'static Path {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    built_once(&BUILT, "surface")
}

/// Runs a part of the program. Returns what it printed, and the findings.
fn run(which: &str) -> (String, Vec<(String, String)>) {
    let output = program().join(format!("{which}.json"));
    let file = output.to_str().expect("a path");
    let arguments = ["run", "--format", "json", "--output", file, "./surface", which];
    let ran = ran(command(&arguments).current_dir(program()));
    let text = std::fs::read_to_string(&output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let result: Value = serde_json::from_str(&text).expect("one object");
    assert!(ran.stdout.ends_with("done\n"), "{which}: {ran:?}");
    assert!(result["stats"]["events"].as_u64() > Some(3), "{which}: {result}");
    (ran.stdout, found(&result))
}

/// The program, the category of the finding, and a word of its title.
const WRONG: [(&str, &str, &str); 8] = [
    ("pipe-close", "use_after_free", "descriptor"),
    ("two-writers", "multi_threaded", "`shared`"),
    ("message-race", "multi_threaded", "text"),
    ("stream", "use_after_free", "descriptor"),
    ("put-race", "multi_threaded", "text"),
    ("unmapped", "use_after_free", "0x"),
    ("not-benign", "multi_threaded", "shared"),
    ("time", "multi_threaded", "surface.c"),
];

#[test]
fn what_other_threads_may_still_use_is_found() {
    for (which, category, word) in WRONG {
        let found = run(which).1;
        let is_it = |one: &(String, String)| one.0 == category && one.1.contains(word);
        assert!(found.iter().any(is_it), "{which}: {found:?}");
    }
}

#[test]
fn what_a_channel_or_the_kernel_orders_is_not_reported() {
    for which in [
        "pipe-data",
        "pipe-close-joined",
        "copied",
        "replaced",
        "replaced-joined",
        "polled",
        "selected",
        "epoll",
        "messages",
        "addressed",
        "stream-joined",
        "mapped-again",
        "unmapped-part",
        "benign",
        "handler",
        "time-locked",
        "time-joined",
    ] {
        assert_eq!(run(which).1, [], "{which}");
    }
}

#[test]
fn arguments_and_processes_pass_through() {
    assert_eq!(run("print").0, "one 2 3.500 four\ndone\n");
    assert_eq!(run("vfork").0, "3\ndone\n");
    assert_eq!(run("clone").0, "5\ndone\n");
}

/// A program that is linked with the runtime asks for functions of the C library without a version.
#[test]
fn functions_are_the_newest_of_the_library() {
    assert_eq!(run("newest").0, "1 1\ndone\ngoodbye\ndone\n");
}
