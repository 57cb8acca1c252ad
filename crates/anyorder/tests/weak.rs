//! Checks under weak memory: what only it has is found, and right programs stay right.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use anyorder::sync::atomic::{AtomicBool, AtomicU32, fence};
use anyorder::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use anyorder::{Builder, FailureKind, Memory, Summary, thread};

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    Builder::new().memory(Memory::Rc11).explore(f)
}

/// Two threads that each write one flag, do something, and read the other one: whether one of them
/// always sees the other.
fn store_buffering(store: Ordering, load: Ordering, between: Option<Ordering>) -> impl Fn() {
    move || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let enter = move |flags: &[AtomicBool; 2], own: usize| {
            flags[own].store(true, store);
            if let Some(order) = between {
                fence(order);
            }
            flags[1 - own].load(load)
        };
        let theirs = Arc::clone(&flags);
        let other = thread::spawn(move || enter(&theirs, 1));
        let own = enter(&flags, 0);
        assert!(own | other.join().unwrap(), "both went by");
    }
}

#[test]
fn store_buffering_is_as_the_orderings_say() {
    for (store, load, between, is_right) in [
        (Relaxed, Relaxed, None, false),
        (Release, Acquire, None, false),
        (SeqCst, Relaxed, None, false),
        (SeqCst, SeqCst, None, true),
        (Relaxed, Relaxed, Some(AcqRel), false),
        (Relaxed, Relaxed, Some(SeqCst), true),
    ] {
        let summary = explore(store_buffering(store, load, between));
        let context = format!("{store:?} {load:?} {between:?}\n{summary}");
        assert!(summary.failures.is_empty(), "{context}");
        assert_eq!(summary.is_ok(), is_right, "{context}");
        assert_eq!(summary.failures_weak.len(), usize::from(!is_right), "{context}");
        assert!(summary.executions_weak >= Some(3), "{context}");
    }
}

#[test]
fn a_failure_says_that_it_needs_weak_memory() {
    let text = explore(store_buffering(Relaxed, Relaxed, None)).to_string();
    assert!(text.contains("under weak memory, where a load may return an older store"), "{text}");
    assert!(text.contains("both went by"), "{text}");
    assert!(!text.contains("ANYORDER_REPLAY"), "{text}");
}

/// A message without data in cells: nothing races, and only weak memory shows what is missing.
#[test]
fn message_passing_is_as_the_orderings_say() {
    for (store, load, is_right) in [
        (Relaxed, Relaxed, false),
        (Release, Relaxed, false),
        (Relaxed, Acquire, false),
        (Release, Acquire, true),
    ] {
        let summary = explore(move || {
            let (data, flag) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
            let (their_data, their_flag) = (Arc::clone(&data), Arc::clone(&flag));
            let sender = thread::spawn(move || {
                their_data.store(7, Relaxed);
                their_flag.store(true, store);
            });
            if flag.load(load) {
                assert_eq!(data.load(Relaxed), 7);
            }
            sender.join().unwrap();
        });
        assert_eq!(summary.is_ok(), is_right, "{store:?} {load:?}\n{summary}");
        assert!(summary.failures.is_empty(), "{summary}");
    }
}

/// Data that two threads share.
struct Shared(UnsafeCell<u32>);

// SAFETY: the checks see every access; that is what is tested.
unsafe impl Sync for Shared {}

/// Dekker's entry protocol: with too weak orderings both threads are in the section.
#[test]
fn a_lock_of_flags_needs_a_total_order() {
    for (order, is_right) in [(SeqCst, true), (Relaxed, false)] {
        let (store, load) = if order == SeqCst { (SeqCst, SeqCst) } else { (Release, Acquire) };
        let summary = explore(move || {
            let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let data = Arc::new(Shared(UnsafeCell::new(0)));
            let enter = move |flags: &[AtomicBool; 2], data: &Shared, own: usize| {
                flags[own].store(true, store);
                if !flags[1 - own].load(load) {
                    // SAFETY: the other thread sees the flag, or has not come here; where the
                    // orderings are too weak for that, the check finds the race.
                    data.0.with_mut(|data| unsafe { *data += 1 });
                }
            };
            let (their_flags, their_data) = (Arc::clone(&flags), Arc::clone(&data));
            let other = thread::spawn(move || enter(&their_flags, &their_data, 1));
            enter(&flags, &data, 0);
            other.join().unwrap();
        });
        assert!(summary.failures.is_empty(), "{summary}");
        assert_eq!(summary.is_ok(), is_right, "{summary}");
        let is_race = |kind: &FailureKind| matches!(kind, FailureKind::Race(_));
        assert!(summary.failures_weak.iter().all(|failure| is_race(&failure.kind)), "{summary}");
    }
}

#[test]
fn right_programs_stay_right() {
    let programs: [(&str, fn()); 6] = [
        ("mutex", || {
            let count = Arc::new(Mutex::new(0));
            let add = |count: Arc<Mutex<u32>>| thread::spawn(move || *count.lock().unwrap() += 1);
            let threads = [add(Arc::clone(&count)), add(Arc::clone(&count))];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(*count.lock().unwrap(), 2);
        }),
        ("rwlock", || {
            let lock = Arc::new(RwLock::new(0));
            let theirs = Arc::clone(&lock);
            let writer = thread::spawn(move || *theirs.write().unwrap() = 1);
            let seen = *lock.read().unwrap();
            writer.join().unwrap();
            assert!(seen <= *lock.read().unwrap());
        }),
        ("condvar", || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let theirs = Arc::clone(&pair);
            let waker = thread::spawn(move || {
                *theirs.0.lock().unwrap() = true;
                theirs.1.notify_one();
            });
            let mut is_ready = pair.0.lock().unwrap();
            while !*is_ready {
                is_ready = pair.1.wait(is_ready).unwrap();
            }
            drop(is_ready);
            waker.join().unwrap();
        }),
        ("channel", || {
            let (sender, receiver) = mpsc::channel();
            let thread = thread::spawn(move || (0..2).for_each(|item| sender.send(item).unwrap()));
            assert_eq!(receiver.iter().collect::<Vec<i32>>(), [0, 1]);
            thread.join().unwrap();
        }),
        ("barrier", || {
            let (barrier, data) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
            let (theirs, their_data) = (Arc::clone(&barrier), Arc::clone(&data));
            let thread = thread::spawn(move || {
                their_data.store(1, Relaxed);
                theirs.wait();
            });
            barrier.wait();
            assert_eq!(data.load(Relaxed), 1);
            thread.join().unwrap();
        }),
        ("spinning", || {
            let (data, flag) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
            let (their_data, their_flag) = (Arc::clone(&data), Arc::clone(&flag));
            let thread = thread::spawn(move || {
                their_data.store(1, Relaxed);
                their_flag.store(true, Release);
            });
            while !flag.load(Acquire) {
                anyorder::hint::spin_loop();
            }
            assert_eq!(data.load(Relaxed), 1);
            thread.join().unwrap();
        }),
    ];
    for (name, program) in programs {
        let summary = explore(program);
        println!("{name}: {summary}");
        assert!(summary.is_ok(), "{name}: {summary}");
    }
}
