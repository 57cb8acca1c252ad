//! What a check says: the fault, confirmed by another run, in words; nothing of right programs.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use anyorder::sync::{Arc, Condvar, Mutex, mpsc};
use anyorder::{Builder, Doubt, FailureKind, Incomplete, Summary, thread};
use std::mem;

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    Builder::new().explore(f)
}

/// The one failure of a program, which running again shows.
fn only(summary: &Summary) -> &FailureKind {
    assert!(summary.incomplete.is_none() && summary.doubts.is_empty(), "{summary}");
    match summary.failures.as_slice() {
        [failure] => {
            assert!(failure.is_confirmed && !failure.trace.lines.is_empty(), "{summary}");
            &failure.kind
        }
        _ => panic!("{summary}"),
    }
}

#[test]
fn a_lost_update_is_told_with_its_assertion() {
    let summary = explore(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let add = |count: &AtomicUsize| {
            let value = count.load(Ordering::SeqCst);
            count.store(value + 1, Ordering::SeqCst);
        };
        let other = Arc::clone(&count);
        let thread = thread::spawn(move || add(&other));
        add(&count);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2, "lost");
    });
    assert!(matches!(only(&summary), FailureKind::Panic(panic) if panic.message.contains("lost")));
    let text = summary.to_string();
    assert!(text.contains("count.load(SeqCst) → 0"), "{text}");
    assert!(text.contains("\nwith B before A it does not fail:\n"), "{text}");
    assert!(!text.contains("/rustc/"), "{text}");
}

#[test]
fn a_deadlock_is_told_with_who_waits_for_what() {
    let both = |first: &Mutex<()>, second: &Mutex<()>| {
        let _first = first.lock().unwrap();
        let _second = second.lock().unwrap();
    };
    let run = move |is_right: bool| {
        explore(move || {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            let other = Arc::clone(&locks);
            let thread = thread::spawn(move || match is_right {
                true => both(&other.0, &other.1),
                false => both(&other.1, &other.0),
            });
            both(&locks.0, &locks.1);
            thread.join().unwrap();
        })
    };
    let summary = run(false);
    assert!(matches!(only(&summary), FailureKind::Deadlock(waiting) if waiting.len() == 2));
    let text = summary.to_string();
    assert!(text.contains("main waits for locks.1, held by thread 1 since step "), "{text}");
    assert!(text.contains("cycle: main → locks.1 → thread 1 → locks.0 → main\n"), "{text}");
    assert!(run(true).is_ok());
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let run = |is_right: bool| {
        explore(move || {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            let mut guard = shared.0.lock().unwrap();
            if is_right {
                while !*guard {
                    guard = shared.1.wait(guard).unwrap();
                }
            } else {
                guard = shared.1.wait(guard).unwrap();
            }
            drop(guard);
            thread.join().unwrap();
        })
    };
    let summary = run(false);
    assert!(matches!(only(&summary), FailureKind::Deadlock(waiting) if waiting.len() == 1));
    assert!(run(true).is_ok());
}

#[test]
fn spinning_for_what_does_not_come_is_a_livelock() {
    let run = |value: bool| {
        explore(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = Arc::clone(&flag);
            let thread = thread::spawn(move || other.store(value, Ordering::Release));
            while !flag.load(Ordering::Acquire) {
                thread::yield_now();
            }
            thread.join().unwrap();
        })
    };
    let summary = run(false);
    assert!(matches!(only(&summary), FailureKind::Livelock(waiting) if waiting.len() == 1));
    assert!(run(true).is_ok());
}

struct Shared(UnsafeCell<u32>);

// SAFETY: whether accesses are apart is what the checks find out.
unsafe impl Sync for Shared {}

/// A thread panics with the lock; whoever takes the poisoned lock sees what it wrote.
#[test]
fn a_poisoned_lock_orders_as_any_other_one() {
    let summary = Builder::new().panics_are_results().explore(|| {
        let shared = Arc::new((Mutex::new(()), Shared(UnsafeCell::new(0))));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let _guard = other.0.lock().unwrap();
            // SAFETY: the lock is held.
            other.1.0.with_mut(|cell| unsafe { *cell = 1 });
            panic!("with the lock");
        });
        let guard = shared.0.lock();
        let is_poisoned = guard.is_err();
        // SAFETY: the lock is held.
        let value = shared.1.0.with(|cell| unsafe { *cell });
        assert_eq!(value, u32::from(is_poisoned));
        drop(guard);
        assert!(thread.join().is_err());
    });
    assert!(summary.is_ok(), "{summary}");
}

#[test]
fn channels_of_several_senders_are_right() {
    let summary = explore(|| {
        let (sender, receiver) = mpsc::channel();
        for number in 0..3 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 3);
    });
    assert!(summary.is_ok(), "{summary}");
}

/// The program counts its executions in a number of the standard library.
#[test]
fn what_outlives_an_execution_is_noticed() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let summary = explore(move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        AtomicUsize::new(0).store(number, Ordering::Relaxed);
        let _ = anyorder::choose(2);
    });
    assert!(matches!(summary.incomplete, Some(Incomplete::Diverged(Some(_)))), "{summary}");
    assert!(summary.to_string().contains("outlives an execution"), "{summary}");
}

/// On a busy machine a clock may end a loop before it has spun, in one execution and not in the
/// next.
#[test]
fn a_loop_that_ends_at_times_is_tried_again() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let all = count.clone();
    let summary = explore(move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let flag = AtomicBool::new(false);
        while !flag.load(Ordering::SeqCst) {
            if number % 3 == 2 {
                break;
            }
            thread::yield_now();
        }
    });
    assert!(all.load(Ordering::Relaxed) > 3);
    let livelock = summary.failures.iter().find(|one| matches!(one.kind, FailureKind::Livelock(_)));
    assert!(livelock.is_some_and(|one| one.is_confirmed), "{summary}");
}

#[test]
fn a_loop_that_looks_at_a_clock_is_no_livelock() {
    use std::time::{Duration, Instant};
    let run = |waits: Option<Duration>| {
        Builder::new().explore(move || {
            let flag = AtomicBool::new(false);
            let begun = Instant::now();
            while !flag.load(Ordering::SeqCst) {
                if waits.is_some_and(|waits| begun.elapsed() > waits) {
                    break;
                }
                thread::yield_now();
            }
        })
    };
    // Less than what a loop is watched for, and more than a busy machine takes to see it spin.
    let summary = run(Some(Duration::from_millis(60)));
    assert_eq!((summary.failures.len(), summary.doubts.as_slice()), (0, &[Doubt::Clock][..]));
    let summary = run(None);
    assert!(matches!(only(&summary), FailureKind::Livelock(_)));
}

/// Many threads get stuck in one way, in many sets: a limit is kept, and what it left out is said.
#[test]
fn deadlocks_alike_do_not_outlast_the_limit() {
    let stuck = || {
        let lock = Arc::new(Mutex::new(0));
        for _ in 0..3 {
            let theirs = Arc::clone(&lock);
            thread::spawn(move || {
                if anyorder::choose(2) == 1 {
                    mem::forget(theirs.lock().unwrap());
                }
            });
        }
        drop(lock.lock().unwrap());
    };
    let all = Builder::new().explore(stuck);
    let bounded = Builder::new().executions_max(all.executions).explore(stuck);
    assert!(all.incomplete.is_none() && all.failures_like_them == 0, "{all}");
    let (all, shown) = (all.failures.len(), bounded.failures.len());
    assert!(shown < all && bounded.failures_like_them > 0, "{shown} of {all}: {bounded}");
    assert!(bounded.to_string().contains(" like them"), "{bounded}");
}
