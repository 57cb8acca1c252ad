//! The limits of every command: time, memory and signals, in every phase.
//!
//! The tests give a command a short limit and a job without an end. They tell "ends at its limit"
//! from "does not end" by [`PATIENCE`], which is long because the machine may be busy; they measure
//! no second. The hidden command `bug` has jobs that poll nothing, so that the guard itself is
//! tested, not the engines.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

mod backstop;
mod decided;
mod phases;
mod quota;

use common::Ran;
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// After this time, a command has not obeyed its limit.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a command with pipes for its output. Its input is open, and nothing comes.
fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

/// Waits for the end of a command, whose input stays open. Fails if it goes on for too long.
fn ended(mut child: Child) -> Ran {
    let stdin = child.stdin.take();
    let out = child.stdout.take().map(reader);
    let err = child.stderr.take().map(reader);
    let status = status(&mut child);
    drop(stdin);
    let text = |bytes: Option<thread::JoinHandle<Vec<u8>>>| {
        let bytes = bytes.map(|thread| thread.join().expect("the reader ends"));
        String::from_utf8(bytes.unwrap_or_default()).expect("the output is UTF-8")
    };
    Ran { status, stdout: text(out), stderr: text(err) }
}

/// Waits for the end of a command, and reads nothing of it.
fn status(child: &mut Child) -> i32 {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be asked") {
            return status.code().expect("the binary is not killed");
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("the child can be killed");
            panic!("the command does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn reader(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A stream that breaks has what came before.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.is_ok_and(|status| status.success()), "a signal can be sent");
}

/// Waits until a process has set its handlers: those of `SIGTERM`, after that of `SIGINT`.
fn is_guarded(child: &Child) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let text = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let caught = text
            .unwrap_or_default()
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        if caught.is_some_and(|set| set & (1 << 14) != 0) {
            // SIGHUP comes after it, at once.
            thread::sleep(Duration::from_millis(100));
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("the command does not begin to watch");
}

/// The signals that end a job. Under `nohup` a hangup ends none: commands keep what their parents
/// ignore.
fn signals() -> Vec<&'static str> {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = text
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let mut signals = vec!["-INT", "-TERM", "-HUP"];
    if ignored.is_some_and(|set| set & 1 != 0) {
        signals.pop();
    }
    signals
}

/// The JSON on standard output: one document.
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}
