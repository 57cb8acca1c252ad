//! Threads: how they begin, wait, and end.

use crate::support::{Report, explore, explore_with, outcomes};
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Setting, thread};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

const RESULTS: Setting = Setting { stack_size: 1 << 20, panics_are_results: true };

#[test]
fn a_thread_returns_what_it_likes() {
    let seen = outcomes(|report| {
        let thread = thread::spawn(|| vec!["a".to_owned()]);
        let early = thread.is_finished();
        report.tell((early, thread.join().unwrap()));
    });
    let list = vec!["a".to_owned()];
    assert_eq!(seen, [(false, list.clone()), (true, list)]);
}

#[test]
fn a_thread_knows_what_its_creator_saw() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&x);
        let first = thread::spawn(move || theirs.store(1, SeqCst));
        let value = x.load(SeqCst);
        let second = thread::spawn(move || if value == 0 { "early" } else { "late" });
        first.join().unwrap();
        report.tell((value, second.join().unwrap()));
    });
    assert_eq!(seen, [(0, "early"), (1, "late")]);
}

#[test]
fn names_and_ids() {
    anyorder::check(|| {
        assert_eq!(thread::current().name(), Some("main"));
        let main = thread::current().id();
        let builder = thread::Builder::new().name("worker".to_owned()).stack_size(1);
        let thread = builder.spawn(move || {
            assert_eq!(thread::current().name(), Some("worker"));
            assert_ne!(thread::current().id(), main);
        });
        let thread = thread.unwrap();
        assert_eq!(thread.thread().name(), Some("worker"));
        thread.join().unwrap();
    });
}

#[test]
fn tokens_are_kept_once() {
    let seen = explore(|report| {
        let main = thread::current();
        let thread = thread::spawn(move || {
            main.unpark();
            main.unpark();
        });
        thread::park();
        let again = anyorder::choose(2) == 1;
        if again {
            thread::park();
        }
        thread.join().unwrap();
        report.tell(again);
    });
    assert!(seen.deadlocks > 0);
    assert_eq!(Vec::from_iter(seen.outcomes), [false, true]);
}

#[test]
fn a_park_ends_in_both_ways() {
    let seen = outcomes(|report| {
        let main = thread::current();
        let x = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&x);
        let thread = thread::spawn(move || {
            theirs.store(1, SeqCst);
            main.unpark();
        });
        thread::park_timeout(Duration::from_secs(1));
        report.tell(x.load(SeqCst));
        thread.join().unwrap();
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_scope_waits_for_its_threads() {
    let seen = outcomes(|report| {
        let count = AtomicU32::new(0);
        let mut list = vec![1];
        thread::scope(|scope| {
            scope.spawn(|| {
                count.fetch_add(1, SeqCst);
                scope.spawn(|| count.fetch_add(10, SeqCst));
            });
            let thread = scope.spawn(|| list.push(2));
            thread.join().unwrap();
        });
        report.tell((count.load(SeqCst), list));
    });
    assert_eq!(seen, [(11, vec![1, 2])]);
}

#[test]
fn a_scope_with_panics() {
    let seen = explore_with(RESULTS, |report| {
        let count = AtomicU32::new(0);
        let is_joined = anyorder::choose(2) == 1;
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                let thread = scope.spawn(|| panic!("inside"));
                scope.spawn(|| count.fetch_add(1, SeqCst));
                if is_joined {
                    assert!(thread.join().is_err());
                }
            });
        }));
        report.tell((is_joined, result.is_err(), count.load(SeqCst)));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(false, true, 1), (true, false, 1)]);
    assert!(seen.panics.is_empty(), "{:?}", seen.panics);
}

#[test]
fn a_scope_whose_own_code_panics() {
    let seen = explore(|report| {
        let count = AtomicU32::new(0);
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| count.fetch_add(1, SeqCst));
                panic!("outside");
            });
        }));
        report.tell((result.is_err(), count.load(SeqCst)));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(true, 1)]);
}

