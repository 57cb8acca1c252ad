//! Runs the binary as a user would.

#![allow(dead_code, reason = "each test binary uses its own part")]

mod certify_all;
pub(crate) mod searched;

use assert_cmd::cargo::cargo_bin;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The output and the exit status of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command in the workspace folder with a fixed environment: no colours, no locale, a fixed
/// width.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("anyorder"));
    command.args(arguments).current_dir(workspace());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG", "TERM"] {
        command.env_remove(name);
    }
    command.env("COLUMNS", "100").stdin(Stdio::null());
    command
}

/// Runs the binary.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    let before = certify_all::Before::of(arguments);
    let ran = ran(&mut command(arguments));
    certify_all::certify_all(arguments, &ran, &before);
    ran
}

/// Runs a command to its end.
pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the binary runs");
    Ran {
        status: output.status.code().expect("the binary is not killed"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// Runs the binary with bytes on its standard input.
pub(crate) fn run_with_stdin(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A binary that rejects its input early closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    Ran {
        status: output.status.code().expect("the binary is not killed"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// The root of the checkout.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// A folder that is removed with its value.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file into a folder; returns its path.
pub(crate) fn file(folder: &tempfile::TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("the file can be written");
    path.to_str().expect("temporary paths are UTF-8").to_owned()
}

/// The path of a file that need not exist.
pub(crate) fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("temporary paths are UTF-8").to_owned()
}

/// The example trace.
pub(crate) const NOTES: &str = "examples/notes-app.trace";
