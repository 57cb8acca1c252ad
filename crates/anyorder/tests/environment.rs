//! Variables that change how checks run.

use anyorder::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use anyorder::{Builder, thread};
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

/// An update is lost if one thread is preempted between its load and its store.
#[test]
fn loses_an_update_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    anyorder::check(lost_update);
}

fn lost_update() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&count);
    let other = thread::spawn(move || theirs.store(theirs.load(Relaxed) + 1, Relaxed));
    count.store(count.load(Relaxed) + 1, Relaxed);
    other.join().unwrap();
    assert_eq!(count.load(Relaxed), 2, "an update is lost");
}

/// A loop that gives up after 50 turns in vain, beside a thread that ends it.
#[test]
fn gives_up_late_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    anyorder::check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        thread::spawn(move || theirs.store(true, Relaxed));
        for _ in 0..50 {
            if flag.load(Relaxed) {
                break;
            }
            thread::yield_now();
        }
    });
}

#[test]
fn takes_three_cores_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    assert_eq!(Builder::new(), Builder::default().cores(3));
    assert_ne!(Builder::new(), Builder::default().cores(1));
}

#[test]
fn takes_another_engine_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    assert_eq!(Builder::new(), Builder::default().engine(anyorder::Engine::ReadsFrom));
}

#[test]
fn the_variable_sets_the_engine() {
    let run =
        |value| child("environment::takes_another_engine_as_a_child", ("ANYORDER_ENGINE", value));
    let (passed, other, wrong) = (run("reads-from"), run("optimal"), run("best"));
    assert!(passed.contains("1 passed"), "{passed}");
    assert!(other.contains("1 failed"), "{other}");
    assert!(wrong.contains(r#"ANYORDER_ENGINE is "best", expected "learning""#), "{wrong}");
}

fn child(test: &str, variable: (&str, &str)) -> String {
    let own = std::env::current_exe().expect("the test itself");
    let mut command = Command::new(own);
    command.args(["--exact", test]).env("ANYORDER_TEST_CHILD", "1");
    let output = command.env(variable.0, variable.1).output().expect("it runs");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("a text")
}

#[test]
fn the_variable_bounds_preemptions() {
    let run =
        |value| child("environment::loses_an_update_as_a_child", ("ANYORDER_PREEMPTIONS", value));
    let none = run("0");
    assert!(none.contains("1 passed"), "{none}");
    assert!(none.contains("1 execution, complete up to 0 preemptions"), "{none}");
    for value in ["1", ""] {
        let found = run(value);
        assert!(found.contains("an update is lost") && found.contains("1 failed"), "{found}");
    }
    let wrong = run("two");
    assert!(wrong.contains(r#"ANYORDER_PREEMPTIONS is "two", expected a number"#), "{wrong}");
}

/// A check whose only execution takes longer than the silence that its parent asks for.
#[test]
fn takes_long_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    let begun = std::sync::Once::new();
    anyorder::check(move || {
        begun.call_once(|| std::thread::sleep(std::time::Duration::from_millis(1_200)));
    });
}

#[test]
fn a_check_that_takes_long_says_so_where_it_is_asked() {
    let run = |value| child("environment::takes_long_as_a_child", ("ANYORDER_PROGRESS", value));
    let line =
        "anyorder: environment::takes_long_as_a_child: not done after 1 s; the program ran 1 time";
    let asked = run("1");
    assert!(asked.contains(line) && asked.contains("1 passed"), "{asked}");
    // The output of a child is no terminal.
    for value in ["0", ""] {
        let silent = run(value);
        assert!(!silent.contains("not done") && silent.contains("1 passed"), "{silent}");
    }
    let wrong = run("often");
    assert!(wrong.contains(r#"ANYORDER_PROGRESS is "often", expected a number"#), "{wrong}");
}

#[test]
fn the_variable_sets_the_cores() {
    let run = |value| child("environment::takes_three_cores_as_a_child", ("ANYORDER_CORES", value));
    let (three, one, wrong) = (run("3"), run(""), run("all"));
    assert!(three.contains("1 passed"), "{three}");
    assert!(one.contains("1 failed"), "{one}");
    assert!(wrong.contains(r#"ANYORDER_CORES is "all", expected a number"#), "{wrong}");
}

#[test]
fn the_variable_sets_how_late_loops_give_up() {
    let run = |value| child("environment::gives_up_late_as_a_child", ("ANYORDER_TURNS", value));
    let passed = run("50");
    assert!(passed.contains("1 passed"), "{passed}");
    let late = run("");
    assert!(late.contains("1 failed") && late.contains("turns_max("), "{late}");
    let wrong = run("many");
    assert!(wrong.contains(r#"ANYORDER_TURNS is "many", expected a number"#), "{wrong}");
}

#[test]
fn a_bound_is_said_and_so_is_how_far_a_cut_check_came() {
    let bounded = |most| Builder::new().preemptions_max(most).explore(lost_update);
    let none = bounded(0);
    assert!(none.is_ok() && none.preemptions == Some(0), "{none}");
    // With two threads of a few steps, some number of preemptions is all.
    let all = bounded(100);
    assert_eq!((all.failures.len(), all.preemptions), (1, None), "{all}");
    // Four threads that read, add and write again: too much for 100 executions.
    let many = || {
        let count = Arc::new(AtomicU32::new(0));
        let spawn = |_| {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                for _ in 0..2 {
                    count.store(count.load(Relaxed) + 1, Relaxed);
                }
            })
        };
        let threads: Vec<_> = (0..4).map(spawn).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let cut = Builder::new().executions_max(100).explore(many);
    assert!(cut.is_cut_by_limit() && cut.preemptions.is_some(), "{cut}");
    let most = cut.preemptions.unwrap_or(0);
    let said = format!("there are more, complete up to {most} preemption");
    assert!(cut.to_string().contains(&said), "{cut}");
    assert!(bounded_many(most, many).incomplete.is_none());
}

fn bounded_many(most: u32, test: impl Fn() + Send + Sync + 'static) -> anyorder::Summary {
    Builder::new().preemptions_max(most).executions_max(10_000).explore(test)
}

#[test]
fn the_variable_asks_for_weak_memory() {
    let misses = |value| child("environment::misses_as_a_child", ("ANYORDER_MEMORY", value));
    for sequential in ["", "sequential"] {
        let output = misses(sequential);
        assert!(output.contains("1 passed"), "{output}");
    }
    let weak = misses("rc11");
    assert!(weak.contains("both missed it") && weak.contains("under weak memory"), "{weak}");
    let wrong = misses("tso");
    let expected = r#"ANYORDER_MEMORY is "tso", expected "sequential" or "rc11""#;
    assert!(wrong.contains(expected), "{wrong}");
}
