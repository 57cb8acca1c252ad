//! Programs that fail, one of each kind, for the suites about failures; and their repairs.

use anyorder::cell::UnsafeCell;
use anyorder::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use anyorder::sync::{Arc, Condvar, Mutex, RwLock, Weak, mpsc};
use anyorder::{future, hint, thread};

/// What each is: its class, the program, and three right ones of the same shape.
pub(crate) struct Kind {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) wrong: fn(),
    pub(crate) right: [fn(); 3],
}

pub(crate) const ALL: [Kind; 9] = [
    Kind { class: "panic", name: "lost update", wrong: lost_update, right: RIGHT_UPDATES },
    Kind { class: "panic", name: "choice", wrong: choice, right: RIGHT_CHOICES },
    Kind { class: "deadlock", name: "two locks", wrong: two_locks, right: RIGHT_LOCKS },
    Kind { class: "deadlock", name: "lost wake-up", wrong: lost_wakeup, right: RIGHT_WAKEUPS },
    Kind { class: "deadlock", name: "receiver", wrong: receiver, right: RIGHT_RECEIVERS },
    Kind { class: "livelock", name: "spin", wrong: spin, right: RIGHT_SPINS },
    Kind { class: "data race", name: "publication", wrong: publication, right: RIGHT_PUBLICATIONS },
    Kind { class: "leak", name: "cycle of owners", wrong: cycle, right: RIGHT_OWNERS },
    Kind { class: "deadlock", name: "task", wrong: task, right: RIGHT_TASKS },
];

fn with_two(body: fn(&AtomicUsize)) {
    let count = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&count);
    let thread = thread::spawn(move || body(&other));
    body(&count);
    thread.join().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2, "lost");
}

fn lost_update() {
    with_two(|count| {
        let value = count.load(Ordering::SeqCst);
        count.store(value + 1, Ordering::SeqCst);
    });
}

const RIGHT_UPDATES: [fn(); 3] = [
    || {
        with_two(|count| {
            count.fetch_add(1, Ordering::SeqCst);
        });
    },
    || {
        with_two(|count| {
            let update = |value| Some(value + 1);
            count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update).unwrap();
        });
    },
    || {
        let count = Arc::new(Mutex::new(0));
        let other = Arc::clone(&count);
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *count.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    },
];

fn choice() {
    let condition = Arc::new((Mutex::new(0), Condvar::new()));
    let wait = |condition: &(Mutex<u32>, Condvar)| {
        let mut guard = condition.0.lock().unwrap();
        *guard += 1;
        drop(condition.1.wait(guard).unwrap());
    };
    let threads = [(); 2].map(|()| {
        let own = Arc::clone(&condition);
        thread::spawn(move || wait(&own))
    });
    while *condition.0.lock().unwrap() < 2 {
        thread::yield_now();
    }
    // Which one wakes is a choice, too.
    condition.1.notify_one();
    let number = anyorder::choose(4);
    condition.1.notify_one();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_ne!(number, 3, "three");
}

const RIGHT_CHOICES: [fn(); 3] = [
    || assert!(anyorder::choose(4) < 4),
    || assert_ne!(anyorder::choose(4) + anyorder::choose(4), 7),
    || drop(std::panic::catch_unwind(|| assert_ne!(anyorder::choose(4), 3, "caught"))),
];

fn locks_in_order(is_same: bool) {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (c, d) = if is_same { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
    let other = thread::spawn(move || {
        let _c = c.lock().unwrap();
        let _d = d.lock().unwrap();
    });
    let first = a.lock().unwrap();
    let second = b.lock().unwrap();
    drop((first, second));
    other.join().unwrap();
}

fn two_locks() {
    locks_in_order(false);
}

const RIGHT_LOCKS: [fn(); 3] = [
    || locks_in_order(true),
    || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _b = other.1.lock().unwrap();
            drop(other.0.try_lock());
        });
        let _a = locks.0.lock().unwrap();
        drop(locks.1.try_lock());
        drop(_a);
        thread.join().unwrap();
    },
    || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| drop((lock.read().unwrap(), lock.read().unwrap())));
            scope.spawn(|| drop(lock.read().unwrap()));
        });
    },
];

fn waiter(wait: fn(&(Mutex<bool>, Condvar))) {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let name = "waiter".to_owned();
    let waiter = thread::Builder::new().name(name).spawn(move || wait(&theirs)).unwrap();
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
    waiter.join().unwrap();
}

fn lost_wakeup() {
    waiter(|(ready, condition)| {
        let guard = ready.lock().unwrap();
        drop(condition.wait(guard).unwrap());
    });
}

const RIGHT_WAKEUPS: [fn(); 3] = [
    || {
        waiter(|(ready, condition)| {
            let mut guard = ready.lock().unwrap();
            while !*guard {
                guard = condition.wait(guard).unwrap();
            }
        });
    },
    || {
        waiter(|(ready, condition)| {
            let guard = ready.lock().unwrap();
            drop(condition.wait_while(guard, |ready| !*ready).unwrap());
        });
    },
    || {
        waiter(|(ready, condition)| {
            let guard = ready.lock().unwrap();
            let time = std::time::Duration::from_secs(1);
            drop(condition.wait_timeout(guard, time).unwrap());
        });
    },
];

fn receiver() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let theirs = sender.clone();
    let thread = thread::spawn(move || theirs.send(1).unwrap());
    // The own sender is still there.
    assert_eq!(receiver.iter().sum::<u32>(), 1);
    drop(sender);
    thread.join().unwrap();
}

