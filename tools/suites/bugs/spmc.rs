//! A node is published before its value is there.

use anyorder::thread;

#[test]
fn bug() {
    anyorder::check(|| {
        #[allow(unused_mut)]
        let (mut sender, receiver) = subject::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        other.join().unwrap();
    });
}

#[test]
fn right_sent_before() {
    anyorder::check(|| {
        #[allow(unused_mut)]
        let (mut sender, receiver) = subject::channel();
        sender.send(1).unwrap();
        let other = thread::spawn(move || receiver.recv());
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

#[test]
fn right_received_after_the_join() {
    anyorder::check(|| {
        #[allow(unused_mut)]
        let (mut sender, receiver) = subject::channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let sender = other.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        drop(sender);
    });
}

#[test]
fn right_two_receivers_one_after_another() {
    anyorder::check(|| {
        #[allow(unused_mut)]
        let (mut sender, receiver) = subject::channel();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        let theirs = receiver.clone();
        assert_eq!(thread::spawn(move || theirs.try_recv()).join().unwrap(), Ok(1));
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}
