//! A value is sent to a channel that was closed, and received.

use loom::future::block_on;
use loom::thread;
use subject::sync::oneshot;

#[test]
fn bug() {
    loom::model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let other = thread::spawn(move || drop(sender.send(1)));
        receiver.close();
        let _ = receiver.try_recv();
        other.join().unwrap();
    });
}

#[test]
fn right_without_a_close() {
    loom::model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let other = thread::spawn(move || drop(sender.send(1)));
        let _ = receiver.try_recv();
        other.join().unwrap();
    });
}

#[test]
fn right_wait_for_the_value() {
    loom::model(|| {
        let (sender, receiver) = oneshot::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(block_on(receiver), Ok(1));
        other.join().unwrap();
    });
}

#[test]
fn right_close_and_do_not_look() {
    loom::model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let other = thread::spawn(move || drop(sender.send(1)));
        receiver.close();
        other.join().unwrap();
    });
}
