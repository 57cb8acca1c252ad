//! Engines other than the usual one: the same failures, and the counts that are known.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex, RwLock};
use anyorder::{Builder, Engine, FailureKind, Incomplete, Replayed, Summary, thread};

const ALL: [Engine; 3] = [Engine::Learning, Engine::Optimal, Engine::ReadsFrom];

/// Whether a failure is the expected one.
type IsIt = fn(&FailureKind) -> bool;

fn explore(engine: Engine, test: fn()) -> Summary {
    Builder::new().engine(engine).explore(test)
}

/// An update is lost.
fn loses_an_update() {
    let count = AtomicU32::new(0);
    let add = || count.store(count.load(SeqCst) + 1, SeqCst);
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(count.into_inner(), 2);
}

/// Two locks are taken in both orders.
fn deadlocks() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let theirs = Arc::clone(&locks);
    thread::spawn(move || drop((theirs.1.lock().unwrap(), theirs.0.lock().unwrap())));
    drop((locks.0.lock().unwrap(), locks.1.lock().unwrap()));
}

struct Shared(UnsafeCell<u32>);

// SAFETY: it is not safe, and that is to be found; one thread of the process runs at a time.
unsafe impl Sync for Shared {}

/// Nothing orders a write after a read.
fn races() {
    let cell = Arc::new(Shared(UnsafeCell::new(0)));
    let theirs = Arc::clone(&cell);
    // SAFETY: as above.
    thread::spawn(move || theirs.0.with_mut(|value| unsafe { *value = 1 }));
    // SAFETY: as above.
    cell.0.with(|value| assert!(unsafe { *value } < 2));
}

/// Whether a reader that spins sees the flag.
fn spins() {
    let flag = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&flag);
    thread::spawn(move || theirs.store(1, SeqCst));
    while flag.load(SeqCst) == 0 {
        thread::yield_now();
    }
}

/// Three readers share a lock.
fn shares_a_lock() {
    let lock = RwLock::new(7);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(*lock.read().unwrap(), 7));
        }
    });
}

#[test]
fn every_engine_finds_the_failure() {
    let tests: [(fn(), IsIt); 3] = [
        (loses_an_update, |kind| matches!(kind, FailureKind::Panic(_))),
        (deadlocks, |kind| matches!(kind, FailureKind::Deadlock(_))),
        (races, |kind| matches!(kind, FailureKind::Race(_))),
    ];
    for (test, is_it) in tests {
        for engine in ALL {
            let summary = explore(engine, test);
            let [failure] = summary.failures.as_slice() else { panic!("{engine:?}: {summary}") };
            assert!(is_it(&failure.kind) && failure.is_confirmed, "{engine:?}: {summary}");
            assert_eq!(summary.incomplete, None, "{engine:?}: {summary}");
            let again = Builder::new().replay(failure.replay()).explore(test);
            assert_eq!(again.replayed, Some(Replayed::Same), "{engine:?}: {again}");
        }
    }
}

#[test]
fn right_programs_pass_with_few_executions() {
    let runs = |test| {
        [Engine::Optimal, Engine::Learning].map(|engine| {
            let summary = explore(engine, test);
            assert!(summary.is_ok(), "{engine:?}: {summary}");
            summary.executions
        })
    };
    assert_eq!(runs(shares_a_lock), [1, 1]);
    let spun = runs(spins);
    assert!(spun.iter().all(|executions| *executions > 1), "{spun:?}");
}

#[test]
fn what_an_engine_cannot_do_is_said() {
    let summary = explore(Engine::ReadsFrom, spins);
    assert!(matches!(summary.incomplete, Some(Incomplete::Unsupported(_))), "{summary}");
    assert!(!summary.is_ok());
    for engine in [Engine::Optimal, Engine::ReadsFrom] {
        let bounded = Builder::new().engine(engine).preemptions_max(1).explore(shares_a_lock);
        assert_eq!((&bounded.incomplete, bounded.executions), (&Some(Incomplete::Unbounded), 0));
        assert!(!bounded.is_ok() && bounded.to_string().contains("bound of preemptions"));
    }
}

#[test]
fn limits_cut_every_engine() {
    for engine in ALL {
        let summary = Builder::new().engine(engine).executions_max(1).explore(deadlocks);
        assert_eq!(summary.incomplete, Some(Incomplete::Executions), "{engine:?}: {summary}");
    }
}
