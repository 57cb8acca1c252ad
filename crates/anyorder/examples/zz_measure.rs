use anyorder::sync::Arc;
use anyorder::sync::atomic::AtomicUsize;
use anyorder::sync::atomic::Ordering::SeqCst;
use anyorder::{Builder, hint, thread};
use std::time::{Duration, Instant};

fn run(name: &str, test: impl Fn() + Send + Sync + Clone + 'static) {
    for turns in [0, 32] {
        let begun = Instant::now();
        let summary =
            Builder::new().turns_max(turns).time_max(Duration::from_secs(40)).explore(test.clone());
        println!(
            "{name} turns_max {turns}: {} executions, {} states, {} trials, {:?}, {:?} {:?} {:?} fails {}",
            summary.executions,
            summary.states,
            summary.executions_for_loops,
            begun.elapsed(),
            summary.incomplete,
            summary.preemptions,
            summary.long_loops,
            summary.failures.len()
        );
    }
}

fn spinlock(threads: usize, times: usize) {
    let held = Arc::new(AtomicUsize::new(0));
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let held = Arc::clone(&held);
            thread::spawn(move || {
                for _ in 0..times {
                    while held.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                        hint::spin_loop();
                    }
                    held.store(0, SeqCst);
                }
            })
        })
        .collect();
    all.into_iter().for_each(|t| t.join().unwrap());
}

fn ticket(threads: usize, times: usize) {
    let (next, now) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let (next, now) = (Arc::clone(&next), Arc::clone(&now));
            thread::spawn(move || {
                for _ in 0..times {
                    let mine = next.fetch_add(1, SeqCst);
                    while now.load(SeqCst) != mine {
                        thread::yield_now();
                    }
                    now.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    all.into_iter().for_each(|t| t.join().unwrap());
}

#[derive(Default)]
struct Backoff(u32);
impl Backoff {
    fn snooze(&mut self) {
        if self.0 <= 6 {
            for _ in 0..1 << self.0 {
                hint::spin_loop();
            }
        } else {
            thread::yield_now();
        }
        if self.0 <= 10 {
            self.0 += 1;
        }
    }
    fn is_completed(&self) -> bool {
        self.0 > 10
    }
}

fn queue(items: usize, backoff: bool) {
    let (head, tail) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let producer = {
        let (head, tail) = (Arc::clone(&head), Arc::clone(&tail));
        thread::spawn(move || {
            for item in 0..items {
                let mut b = Backoff::default();
                while item >= head.load(SeqCst) + 1 {
                    if backoff { b.snooze() } else { thread::yield_now() }
                }
                tail.store(item + 1, SeqCst);
            }
        })
    };
    for item in 0..items {
        let mut b = Backoff::default();
        while tail.load(SeqCst) <= item {
            if backoff { b.snooze() } else { thread::yield_now() }
        }
        head.store(item + 1, SeqCst);
    }
    producer.join().unwrap();
}

fn park(items: usize) {
    let flag = Arc::new(AtomicUsize::new(0));
    let waiter = {
        let flag = Arc::clone(&flag);
        thread::spawn(move || {
            for item in 0..items {
                let mut b = Backoff::default();
                while flag.load(SeqCst) <= item {
                    if b.is_completed() { thread::park() } else { b.snooze() }
                }
            }
        })
    };
    for item in 0..items {
        flag.store(item + 1, SeqCst);
        waiter.thread().unpark();
    }
    waiter.join().unwrap();
}

fn main() {
    for n in [2, 3, 4] {
        run(&format!("spinlock {n}x1"), move || spinlock(n, 1));
    }
    run("spinlock 2x3", || spinlock(2, 3));
    run("spinlock 3x2", || spinlock(3, 2));
    run("ticket 3x1", || ticket(3, 1));
    run("ticket 4x1", || ticket(4, 1));
    run("ticket 3x2", || ticket(3, 2));
    run("queue 4", || queue(4, false));
    run("queue 4 backoff", || queue(4, true));
    run("queue 2 backoff", || queue(2, true));
    run("park 1", || park(1));
    run("park 2", || park(2));
    run("park 3", || park(3));
}
