//! How a failure reads: the text, and the page.

use crate::failing::{ALL, Kind};
use anyorder::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use anyorder::sync::{Arc, Mutex, mpsc};
use anyorder::{Builder, Memory, Reversed, Summary, thread};
use std::panic::{self, AssertUnwindSafe};

fn of(name: &str) -> Summary {
    let kind = ALL.into_iter().find(|kind: &Kind| kind.name == name).expect("a kind");
    Builder::new().explore(kind.wrong)
}

#[test]
fn every_class_has_a_title_with_who_and_what() {
    let expected = [
        ("lost update", "main panicked at "),
        ("choice", "main panicked at "),
        ("two locks", "deadlock: main and thread 1 wait for each other"),
        ("lost wake-up", "deadlock: waiter waits to be notified by pair.1 for ever"),
        ("receiver", "deadlock: main waits for a message of channel 1 for ever"),
        ("spin", "livelock: main spins for what nobody will change"),
        ("publication", "data race: a write and a read of cell at the same time"),
        ("cycle of owners", "leak: 2 values or allocations are left at the end"),
        ("task", "deadlock: main and task 1 wait for ever"),
    ];
    assert_eq!(expected.len(), ALL.len());
    for (name, title) in expected {
        let summary = of(name);
        assert!(summary.failures[0].title().starts_with(title), "{name}:\n{summary}");
        let kind = ALL.into_iter().find(|kind| kind.name == name).expect("a kind");
        assert_eq!(summary.failures[0].class(), kind.class, "{name}");
    }
}

#[test]
fn reasons_are_told() {
    let expected = [
        ("two locks", "cycle: main → b → thread 1 → a → main"),
        ("lost wake-up", "main notified pair.1 in step 4, before the wait"),
        ("receiver", "it is empty, and has 1 sender left"),
        ("spin", "again and again: flag.load(Acquire) → false"),
        ("publication", "stored, but that orders nothing: the store is no release"),
        ("cycle of owners", "made at "),
        ("task", "nobody wakes it in this execution"),
    ];
    for (name, reason) in expected {
        let text = of(name).to_string();
        assert!(text.contains(reason), "{name}:\n{text}");
    }
}

/// Two accounts that were made in one line have two names, and so has the data of each.
#[test]
fn locks_of_one_line_have_different_names() {
    struct Account {
        balance: Mutex<i64>,
    }
    let account = |value| Arc::new(Account { balance: Mutex::new(value) });
    let transfer = |from: &Account, to: &Account| {
        let mut from = from.balance.lock().unwrap();
        let mut to = to.balance.lock().unwrap();
        *from -= 1;
        *to += 1;
    };
    let summary = Builder::new().explore(move || {
        let (a, b) = (account(10), account(20));
        let (their_a, their_b) = (Arc::clone(&a), Arc::clone(&b));
        let thread = thread::spawn(move || transfer(&their_b, &their_a));
        transfer(&a, &b);
        thread.join().unwrap();
    });
    let text = summary.to_string();
    let cycle = "cycle: main → balance#2 → thread 1 → balance → main";
    assert!(text.contains(cycle), "{text}");
    // In the run that does not fail: one account after the other.
    assert!(
        text.contains("write 19 to balance#2") || text.contains("write 20 to balance#2"),
        "{text}"
    );
    assert!(
        text.contains("write 9 to balance,") || text.contains("write 10 to balance,"),
        "{text}"
    );
}

/// A lost update, as someone reads it.
#[test]
fn the_table_has_a_column_for_each_thread() {
    let summary = Builder::new().explore(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = count.clone();
        let thread = thread::spawn(move || {
            let value = other.load(Ordering::SeqCst);
            other.store(value + 1, Ordering::Release);
        });
        let value = count.load(Ordering::Acquire);
        count.store(value + 1, Ordering::SeqCst);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2, "an update was lost");
    });
    let text = summary.to_string();
    let end = |line: &str| line.split("  crates/").next().unwrap_or(line).trim_end().to_owned();
    let lines: Vec<String> = text.lines().map(end).collect();
    let expected = "
        main                     thread 1
     1  spawn thread 1
   A 2  count.load(Acquire) → 0
     3                           count.load(SeqCst) → 0
   B 4                           count.store(1, Release)
     5  count.store(1, SeqCst)
     6  join thread 1
     7  count.load(SeqCst) → 1
     8  panics

with B before A it does not fail:

        main                     thread 1
     2                           count.load(SeqCst) → 0
   B 3                           count.store(1, Release)
   A 4  count.load(Acquire) → 1
     5  count.store(2, SeqCst)
     6  join thread 1
     7  count.load(SeqCst) → 2";
    let expected: Vec<&str> = expected.lines().skip(1).collect();
    let from =
        lines.iter().position(|line| line == expected[0]).unwrap_or_else(|| panic!("{text}"));
    let shown: Vec<&str> = lines[from..].iter().take(expected.len()).map(String::as_str).collect();
    assert_eq!(shown, expected, "{text}");
    assert!(text.contains("let value = other.load(Ordering::SeqCst);"), "{text}");
}

