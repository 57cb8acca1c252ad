//! Panics beside panics, destructors at the end of executions, what programs catch, and what they
//! leave behind.

use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, FailureKind, Summary, thread};
use std::panic::{self, AssertUnwindSafe};
use std::process::Command;

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    Builder::new().explore(f)
}

/// The messages of the panics of a summary, and whether each is a consequence.
fn panics(summary: &Summary) -> Vec<(String, bool)> {
    let message = |failure: &anyorder::Failure| match &failure.kind {
        FailureKind::Panic(panic) => Some((panic.message.clone(), failure.is_consequence)),
        _ => None,
    };
    summary.failures.iter().filter_map(message).collect()
}

#[test]
fn all_failures_are_reported_and_consequences_told_apart() {
    let summary = explore(|| {
        let first = thread::spawn(|| assert!(anyorder::choose(2) == 0, "first"));
        let second = thread::spawn(|| assert!(anyorder::choose(2) == 0, "second"));
        assert!(anyorder::choose(2) == 0, "own");
        first.join().expect("joined");
        second.join().expect("joined");
    });
    let own = panics(&summary).into_iter().filter(|panic| !panic.1);
    let mut own: Vec<String> = own.map(|panic| panic.0).collect();
    own.sort();
    assert_eq!(own, ["first", "own", "second"], "{summary}");
    let text = summary.to_string();
    assert!(text.contains(", 3 failures\n"), "{text}");
    assert!(text.contains("\nafter one of these panics:\n  main panicked at "), "{text}");
}

/// Throws, and catches, when it is destroyed.
struct Calm;

impl Drop for Calm {
    fn drop(&mut self) {
        let caught = panic::catch_unwind(|| panic!("inner"));
        assert!(caught.is_err());
    }
}

#[test]
fn a_panic_that_a_destructor_catches_hides_no_other_one() {
    let summary = explore(|| {
        let _calm = Calm;
        panic!("outer");
    });
    assert_eq!(panics(&summary), [("outer".to_owned(), false)], "{summary}");
}

#[test]
fn a_caught_panic_is_no_failure_and_the_next_one_is_its_own() {
    let summary = explore(|| {
        let caught = panic::catch_unwind(|| panic!("caught"));
        assert!(caught.is_err());
        assert!(anyorder::choose(2) == 0, "told");
    });
    assert_eq!(panics(&summary), [("told".to_owned(), false)], "{summary}");
}

#[test]
fn a_payload_that_is_no_text_is_a_failure() {
    let summary = explore(|| panic::panic_any(5));
    assert_eq!(panics(&summary), [(String::new(), false)], "{summary}");
    assert!(summary.to_string().contains("(no message)"), "{summary}");
}

/// Panics when it is destroyed, unless its thread unwinds.
struct Strict(Arc<Mutex<u32>>);

impl Drop for Strict {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(*self.0.lock().unwrap(), 1, "not used");
        }
    }
}

#[test]
fn destructors_of_executions_that_failed_are_silent() {
    let summary = explore(|| {
        let count = Arc::new(Mutex::new(0));
        let strict = Strict(Arc::clone(&count));
        let thread = thread::spawn(move || {
            // Waits for ever: its destructors run when the execution is over.
            let _strict = strict;
            thread::park();
        });
        let guard = count.lock().unwrap();
        thread.join().unwrap();
        drop(guard);
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
    assert_eq!(summary.failures[0].class(), "deadlock");
}

#[test]
fn a_panic_with_a_lock_poisons_for_others_only_after_it() {
    let summary = Builder::new().panics_are_results().explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("with the lock");
        });
        let before = lock.lock().is_ok();
        let is_err = thread.join().is_err();
        assert!(is_err && (before || lock.is_poisoned()));
        assert!(panic::catch_unwind(AssertUnwindSafe(|| lock.lock().unwrap())).is_err());
    });
    assert!(summary.is_ok(), "{summary}");
}

