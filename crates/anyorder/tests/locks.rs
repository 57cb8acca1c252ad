//! Locks, conditions, barriers, and what is done once.

use crate::support::{Report, explore, explore_with, learnt, outcomes};
use anyorder::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard, TryLockError,
};
use anyorder::{Setting, thread};
use anyorder_threads::Fault;
use std::time::Duration;

const RESULTS: Setting = Setting { stack_size: 1 << 20, panics_are_results: true };

#[test]
fn data_behind_a_lock_that_is_no_number() {
    let seen = outcomes(|report| {
        let list = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&list);
        let thread = thread::spawn(move || {
            let mut list = theirs.lock().unwrap();
            let length = list.len();
            list.push(format!("theirs {length}"));
        });
        let length = list.lock().unwrap().len();
        list.lock().unwrap().push(format!("mine {length}"));
        thread.join().unwrap();
        report.tell(list.lock().unwrap().join(", "));
    });
    let all = ["mine 0, theirs 1", "theirs 0, mine 0", "theirs 0, mine 1"];
    assert_eq!(seen, all);
}

/// A reader announces itself, and takes that back if there is a writer: it changes something in
/// each turn, and yet waits.
#[test]
fn an_attempt_that_is_taken_back_waits() {
    use anyorder::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    const WRITER: usize = 1;
    const READER: usize = 2;
    let seen = outcomes(|report| {
        let lock = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || {
            let is_free = theirs.fetch_or(WRITER, SeqCst) == 0;
            if is_free {
                theirs.fetch_and(!WRITER, SeqCst);
            }
            is_free
        });
        while lock.fetch_add(READER, SeqCst) & WRITER != 0 {
            lock.fetch_sub(READER, SeqCst);
            anyorder::hint::spin_loop();
        }
        report.tell(lock.load(SeqCst));
        writer.join().unwrap();
    });
    assert!(!seen.is_empty());
}

#[test]
fn readers_share_and_writers_do_not() {
    let seen = outcomes(|report| {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let reader = lock.read().unwrap();
        let thread = thread::spawn(move || {
            (theirs.try_read().is_ok(), matches!(theirs.try_write(), Err(TryLockError::WouldBlock)))
        });
        let both = thread.join().unwrap();
        drop(reader);
        let mut writer = lock.write().unwrap();
        *writer += 1;
        let reader = RwLockWriteGuard::downgrade(writer);
        let second = lock.try_read().map(|second| *second).ok();
        report.tell((both, *reader, second));
    });
    assert_eq!(seen, [((true, true), 2, Some(2))]);
}

#[test]
fn a_panic_poisons() {
    let seen = explore_with(RESULTS, |report| {
        let lock = Arc::new(Mutex::new(1));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let mut guard = theirs.lock().unwrap();
            *guard = 2;
            panic!("in the lock");
        });
        let own = match lock.lock() {
            Ok(guard) => Ok(*guard),
            Err(poisoned) => Err(*poisoned.into_inner()),
        };
        let error = thread.join().unwrap_err();
        assert_eq!(error.downcast_ref::<&str>(), Some(&"in the lock"));
        assert!(lock.is_poisoned() && matches!(lock.try_lock(), Err(TryLockError::Poisoned(_))));
        lock.clear_poison();
        report.tell((own, *lock.lock().unwrap()));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(Ok(1), 2), (Err(2), 2)]);
    assert!(seen.panics.is_empty() && seen.deadlocks == 0);
}

#[test]
fn a_reader_does_not_poison() {
    let seen = explore_with(RESULTS, |report| {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let reads = anyorder::choose(2) == 0;
        let thread = thread::spawn(move || {
            let _guard = (reads.then(|| theirs.read()), (!reads).then(|| theirs.write()));
            panic!("in the lock");
        });
        assert!(thread.join().is_err());
        report.tell((reads, lock.is_poisoned(), lock.read().is_err()));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(false, true, true), (true, false, false)]);
}

#[test]
fn a_panic_is_a_failure_with_its_message() {
    let seen = explore(|_: &Report<()>| {
        let lock = Arc::new(Mutex::new(1));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || *theirs.lock().unwrap() += 1);
        assert_eq!(*lock.lock().unwrap(), 1, "too late");
        thread.join().unwrap();
    });
    assert_eq!(seen.panics.len(), 1);
    assert!(seen.panics.first().is_some_and(|message| message.contains("too late")));
}

#[test]
fn a_condition_wakes_and_nothing_else_does() {
    let seen = explore(|report| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let guard = pair.1.wait_while(pair.0.lock().unwrap(), |is_set| !*is_set).unwrap();
        report.tell(*guard);
        drop(guard);
        thread.join().unwrap();
    });
    assert_eq!((Vec::from_iter(seen.outcomes), seen.deadlocks), (vec![true], 0));
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let seen = explore(|_: &Report<()>| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || theirs.1.notify_all());
        drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
        thread.join().unwrap();
    });
    assert!(seen.deadlocks > 0 && seen.executions > seen.deadlocks);
}

#[test]
fn a_wait_ends_in_both_ways() {
    let seen = outcomes(|report| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) = pair.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        report.tell((*guard, result.timed_out()));
        drop(guard);
        thread.join().unwrap();
    });
    assert_eq!(seen, [(0, true), (1, false), (1, true)]);
}

