//! Children that misbehave: each fault gives the right error, and the next reset starts another
//! child.
//!
//! The children are shell scripts, so that nothing but a shell is needed.
#![cfg(unix)]

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem};
use anyorder_system::{Choice, Injected, RunError, TaskName, TaskSystem, Value};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Says hello and reads the next request; the first child then misbehaves, the later ones answer.
const FRAME: &str = r#"
    read line
    echo '{"id":1,"ok":{"version":1,"program":{"name":"sh"},"later":[{}]}}'
    read line
    if [ "$ANYORDER_PIPE_START" = 0 ]; then
        FAULT
    fi
    echo '{"id":2,"ok":{"tasks":[{"task":"a","handler":"h"}]}}'
    exec cat > /dev/null
"#;

fn shell(script: &str) -> ChildCommand {
    ChildCommand::new("sh").argument("-c").argument(script)
}

fn options() -> PipeOptions {
    PipeOptions {
        reply_timeout: Duration::from_millis(600),
        probe_after: Some(Duration::from_millis(100)),
        line_bytes_max: 10_000,
        ..PipeOptions::default()
    }
}

/// Requests the enabled tasks from a child with a fault; then again after a reset, which must
/// succeed.
fn error_of(fault: &str) -> RunError {
    let command = shell(&FRAME.replace("FAULT", fault));
    let mut system = PipeSystem::spawn(command, options()).expect("hello is answered");
    let process = system.process_id().expect("a process");
    let error = system.enabled().expect_err("the child misbehaves");
    assert!(!is_there(process), "the child must be gone, and no zombie");
    let again = system.enabled().expect_err("the child is gone");
    assert!(again.to_string().contains("reset"), "{again}");
    system.reset().expect("another child starts");
    let enabled = system.enabled().expect("and is healthy");
    assert_eq!((enabled[0].task.to_string().as_str(), enabled[0].alternatives), ("a", 1));
    assert_eq!(system.starts(), 2);
    error
}

/// Whether a process exists, possibly as a zombie.
fn is_there(process: u32) -> bool {
    proc_of(process).exists()
}

fn proc_of(process: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}"))
}

fn assert_crashed(fault: &str, expected: &str) {
    match error_of(fault) {
        RunError::Crashed(text) => assert!(text.contains(expected), "{fault}: {text}"),
        other => panic!("{fault}: {other:?}"),
    }
}

fn assert_unstable(fault: &str, expected: &str) {
    match error_of(fault) {
        RunError::Unstable(text) => assert!(text.contains(expected), "{fault}: {text}"),
        other => panic!("{fault}: {other:?}"),
    }
}

#[test]
fn an_exit_is_a_crash_with_status_and_last_words() {
    assert_crashed("echo 'disk on fire' >&2; exit 3", "exit status: 3");
    assert_crashed("echo 'disk on fire' >&2; exit 3", "disk on fire");
    assert_crashed("kill -9 $$", "signal: 9");
    assert_crashed("printf '{\"id\":2,'; exit 0", "ended before its reply to `enabled`");
}

#[test]
fn garbage_is_a_crash() {
    assert_crashed("echo 'hello there'", "what is no reply: expected value");
    assert_crashed("echo '{\"id\":2}'", "exactly one of `ok` and `error`");
    assert_crashed("echo '{\"id\":2,\"ok\":{\"tasks\":7}}'", "invalid type: integer `7`");
    assert_crashed("echo '{\"id\":-1,\"ok\":{}}'", "invalid value");
    assert_crashed(
        "echo '{\"id\":2,\"ok\":{\"tasks\":[{\"task\":\"//\"}]}}'",
        "empty step in a task name",
    );
    assert_crashed("printf '\\377\\n'", "what is no reply");
    assert_crashed(
        "echo '{\"id\":2,\"error\":{\"kind\":\"odd\",\"message\":\"why\"}}'",
        "odd: why",
    );
    let deep = format!("echo '{{\"id\":2,\"x\":{}'", "[".repeat(5_000));
    assert_crashed(&deep, "nested more than 32 deep");
}

#[test]
fn messages_are_short() {
    let long = "x".repeat(9_000);
    for fault in [
        format!("echo '{{\"id\":2,\"error\":{{\"kind\":\"odd\",\"message\":\"{long}\"}}}}'"),
        format!("echo '{{\"id\":2,\"ok\":{{\"tasks\":\"{long}\"}}}}'"),
        format!("echo '{{\"id\":2,\"ok\":{{\"tasks\":[{{\"task\":\"a#{long}\"}}]}}}}'"),
    ] {
        let text = error_of(&fault).to_string();
        assert!(text.len() < 700, "{} bytes: {text}", text.len());
    }
}

#[test]
fn a_child_that_cannot_reset_is_started_again() {
    let script = "read l; echo '{\"id\":1,\"ok\":{\"version\":1,\"program\":{\"name\":\"x\"}}}'; read l; echo '{\"id\":2,\"error\":{\"kind\":\"unsupported\"}}'; cat > /dev/null";
    let mut system = PipeSystem::spawn(shell(script), options()).unwrap();
    system.reset().unwrap();
    assert_eq!(system.starts(), 2);
}

#[test]
fn systems_can_be_given_to_workers() {
    fn is_send<T: Send>() {}
    is_send::<PipeSystem>();
}

#[test]
fn a_line_without_end_is_a_crash() {
    assert_crashed("yes | tr -d '\\n' | head -c 100000", "longer than 10000 bytes");
    // A flood of lines is not stored either.
    assert_crashed("yes", "what is no reply");
}

