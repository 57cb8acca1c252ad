//! Shared ownership.

use crate::support::outcomes;
use anyorder::sync::{Arc, Weak};
use anyorder::thread;
use std::fmt::Display;

#[test]
fn one_of_two_owners_is_the_last() {
    let seen = outcomes(|report| {
        let value = Arc::new("value".to_owned());
        let theirs = Arc::clone(&value);
        let thread = thread::spawn(move || Arc::into_inner(theirs).is_some());
        let own = Arc::into_inner(value).is_some();
        report.tell((own, thread.join().unwrap()));
    });
    assert_eq!(seen, [(false, true), (true, false)]);
}

#[test]
fn an_owner_may_become_the_only_one() {
    let seen = outcomes(|report| {
        let value = Arc::new(5);
        let theirs = Arc::clone(&value);
        let thread = thread::spawn(move || drop(theirs));
        let count = Arc::strong_count(&value);
        let own = Arc::try_unwrap(value).map_err(|value| *value);
        report.tell((count, own));
        thread.join().unwrap();
    });
    assert_eq!(seen, [(1, Ok(5)), (2, Ok(5)), (2, Err(5))]);
}

#[test]
fn weak_references_end_with_the_last_owner() {
    let seen = outcomes(|report| {
        let value = Arc::new(5);
        let weak = Arc::downgrade(&value);
        let thread = thread::spawn(move || weak.upgrade().map(|value| *value));
        drop(value);
        report.tell(thread.join().unwrap());
    });
    assert_eq!(seen, [None, Some(5)]);
}

#[test]
fn exclusive_access_needs_the_only_reference() {
    let seen = outcomes(|report| {
        let mut value = Arc::new(vec![1]);
        Arc::get_mut(&mut value).unwrap().push(2);
        let weak = Arc::downgrade(&value);
        assert!(Arc::get_mut(&mut value).is_none() && Arc::weak_count(&value) == 1);
        Arc::make_mut(&mut value).push(3);
        assert!(weak.upgrade().is_none());
        let other = Arc::clone(&value);
        Arc::make_mut(&mut value).push(4);
        report.tell((value.to_vec(), other.to_vec()));
    });
    assert_eq!(seen, [(vec![1, 2, 3, 4], vec![1, 2, 3])]);
}

#[test]
fn cycles_addresses_and_other_types() {
    anyorder::check(|| {
        struct Node {
            own: Weak<Node>,
            number: u32,
        }
        let node = Arc::new_cyclic(|own| {
            assert!(own.upgrade().is_none());
            Node { own: own.clone(), number: 3 }
        });
        assert!(Arc::ptr_eq(&node, &node.own.upgrade().unwrap()));
        let raw = Arc::into_raw(node);
        // SAFETY: it is given back once.
        let node = unsafe { Arc::from_raw(raw) };
        assert_eq!((node.number, Arc::strong_count(&node), Arc::weak_count(&node)), (3, 1, 1));
        let shown: Arc<dyn Display> = Arc::coerce(Arc::new(7_u8), |shared| shared as _);
        let again = Arc::clone(&shown);
        assert_eq!((shown.to_string(), again.to_string()), ("7".to_owned(), "7".to_owned()));
        // SAFETY: as above.
        let raw = unsafe { Arc::from_raw(Arc::into_raw(again)) };
        drop(shown);
        assert_eq!(raw.to_string(), "7");
    });
}

#[test]
fn a_value_is_destroyed_once() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    struct Noted;
    impl Drop for Noted {
        fn drop(&mut self) {
            DESTROYED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let seen = crate::support::explore(|_: &crate::support::Report<()>| {
        let value = Arc::new(Noted);
        let theirs = Arc::clone(&value);
        let thread = thread::spawn(move || drop(theirs));
        if anyorder::choose(2) == 1 {
            thread::park();
        }
        drop(value);
        thread.join().unwrap();
    });
    // Each execution of both explorations that completes destroys one, and some of the others do.
    let destroyed = u64::from(DESTROYED.load(Ordering::Relaxed));
    let completed = seen.executions - seen.deadlocks;
    assert!(destroyed > completed && destroyed < 2 * seen.executions, "{destroyed} {seen:?}");
    assert!(seen.deadlocks > 0, "{seen:?}");
}

#[test]
fn an_owner_from_outside() {
    let shared = Arc::new(1);
    let theirs = Arc::clone(&shared);
    anyorder::check(move || {
        assert_eq!(Arc::strong_count(&theirs), 2);
        let own = Arc::clone(&theirs);
        thread::spawn(move || drop(own)).join().unwrap();
        assert_eq!(Arc::strong_count(&theirs), 2);
    });
    assert_eq!(Arc::try_unwrap(shared), Ok(1));
}
