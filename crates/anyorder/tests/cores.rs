//! One execution for each Mazurkiewicz trace, on several cores: the answer is that of one.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Arc, LazyLock, Mutex, mpsc};
use anyorder::{Builder, Engine, FailureKind, Incomplete, Summary, thread};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How often a test ran, and what was found.
type Outcome = (u64, Summary);

fn on(cores: usize, builder: Builder, test: &std::sync::Arc<dyn Fn() + Send + Sync>) -> Outcome {
    let runs = std::sync::Arc::new(AtomicU64::new(0));
    let (count, test) = (std::sync::Arc::clone(&runs), std::sync::Arc::clone(test));
    let body = move || {
        count.fetch_add(1, Relaxed);
        test();
    };
    let summary = builder.engine(Engine::Optimal).cores(cores).explore(body);
    (runs.load(Relaxed), summary)
}

/// Explores a test on one, two and four cores. Returns what one finds, and whether others helped.
fn explore_with(builder: Builder, test: impl Fn() + Send + Sync + 'static) -> (Summary, bool) {
    let test: std::sync::Arc<dyn Fn() + Send + Sync> = std::sync::Arc::new(test);
    let (runs, one) = on(1, builder.clone(), &test);
    let mut is_helped = false;
    for cores in [2, 4] {
        let (more, other) = on(cores, builder.clone(), &test);
        assert_eq!(other.to_string(), one.to_string(), "{cores} cores");
        assert_eq!(other, one, "{cores} cores");
        is_helped |= more > runs;
    }
    (one, is_helped)
}

/// As [`explore_with`], for a test for which others help.
fn explore(test: impl Fn() + Send + Sync + 'static) -> Summary {
    let (summary, is_helped) = explore_with(Builder::new(), test);
    assert!(is_helped, "{summary}");
    summary
}