anyorder::thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![7]);
    static LAST: OnExit = OnExit(RefCell::new(None));
}

/// Adds to a counter when its thread ends.
struct OnExit(RefCell<Option<Arc<AtomicU32>>>);

impl Drop for OnExit {
    fn drop(&mut self) {
        assert!(LAST.try_with(|_| ()).is_err());
        if let Some(count) = self.0.take() {
            count.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn each_thread_has_its_own_values() {
    let seen = outcomes(|report| {
        NUMBER.set(5);
        let thread = thread::spawn(|| {
            NUMBER.set(NUMBER.get() + 1);
            LIST.with_borrow_mut(|list| list.push(8));
            (NUMBER.get(), LIST.take())
        });
        report.tell((NUMBER.get(), LIST.with_borrow(Vec::clone), thread.join().unwrap()));
    });
    assert_eq!(seen, [(5, vec![7], (2, vec![7, 8]))]);
}

#[test]
fn values_of_a_thread_are_destroyed_at_its_end() {
    let seen = outcomes(|report| {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let thread = thread::spawn(move || LAST.with(|last| *last.0.borrow_mut() = Some(theirs)));
        thread.join().unwrap();
        report.tell(count.load(SeqCst));
    });
    assert_eq!(seen, [1]);
}

/// Does operations when it is destroyed.
struct Busy(Arc<Mutex<u32>>);

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
fn destructors_of_executions_that_are_cut_short() {
    let seen = explore(|_: &Report<()>| {
        let count = Arc::new(Mutex::new(0));
        let busy = Busy(Arc::clone(&count));
        let theirs = Busy(Arc::clone(&count));
        let thread = thread::spawn(move || {
            thread::park();
            drop(theirs);
        });
        let _guard = Arc::new(Mutex::new(1));
        let _held = _guard.lock().unwrap();
        thread.join().unwrap();
        drop(busy);
    });
    assert!(seen.deadlocks == seen.executions && seen.panics.is_empty());
}

#[test]
fn destructors_while_a_thread_unwinds() {
    let seen = explore_with(RESULTS, |report| {
        let count = Arc::new(Mutex::new(0));
        let busy = Busy(Arc::clone(&count));
        let thread = thread::spawn(move || {
            let _busy = busy;
            panic!("with a busy destructor");
        });
        assert!(thread.join().is_err());
        report.tell(Arc::strong_count(&count));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [1]);
}

#[test]
fn a_caught_panic_is_no_failure() {
    let seen = outcomes(|report| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                let _guard = theirs.lock();
                panic!("caught");
            }));
            caught.is_err() && theirs.is_poisoned()
        });
        let own = lock.lock().is_err();
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(false, true), (true, true)]);
}

/// An execution that is cut short unwinds nobody who could catch it.
#[test]
fn a_thread_that_catches_everything_ends() {
    let seen = explore(|_: &Report<()>| {
        loop {
            let _ = panic::catch_unwind(thread::park);
        }
    });
    assert_eq!((seen.deadlocks, seen.executions), (1, 1));
}

#[test]
fn sixteen_threads() {
    let executions = anyorder::Builder::new().check(|| {
        let x = AtomicU32::new(1);
        let numbers = thread::scope(|scope| {
            let x = &x;
            let spawn = |number: u32| scope.spawn(move || x.load(SeqCst) + number);
            let threads: Vec<_> = (0..16).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
        });
        assert_eq!(numbers, 136);
    });
    assert_eq!(executions, 1);
}

/// Who gives way once may still be the next one to run.
#[test]
fn giving_way_once_hides_nothing() {
    let seen = outcomes(|report| {
        let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (their_x, their_y) = (Arc::clone(&x), Arc::clone(&y));
        let thread = thread::spawn(move || {
            let before = their_y.load(SeqCst);
            their_x.store(1, SeqCst);
            before
        });
        x.load(SeqCst);
        thread::yield_now();
        y.store(1, SeqCst);
        report.tell(thread.join().unwrap());
    });
    assert_eq!(seen, [0, 1]);
}
