//! Tasks.

use crate::support::{Report, explore, explore_with, learnt, outcomes};
use anyorder::future::{self, Notify, Semaphore, mpsc, oneshot, time};
use anyorder::sync::Arc;
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::{Setting, thread};
use anyorder_threads::Fault;
use std::time::Duration;

#[test]
fn a_task_returns_what_it_likes() {
    let seen = outcomes(|report| {
        let x = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&x);
        let task = future::spawn(async move {
            theirs.store(1, SeqCst);
            "done".to_owned()
        });
        let before = x.load(SeqCst);
        report.tell((before, future::block_on(task).unwrap()));
    });
    assert_eq!(seen, [(0, "done".to_owned()), (1, "done".to_owned())]);
}

#[test]
fn one_item_or_none() {
    let (told, faults) = learnt(|report: &Report<Result<u32, oneshot::RecvError>>| {
        let (sender, receiver) = oneshot::channel();
        let sends = anyorder::choose(2) == 1;
        let thread = thread::spawn(move || if sends { sender.send(1).is_ok() } else { false });
        report.tell(future::block_on(receiver));
        thread.join().unwrap();
    });
    assert_eq!(Vec::from_iter(told), [Ok(1), Err(oneshot::RecvError)]);
    assert_eq!(faults, []);
}

#[test]
fn an_aborted_task_ends_where_it_waits() {
    let (told, faults) = learnt(|report: &Report<(bool, u32)>| {
        let x = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&x);
        let task = future::spawn(async move {
            theirs.store(1, SeqCst);
            future::yield_now().await;
            theirs.store(2, SeqCst);
        });
        task.abort();
        let result = future::block_on(task);
        report.tell((result.is_err_and(|error| error.is_cancelled()), x.load(SeqCst)));
    });
    assert_eq!(Vec::from_iter(told), [(false, 2), (true, 0), (true, 1)]);
    assert_eq!(faults, []);
}

#[test]
fn a_panic_of_a_task() {
    let setting = Setting { panics_are_results: true, ..Setting::default() };
    let seen = explore_with(setting, |report| {
        let task = future::spawn(async { panic!("in a task") });
        let error: future::JoinError = future::block_on(task).unwrap_err();
        report.tell((error.is_panic(), error.into_panic().downcast_ref::<&str>().copied()));
    });
    assert_eq!(Vec::from_iter(seen.outcomes), [(true, Some("in a task"))]);
    let seen = explore(|_: &Report<()>| drop(future::spawn(async { panic!("in a task") })));
    assert_eq!(Vec::from_iter(seen.panics), ["in a task"]);
}

#[test]
fn a_permit_is_kept_for_the_next_wait() {
    let (told, faults) = learnt(|report: &Report<()>| {
        let notify = Arc::new(Notify::new());
        let theirs = Arc::clone(&notify);
        let thread = thread::spawn(move || theirs.notify_one());
        future::block_on(notify.notified());
        report.tell(());
        thread.join().unwrap();
    });
    assert_eq!((told.len(), faults), (1, Vec::new()));
}

#[test]
fn a_notification_of_all_is_not_kept() {
    let (told, faults) = learnt(|report: &Report<()>| {
        let notify = Arc::new(Notify::new());
        let theirs = Arc::clone(&notify);
        let thread = thread::spawn(move || theirs.notify_waiters());
        future::block_on(notify.notified());
        report.tell(());
        thread.join().unwrap();
    });
    assert_eq!(told.len(), 1);
    assert!(matches!(faults.as_slice(), [Fault::Deadlock(_)]), "{faults:?}");
}

#[test]
fn permits_exclude() {
    let (told, faults) = learnt(|report: &Report<u32>| {
        let shared = Arc::new((Semaphore::new(1), AtomicU32::new(0)));
        let add = |shared: Arc<(Semaphore, AtomicU32)>| async move {
            let _permit = shared.0.acquire().await.unwrap();
            let before = shared.1.load(SeqCst);
            shared.1.store(before + 1, SeqCst);
        };
        let task = future::spawn(add(Arc::clone(&shared)));
        future::block_on(add(Arc::clone(&shared)));
        future::block_on(task).unwrap();
        report.tell(shared.1.load(SeqCst));
    });
    assert_eq!((Vec::from_iter(told), faults), (vec![2], Vec::new()));
}

#[test]
fn a_bounded_channel_of_tasks() {
    let (told, faults) = learnt(|report: &Report<Vec<u32>>| {
        let (sender, mut receiver) = mpsc::channel(1);
        let task = future::spawn(async move {
            for item in 0..2 {
                sender.send(item).await.unwrap();
            }
        });
        let items = future::block_on(async move {
            let mut items = Vec::new();
            while let Some(item) = receiver.recv().await {
                items.push(item);
            }
            items
        });
        report.tell(items);
        future::block_on(task).unwrap();
    });
    assert_eq!((Vec::from_iter(told), faults), (vec![vec![0, 1]], Vec::new()));
}

#[test]
fn a_timeout_ends_in_both_ways() {
    let (told, faults) = learnt(|report: &Report<Result<u32, time::Elapsed>>| {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(1).is_ok());
        let second = Duration::from_secs(1);
        report.tell(future::block_on(time::timeout(second, receiver)).map(Result::unwrap));
        let _ = thread.join().unwrap();
    });
    assert_eq!(Vec::from_iter(told), [Ok(1), Err(time::Elapsed)]);
    assert_eq!(faults, []);
}