/// The other run differs by the order of two operations in conflict, and it does not fail.
#[test]
fn the_run_beside_it_is_one_reversal_away() {
    let mut found = 0;
    for kind in ALL {
        for failure in &Builder::new().explore(kind.wrong).failures {
            let Some(passing) = &failure.passing else { continue };
            found += 1;
            let (first, second) = passing.reversed;
            let second_op = match second {
                Reversed::Event(at) => {
                    assert!(first < at);
                    (failure.trace.lines[at].thread, failure.trace.lines[at].object)
                }
                Reversed::Pending(thread) => (thread, passing.trace.lines[passing.here.1].object),
            };
            let here = &passing.trace.lines[passing.here.1];
            assert_eq!((here.thread, here.object), second_op);
            assert!(passing.here.0.is_none_or(|first| first > passing.here.1));
            // Before the reversal the two are one.
            assert_eq!(failure.trace.lines[..first], passing.trace.lines[..first]);
            let fails = |line: &anyorder::Line| matches!(line.act, anyorder_threads::Act::Fail(_));
            assert!(!passing.trace.lines.iter().any(fails));
        }
    }
    assert!(found >= 5, "{found}");
}

#[test]
fn a_loop_that_never_gives_way_is_unfair_starvation() {
    let summary = Builder::new().steps_max(2_000).explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let thread = thread::spawn(move || theirs.store(true, Ordering::Release));
        while !flag.load(Ordering::Acquire) {}
        thread.join().unwrap();
    });
    let [failure] = summary.failures.as_slice() else { panic!("{summary}") };
    assert_eq!(failure.class(), "unfair starvation");
    let text = summary.to_string();
    assert!(text.contains("after 2000 operations it repeats:\n    flag.load(Acquire) → false ("));
    assert!(text.contains("hint::spin_loop"), "{text}");
    assert!(text.lines().count() < 40, "{text}");
}

#[test]
fn threads_that_undo_each_other_for_ever_are_endless() {
    let summary = Builder::new().steps_max(500).explore(|| {
        let turns = Arc::new(AtomicUsize::new(0));
        loop {
            turns.fetch_xor(1, Ordering::SeqCst);
        }
    });
    let [failure] = summary.failures.as_slice() else { panic!("{summary}") };
    assert_eq!(failure.class(), "endless execution");
    assert!(failure.title().contains("main repeats a loop for ever"), "{summary}");
}

/// Long stretches are folded; the failing end and the marked steps stay.
#[test]
fn the_middle_of_a_long_execution_is_folded() {
    let summary = Builder::new().explore(|| {
        let counts: Arc<Vec<AtomicUsize>> = Arc::new((0..50).map(AtomicUsize::new).collect());
        let last = Arc::new(AtomicUsize::new(0));
        let (theirs, their_last) = (Arc::clone(&counts), Arc::clone(&last));
        let thread = thread::spawn(move || {
            for (number, count) in theirs.iter().enumerate() {
                count.store(number * 2, Ordering::SeqCst);
            }
            their_last.store(1, Ordering::SeqCst);
        });
        assert_eq!(last.load(Ordering::SeqCst), 0, "too late");
        thread.join().unwrap();
    });
    let text = summary.to_string();
    assert!(text.contains(" more\n") && text.contains("last.store(1, SeqCst)"), "{text}");
    assert!(text.contains("   A "), "{text}");
    assert!(text.lines().count() < 60, "{text}");
}

/// A report is bounded, whatever grows.
#[test]
fn a_report_has_a_bound() {
    let messages = || {
        let (sender, receiver) = mpsc::channel();
        (0..100).for_each(|number| sender.send(number).unwrap());
        let received: Vec<u32> = (0..100).map(|_| receiver.recv().unwrap()).collect();
        assert_eq!(receiver.recv(), Ok(received[0]));
    };
    let locks = || {
        let locks: Vec<_> = (0..60).map(|_| Mutex::new(0)).collect();
        let guards: Vec<_> = locks.iter().map(|lock| lock.lock().unwrap()).collect();
        drop(locks[59].lock());
        drop(guards);
    };
    for program in [messages as fn(), locks as fn()] {
        let summary = Builder::new().explore(program);
        assert_eq!(summary.failures[0].class(), "deadlock", "{summary}");
        let text = summary.to_string();
        assert!(text.lines().count() < 70, "{text}");
        assert!(text.contains(" more\n") && text.contains(": made at "), "{text}");
    }
}

/// Sixty panics are sixty failures: some with their executions, some in a line, the rest counted.
#[test]
fn many_failures_have_a_bound_too() {
    let summary = Builder::new().explore(|| {
        let number = anyorder::choose(60);
        panic!("number {number}");
    });
    assert_eq!(summary.failures.len(), 60);
    let text = summary.to_string();
    assert!(text.contains("60 failures") && text.contains("39 more\n"), "{text}");
    assert_eq!(text.matches("ANYORDER_REPLAY").count(), 21, "{text}");
}

