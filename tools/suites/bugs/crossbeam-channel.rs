//! A channel whose receiver goes while two senders make its first block frees that block twice.

use anyorder::thread;
use subject::unbounded;

#[test]
fn bug() {
    anyorder::Builder::new().time_max(std::time::Duration::from_secs(120)).check(|| {
        let (sender, receiver) = unbounded();
        let second = sender.clone();
        let one = thread::spawn(move || drop(sender.send(1)));
        let two = thread::spawn(move || drop(second.send(2)));
        drop(receiver);
        one.join().unwrap();
        two.join().unwrap();
    });
}

#[test]
fn right_one_sender() {
    anyorder::check(|| {
        let (sender, receiver) = unbounded();
        let one = thread::spawn(move || drop(sender.send(1)));
        drop(receiver);
        one.join().unwrap();
    });
}

#[test]
fn right_the_block_is_there_before() {
    anyorder::check(|| {
        let (sender, receiver) = unbounded();
        sender.send(0).unwrap();
        let one = thread::spawn(move || drop(sender.send(1)));
        drop(receiver);
        one.join().unwrap();
    });
}

#[test]
fn right_received() {
    anyorder::check(|| {
        let (sender, receiver) = unbounded();
        let one = thread::spawn(move || sender.send(1).unwrap());
        one.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
}
