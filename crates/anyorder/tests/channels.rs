//! Channels.

use crate::support::{explore, outcomes};
use anyorder::sync::mpsc::{RecvTimeoutError, TrySendError, channel, sync_channel};
use anyorder::thread;
use std::time::Duration;

#[test]
fn items_of_one_sender_keep_their_order() {
    let seen = outcomes(|report| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let thread = thread::spawn(move || {
            other.send("a".to_owned()).unwrap();
            other.send("b".to_owned()).unwrap();
        });
        sender.send("c".to_owned()).unwrap();
        drop(sender);
        report.tell(receiver.iter().collect::<String>());
        thread.join().unwrap();
    });
    assert_eq!(seen, ["abc", "acb", "cab"]);
}

#[test]
fn small_numbers_are_different_items() {
    let seen = outcomes(|report| {
        let (sender, receiver) = channel();
        for item in [0_u64, 1, 2, 3, u64::MAX, u64::MAX - 1] {
            sender.send(item).unwrap();
        }
        drop(sender);
        report.tell(Vec::from_iter(receiver));
    });
    assert_eq!(seen, [[0, 1, 2, 3, u64::MAX, u64::MAX - 1]]);
}

#[test]
fn attempts_see_emptiness_and_ends() {
    let seen = outcomes(|report| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        report.tell(format!("{:?} {:?}", receiver.try_recv(), receiver.try_recv()));
        thread.join().unwrap();
    });
    let all = [
        "Err(Empty) Err(Empty)",
        "Err(Empty) Ok(1)",
        "Ok(1) Err(Disconnected)",
        "Ok(1) Err(Empty)",
    ];
    assert_eq!(seen, all);
}

#[test]
fn a_receive_ends_in_both_ways() {
    let seen = outcomes(|report| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1));
        let first = receiver.recv_timeout(Duration::from_secs(1));
        let got = matches!(first, Ok(1));
        assert!(got || first == Err(RecvTimeoutError::Timeout));
        drop(receiver);
        report.tell((got, thread.join().unwrap().is_ok()));
    });
    assert_eq!(seen, [(false, false), (false, true), (true, true)]);
}

#[test]
fn a_bounded_channel_blocks() {
    let seen = outcomes(|report| {
        let (sender, receiver) = sync_channel(1);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            let second = sender.try_send(2);
            sender.send(3).unwrap();
            matches!(second, Err(TrySendError::Full(2)))
        });
        let items = Vec::from_iter(receiver);
        report.tell((thread.join().unwrap(), items));
    });
    assert_eq!(seen, [(false, vec![1, 2, 3]), (true, vec![1, 3])]);
}

#[test]
fn a_rendezvous_waits_for_the_other_side() {
    let seen = outcomes(|report| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || {
            let first = sender.try_send("one".to_owned()).is_ok();
            let second = sender.send("two".to_owned()).is_ok();
            (first, second)
        });
        let first = receiver.recv().unwrap();
        let second = if first == "one" { receiver.recv().ok() } else { None };
        drop(receiver);
        report.tell((first, second, thread.join().unwrap()));
    });
    let text = |text: &str| text.to_owned();
    let all = [(text("one"), Some(text("two")), (true, true)), (text("two"), None, (false, true))];
    assert_eq!(seen, all);
}

#[test]
fn a_rendezvous_without_a_receiver_gives_back() {
    let seen = outcomes(|report| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || sender.send("one".to_owned()).map_err(|error| error.0));
        drop(receiver);
        report.tell(thread.join().unwrap());
    });
    assert_eq!(seen, [Err("one".to_owned())]);
}

#[test]
fn a_receiver_destroys_what_nobody_received() {
    let seen = outcomes(|report| {
        let token = std::sync::Arc::new(());
        let (sender, receiver) = channel();
        let theirs = std::sync::Arc::clone(&token);
        let thread = thread::spawn(move || sender.send(theirs).is_ok());
        drop(receiver);
        let is_sent = thread.join().unwrap();
        report.tell((is_sent, std::sync::Arc::strong_count(&token)));
    });
    assert_eq!(seen, [(false, 1), (true, 1)]);
}

#[test]
fn a_receive_without_a_sender_is_a_deadlock() {
    let seen = explore(|_: &crate::support::Report<()>| {
        let (sender, receiver) = channel::<u32>();
        let _ = receiver.recv();
        drop(sender);
    });
    assert_eq!((seen.deadlocks, seen.executions), (1, 1));
}