#[test]
fn leaks_are_failures_unless_they_are_allowed() {
    let program = || std::mem::forget(Arc::new(5));
    let summary = explore(program);
    let [failure] = summary.failures.as_slice() else { panic!("{summary}") };
    assert!(matches!(&failure.kind, FailureKind::Leak(leaks) if leaks.len() == 1));
    assert!(failure.title().starts_with("leak: what was made at "), "{summary}");
    assert!(failure.title().contains("teardown.rs:"), "{summary}");
    let allowed = Builder::new().leaks_allowed().explore(program);
    assert!(allowed.is_ok(), "{allowed}");
}

/// An execution that fails otherwise owes nothing; each set of places is one leak.
#[test]
fn leaks_are_told_once_and_not_after_other_failures() {
    let summary = explore(|| {
        match anyorder::choose(4) {
            0 => {}
            1 => {
                std::mem::forget(Arc::new(1));
                panic!("as well");
            }
            _ => std::mem::forget(Arc::new(2)),
        }
        let _ = anyorder::choose(3);
    });
    let mut classes: Vec<&str> = summary.failures.iter().map(anyorder::Failure::class).collect();
    classes.sort_unstable();
    assert_eq!(classes, ["leak", "panic"], "{summary}");
}

/// Throws when it is destroyed.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the destructor");
    }
}

/// Ends the process if it runs as a child of the test below.
#[test]
fn aborts_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    anyorder::check(|| {
        let thread = thread::spawn(|| {
            let bomb = Bomb;
            assert!(anyorder::choose(3) != 2, "while it lives");
            std::mem::forget(bomb);
        });
        thread.join().unwrap();
    });
}

/// Reads memory that is none, or runs out of its stack, if it runs as a child of the test below.
#[test]
fn crashes_as_a_child() {
    let Some(how) = std::env::var_os("ANYORDER_TEST_CHILD") else { return };
    let overflows = how == "overflow";
    anyorder::check(move || {
        let thread = thread::spawn(move || {
            if anyorder::choose(3) == 2 {
                match overflows {
                    true => assert!(deep(u64::MAX) > 0),
                    // SAFETY: there is none; the process ends here, as it is to.
                    false => unsafe { *std::hint::black_box(std::ptr::dangling_mut::<u8>()) = 0 },
                }
            }
        });
        thread.join().unwrap();
    });
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 16]);
    if depth == 0 { 1 } else { deep(depth - 1) + std::hint::black_box(room)[3] % 2 }
}

/// What the test of this name prints when it ends its process, and with which status.
fn of_child(name: &str, how: &str, replay: Option<&str>) -> (String, std::process::ExitStatus) {
    let own = std::env::current_exe().expect("the test itself");
    let mut command = Command::new(&own);
    command.args(["--exact", &format!("teardown::{name}")]);
    command.env("ANYORDER_TEST_CHILD", how).env_remove("ANYORDER_REPLAY");
    let output = command.envs(replay.map(|text| ("ANYORDER_REPLAY", text))).output();
    let output = output.expect("it runs");
    assert!(!output.status.success());
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status)
}

/// The text to replay in what was printed.
fn replay_in(told: &str) -> Option<&str> {
    told.split("ANYORDER_REPLAY='").nth(1).and_then(|rest| rest.split('\'').next())
}

#[test]
#[cfg(unix)]
fn crashes_are_told_before_the_process_ends() {
    use std::os::unix::process::ExitStatusExt as _;
    for (how, expected) in [
        ("crash", "anyorder: the process ends in thread 1: SIGSEGV at address 0x1\n"),
        ("overflow", "anyorder: the process ends in thread 1, whose stack overflowed\n"),
    ] {
        let (told, status) = of_child("crashes_as_a_child", how, None);
        assert!(told.contains(expected), "{told}");
        assert_eq!(status.signal(), Some(libc::SIGSEGV));
        let (again, _) = of_child("crashes_as_a_child", how, replay_in(&told));
        assert!(again.contains(expected), "{again}");
    }
}

#[test]
fn two_panics_at_once_are_told_before_the_process_ends() {
    let (told, _) = of_child("aborts_as_a_child", "1", None);
    for expected in ["while it lives", "in the destructor", "so the process ends here"] {
        assert!(told.contains(expected), "{told}");
    }
    let text = replay_in(&told).expect("the text");
    let (again, _) = of_child("aborts_as_a_child", "1", Some(text));
    assert!(again.contains("so the process ends here"), "{again}");
}