const RIGHT_RECEIVERS: [fn(); 3] = [
    || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.iter().sum::<u32>(), 1);
        thread.join().unwrap();
    },
    || {
        let (sender, receiver) = mpsc::sync_channel::<u32>(0);
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    },
    || {
        let (sender, receiver) = mpsc::channel::<u32>();
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    },
];

fn spin_until(value: bool, wait: fn()) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&flag);
    let thread = thread::spawn(move || theirs.store(value, Ordering::Release));
    while !flag.load(Ordering::Acquire) {
        wait();
    }
    thread.join().unwrap();
}

fn spin() {
    spin_until(false, hint::spin_loop);
}

const RIGHT_SPINS: [fn(); 3] = [
    || spin_until(true, hint::spin_loop),
    || spin_until(true, thread::yield_now),
    || {
        let lock = Arc::new(Mutex::new(false));
        let theirs = Arc::clone(&lock);
        let thread = thread::spawn(move || *theirs.lock().unwrap() = true);
        while !*lock.lock().unwrap() {
            thread::yield_now();
        }
        thread.join().unwrap();
    },
];

struct Shared {
    cell: UnsafeCell<u32>,
    ready: AtomicBool,
}

// SAFETY: whether accesses are apart is what the checks find out.
unsafe impl Sync for Shared {}

fn publish(store: Ordering, load: Ordering) {
    let shared = Arc::new(Shared { cell: UnsafeCell::new(0), ready: AtomicBool::new(false) });
    let theirs = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        // SAFETY: only who reads `ready` reads it.
        theirs.cell.with_mut(|cell| unsafe { *cell = 1 });
        theirs.ready.store(true, store);
    });
    if shared.ready.load(load) {
        // SAFETY: as above.
        assert_eq!(shared.cell.with(|cell| unsafe { *cell }), 1);
    }
    thread.join().unwrap();
}

fn publication() {
    publish(Ordering::Relaxed, Ordering::Acquire);
}

const RIGHT_PUBLICATIONS: [fn(); 3] = [
    || publish(Ordering::Release, Ordering::Acquire),
    || publish(Ordering::SeqCst, Ordering::SeqCst),
    || {
        let shared = Arc::new((
            Mutex::new(()),
            Shared { cell: UnsafeCell::new(0), ready: AtomicBool::new(false) },
        ));
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let _guard = theirs.0.lock().unwrap();
            // SAFETY: the lock is held.
            theirs.1.cell.with_mut(|cell| unsafe { *cell = 1 });
        });
        let guard = shared.0.lock().unwrap();
        // SAFETY: as above.
        let _ = shared.1.cell.with(|cell| unsafe { *cell });
        drop(guard);
        thread.join().unwrap();
    },
];

struct Node {
    next: Mutex<Option<Arc<Node>>>,
    back: Mutex<Option<Weak<Node>>>,
}

fn node() -> Arc<Node> {
    Arc::new(Node { next: Mutex::new(None), back: Mutex::new(None) })
}

fn cycle() {
    let (first, second) = (node(), node());
    let theirs = Arc::clone(&first);
    let thread = thread::spawn(move || *theirs.next.lock().unwrap() = Some(second));
    thread.join().unwrap();
    let next = first.next.lock().unwrap().clone().unwrap();
    if anyorder::choose(2) == 1 {
        *next.next.lock().unwrap() = Some(Arc::clone(&first));
    }
}

const RIGHT_OWNERS: [fn(); 3] = [
    || {
        let (first, second) = (node(), node());
        *second.back.lock().unwrap() = Some(Arc::downgrade(&first));
        *first.next.lock().unwrap() = Some(second);
    },
    || {
        let first = node();
        *first.next.lock().unwrap() = Some(Arc::clone(&first));
        // The cycle is opened again.
        let owner = first.next.lock().unwrap().take();
        drop(owner);
    },
    || {
        let first = Arc::into_raw(node());
        // SAFETY: it is an owner, given up above.
        drop(unsafe { Arc::from_raw(first) });
    },
];

fn task() {
    future::block_on(async {
        let (sender, receiver) = future::oneshot::channel::<u32>();
        let task = future::spawn(async move { receiver.await.unwrap() });
        let waits = task.await;
        // Too late: the task waited for it.
        let _ = sender.send(1);
        assert!(waits.is_ok());
    });
}

const RIGHT_TASKS: [fn(); 3] = [
    || {
        future::block_on(async {
            let (sender, receiver) = future::oneshot::channel::<u32>();
            let task = future::spawn(async move { receiver.await.unwrap() });
            sender.send(1).unwrap();
            assert_eq!(task.await.unwrap(), 1);
        });
    },
    || {
        future::block_on(async {
            let (sender, receiver) = future::oneshot::channel::<u32>();
            drop(sender);
            assert!(receiver.await.is_err());
        });
    },
    || {
        future::block_on(async {
            let task = future::spawn(future::yield_now());
            task.abort();
            let _ = task.await;
        });
    },
];

#[test]
fn right_programs_stay_silent() {
    for kind in ALL {
        for (number, right) in kind.right.into_iter().enumerate() {
            let summary = anyorder::Builder::new().explore(right);
            assert!(summary.is_ok(), "{} {number}:\n{summary}", kind.name);
            // A use of memory that might come after its free is tried, and does not. Where a lock
            // of `()` may protect what is not seen, 16 executions show whether it does.
            assert!(summary.executions_for_reports <= 2 + 16, "{} {number}", kind.name);
        }
    }
}
