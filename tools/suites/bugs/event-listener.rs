//! A notification is lost while the list of listeners is made.

use event_listener::{Event, Listener};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering, fence};
use loom::thread;
use subject as event_listener;

fn wait(event: &Event, flag: &AtomicBool, after_listen: impl Fn()) {
    loop {
        if flag.load(Ordering::SeqCst) {
            return;
        }
        let listener = event.listen();
        after_listen();
        if flag.load(Ordering::SeqCst) {
            return;
        }
        listener.wait();
    }
}

#[test]
fn bug() {
    loom::model(|| {
        let shared = Arc::new((Event::new(), AtomicBool::new(false)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            theirs.1.store(true, Ordering::Relaxed);
            theirs.0.notify(usize::MAX);
        });
        wait(&shared.0, &shared.1, || {});
        other.join().unwrap();
    });
}

#[test]
fn right_a_fence_follows_the_listener() {
    loom::model(|| {
        let shared = Arc::new((Event::new(), AtomicBool::new(false)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            theirs.1.store(true, Ordering::SeqCst);
            theirs.0.notify(usize::MAX);
        });
        wait(&shared.0, &shared.1, || fence(Ordering::SeqCst));
        other.join().unwrap();
    });
}

#[test]
fn right_the_listener_is_there_before() {
    loom::model(|| {
        let event = Arc::new(Event::new());
        let listener = event.listen();
        let theirs = Arc::clone(&event);
        let other = thread::spawn(move || theirs.notify(1));
        listener.wait();
        other.join().unwrap();
    });
}

#[test]
fn right_nobody_waits() {
    loom::model(|| {
        let event = Arc::new(Event::new());
        let theirs = Arc::clone(&event);
        let other = thread::spawn(move || theirs.notify(1));
        drop(event.listen());
        other.join().unwrap();
    });
}
