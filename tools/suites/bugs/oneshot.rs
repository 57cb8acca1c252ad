//! A receiver that was polled is dropped while the sender sends: both may use the channel after it
//! is freed.

use loom::future::block_on;
use loom::thread;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use subject::Receiver;

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

fn poll(receiver: &mut Receiver<u32>) -> bool {
    let waker = Waker::from(Arc::new(Nobody));
    Pin::new(receiver).poll(&mut Context::from_waker(&waker)).is_ready()
}

#[test]
fn bug() {
    loom::model(|| {
        let (sender, mut receiver) = subject::channel();
        let other = thread::spawn(move || {
            poll(&mut receiver);
            drop(receiver);
        });
        let _ = sender.send(1);
        other.join().unwrap();
    });
}

#[test]
fn right_the_receiver_is_not_polled() {
    loom::model(|| {
        let (sender, receiver) = subject::channel::<u32>();
        let other = thread::spawn(move || drop(receiver));
        let _ = sender.send(1);
        other.join().unwrap();
    });
}

#[test]
fn right_the_receiver_waits() {
    loom::model(|| {
        let (sender, receiver) = subject::channel::<u32>();
        let other = thread::spawn(move || assert_eq!(block_on(receiver), Ok(1)));
        sender.send(1).unwrap();
        other.join().unwrap();
    });
}

#[test]
fn right_polled_and_dropped_before() {
    loom::model(|| {
        let (sender, mut receiver) = subject::channel();
        assert!(!poll(&mut receiver));
        drop(receiver);
        let other = thread::spawn(move || assert!(sender.send(1).is_err()));
        other.join().unwrap();
    });
}
