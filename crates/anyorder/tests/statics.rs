//! Statics begin anew in each execution.

use crate::support::{explore, outcomes};
use anyorder::cell::{Cell, UnsafeCell};
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use anyorder::thread;

static COUNT: AtomicU32 = AtomicU32::new(3);
static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
static SHARED: RwLock<(u8, Option<Box<u32>>)> = RwLock::new((1, None));
static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1]));
static CHANGED: Condvar = Condvar::new();

struct Plain(UnsafeCell<u32>);
// SAFETY: the test accesses it under a lock.
unsafe impl Sync for Plain {}
static PLAIN: Plain = Plain(UnsafeCell::new(5));

fn use_all(by: &str) {
    COUNT.fetch_add(1, SeqCst);
    LIST.lock().unwrap().push(by.to_owned());
    let mut shared = SHARED.write().unwrap();
    shared.1 = Some(Box::new(u32::from(shared.0)));
    shared.0 += 1;
    drop(shared);
    ONCE.call_once(|| ());
    CHANGED.notify_all();
}

#[test]
fn statics_begin_anew() {
    let seen = outcomes(|report| {
        assert_eq!(COUNT.load(SeqCst), 3);
        assert!(!ONCE.is_completed() && CELL.get().is_none() && LIST.lock().unwrap().is_empty());
        assert_eq!(*SHARED.read().unwrap(), (1, None));
        use_all("mine");
        let thread = thread::spawn(|| CELL.get_or_init(|| "theirs".to_owned()));
        CELL.get_or_init(|| "mine".to_owned());
        thread.join().unwrap();
        let list = LIST.lock().unwrap().clone();
        let shared = SHARED.read().unwrap().clone();
        report.tell((COUNT.load(SeqCst), list, shared, CELL.get().unwrap().clone()));
    });
    let names = seen.iter().map(|(count, list, shared, name)| {
        assert_eq!((*count, list.as_slice()), (4, ["mine".to_owned()].as_slice()));
        assert_eq!(*shared, (2, Some(Box::new(1))));
        name.clone()
    });
    assert_eq!(Vec::from_iter(names), ["mine", "theirs"]);
}

#[test]
fn lazy_statics_begin_anew() {
    let seen = outcomes(|report| {
        let thread = thread::spawn(|| LAZY.lock().unwrap().push(2));
        LAZY.lock().unwrap().push(3);
        thread.join().unwrap();
        report.tell(LAZY.lock().unwrap().clone());
    });
    assert_eq!(seen, [vec![1, 2, 3], vec![1, 3, 2]]);
}

#[test]
fn cells_in_statics_begin_anew() {
    let seen = outcomes(|report| {
        let add = |by: u32| {
            let _guard = LIST.lock().unwrap();
            // SAFETY: under the lock.
            PLAIN.0.with_mut(|value| unsafe { *value += by });
            // SAFETY: as above.
            PLAIN.0.with(|value| unsafe { *value })
        };
        let thread = thread::spawn(move || add(1));
        let own = add(10);
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(15, 16), (16, 6)]);
}

#[test]
fn tests_at_the_same_time_do_not_share_statics() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let seen = explore(|report| {
                        use_all("a");
                        report.tell((COUNT.load(SeqCst), LIST.lock().unwrap().len()));
                    });
                    assert_eq!(Vec::from_iter(seen.outcomes), [(4, 1)]);
                }
            });
        }
    });
}

#[test]
fn cells_of_one_thread() {
    let seen = outcomes(|report| {
        let cell = Cell::new(1);
        cell.set(cell.get() + 1);
        let other = Cell::new(5);
        cell.swap(&other);
        report.tell((cell.replace(0), cell.take(), other.into_inner()));
    });
    assert_eq!(seen, [(5, 0, 2)]);
}

/// Two threads write without an order: a race, which an ordering of the flag between them ends.
#[test]
fn races_of_cells_are_found() {
    use anyorder::sync::Arc;
    use anyorder::sync::atomic::{AtomicBool, Ordering};
    use anyorder::{Builder, FailureKind};
    struct Shared(UnsafeCell<u32>, AtomicBool);
    // SAFETY: the test is whether accesses are ordered.
    unsafe impl Sync for Shared {}
    let run = |store, load| {
        Builder::new().explore(move || {
            let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicBool::new(false)));
            let theirs = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                // SAFETY: the pointer is valid; no other thread runs meanwhile.
                theirs.0.with_mut(|value| unsafe { *value = 1 });
                theirs.1.store(true, store);
            });
            if shared.1.load(load) {
                // SAFETY: as above.
                assert_eq!(shared.0.with(|value| unsafe { *value }), 1);
            }
            thread.join().unwrap();
        })
    };
    let right = run(Ordering::Release, Ordering::Acquire);
    assert!(right.failures.is_empty() && right.incomplete.is_none(), "{right}");
    for (store, load) in
        [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)]
    {
        let wrong = run(store, load);
        let kinds: Vec<_> = wrong.failures.iter().map(|failure| &failure.kind).collect();
        assert!(matches!(kinds.as_slice(), [FailureKind::Race(_)]), "{wrong}");
    }
}
