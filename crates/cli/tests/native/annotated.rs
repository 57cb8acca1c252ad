//! Annotations of programs: those of `anyorder.h`, and those of ThreadSanitizer.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

use super::{common, found};
use common::{command, folder, ran, workspace};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Builds a program in C++. Returns whether there is a compiler.
pub(super) fn build(source: &str, program: &Path, options: &[&str]) -> bool {
    let compilers = Command::new("g++").arg("--version").output();
    if !compilers.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no g++");
        return false;
    }
    let mut cc = Command::new("g++");
    cc.args(["-g", "-O1", "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"]);
    cc.arg("-I").arg(workspace().join("crates/native/include")).args(options);
    let output = cc.arg("-o").arg(program).arg(workspace().join(source)).output();
    let output = output.expect("the compiler starts");
    assert!(output.status.success(), "{cc:?}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Returns the folder of the program, which is built once.
fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = folder();
        let source = "crates/cli/tests/native/annotated.cc";
        build(source, &folder.path().join("annotated"), &["-fsanitize=thread"]).then_some(folder)
    });
    built.as_ref().map(|folder| folder.path())
}

/// Runs a program. Returns the result.
fn result(folder: &Path, program: &[&str]) -> Value {
    let output = folder.join(format!("{}.json", program.join("-").replace('/', "")));
    let file = output.to_str().expect("a path");
    let arguments = ["run", "--format", "json", "--output", file];
    let ran = ran(command(&[&arguments, program].concat()).current_dir(folder));
    let text = std::fs::read_to_string(&output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert!(ran.stdout.ends_with("done\n"), "{program:?}: {ran:?}");
    serde_json::from_str(&text).expect("one object")
}

/// The program without its annotation, or with a wrong one; the category of the finding, and a word
/// of its title.
const EFFECTS: [(&str, &str, &str); 19] = [
    ("order", "multi_threaded", "shared"),
    ("other-order", "multi_threaded", "shared"),
    ("ignored", "multi_threaded", "shared"),
    ("ignored-before", "multi_threaded", "shared"),
    ("benign", "multi_threaded", "shared"),
    ("put", "calls", "map:"),
    ("objects", "calls", "map:"),
    ("new-object", "calls", "map:"),
    ("adds", "calls", "counter:"),
    ("fork", "calls", "map:"),
    ("tsan-order", "multi_threaded", "shared"),
    ("release", "multi_threaded", "shared"),
    ("tsan-ignored", "multi_threaded", "shared"),
    ("tsan-benign", "multi_threaded", "shared"),
    ("lock", "multi_threaded", "shared"),
    ("rwlock", "multi_threaded", "shared"),
    ("shared-lock", "multi_threaded", "shared"),
    ("lock-order", "", "own_lock"),
    ("destroyed", "destroyed_lock", "own_lock"),
];

#[test]
fn each_annotation_has_an_effect() {
    let Some(folder) = program() else { return };
    for (which, category, word) in EFFECTS {
        let with = result(folder, &["./annotated", which]);
        assert_eq!(found(&with), [], "{which}");
        let without = result(folder, &["./annotated", &format!("no-{which}")]);
        let found = found(&without);
        let is_it = |one: &(String, String)| one.0 == category && one.1.contains(word);
        assert!(found.iter().any(is_it), "no-{which}: {found:?}");
    }
}

/// An invocation that a jump has left ends with the one around it, or with its thread.
#[test]
fn invocations_may_be_left_without_an_end() {
    let Some(folder) = program() else { return };
    let result = result(folder, &["./annotated", "left"]);
    assert_eq!(found(&result), []);
    assert_eq!(result["complete"], true, "{:?}", result["warnings"]);
}

/// Without a runtime that knows the annotations, and with ThreadSanitizer, the program runs as
/// it is; linked at a fixed address, too.
#[test]
fn annotations_ask_for_no_runtime() {
    let folder = folder();
    let source = "crates/cli/tests/native/annotated.cc";
    let tsan = ["-fsanitize=thread"];
    for (name, options) in [("as-it-is", &tsan[..]), ("fixed", &["-fsanitize=thread", "-no-pie"])] {
        let program = folder.path().join(name);
        if !build(source, &program, options) {
            return;
        }
        for which in ["put", "adds", "order", "fork"] {
            // It may find races where it runs, and may not start on some kernels.
            let output = Command::new(&program).arg(which).output().expect("it starts");
            let error = String::from_utf8_lossy(&output.stderr);
            let is_mapped = !error.contains("FATAL: ThreadSanitizer");
            assert!(!is_mapped || output.stdout.ends_with(b"done\n"), "{which}: {error}");
        }
    }
    let source = "examples/native/map.cc";
    for options in [&[][..], &["-no-pie"], &["-O3"]] {
        let program = folder.path().join("map");
        assert!(build(source, &program, options));
        let output = Command::new(&program).output().expect("it starts");
        assert_eq!(output.stdout, b"done\n");
    }
}

/// A program at a fixed address finds the runtime, too.
#[test]
fn the_example_puts_different_keys_in_any_order() {
    let folder = folder();
    let tsan = "-fsanitize=thread";
    for options in [&[tsan][..], &[tsan, "-DSAME_KEY"], &[tsan, "-DSAME_KEY", "-no-pie"]] {
        if !build("examples/native/map.cc", &folder.path().join("map"), options) {
            return;
        }
        let found = found(&result(folder.path(), &["./map"]));
        let expected = usize::from(options.len() > 1);
        assert_eq!(found.len(), expected, "{options:?}: {found:?}");
        let is_about_the_map = |one: &(String, String)| one.1.contains("`map:prices`");
        assert!(found.iter().all(is_about_the_map), "{found:?}");
    }
}