/// In each of `threads!` orders, `threads` threads draw the numbers from 0 on. Each calls `each`
/// with its own number, counted from 0, and the one that it drew. Returns what they drew.
fn draw(threads: u32, each: impl Fn(u32, u32) + Send + Sync) -> Vec<u32> {
    let count = AtomicU32::new(0);
    let (count, each) = (&count, &each);
    thread::scope(|scope| {
        let draw = |own| {
            move || {
                let drawn = count.fetch_add(1, SeqCst);
                each(own, drawn);
                drawn
            }
        };
        let threads: Vec<_> = (0..threads).map(|own| scope.spawn(draw(own))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn panics_are_found_in_the_same_order() {
    let summary = explore(|| {
        let drawn = draw(6, |_, _| {});
        assert!(drawn[0] < 5, "{} after {}", drawn[1], drawn[2]);
    });
    assert_eq!((summary.executions, summary.failures.len()), (720, 20));
    // Two threads fail in one execution.
    let summary = explore(|| {
        draw(6, |own, drawn| assert!(drawn != own || own > 1, "{own} drew its number"));
    });
    assert!(summary.failures.len() >= 2, "{summary}");
}

#[test]
fn deadlocks_and_races_are_found() {
    let summary = explore(|| {
        let locks = (Mutex::new(0), Mutex::new(0));
        draw(5, |own, drawn| match (own, drawn) {
            (0, 2) => drop((locks.0.lock().unwrap(), locks.1.lock().unwrap())),
            (1, 3) => drop((locks.1.lock().unwrap(), locks.0.lock().unwrap())),
            (2, 4) => drop(locks.0.lock().unwrap()),
            _ => {}
        });
        draw(3, |_, _| {});
    });
    let is_deadlock = |kind: &FailureKind| matches!(kind, FailureKind::Deadlock(_));
    assert!(summary.failures.iter().any(|failure| is_deadlock(&failure.kind)), "{summary}");

    struct Shared(UnsafeCell<u32>);
    // SAFETY: it is not safe, and that is to be found: each execution has its own.
    unsafe impl Sync for Shared {}
    let summary = explore(|| {
        let shared = Shared(UnsafeCell::new(0));
        let shared = &shared;
        draw(6, |own, drawn| {
            if own + drawn == 5 && own > 2 {
                // SAFETY: as above; one thread of an execution runs at a time.
                shared.0.with_mut(|value| unsafe { *value = own });
            }
        });
    });
    let is_race = |kind: &FailureKind| matches!(kind, FailureKind::Race(_));
    assert!(summary.failures.len() > 1, "{summary}");
    assert!(summary.failures.iter().all(|failure| is_race(&failure.kind)), "{summary}");
}

#[test]
fn leaks_are_found() {
    struct Link(Mutex<Option<Arc<Link>>>);
    let summary = explore(|| {
        let drawn = draw(6, |_, _| {});
        let (one, two) = (Arc::new(Link(Mutex::new(None))), Arc::new(Link(Mutex::new(None))));
        if drawn[5] == 0 && drawn[4] == 1 {
            *one.0.lock().unwrap() = Some(Arc::clone(&one));
        }
        if drawn[3] == 0 {
            *two.0.lock().unwrap() = Some(Arc::clone(&two));
        }
    });
    let is_leak = |kind: &FailureKind| matches!(kind, FailureKind::Leak(_));
    assert_eq!(summary.failures.len(), 2, "{summary}");
    assert!(summary.failures.iter().all(|failure| is_leak(&failure.kind)), "{summary}");
}

static COUNT: AtomicU32 = AtomicU32::new(3);
static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1]));

anyorder::thread_local! {
    static OWN: std::cell::Cell<u32> = const { std::cell::Cell::new(7) };
    static BOXED: std::cell::RefCell<Vec<Box<u32>>> = std::cell::RefCell::default();
}

#[test]
fn statics_and_thread_locals_begin_anew_on_each_core() {
    let summary = explore(|| {
        assert!(LIST.lock().unwrap().is_empty());
        draw(4, |own, drawn| {
            COUNT.fetch_add(1, SeqCst);
            assert_eq!(OWN.with(|own| own.replace(0)), 7);
            BOXED.with(|boxed| boxed.borrow_mut().push(Box::new(own)));
            assert_eq!(BOXED.with(|boxed| boxed.borrow().len()), 1);
            if drawn > 2 {
                LAZY.lock().unwrap().push(own);
                LIST.lock().unwrap().push(own.to_string());
            }
        });
        assert_eq!(COUNT.load(SeqCst), 7);
        assert_eq!((LAZY.lock().unwrap().len(), LIST.lock().unwrap().len()), (2, 1));
    });
    assert!(summary.is_ok() && summary.executions >= 576, "{summary}");
}

#[test]
fn channels_owners_and_pointers_are_the_same_on_each_core() {
    let summary = explore(|| {
        let (sender, receiver) = mpsc::channel();
        let senders: Vec<_> = (0..3).map(|_| sender.clone()).collect();
        drop(sender);
        thread::scope(|scope| {
            for (own, sender) in senders.into_iter().enumerate() {
                scope.spawn(move || sender.send(Box::new(own as u32)).unwrap());
            }
        });
        let all: Vec<u32> = receiver.iter().map(|own| *own).collect();
        assert_eq!(all.len(), 3);
        draw(4, |_, _| {});
    });
    assert!(summary.is_ok(), "{summary}");

    let summary = explore(|| {
        let shared = Arc::new(AtomicU32::new(0));
        draw(3, |_, _| {});
        let threads: Vec<_> = (0..4)
            .map(|_| Arc::clone(&shared))
            .map(|shared| thread::spawn(move || shared.fetch_add(1, SeqCst)))
            .collect();
        drop(shared);
        threads.into_iter().for_each(|thread| drop(thread.join()));
    });
    assert!(summary.is_ok(), "{summary}");

    struct Node(u32, *mut Node);
    let summary = explore(|| {
        let head = AtomicPtr::new(ptr::null_mut());
        draw(4, |own, _| {
            let node = Box::into_raw(Box::new(Node(own, ptr::null_mut())));
            let next = head.swap(node, SeqCst);
            // SAFETY: nobody else writes there before all are joined.
            unsafe { (*node).1 = next };
        });
        let (mut next, mut count) = (head.load(SeqCst), 0);
        while !next.is_null() {
            // SAFETY: it came from a box, and is in the list once.
            let node = unsafe { Box::from_raw(next) };
            count += u32::from(node.0 < 4);
            next = node.1;
        }
        assert_eq!(count, 4);
    });
    assert!(summary.is_ok(), "{summary}");
}

/// Threads that are spawned in one order here and in another one there.
#[test]
fn threads_have_the_same_numbers_on_each_core() {
    let summary = explore(|| {
        let total = AtomicU32::new(0);
        draw(4, |_, _| {});
        draw(4, |own, drawn| {
            if own + drawn == 3 && own < 2 {
                thread::scope(|scope| {
                    let add = || total.fetch_add(own + 1, SeqCst);
                    let one = scope.spawn(add);
                    if drawn > 2 {
                        scope.spawn(add);
                    }
                    assert!(one.join().unwrap() < 2, "{own} is late");
                });
            }
        });
    });
    assert!(summary.failures.len() > 1 && summary.executions > 256, "{summary}");
}

/// What lies outside of executions is used by one core alone.
#[test]
fn data_outside_of_executions_binds_a_test_to_one_core() {
    let outside = std::sync::Arc::new(Mutex::new(vec![0_u32]));
    let theirs = std::sync::Arc::clone(&outside);
    let (summary, is_helped) = explore_with(Builder::new(), move || {
        draw(6, |_, drawn| {
            if drawn == 5 {
                drop(theirs.lock().unwrap().clone());
            }
        });
    });
    assert!(!is_helped && !summary.doubts.is_empty(), "{summary}");
    // Where only a late execution comes to it, what others did is thrown away.
    let (summary, is_helped) = explore_with(Builder::new(), move || {
        let drawn = draw(6, |_, _| {});
        if drawn == [5, 4, 3, 2, 1, 0] {
            assert_eq!(outside.lock().unwrap().clone(), [0]);
        }
    });
    assert!(is_helped && !summary.doubts.is_empty(), "{summary}");
    assert_eq!((summary.executions, summary.failures.len()), (720, 0));
}

#[test]
fn limits_are_those_of_one_core() {
    let builder = Builder::new().executions_max(500);
    let (summary, is_helped) = explore_with(builder, || {
        let drawn = draw(6, |_, _| {});
        assert!(drawn[0] < 5, "{} after {}", drawn[1], drawn[2]);
    });
    assert_eq!((&summary.incomplete, summary.executions), (&Some(Incomplete::Executions), 500));
    assert!(is_helped);
    // When the time is over, all stop, and what was found is there.
    let builder = Builder::new().engine(Engine::Optimal).cores(3);
    let builder = builder.time_max(std::time::Duration::from_millis(900));
    let summary = builder.explore(|| {
        let drawn = draw(12, |_, _| {});
        assert_eq!(drawn[0], 0);
    });
    assert!(matches!(summary.incomplete, Some(Incomplete::Stopped(_))), "{summary}");
    assert!(summary.executions >= 256 && !summary.failures.is_empty(), "{summary}");
    assert!(summary.failures.iter().all(|failure| failure.is_confirmed), "{summary}");
}

/// Memory that is freed too early, which the engine does not see.
#[test]
fn misuses_of_memory_are_found() {
    let (summary, _) = explore_with(Builder::new(), || {
        let value = Box::into_raw(Box::new(AtomicU32::new(0)));
        let value = value as usize;
        draw(5, |own, drawn| {
            let value = value as *mut AtomicU32;
            if own == 4 {
                // SAFETY: it is not safe: others may use it later. That is to be found.
                drop(unsafe { Box::from_raw(value) });
            } else if own == 3 && drawn == 0 {
                // SAFETY: as above.
                unsafe { &*value }.fetch_add(1, SeqCst);
            }
        });
        draw(3, |_, _| {});
    });
    assert!(!summary.failures.is_empty(), "{summary}");
}
