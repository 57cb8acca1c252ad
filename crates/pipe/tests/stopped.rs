//! Waits for a child end soon after the job is stopped. These tests measure time, since a wait is
//! what they are about: the bounds are many times what is needed, and far below the time-outs.
#![cfg(unix)]

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem};
use anyorder_system::{Control, JobWatch, RunError, StopReason, TaskSystem};
use std::thread;
use std::time::{Duration, Instant};

const HELLO: &str = r#"read line; echo '{"id":1,"ok":{"version":1,"program":{"name":"sh"}}}'; "#;

/// Far above what a stop takes, and far below the time-outs of [`patient`].
const SOON: Duration = Duration::from_secs(20);

fn shell(script: &str) -> ChildCommand {
    ChildCommand::new("sh").argument("-c").argument(script)
}

fn patient() -> PipeOptions {
    PipeOptions {
        start_timeout: Duration::from_secs(600),
        reply_timeout: Duration::from_secs(600),
        probe_after: None,
        quit_timeout: Duration::from_secs(600),
        ..PipeOptions::default()
    }
}

/// Runs `work` in a job that is stopped after 300 ms.
fn stopped<T>(work: impl FnOnce() -> T) -> T {
    let control = Control::default();
    let cancel = control.cancel.clone();
    let stops = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        cancel.stop(StopReason::TimeLimit);
    });
    let start = Instant::now();
    let _entered = JobWatch::of(&control).enter();
    let result = work();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    stops.join().unwrap();
    result
}

#[test]
fn a_child_that_never_says_hello_does_not_hold_the_job() {
    let error = stopped(|| PipeSystem::spawn(shell("sleep 600"), patient()).unwrap_err());
    assert_eq!(error, RunError::Stopped(StopReason::TimeLimit));
}

#[test]
fn a_child_that_never_answers_does_not_hold_the_job() {
    let script = format!("{HELLO} sleep 600");
    let error = stopped(|| {
        let mut system = PipeSystem::spawn(shell(&script), patient()).unwrap();
        system.enabled().unwrap_err()
    });
    assert_eq!(error, RunError::Stopped(StopReason::TimeLimit));
}

#[test]
fn a_child_that_does_not_quit_does_not_hold_a_stopped_job() {
    let script = format!("{HELLO} trap '' TERM; sleep 600");
    stopped(|| {
        let system = PipeSystem::spawn(shell(&script), patient()).unwrap();
        thread::sleep(Duration::from_millis(500));
        drop(system);
    });
}

#[test]
fn a_process_that_keeps_the_pipe_open_does_not_hide_the_end_of_the_child() {
    let script = format!("{HELLO} sleep 600 & exit 3");
    let options = PipeOptions { quit_timeout: Duration::from_millis(200), ..patient() };
    let mut system = PipeSystem::spawn(shell(&script), options).unwrap();
    let start = Instant::now();
    let error = system.enabled().unwrap_err();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert!(error.to_string().contains("exit status: 3"), "{error}");
}