#[test]
fn a_wait_for_a_condition_ends_in_both_ways() {
    let seen = outcomes(|report| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let second = Duration::from_secs(1);
        let (guard, result) =
            pair.1.wait_timeout_while(guard, second, |count| *count == 0).unwrap();
        report.tell((*guard, result.timed_out()));
        drop(guard);
        thread.join().unwrap();
    });
    assert_eq!(seen, [(0, true), (1, false)]);
}

#[test]
fn any_waiting_thread_may_be_the_one() {
    let (told, faults) = learnt(|report| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let wait = |number: u32| {
            let (shared, report) = (Arc::clone(&shared), report.clone());
            thread::spawn(move || {
                let mut guard = shared.0.lock().unwrap();
                *guard += 1;
                let guard = shared.1.wait(guard).unwrap();
                report.tell((number, *guard));
            })
        };
        let threads = [wait(1), wait(2)];
        let mut guard = shared.0.lock().unwrap();
        if *guard == 2 {
            *guard = 10;
            shared.1.notify_one();
            drop(guard);
            let _ = threads.map(|thread| thread.join().unwrap());
        }
    });
    assert_eq!(Vec::from_iter(told), [(1, 10), (2, 10)]);
    // The other one waits for ever.
    assert!(faults.iter().all(|fault| matches!(fault, Fault::Deadlock(_))) && !faults.is_empty());
}

#[test]
fn a_barrier_has_one_leader() {
    let seen = outcomes(|report| {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = Arc::clone(&barrier);
        let thread = thread::spawn(move || theirs.wait().is_leader());
        let own = barrier.wait().is_leader();
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(false, true), (true, false)]);
}

#[test]
fn what_is_done_once_is_done_by_anyone() {
    let seen = outcomes(|report| {
        let once = Arc::new((Once::new(), Mutex::new(0)));
        let theirs = Arc::clone(&once);
        let thread = thread::spawn(move || theirs.0.call_once(|| *theirs.1.lock().unwrap() += 1));
        once.0.call_once(|| *once.1.lock().unwrap() += 10);
        assert!(once.0.is_completed());
        report.tell(*once.1.lock().unwrap());
        thread.join().unwrap();
    });
    assert_eq!(seen, [1, 10]);
}

#[test]
fn a_value_that_is_set_once() {
    let seen = outcomes(|report| {
        let cell = Arc::new(OnceLock::new());
        let theirs = Arc::clone(&cell);
        let thread = thread::spawn(move || theirs.set("theirs".to_owned()).is_ok());
        let before = cell.get().cloned();
        let value = cell.get_or_init(|| "mine".to_owned()).clone();
        report.tell((before, value, thread.join().unwrap()));
    });
    let text = |text: &str| text.to_owned();
    let all = [
        (None, text("mine"), false),
        (None, text("theirs"), true),
        (Some(text("theirs")), text("theirs"), true),
    ];
    assert_eq!(seen, all);
}

#[test]
fn a_lazy_value_is_made_once() {
    let seen = outcomes(|report| {
        let made = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&made);
        let lazy = LazyLock::new(move || {
            *theirs.lock().unwrap() += 1;
            vec![1, 2]
        });
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(lazy.len(), 2));
            assert_eq!(*lazy, [1, 2]);
        });
        report.tell(*made.lock().unwrap());
    });
    assert_eq!(seen, [1]);
}

#[test]
fn a_panic_while_it_is_done_poisons_it() {
    let seen = explore_with(RESULTS, |report| {
        let once = Arc::new(Once::new());
        let theirs = Arc::clone(&once);
        let thread = thread::spawn(move || theirs.call_once(|| panic!("not done")));
        assert!(thread.join().is_err());
        let theirs = Arc::clone(&once);
        let again = thread::spawn(move || theirs.call_once(|| ())).join().is_err();
        once.call_once_force(|state| assert!(state.is_poisoned()));
        report.tell((again, once.is_completed()));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(true, true)]);
}

#[test]
fn exclusive_borrows_need_no_lock() {
    let seen = outcomes(|report| {
        let mut lock = Mutex::new(1);
        *lock.get_mut().unwrap() = 2;
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() += 1);
            *lock.lock().unwrap() += 1;
        });
        let before = *lock.get_mut().unwrap();
        report.tell((before, lock.into_inner().unwrap()));
    });
    assert_eq!(seen, [(4, 4)]);
}

#[test]
fn a_loop_of_waits_with_a_time_limit_is_no_starvation() {
    use anyorder::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;
    let summary = anyorder::Builder::new().explore(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let waiter = anyorder::thread::spawn(move || {
            let mut ready = theirs.0.lock().unwrap();
            while !*ready {
                ready = theirs.1.wait_timeout(ready, Duration::from_secs(1)).unwrap().0;
            }
        });
        let parked = anyorder::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                while !*shared.0.lock().unwrap() {
                    anyorder::thread::park_timeout(Duration::from_secs(1));
                }
            }
        });
        *shared.0.lock().unwrap() = true;
        shared.1.notify_one();
        waiter.join().unwrap();
        parked.join().unwrap();
    });
    assert!(summary.is_ok(), "{summary}");
}
