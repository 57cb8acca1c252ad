//! Locks, sets, channels and choices of tasks: right programs, and wrong ones that are found.

use crate::support::{Report, learnt};
use anyorder::future::{self, Either, JoinSet, broadcast, oneshot, time, watch};
use anyorder::sync::Arc;
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::{Builder, Summary};
use std::time::Duration;

fn explore(f: impl Fn() + Send + Sync + 'static) -> Summary {
    Builder::new().explore(f)
}

/// Whether a program fails, in which way.
fn class(f: impl Fn() + Send + Sync + 'static) -> Option<&'static str> {
    let summary = explore(f);
    assert!(summary.incomplete.is_none() && summary.doubts.is_empty(), "{summary}");
    summary.failures.first().map(anyorder::Failure::class)
}

/// Two tasks add to a number behind a lock; `apart` gives the lock back between read and write.
fn add(apart: bool) {
    let count = Arc::new(future::Mutex::new(0));
    let run = |count: Arc<future::Mutex<u32>>| async move {
        let value = match apart {
            true => *count.lock().await,
            false => {
                let mut guard = count.lock().await;
                future::yield_now().await;
                *guard += 1;
                return;
            }
        };
        *count.lock().await = value + 1;
    };
    let task = future::spawn(run(Arc::clone(&count)));
    future::block_on(async {
        run(Arc::clone(&count)).await;
        task.await.unwrap();
        assert_eq!(*count.lock().await, 2, "lost");
    });
}

#[test]
fn a_lock_is_held_across_awaits() {
    assert_eq!(class(|| add(false)), None);
    assert_eq!(class(|| add(true)), Some("panic"));
}

#[test]
fn a_lock_that_is_asked_for_twice_is_a_deadlock() {
    let twice = |drops: bool| {
        move || {
            let lock = future::Mutex::new(1);
            future::block_on(async {
                let first = lock.lock().await;
                if drops {
                    drop(first);
                    assert_eq!(*lock.lock().await, 1);
                } else {
                    assert!(lock.try_lock().is_err());
                    let _second = lock.lock().await;
                }
            });
        }
    };
    assert_eq!(class(twice(true)), None);
    assert_eq!(class(twice(false)), Some("deadlock"));
}

#[test]
fn readers_share_and_writers_do_not() {
    let (told, faults) = learnt(|report: &Report<(u32, u32)>| {
        let lock = Arc::new(future::RwLock::new((0, 0)));
        let theirs = Arc::clone(&lock);
        let task = future::spawn(async move {
            let mut pair = theirs.write().await;
            pair.0 = 1;
            future::yield_now().await;
            pair.1 = 1;
        });
        let seen = future::block_on(async {
            let pair = lock.read().await;
            let both = lock.try_read().is_ok();
            assert!(both);
            *pair
        });
        report.tell(seen);
        future::block_on(task).unwrap();
    });
    assert_eq!(Vec::from_iter(told), [(0, 0), (1, 1)]);
    assert_eq!(faults, []);
}

#[test]
fn tasks_of_a_set_are_joined_as_they_end() {
    let (told, faults) = learnt(|report: &Report<Vec<u32>>| {
        let mut tasks = JoinSet::new();
        tasks.spawn(async { 1 });
        tasks.spawn(async { 2 });
        let all = future::block_on(async {
            let mut all = Vec::new();
            while let Some(value) = tasks.join_next().await {
                all.push(value.unwrap());
            }
            all
        });
        report.tell(all);
    });
    assert_eq!(Vec::from_iter(told), [vec![1, 2], vec![2, 1]]);
    assert_eq!(faults, []);
    // The first one is not always the first to end.
    let first = || {
        let mut tasks = JoinSet::new();
        tasks.spawn(async { 1 });
        tasks.spawn(async { 2 });
        assert_eq!(future::block_on(tasks.join_next()).unwrap().unwrap(), 1);
    };
    assert_eq!(class(first), Some("panic"));
}

#[test]
fn a_set_that_is_dropped_aborts_its_tasks() {
    let program = |detaches: bool| {
        move || {
            let (sender, receiver) = oneshot::channel::<()>();
            let waits = async move { assert!(receiver.await.is_err()) };
            if detaches {
                drop(future::spawn(waits));
                std::mem::forget(sender);
            } else {
                let mut tasks = JoinSet::new();
                tasks.spawn(waits);
                drop(tasks);
                drop(sender);
            }
        }
    };
    assert_eq!(class(program(false)), None);
    assert_eq!(class(program(true)), Some("deadlock"));
}

#[test]
fn a_watch_shows_the_latest_value() {
    let (told, faults) = learnt(|report: &Report<Vec<u32>>| {
        let (sender, mut receiver) = watch::channel(0);
        let task = future::spawn(async move {
            sender.send(1).unwrap();
            let _ = sender.send(2);
        });
        let seen = future::block_on(async {
            let mut seen = Vec::new();
            while receiver.changed().await.is_ok() {
                seen.push(*receiver.borrow_and_update());
            }
            task.await.unwrap();
            seen
        });
        report.tell(seen);
    });
    assert_eq!(Vec::from_iter(told), [vec![1, 2], vec![2]]);
    assert_eq!(faults, []);
}

#[test]
fn who_waits_for_each_value_of_a_watch_waits_too_long() {
    let all = |count: u32| {
        move || {
            let (sender, mut receiver) = watch::channel(0);
            let keep = sender.subscribe();
            let task = future::spawn(async move {
                sender.send(1).unwrap();
                sender.send(2).unwrap();
                // It stays open.
                std::mem::forget(sender);
            });
            future::block_on(async {
                for _ in 0..count {
                    receiver.changed().await.unwrap();
                }
                task.await.unwrap();
            });
            drop(keep);
        }
    };
    let found = |count| {
        let summary = Builder::new().leaks_allowed().explore(all(count));
        summary.failures.first().map(anyorder::Failure::class)
    };
    assert_eq!(found(1), None);
    assert_eq!(found(2), Some("deadlock"));
}

#[test]
fn a_broadcast_loses_what_is_not_taken() {
    let (told, faults) = learnt(|report: &Report<Vec<Result<u32, u64>>>| {
        let (sender, mut receiver) = broadcast::channel(1);
        let task = future::spawn(async move {
            sender.send(1).unwrap();
            let _ = sender.send(2);
        });
        let seen = future::block_on(async {
            let mut seen = Vec::new();
            loop {
                match receiver.recv().await {
                    Ok(value) => seen.push(Ok(value)),
                    Err(broadcast::RecvError::Lagged(lost)) => seen.push(Err(lost)),
                    Err(broadcast::RecvError::Closed) => break,
                }
            }
            task.await.unwrap();
            seen
        });
        report.tell(seen);
    });
    assert_eq!(Vec::from_iter(told), [vec![Ok(1), Ok(2)], vec![Err(1), Ok(2)]]);
    assert_eq!(faults, []);
    let strict = || {
        let (sender, mut receiver) = broadcast::channel(1);
        let task = future::spawn(async move { (sender.send(1), sender.send(2)) });
        assert_eq!(future::block_on(receiver.recv()), Ok(1));
        assert!(future::block_on(task).is_ok());
    };
    assert_eq!(class(strict), Some("panic"));
}

#[test]
fn each_of_two_that_are_ready_may_be_the_one() {
    let (told, faults) = learnt(|report: &Report<bool>| {
        let first = future::block_on(future::select(async {}, async {}));
        report.tell(matches!(first, Either::Left(())));
    });
    assert_eq!(Vec::from_iter(told), [false, true]);
    assert_eq!(faults, []);
}

/// A receiver in a `select` that is cancelled after it took the item loses it.
#[test]
fn cancellation_at_an_await_loses_what_was_taken() {
    let program = |is_safe: bool| {
        move || {
            let stock = Arc::new(AtomicU32::new(1));
            let taken = Arc::new(AtomicU32::new(0));
            let (ours, theirs) = (Arc::clone(&stock), Arc::clone(&taken));
            let work = async move {
                if is_safe {
                    future::yield_now().await;
                }
                let one = ours.swap(0, SeqCst);
                if !is_safe {
                    future::yield_now().await;
                }
                theirs.fetch_add(one, SeqCst);
            };
            let _ = future::block_on(future::cancel_anywhere(work));
            assert_eq!(stock.load(SeqCst) + taken.load(SeqCst), 1, "lost");
        }
    };
    assert_eq!(class(program(true)), None);
    assert_eq!(class(program(false)), Some("panic"));
}

#[test]
fn an_interval_ticks_at_once_and_then_at_any_time() {
    let (told, faults) = learnt(|report: &Report<u32>| {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let task = future::spawn(async move { theirs.store(1, SeqCst) });
        let seen = future::block_on(async {
            let mut interval = time::interval(Duration::from_secs(1));
            interval.tick().await;
            interval.tick().await;
            count.load(SeqCst)
        });
        report.tell(seen);
        future::block_on(task).unwrap();
    });
    assert_eq!(Vec::from_iter(told), [0, 1]);
    assert_eq!(faults, []);
}
