//! Variables that change how checks run.

use anyorder::sync::atomic::{AtomicBool, Ordering::Relaxed};
use anyorder::thread;
use std::process::Command;
use std::sync::Arc;

/// Store buffering: each thread may miss what the other one wrote.
#[test]
fn misses_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    anyorder::check(|| {
        let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
        let theirs = Arc::clone(&flags);
        let other = thread::spawn(move || {
            theirs.0.store(true, Relaxed);
            theirs.1.load(Relaxed)
        });
        flags.1.store(true, Relaxed);
        let own = flags.0.load(Relaxed);
        assert!(own | other.join().unwrap(), "both missed it");
    });
}

fn child(memory: &str) -> String {
    let own = std::env::current_exe().expect("the test itself");
    let mut command = Command::new(own);
    command.args(["--exact", "environment::misses_as_a_child"]).env("ANYORDER_TEST_CHILD", "1");
    let output = command.env("ANYORDER_MEMORY", memory).output().expect("it runs");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("a text")
}

#[test]
fn the_variable_asks_for_weak_memory() {
    for sequential in ["", "sequential"] {
        assert!(child(sequential).contains("1 passed"), "{}", child(sequential));
    }
    let weak = child("rc11");
    assert!(weak.contains("both missed it") && weak.contains("under weak memory"), "{weak}");
    let wrong = child("tso");
    let expected = r#"ANYORDER_MEMORY is "tso", expected "sequential" or "rc11""#;
    assert!(wrong.contains(expected), "{wrong}");
}