#[test]
fn many_threads_are_a_list() {
    let summary = Builder::new().explore(|| {
        let numbers = Arc::new(Mutex::new(Vec::new()));
        let spawn = |number: u32| {
            let numbers = Arc::clone(&numbers);
            let name = format!("a thread with a long name {number}");
            let body = move || numbers.lock().unwrap().push(number);
            thread::Builder::new().name(name).spawn(body).unwrap()
        };
        let threads: Vec<_> = (0..5).map(spawn).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(numbers.lock().unwrap()[0], 0, "another one was first");
    });
    let text = summary.to_string();
    let listed = text.lines().filter(|line| line.contains("a thread with a long name"));
    assert!(listed.count() >= 5, "{text}");
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(200), "{text}");
}

/// Returns the page of a check that fails.
fn page(f: impl Fn() + Send + Sync + 'static) -> (String, String) {
    page_of(Builder::new(), f)
}

fn page_of(builder: Builder, f: impl Fn() + Send + Sync + 'static) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("deep/er");
    let check = || builder.report(&inner).check(f);
    let payload = panic::catch_unwind(AssertUnwindSafe(check)).expect_err("it fails");
    let told = payload.downcast::<String>().expect("a text");
    let mut pages = std::fs::read_dir(&inner).expect("the folder").map(|page| page.unwrap().path());
    let page = pages.next().expect("a page");
    assert!(pages.next().is_none(), "nothing else is left");
    assert!(told.contains(&format!("report: {}", page.display())), "{told}");
    (std::fs::read_to_string(page).expect("a text"), *told)
}

#[test]
fn the_page_is_well_formed_whatever_the_names() {
    let (page, _) = page(|| {
        let name = "</title><script>alert(1)</script>".to_owned();
        let cell = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&cell);
        let body = move || *theirs.lock().unwrap() += 1;
        let thread = thread::Builder::new().name(name).spawn(body).unwrap();
        let seen = *cell.lock().unwrap();
        thread.join().unwrap();
        assert_eq!(seen, 1, "<img src=x onerror=alert(2)> \u{1b}[31m \u{202e} & \"'");
    });
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let tree = roxmltree::Document::parse_with_options(&page, options).expect("well-formed");
    let count = |name: &str| tree.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("script"), count("img"), count("section")), (0, 0, 1));
    // The run that fails and the one that does not, side by side.
    assert_eq!(count("svg"), 2);
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    // An arrow from the unlock to the lock of the other thread.
    let class = |node: &roxmltree::Node<'_, '_>| node.attribute("class") == Some("arrow");
    assert!(tree.descendants().any(|node| class(&node)));
}

/// Store buffering: a failure that cannot be replayed has a page, without the command.
#[test]
fn failures_of_weak_memory_are_on_the_page() {
    let (page, told) = page_of(Builder::new().memory(Memory::Rc11), || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let theirs = Arc::clone(&flags);
        let thread = thread::spawn(move || {
            theirs[0].store(true, Ordering::Relaxed);
            theirs[1].load(Ordering::Relaxed)
        });
        flags[1].store(true, Ordering::Relaxed);
        let own = flags[0].load(Ordering::Relaxed);
        assert!(own | thread.join().unwrap(), "both missed");
    });
    assert!(page.contains("under weak memory") && page.contains("both missed"), "{page}");
    assert!(!page.contains("ANYORDER_REPLAY") && !told.contains("ANYORDER_REPLAY"), "{told}");
}

#[test]
fn a_page_that_cannot_be_written_is_told_and_hides_nothing() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let folder = file.path().join("below");
    let check = || Builder::new().report(folder).check(|| panic!("the failure"));
    let payload = panic::catch_unwind(AssertUnwindSafe(check)).expect_err("it fails");
    let told = payload.downcast::<String>().expect("a text");
    assert!(told.contains("the failure") && told.contains("was not written: "), "{told}");
}

#[test]
fn executions_for_reports_are_counted_apart_and_obey_the_limit() {
    let program = || {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&count);
        let thread = thread::spawn(move || other.store(1, Ordering::SeqCst));
        assert_eq!(count.load(Ordering::SeqCst), 2, "never two");
        thread.join().unwrap();
    };
    let all = Builder::new().explore(program);
    assert!(all.executions_for_reports > all.failures.len() as u64, "{all:?}");
    let few = Builder::new().executions_max(1).explore(program);
    assert_eq!(few.executions, 1);
    assert!(few.executions_for_reports <= 1 + few.failures.len() as u64, "{few:?}");
}

#[test]
fn a_check_that_runs_out_of_time_says_so() {
    let program = || {
        let threads: Vec<_> = (0..6)
            .map(|_| thread::spawn(|| (0..6).map(|_| anyorder::choose(9)).sum::<u32>()))
            .collect();
        let sum: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(sum < 1_000);
    };
    let time = std::time::Duration::from_millis(200);
    let summary = Builder::new().time_max(time).explore(program);
    assert!(!summary.is_ok());
    assert!(summary.to_string().contains("incomplete: time limit reached"), "{summary}");
}
