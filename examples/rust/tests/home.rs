//! Runs the program on its own files, and on files with a mistake.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// What most files begin with: three lines.
const THINGS: &str = "sensor motion: off, on\nmode house: day, night\ndevice light: off, on\n";

/// Runs the program.
fn home(files: &[PathBuf]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_home")).args(files).output().expect("the program starts")
}

/// Writes a file, and runs the program on it.
fn home_of(name: &str, text: &str) -> Output {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("a file");
    home(&[path])
}

/// Returns what the program printed, which is UTF-8.
fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs the program on `THINGS` and a line, and compares the message.
#[track_caller]
fn fails(name: &str, line: &str, message: &str) {
    let output = home_of(name, &format!("{THINGS}{line}\n"));
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(error.trim_end().ends_with(&format!("{name}: line 4: {message}")), "{error}");
}

#[test]
fn a_conflict_is_found() {
    let printed = printed(home(&[]));
    let (conflict, clean) = printed.split_once("\nclean.home\n").expect("two files");
    let conflict_line = "error: `bedtime` and `escape` set `door` to different values, \
        one after the other; schedule holds: true; replay: it occurs again";
    assert!(conflict.contains("  check: findings\n"), "{conflict}");
    assert!(conflict.contains("  explore: findings\n"), "{conflict}");
    assert_eq!(conflict.matches(conflict_line).count(), 2, "{conflict}");
    assert!(conflict.contains("error: all is done, and `final` does not hold"), "{conflict}");
    assert!(!conflict.contains("schedule holds: false"), "{conflict}");
    for job in ["check: ok", "robust: robust", "explore: ok"] {
        assert!(clean.contains(&format!("  {job}\n")), "{clean}");
    }
    assert!(!clean.contains("error"), "{clean}");
}

#[test]
fn each_run_prints_the_same() {
    assert_eq!(printed(home(&[])), printed(home(&[])));
}

#[test]
fn an_invariant_and_a_delay_are_seen() {
    let rule = "rule late: when motion is on then light is on, after 5 min: light is off\n";
    let never = "never motion is on and light is on\n";
    let broken = printed(home_of("never.home", &format!("{THINGS}{rule}{never}")));
    let title = "error: invariant `never motion is on and light is on` does not hold; \
        schedule holds: true; replay: it occurs again";
    assert!(broken.contains(title), "{broken}");
    let finally = "finally never light is on\n";
    let fine = printed(home_of("finally.home", &format!("{THINGS}{rule}{finally}")));
    assert!(fine.contains("  check: ok\n"), "{fine}");
}

#[test]
fn hostile_names_are_escaped() {
    let rules = "rule x\u{202e}\u{1b}[31m: when motion is on then light is on\n\
        rule y: when house is night then light is off\n";
    let printed = printed(home_of("names.home", &format!("{THINGS}{rules}")));
    assert!(printed.contains("  check: findings\n"), "{printed}");
    assert!(!printed.contains(['\u{202e}', '\u{1b}']), "{printed:?}");
}

#[test]
fn mistakes_have_messages() {
    let device = "expected a known device, found \"lamp\"";
    fails("device.home", "rule a: when motion is on then lamp is on", device);
    let set = "expected a known device, found \"motion\"";
    fails("set.home", "rule a: when house is night then motion is on", set);
    let trigger = "expected a known sensor or mode, found \"light\"";
    fails("trigger.home", "rule a: when light is on then light is off", trigger);
    fails("action.home", "rule a: when motion is on then", "expected `is`, found \"\"");
    fails("name.home", "device motion: off, on", "expected a new name, found \"motion\"");
    let number = "expected a number up to 65535, found \"-5\"";
    fails("number.home", "rule a: when motion is on then after -5 min: light is on", number);
    let then = "expected `then`, found \"motion is on light is on\"";
    fails("then.home", "rule a: when motion is on light is on", then);
    fails("never.home", "finally light is on", "expected `never`, found \"light is on\"");
    let value = "expected `off` or `on`, found \"dim\"";
    fails("value.home", "never light is dim", value);
    let kind = "expected `sensor`, `mode`, `device`, `rule`, `never` or `finally`, found \"lamp\"";
    fails("kind.home", "lamp light: off, on", kind);
    fails("empty.home", "device lamp: off,", "expected a name of one word, found \"\"");
}

#[test]
fn a_missing_file_is_an_error() {
    let output = home(&[PathBuf::from("missing.home")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("missing.home: "));
}
