//! What is left over: owners, memory, and what an execution that is cut short leaves.

use anyorder::alloc::{Layout, Track, alloc, dealloc};
use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, FailureKind, Summary, thread};
use std::{mem, ptr};

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    let summary = Builder::new().explore(f);
    assert_eq!((&summary.incomplete, summary.doubts.len()), (&None, 0), "{summary}");
    assert!(summary.failures.iter().all(|failure| failure.is_confirmed), "{summary}");
    summary
}

/// Returns the lines at which something was made that leaks.
fn leaks(f: impl Fn() + Send + Sync + 'static) -> Vec<u32> {
    let summary = explore(f);
    let lines = |kind: &FailureKind| match kind {
        FailureKind::Leak(leaks) => leaks.iter().map(|leak| leak.made.line).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    summary.failures.iter().flat_map(|failure| lines(&failure.kind)).collect()
}

#[test]
fn what_is_dropped_does_not_leak() {
    let nothing: Vec<u32> = Vec::new();
    let found = leaks(|| {
        let shared = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&shared);
        // Nobody joins it.
        drop(thread::spawn(move || theirs.lock().unwrap().push(Arc::new(1))));
        shared.lock().unwrap().push(Arc::new(2));
        // SAFETY: as they must be used.
        unsafe { dealloc(alloc(Layout::new::<u64>()), Layout::new::<u64>()) };
        assert_eq!(Track::new(3).into_inner(), 3);
        let dynamic: std::sync::Arc<dyn Send + Sync> = std::sync::Arc::new(String::from("text"));
        drop(Arc::from_std(dynamic));
        let raw = Arc::into_raw(Arc::new(4));
        // SAFETY: as above.
        drop(unsafe { Arc::from_raw(raw) });
        assert_eq!(Arc::try_unwrap(Arc::new(5)), Ok(5));
    });
    assert_eq!(found, nothing);
}

#[test]
fn what_is_forgotten_leaks() {
    assert_eq!(leaks(|| mem::forget(Arc::new(1))), [line!()]);
    assert_eq!(leaks(|| mem::forget(Track::new(1))), [line!()]);
    // SAFETY: memory may be lost.
    assert_eq!(leaks(|| _ = unsafe { alloc(Layout::new::<u8>()) }), [line!()]);
    let dynamic = || std::sync::Arc::new(1) as std::sync::Arc<dyn Send + Sync>;
    assert_eq!(leaks(move || mem::forget(Arc::from_std(dynamic()))), [line!()]);
    let by_another = || drop(thread::spawn(|| mem::forget(Arc::new(1))));
    assert_eq!(leaks(by_another), [line!() - 1]);
    let summary = Builder::new().leaks_allowed().explore(|| mem::forget(Track::new(1)));
    assert!(summary.is_ok(), "where it is allowed: {summary}");
}

/// Whether it leaks depends on who comes first. The threads end alike either way.
#[test]
fn a_leak_in_one_order_is_found() {
    let at = line!() + 2;
    let found = leaks(|| {
        let shared = Arc::new(1);
        let flag = std::sync::Arc::new(AtomicBool::new(false));
        let theirs = std::sync::Arc::clone(&flag);
        let other = thread::spawn(move || theirs.store(true, SeqCst));
        match flag.load(SeqCst) {
            true => mem::forget(shared),
            false => drop(shared),
        }
        drop(other);
    });
    assert_eq!(found, [at]);
}

/// A message that is exchanged for another one, and nobody frees the one that it was.
#[test]
fn a_value_in_a_pointer_leaks_where_it_is_replaced() {
    let run = |is_right: bool| {
        leaks(move || {
            let slot = Arc::new(AtomicPtr::new(ptr::null_mut::<Track<u8>>()));
            let theirs = Arc::clone(&slot);
            let put = move |slot: &AtomicPtr<Track<u8>>| {
                let new = Box::into_raw(Box::new(Track::new(1)));
                let old = slot.swap(new, SeqCst);
                if is_right && !old.is_null() {
                    // SAFETY: whoever takes it owns it.
                    drop(unsafe { Box::from_raw(old) });
                }
            };
            let other = thread::spawn(move || put(&theirs));
            put(&slot);
            other.join().unwrap();
            let last = slot.swap(ptr::null_mut(), SeqCst);
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(last) });
        })
    };
    assert!(run(true).is_empty());
    assert!(!run(false).is_empty());
}

