//! Programs in Rust, with a standard library that `tools/instrumented-rust.sh` has instrumented.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

use super::{common, found};
use common::{command, folder, ran, workspace};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Right programs. In most, several threads want one thing at once.
const RIGHT: [&str; 18] = [
    "mutex",
    "try_lock",
    "rwlock",
    "condvar",
    "condvar_timeout",
    "channel",
    "rendezvous",
    "bounded",
    "once",
    "lazy",
    "arc",
    "scope",
    "park",
    "token",
    "barrier",
    "atomics",
    "print",
    "panics",
];

/// Returns whether the tools are there that the script needs.
fn has_tools() -> bool {
    let has = |tool| Command::new(tool).arg("--version").output().is_ok();
    let all = ["ar", "objcopy", "rustc"].into_iter().all(has);
    if !all {
        println!("skipped: ar, objcopy or rustc is missing");
    }
    all
}

/// Runs the script. Returns the flags for rustc.
fn instrumented(folder: &Path) -> Vec<String> {
    let mut script = Command::new("sh");
    script.arg(workspace().join("tools/instrumented-rust.sh")).arg(folder);
    let output = script.output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let flags = text.lines().find_map(|line| line.strip_prefix("export RUSTFLAGS='"));
    let flags = flags.and_then(|flags| flags.strip_suffix('\'')).expect("flags");
    flags.split(' ').map(str::to_owned).collect()
}

fn build(program: &Path, flags: &[&str]) {
    let source = workspace().join("crates/cli/tests/native/rust_programs.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-g", "-O"]).args(flags).arg("-o").arg(program).arg(source);
    let output = rustc.output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn result(folder: &Path, program: &str, part: &str) -> Value {
    let run = ["run", "--format", "json", program, part];
    let ran = ran(command(&run).current_dir(folder));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn right_programs_are_silent_and_races_are_found() {
    if !has_tools() {
        return;
    }
    let folder = folder();
    let flags = instrumented(&folder.path().join("library"));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    build(&folder.path().join("whole"), &flags);
    for part in RIGHT {
        let result = result(folder.path(), "./whole", part);
        assert_eq!(found(&result), [], "{part}");
        assert_eq!(result["complete"], true, "{part}: {}", result["warnings"]);
        assert_eq!(result["stats"]["program_status"], 0, "{part}");
    }
    let race = found(&result(folder.path(), "./whole", "race"));
    assert!(race.len() == 1 && race[0].0 == "multi_threaded", "{race:?}");
    // The program alone is not enough.
    build(&folder.path().join("part"), &flags[2..]);
    let lacking = result(folder.path(), "./part", "race");
    let warnings = lacking["warnings"].to_string();
    assert!(warnings.contains("standard library in it was built without"), "{warnings}");
    assert_eq!(lacking["complete"], false);
}