#[test]
fn a_hang_is_a_time_out() {
    let start = Instant::now();
    let error = error_of("while :; do sleep 1; done");
    assert!(matches!(&error, RunError::TimedOut(text) if text.contains("`enabled`")), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_lost_reply_is_unstable_once_a_later_request_is_answered() {
    let fault = "read ping; echo '{\"id\":3,\"ok\":{}}'; sleep 100";
    assert_unstable(fault, "the reply to `enabled` was lost");
    assert_unstable("echo '{\"id\":1,\"ok\":{}}'; sleep 100", "reply 1 came where");
    assert_unstable("echo '{\"id\":99,\"ok\":{}}'; sleep 100", "reply 99 came where");
    assert_unstable("echo '{\"id\":2,\"error\":{\"kind\":\"unstable\",\"message\":\"m\"}}'", "m");
}

#[test]
fn without_probes_a_lost_reply_is_a_time_out() {
    let command = shell(&FRAME.replace("FAULT", "read never; sleep 100"));
    let options = PipeOptions { probe_after: None, ..options() };
    let mut system = PipeSystem::spawn(command, options).unwrap();
    let error = system.enabled().unwrap_err();
    assert!(matches!(error, RunError::TimedOut(_)), "{error:?}");
}

#[test]
fn a_slow_reply_is_no_lost_one() {
    let script = FRAME.replace("FAULT", "sleep 0.3");
    let script = script.replace("exec cat", "echo '{\"id\":3,\"ok\":{}}'; read a; read b; read c; echo '{\"id\":5,\"ok\":{\"parts\":[]}}'; exec cat");
    let options = PipeOptions { reply_timeout: Duration::from_secs(20), ..options() };
    let mut system = PipeSystem::spawn(shell(&script), options).unwrap();
    // Two pings are sent meanwhile, after 0.1 and 0.2 s. Only one is answered, after the awaited
    // reply.
    assert_eq!(system.enabled().unwrap().len(), 1);
    let later = system.observe();
    // On a slow machine there may be more pings; then the numbers of the script do not fit.
    match later {
        Ok(observation) => assert_eq!(observation.parts().len(), 0),
        Err(error) => println!("skipped: the machine is too slow: {error}"),
    }
    assert_eq!(system.starts(), 1);
}

#[test]
fn what_cannot_be_done_leaves_the_child_alive() {
    let script = FRAME.replace("FAULT", "echo '{\"id\":2,\"error\":{\"kind\":\"unsupported\"}}'; read line; echo '{\"id\":3,\"error\":{\"kind\":\"diverged\",\"enabled\":[\"b\"]}}'; cat");
    let mut system = PipeSystem::spawn(shell(&script), options()).unwrap();
    assert!(matches!(system.enabled(), Err(RunError::Unsupported(_))));
    match system.execute(&Choice::of(TaskName::root("a"))) {
        Err(RunError::Diverged(divergence)) => {
            assert_eq!(
                divergence.to_string(),
                "diverged at choice 1: `a` cannot run; enabled: `b`"
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(system.process_id().is_some_and(is_there));
}

#[test]
fn a_program_that_does_not_start_is_a_crash() {
    let spawn = |command| match PipeSystem::spawn(command, options()) {
        Err(RunError::Crashed(text)) => text,
        other => panic!("{other:?}"),
    };
    let text = spawn(ChildCommand::new("no-such-program-here").argument("x"));
    assert!(text.starts_with("cannot start `no-such-program-here x`"), "{text}");
    assert!(spawn(shell("exit 7")).contains("exit status: 7"));
    let version =
        shell("read l; echo '{\"id\":1,\"ok\":{\"version\":2,\"program\":{\"name\":\"x\"}}}'; cat");
    assert!(spawn(version).contains("speaks version 2"));
}

#[test]
fn another_program_after_a_restart_is_unstable() {
    let script = "read l; echo '{\"id\":1,\"ok\":{\"version\":1,\"program\":{\"name\":\"p'$ANYORDER_PIPE_START'\"}}}'; read l";
    let mut system = PipeSystem::spawn(shell(script), options()).unwrap();
    let error = system.reset().unwrap_err();
    assert!(
        matches!(&error, RunError::Unstable(text) if text.contains("`p0` became `p1`")),
        "{error:?}"
    );
}

#[test]
fn a_child_that_does_not_read_blocks_nobody() {
    let script =
        "read l; echo '{\"id\":1,\"ok\":{\"version\":1,\"program\":{\"name\":\"x\"}}}'; sleep 100";
    let mut system = PipeSystem::spawn(shell(script), options()).unwrap();
    let mut choice = Choice::of(TaskName::root("a"));
    let value = Value::Text("x".repeat(5_000_000));
    choice.inject.push(Injected { name: "body".to_owned(), value });
    let error = system.execute(&choice).unwrap_err();
    assert!(matches!(error, RunError::TimedOut(_)), "{error:?}");
}

#[test]
fn nothing_is_left_behind() {
    if !proc_of(std::process::id()).exists() {
        println!("skipped: this system has no /proc");
        return;
    }
    // The name of the program is the process id of a grandchild, which must be killed too.
    let script = "sleep 1000 & read l; echo '{\"id\":1,\"ok\":{\"version\":1,\"program\":{\"name\":\"'$!'\"}}}'; cat >/dev/null";
    let system = PipeSystem::spawn(shell(script), options()).unwrap();
    let child = system.process_id().unwrap();
    let grandchild: u32 = system.program().name.parse().unwrap();
    assert!(is_there(child) && is_there(grandchild));
    drop(system);
    assert!(!is_there(child), "the child must be gone, and no zombie");
    // Another process must reap it: a zombie counts as dead.
    let is_dead = || {
        let stat = std::fs::read_to_string(proc_of(grandchild).join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_dead() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_dead(), "the grandchild must be killed");
}