/// After a panic nothing is said of what it left.
#[test]
fn a_panic_is_told_alone() {
    let summary = explore(|| {
        mem::forget(Arc::new(1));
        let other = thread::spawn(|| panic!("alone"));
        assert!(other.join().is_err());
    });
    assert_eq!(summary.failures.len(), 1);
    assert!(summary.to_string().contains("alone"));
}

/// Destructors that never run where a thread waits do not run there when the execution is over.
#[test]
fn an_execution_that_is_cut_runs_no_destructors() {
    struct Waiting<'f>(&'f AtomicBool);
    impl Drop for Waiting<'_> {
        fn drop(&mut self) {
            assert!(self.0.load(SeqCst), "dropped while it waits");
        }
    }
    let summary = explore(|| {
        let flag = AtomicBool::new(false);
        let waiting = Waiting(&flag);
        thread::park();
        flag.store(true, SeqCst);
        drop(waiting);
    });
    assert!(
        matches!(&summary.failures[..], [failure] if matches!(failure.kind, FailureKind::Deadlock(_)))
    );
}

/// A pointer is an access for as long as it lives.
#[test]
fn a_pointer_that_is_kept_too_long_races() {
    struct Shared(UnsafeCell<u32>, AtomicBool);
    // SAFETY: the flag says whose the cell is; if not, that is what the test is about.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    let run = |too_long: bool, write: bool| {
        explore(move || {
            let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicBool::new(false)));
            let theirs = Arc::clone(&shared);
            let other = thread::spawn(move || {
                if theirs.1.load(SeqCst) {
                    // SAFETY: as above.
                    theirs.0.with_mut(|value| unsafe { *value += 1 });
                }
            });
            if write {
                let pointer = shared.0.get_mut();
                if !too_long {
                    drop(pointer);
                    shared.1.store(true, SeqCst);
                } else {
                    shared.1.store(true, SeqCst);
                    drop(pointer);
                }
            } else {
                let pointer = shared.0.get();
                if !too_long {
                    drop(pointer);
                    shared.1.store(true, SeqCst);
                } else {
                    shared.1.store(true, SeqCst);
                    drop(pointer);
                }
            }
            other.join().unwrap();
        })
    };
    for write in [false, true] {
        assert!(run(false, write).is_ok());
        let summary = run(true, write);
        let is_race = |kind: &FailureKind| matches!(kind, FailureKind::Race(..));
        assert!(summary.failures.iter().any(|failure| is_race(&failure.kind)), "{summary}");
    }
}

/// The receiver destroys what nobody receives. Without it the items are lost.
#[test]
fn items_that_no_receiver_destroys_leak() {
    use anyorder::sync::mpsc;
    let line = line!() + 4;
    let run = |receives: usize, forgets: bool, sends: usize| {
        leaks(move || {
            #[rustfmt::skip]
            let (sender, receiver) = mpsc::channel();
            let other = thread::spawn(move || {
                for item in 0..sends {
                    sender.send(item).unwrap();
                }
            });
            for _ in 0..receives {
                receiver.recv().unwrap();
            }
            other.join().unwrap();
            if forgets {
                mem::forget(receiver);
            }
        })
    };
    assert_eq!(run(1, true, 2), [line]);
    assert_eq!(run(2, true, 2), []);
    assert_eq!(run(0, true, 0), []);
    assert_eq!(run(1, false, 2), []);
    // What a full channel refuses is given back.
    let found = leaks(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.try_send(1).unwrap();
        sender.try_send(2).unwrap_err();
        receiver.recv().unwrap();
        mem::forget(receiver);
    });
    assert_eq!(found, []);
}
