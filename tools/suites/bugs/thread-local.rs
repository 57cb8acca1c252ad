//! An iterator finds the values of other threads.

use anyorder::sync::Arc;
use anyorder::thread;
use subject::ThreadLocal;

#[test]
fn bug() {
    anyorder::check(|| {
        let all = Arc::new(ThreadLocal::with_capacity(0));
        let theirs = Arc::clone(&all);
        let other = thread::spawn(move || {
            theirs.get_or(|| 1);
        });
        assert!(all.iter().count() <= 1);
        other.join().unwrap();
    });
}

#[test]
fn right_after_the_join() {
    anyorder::check(|| {
        let all = Arc::new(ThreadLocal::with_capacity(0));
        let theirs = Arc::clone(&all);
        let other = thread::spawn(move || {
            theirs.get_or(|| 1);
        });
        other.join().unwrap();
        assert_eq!(all.iter().count(), 1);
    });
}

#[test]
fn right_the_bucket_is_there_before() {
    anyorder::check(|| {
        let all = Arc::new(ThreadLocal::with_capacity(2));
        let theirs = Arc::clone(&all);
        let other = thread::spawn(move || {
            theirs.get_or(|| 1);
        });
        assert!(all.iter().count() <= 1);
        other.join().unwrap();
    });
}

#[test]
fn right_each_thread_looks_at_its_own() {
    anyorder::check(|| {
        let all = Arc::new(ThreadLocal::with_capacity(0));
        let theirs = Arc::clone(&all);
        assert_eq!(*all.get_or(|| 2), 2);
        let other = thread::spawn(move || assert_eq!(*theirs.get_or(|| 1), 1));
        assert_eq!(*all.get_or(|| 3), 2);
        other.join().unwrap();
    });
}
