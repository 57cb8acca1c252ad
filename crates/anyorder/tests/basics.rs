//! A first look.

use anyorder::sync::atomic::{AtomicU32, Ordering};
use anyorder::sync::{Arc, Mutex};
use anyorder::thread;

#[test]
fn a_counter() {
    let executions = anyorder::Builder::new().check(|| {
        let counter = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&counter);
        let thread = thread::spawn(move || other.fetch_add(1, Ordering::Relaxed));
        counter.fetch_add(1, Ordering::Relaxed);
        thread.join().unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 2);
    });
    assert!(executions > 1);
}

#[test]
fn a_mutex() {
    anyorder::check(|| {
        let counter = Arc::new(Mutex::new(0));
        let other = Arc::clone(&counter);
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *counter.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*counter.lock().unwrap(), 2);
    });
}
