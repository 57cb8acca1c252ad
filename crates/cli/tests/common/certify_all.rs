//! With `ANYORDER_CERTIFY_ALL` in the environment, every certificate that a command of any test
//! writes is certified, by both checkers.

use super::{Ran, command, workspace};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files that a command may write its certificates to, as they were before: the file behind
/// each name, and when it was changed.
#[derive(Default)]
pub(super) struct Before(HashMap<PathBuf, Stamp>);

type Stamp = (u64, i64, i64);

impl Before {
    pub(super) fn of(arguments: &[&str]) -> Self {
        if !is_wanted() {
            return Self::default();
        }
        let files = targets(arguments).into_iter();
        Self(files.filter_map(|file| stamp(&file).map(|stamp| (file, stamp))).collect())
    }

    fn has(&self, file: &Path) -> bool {
        self.0.get(file).copied() == stamp(file)
    }
}

fn is_wanted() -> bool {
    std::env::var_os("ANYORDER_CERTIFY_ALL").is_some()
}

fn stamp(file: &Path) -> Option<Stamp> {
    let of = std::fs::metadata(file).ok()?;
    Some((of.ino(), of.mtime(), of.mtime_nsec()))
}

/// The files with certificates that are there, old ones among them.
fn targets(arguments: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for option in ["--witness", "--certificate", "--run"] {
        files.extend(after(arguments, option).map(PathBuf::from).filter(|file| file.is_file()));
    }
    for option in ["--schedules", "--report"] {
        let folder = after(arguments, option).map(std::fs::read_dir).into_iter().flatten();
        let entries = folder.flatten().flatten().map(|entry| entry.path());
        files.extend(entries.filter(|file| file.extension().is_some_and(|end| end == "json")));
    }
    if arguments.first() == Some(&"shrink") {
        files.extend(after(arguments, "-o").map(PathBuf::from).filter(|file| file.is_file()));
    }
    files
}

/// Certifies what a command wrote.
pub(super) fn certify_all(arguments: &[&str], ran: &Ran, before: &Before) {
    if !is_wanted() || !matches!(ran.status, 0 | 1 | 3) {
        return;
    }
    let Some(input) = input(arguments) else { return };
    let mut files = targets(arguments);
    files.retain(|file| !before.has(file));
    let mut shared: Vec<&str> = Vec::new();
    for option in ["--mailbox", "--spec", "--object"] {
        shared.extend(after(arguments, option).into_iter().flat_map(|value| [option, value]));
    }
    let result: Option<Value> = serde_json::from_str(&ran.stdout).ok();
    if result.as_ref().is_some_and(has_witness) {
        let words = [&["certify", input, "-"], &shared[..]].concat();
        holds(&words, Some(&ran.stdout));
    }
    for file in files {
        let path = file.to_str().expect("UTF-8");
        holds(&[&["certify", input, path], &shared[..]].concat(), None);
        python(input, &file, after(arguments, "--mailbox"));
    }
}

/// The only input of a command.
fn input<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let is_input = |word: &&&str| {
        let path = workspace().join(word);
        path.is_file() && !word.ends_with(".json") && !word.ends_with(".toml")
    };
    let options = ["-o", "--output", "--spec", "--witness", "--certificate", "--run", "--config"];
    let words = arguments.iter().enumerate().skip(1);
    let plain = words.filter(|(at, _)| !options.contains(&arguments[at - 1])).map(|(_, word)| word);
    let mut inputs = plain.filter(is_input);
    let first = inputs.next()?;
    inputs.next().is_none().then_some(*first)
}

fn after<'a>(arguments: &[&'a str], option: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|word| *word == option)?;
    arguments.get(at + 1).copied()
}

fn has_witness(result: &Value) -> bool {
    let findings = result["findings"].as_array().into_iter().flatten();
    let mut inline = findings.map(|one| &one["witness"]["inline"]);
    // The last steps of a long witness are none.
    inline.any(Value::is_object) && !result.to_string().contains("\"left_out\"")
}

/// Certifies without this module.
fn holds(arguments: &[&str], stdin: Option<&str>) {
    let mut certify = command(arguments);
    certify.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = certify.spawn().expect("the binary runs");
    let text = stdin.unwrap_or_default().to_owned();
    let mut pipe = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
}

/// Asks the checker in Python, if there is one and it can read the trace.
fn python(input: &str, file: &Path, mailbox: Option<&str>) {
    let input = workspace().join(input);
    let text = std::fs::read_to_string(&input).unwrap_or_default();
    if !text.starts_with("edtrace") && !text.starts_with("anyorder-trace") {
        return;
    }
    let mut checker = Command::new("python3");
    checker.arg(workspace().join("tools/checker/certify.py")).arg(&input).arg(file);
    checker.args(mailbox.into_iter().flat_map(|rule| ["--mailbox", rule]));
    let Ok(output) = checker.env("PYTHONDONTWRITEBYTECODE", "1").output() else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    // Status 3: rules that it does not know.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}: {said}", file.display());
}
