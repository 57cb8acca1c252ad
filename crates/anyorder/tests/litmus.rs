//! The programs that other tools get wrong, and small programs with known numbers.

use crate::support::{explore, outcomes};
use anyorder::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex, RwLock};
use anyorder::thread;

#[test]
fn an_irrelevant_load_hides_nothing() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || {
            other.load(SeqCst);
            other.store(1, SeqCst);
        });
        report.tell(x.load(SeqCst));
        thread.join().unwrap();
    });
    assert_eq!(seen, [0, 1]);
}

/// A key and a value: what a reader sees of both, with and without a redundant load.
#[test]
fn a_redundant_load_hides_nothing() {
    for is_redundant in [false, true] {
        let seen = outcomes(move |report| {
            let key = Arc::new(AtomicU32::new(0));
            let value = Arc::new(AtomicU32::new(0));
            let (their_key, their_value) = (Arc::clone(&key), Arc::clone(&value));
            let thread = thread::spawn(move || {
                if is_redundant {
                    their_key.load(SeqCst);
                }
                their_value.store(1, SeqCst);
                their_key.store(1, SeqCst);
            });
            let v = value.load(SeqCst);
            let k = key.load(SeqCst);
            report.tell((v, k));
            thread.join().unwrap();
        });
        assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1)], "{is_redundant}");
    }
}

#[test]
fn store_buffering_in_one_order_of_all() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let y = Arc::new(AtomicU32::new(0));
        let (their_x, their_y) = (Arc::clone(&x), Arc::clone(&y));
        let thread = thread::spawn(move || {
            their_x.store(1, SeqCst);
            their_y.load(SeqCst)
        });
        y.store(1, SeqCst);
        let own = x.load(SeqCst);
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn two_attempts_at_a_lock() {
    let seen = outcomes(|report| {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || other.try_lock().is_ok());
        let own = lock.try_lock().is_ok();
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(false, true), (true, false), (true, true)]);
}

#[test]
fn a_peculiar_order_of_updates_is_atomic() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        x.fetch_add(2, SeqCst);
        thread.join().unwrap();
        report.tell(x.load(SeqCst));
    });
    assert_eq!(seen, [1, 3]);
}

/// Spawns `n` threads, runs `main`, and joins them.
fn with_threads(n: usize, each: impl Fn(usize) + Clone + Send + 'static, main: impl FnOnce()) {
    let spawn = |number| {
        let each = each.clone();
        thread::spawn(move || each(number))
    };
    let threads: Vec<_> = (0..n).map(spawn).collect();
    main();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn counters() {
    let seen = outcomes(|report| {
        let count = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&count);
        with_threads(2, move |_| *theirs.lock().unwrap() += 1, || ());
        report.tell(*count.lock().unwrap());
    });
    assert_eq!(seen, [2]);
}

#[test]
fn racy_counters_lose_updates() {
    let seen = outcomes(|report| {
        let count = std::sync::Arc::new(AtomicU32::new(0));
        let theirs = std::sync::Arc::clone(&count);
        let add = move |_| {
            let value = theirs.load(SeqCst);
            theirs.store(value + 1, SeqCst);
        };
        with_threads(2, add, || ());
        report.tell(count.load(SeqCst));
    });
    assert_eq!(seen, [1, 2]);
}

#[test]
fn readers_see_all_subsets() {
    let seen = outcomes(|report| {
        let x = std::sync::Arc::new(AtomicU32::new(0));
        let seen = std::sync::Arc::new([const { AtomicBool::new(false) }; 2]);
        let (their_x, theirs) = (x.clone(), seen.clone());
        let read = move |number: usize| theirs[number].store(their_x.load(SeqCst) == 1, SeqCst);
        with_threads(2, read, move || x.store(1, SeqCst));
        report.tell((seen[0].load(SeqCst), seen[1].load(SeqCst)));
    });
    assert_eq!(seen.len(), 4);
}

#[test]
fn locked_readers_see_all_subsets() {
    let seen = outcomes(|report| {
        let x = std::sync::Arc::new(RwLock::new(0));
        let theirs = x.clone();
        let first = thread::spawn(move || *theirs.read().unwrap());
        *x.write().unwrap() = 1;
        let own = *x.read().unwrap();
        report.tell((first.join().unwrap(), own));
    });
    assert_eq!(seen, [(0, 1), (1, 1)]);
}

/// The last zero: writers of cells that each read the one before, and a reader of all.
#[test]
fn the_last_zero() {
    let seen = outcomes(|report| {
        let cells = std::sync::Arc::new([const { AtomicU32::new(0) }; 3]);
        let theirs = cells.clone();
        let write = move |number: usize| {
            let before = theirs[number].load(SeqCst);
            theirs[number + 1].store(before + 1, SeqCst);
        };
        let mut last = 0;
        with_threads(2, write, || {
            let zero = (0..3).rev().find(|at| cells[*at].load(SeqCst) == 0);
            last = zero.expect("the first one is 0");
        });
        report.tell(last);
    });
    assert_eq!(seen, [0, 1, 2]);
}

/// The reader sees how many of the updates it likes.
#[test]
fn a_reader_among_updates() {
    let seen = outcomes(|report| {
        let x = std::sync::Arc::new(AtomicU32::new(0));
        let theirs = x.clone();
        let mut seen = 0;
        with_threads(
            2,
            move |_| {
                theirs.fetch_add(1, SeqCst);
            },
            || seen = x.load(SeqCst),
        );
        report.tell(seen);
    });
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn a_deadlock_of_two_locks() {
    let seen = explore(|report| {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (their_a, their_b) = (Arc::clone(&a), Arc::clone(&b));
        let thread = thread::spawn(move || {
            let _b = their_b.lock().unwrap();
            let _a = their_a.lock().unwrap();
        });
        {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        }
        thread.join().unwrap();
        report.tell(());
    });
    assert!(seen.deadlocks > 0 && !seen.outcomes.is_empty() && seen.panics.is_empty());
}
