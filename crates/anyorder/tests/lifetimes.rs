//! Memory that is freed too early, freed twice, or handed over before it is there.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, FailureKind, MisuseKind, Summary, thread};
use std::ptr;

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    let summary = Builder::new().explore(f);
    assert_eq!((&summary.incomplete, summary.doubts.len()), (&None, 0), "{summary}");
    assert!(summary.failures.iter().all(|failure| failure.is_confirmed), "{summary}");
    summary
}

/// Returns the kinds of misuse that are found, and nothing else is.
fn misuses(f: impl Fn() + Send + Sync + 'static) -> Vec<MisuseKind> {
    let summary = explore(f);
    let kind = |kind: &FailureKind| match kind {
        FailureKind::Misuse(misuse) => misuse.kind,
        other => panic!("{other:?}"),
    };
    summary.failures.iter().map(|failure| kind(&failure.kind)).collect()
}

/// Something on the heap that threads reach by a pointer.
struct Node {
    value: AtomicU32,
    is_done: AtomicBool,
}

#[derive(Clone, Copy)]
struct Shared(*mut Node);

// SAFETY: what is pointed at may be shared; who frees it is what is tested.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Shared {
        Shared(Box::into_raw(Box::new(Node {
            value: AtomicU32::new(0),
            is_done: AtomicBool::new(false),
        })))
    }

    fn node(self) -> &'static Node {
        // SAFETY: the arena keeps what is freed to the end of the execution.
        unsafe { &*self.0 }
    }

    fn free(self) {
        // SAFETY: as above; a second free is found.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

#[test]
fn a_use_that_may_come_after_the_free_is_found() {
    let found = misuses(|| {
        let shared = Shared::new();
        let user = thread::spawn(move || shared.node().value.load(Ordering::Relaxed));
        shared.free();
        user.join().unwrap();
    });
    assert_eq!(found, [MisuseKind::UsedAfterFree]);
}

#[test]
fn who_frees_and_who_uses_are_found_together() {
    // Each of both is seen without the other first, and then there is nothing new to see.
    let summary = explore(|| {
        let shared = Shared::new();
        let flag = Arc::new(AtomicBool::new(false));
        shared.node().value.load(Ordering::Relaxed);
        let (ours, theirs) = (Arc::clone(&flag), Arc::clone(&flag));
        let setter = thread::spawn(move || ours.store(true, Ordering::SeqCst));
        let user = thread::spawn(move || {
            if theirs.load(Ordering::Relaxed) {
                shared.node().value.load(Ordering::Relaxed);
            }
        });
        if !flag.swap(true, Ordering::AcqRel) {
            shared.free();
        }
        setter.join().unwrap();
        user.join().unwrap();
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
    assert!(summary.executions_for_frees > 0, "{summary}");
}

#[test]
fn frees_after_joins_need_no_second_look() {
    let summary = explore(|| {
        let shared = Shared::new();
        let user = thread::spawn(move || shared.node().value.load(Ordering::Relaxed));
        user.join().unwrap();
        shared.free();
    });
    assert!(summary.is_ok() && summary.executions_for_frees == 0, "{summary}");
}

#[test]
fn whoever_waits_for_the_flag_only_may_free_too_early() {
    // As a one-shot channel whose sender wakes the receiver after it gave the channel away.
    let run = |is_last: bool| {
        misuses(move || {
            let shared = Shared::new();
            let user = thread::spawn(move || {
                let node = shared.node();
                if is_last {
                    node.value.fetch_add(1, Ordering::Relaxed);
                }
                node.is_done.store(true, Ordering::Release);
                if !is_last {
                    node.value.fetch_add(1, Ordering::Relaxed);
                }
            });
            while !shared.node().is_done.load(Ordering::Acquire) {
                thread::yield_now();
            }
            shared.free();
            user.join().unwrap();
        })
    };
    assert_eq!(run(true), []);
    assert_eq!(run(false), [MisuseKind::UsedAfterFree]);
}

#[test]
fn a_flag_that_is_not_acquired_is_no_leave_to_free() {
    // The free can never come first, so no execution confirms it.
    let summary = explore(|| {
        let shared = Shared::new();
        let user = thread::spawn(move || shared.node().is_done.store(true, Ordering::Relaxed));
        while !shared.node().is_done.load(Ordering::Acquire) {
            thread::yield_now();
        }
        shared.free();
        user.join().unwrap();
    });
    assert!(summary.is_ok(), "{summary}");
}

#[test]
fn owners_free_when_nobody_uses_it() {
    assert_eq!(
        misuses(|| {
            let node = Arc::new(Mutex::new(1));
            let theirs = Arc::clone(&node);
            drop(thread::spawn(move || *theirs.lock().unwrap() += 1));
            *node.lock().unwrap() += 1;
        }),
        []
    );
    // Those of the standard library count where nobody sees it.
    assert_eq!(
        misuses(|| {
            let node = std::sync::Arc::new(AtomicU32::new(1));
            let theirs = std::sync::Arc::clone(&node);
            drop(thread::spawn(move || theirs.fetch_add(1, Ordering::Relaxed)));
            node.fetch_add(1, Ordering::Relaxed);
        }),
        []
    );
    assert_eq!(
        misuses(|| {
            let shared = Shared::new();
            let user = thread::spawn(move || shared.node().value.load(Ordering::Relaxed));
            user.join().unwrap();
            shared.free();
        }),
        []
    );
}

#[test]
fn what_moves_is_not_freed_with_its_old_place() {
    assert_eq!(
        misuses(|| {
            let all = Arc::new(Mutex::new(vec![AtomicU32::new(0)]));
            all.lock().unwrap()[0].store(1, Ordering::Relaxed);
            let theirs = Arc::clone(&all);
            let other = thread::spawn(move || {
                let mut all = theirs.lock().unwrap();
                all.extend((0..20).map(AtomicU32::new));
                all[0].load(Ordering::Relaxed)
            });
            let count = all.lock().unwrap().len();
            assert!([1, 21].contains(&count));
            assert_eq!(all.lock().unwrap()[0].load(Ordering::Relaxed), 1);
            other.join().unwrap();
        }),
        []
    );
}

#[test]
fn a_second_free_is_found() {
    let run = |takes: bool| {
        misuses(move || {
            let shared = Shared::new();
            let place = Arc::new(AtomicPtr::new(shared.0));
            let theirs = Arc::clone(&place);
            let free = move |place: &AtomicPtr<Node>| {
                let taken = match takes {
                    true => place.swap(ptr::null_mut(), Ordering::AcqRel),
                    false => place.load(Ordering::Acquire),
                };
                if !taken.is_null() {
                    if !takes {
                        place.store(ptr::null_mut(), Ordering::Release);
                    }
                    Shared(taken).free();
                }
            };
            let other = thread::spawn(move || free(&theirs));
            free(&place);
            other.join().unwrap();
        })
    };
    assert_eq!(run(true), []);
    assert!(run(false).contains(&MisuseKind::FreedTwice));
}

#[test]
fn what_is_handed_over_relaxed_may_not_be_there() {
    let run = |order: Ordering| {
        misuses(move || {
            let place = Arc::new(AtomicPtr::<Node>::new(ptr::null_mut()));
            let theirs = Arc::clone(&place);
            let reader = thread::spawn(move || {
                let node = theirs.load(Ordering::Acquire);
                if !node.is_null() {
                    Shared(node).node().value.load(Ordering::Acquire);
                }
            });
            let shared = Shared::new();
            place.store(shared.0, order);
            reader.join().unwrap();
            shared.free();
        })
    };
    assert_eq!(run(Ordering::Release), []);
    assert_eq!(run(Ordering::Relaxed), [MisuseKind::UsedBeforeMade]);
}

#[test]
fn a_cell_that_is_handed_over_in_the_right_way_is_there() {
    struct Plain(UnsafeCell<u32>);
    // SAFETY: the flag orders the accesses.
    unsafe impl Sync for Plain {}
    // SAFETY: as above.
    unsafe impl Send for Plain {}
    assert_eq!(
        misuses(|| {
            let place = Arc::new(Mutex::new(None));
            let theirs = Arc::clone(&place);
            let other = thread::spawn(move || {
                *theirs.lock().unwrap() = Some(Box::new(Plain(UnsafeCell::new(1))));
            });
            let taken = place.lock().unwrap().take();
            // SAFETY: it was taken out of the lock.
            let found = taken.map(|plain: Box<Plain>| plain.0.with(|value| unsafe { *value }));
            assert!(matches!(found, None | Some(1)));
            other.join().unwrap();
        }),
        []
    );
}
