//! The surface of `parking_lot`.

use anyorder::parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, const_mutex,
};
use anyorder::{Builder, FailureKind, Summary, sync::Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as Outside;
use std::time::Duration;
use std::{collections::BTreeSet, fmt::Debug};

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    let summary = Builder::new().explore(f);
    assert_eq!((&summary.incomplete, summary.doubts.len()), (&None, 0), "{summary}");
    summary
}

/// All outcomes of a program.
fn outcomes<T: Ord + Clone + Debug + Send + 'static>(
    f: impl Fn() -> T + Send + Sync + 'static,
) -> BTreeSet<T> {
    // What is told is no part of the program.
    let all: std::sync::Arc<Outside<BTreeSet<T>>> = std::sync::Arc::default();
    let theirs = std::sync::Arc::clone(&all);
    let summary = explore(move || {
        let outcome = f();
        theirs.lock().unwrap().insert(outcome);
    });
    assert!(summary.is_ok(), "{summary}");
    let found = all.lock().unwrap();
    found.clone()
}

#[test]
fn a_mutex_excludes() {
    let found = outcomes(|| {
        let shared = Arc::new(Mutex::new((0, false)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let mut guard = theirs.lock();
            guard.0 += 1;
            guard.0 += 1;
        });
        let tried = shared.try_lock().map(|guard| guard.0);
        let timed = shared.try_lock_for(Duration::from_millis(1)).map(|guard| guard.0);
        other.join().unwrap();
        assert!(!shared.is_locked());
        assert_eq!(shared.lock().0, 2);
        (tried, timed)
    });
    let values: BTreeSet<Option<i32>> = found.iter().flat_map(|one| [one.0, one.1]).collect();
    assert_eq!(values, [None, Some(0), Some(2)].into(), "nobody sees half of a change: {found:?}");
}

#[test]
fn a_look_at_a_lock_is_in_nobodys_way() {
    let found = outcomes(|| {
        let shared = Arc::new(Mutex::new(()));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.try_lock().is_some());
        let seen = shared.is_locked();
        (seen, other.join().unwrap())
    });
    assert_eq!(found, [(false, true), (true, true)].into());
    let found = outcomes(|| {
        let shared = Arc::new(RwLock::new(()));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || drop(theirs.read()));
        let seen = (shared.is_locked(), shared.is_locked_exclusive());
        other.join().unwrap();
        seen
    });
    assert_eq!(found, [(false, false), (true, false)].into());
}

#[test]
fn a_panic_poisons_nothing() {
    static COUNT: Mutex<u32> = const_mutex(1);
    let summary = explore(|| {
        let inside = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = COUNT.lock();
            *guard += 1;
            panic!("it is caught");
        }));
        assert!(inside.is_err());
        assert_eq!(*COUNT.lock(), 2);
        let lock = RwLock::new(1);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.write();
            panic!("it is caught");
        }));
        assert_eq!(*lock.read(), 1);
        assert_eq!(lock.into_inner(), 1);
    });
    assert!(summary.is_ok(), "{summary}");
}

#[test]
fn without_the_lock_others_have_it() {
    let found = outcomes(|| {
        let shared = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || *theirs.lock() += 1);
        let mut guard = shared.lock();
        let before = *guard;
        MutexGuard::unlocked(&mut guard, || {});
        let after = *guard;
        drop(guard);
        other.join().unwrap();
        (before, after)
    });
    assert_eq!(found, [(0, 0), (0, 1), (1, 1)].into());
}

#[test]
fn one_reader_may_become_the_writer() {
    let found = outcomes(|| {
        let shared = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&shared);
        let reader = thread::spawn(move || *theirs.read());
        let guard = shared.upgradable_read();
        assert!(shared.try_upgradable_read().is_none() && shared.try_read().is_some());
        let mut guard = match RwLockUpgradableReadGuard::try_upgrade(guard) {
            Ok(guard) => guard,
            Err(guard) => RwLockUpgradableReadGuard::upgrade(guard),
        };
        *guard += 1;
        *guard += 1;
        let guard = RwLockWriteGuard::downgrade_to_upgradable(guard);
        let guard = RwLockUpgradableReadGuard::downgrade(guard);
        assert!(shared.try_write().is_none() && *guard == 2);
        drop(guard);
        reader.join().unwrap()
    });
    assert_eq!(found, [0, 2].into());
}

#[test]
fn upgrades_of_two_readers_wait_for_each_other() {
    // Two plain readers cannot upgrade; a reader that waits for the writer it keeps out can.
    let summary = explore(|| {
        let shared = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let _reads = theirs.read();
            drop(theirs.upgradable_read());
        });
        let guard = shared.upgradable_read();
        let guard = RwLockUpgradableReadGuard::upgrade(guard);
        drop(guard);
        other.join().unwrap();
    });
    assert!(
        summary.failures.iter().all(|one| matches!(one.kind, FailureKind::Deadlock(_)))
            && summary.failures.len() == 1,
        "{summary}"
    );
}

#[test]
fn a_condition_tells_whom_it_woke() {
    let found = outcomes(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let mut ready = theirs.0.lock();
            *ready = true;
            theirs.1.notify_one()
        });
        let mut ready = shared.0.lock();
        let result = match *ready {
            true => None,
            false => Some(shared.1.wait_for(&mut ready, Duration::from_millis(1)).timed_out()),
        };
        shared.1.wait_while(&mut ready, |ready| !*ready);
        drop(ready);
        (result, other.join().unwrap())
    });
    // It is woken, late before the notification, late after it, or there is nothing to wait for.
    let expected = [(None, false), (Some(false), true), (Some(true), false), (Some(true), true)];
    assert_eq!(found, expected.into());
    assert_eq!(
        outcomes(|| {
            let condition = Condvar::default();
            condition.notify_all()
        }),
        [0].into()
    );
}
