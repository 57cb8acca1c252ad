use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, hint, thread};
#[derive(Default)]
struct Backoff {
    step: u32,
}
impl Backoff {
    fn snooze(&mut self) {
        match self.step {
            0..7 => (0..1 << self.step).for_each(|_| hint::spin_loop()),
            _ => thread::yield_now(),
        }
        self.step += u32::from(self.step <= 10);
    }
    fn is_completed(&self) -> bool {
        self.step > 10
    }
}
fn parks(n: u32) {
    let (ready, parks) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let waiter = {
        let (ready, parks) = (Arc::clone(&ready), Arc::clone(&parks));
        thread::spawn(move || {
            for item in 0..n {
                let mut backoff = Backoff::default();
                while ready.load(SeqCst) <= item {
                    if backoff.is_completed() {
                        parks.store(1, SeqCst);
                        thread::park();
                    } else {
                        backoff.snooze();
                    }
                }
            }
        })
    };
    for item in 0..n {
        ready.store(item + 1, SeqCst);
        waiter.thread().unpark();
    }
    waiter.join().unwrap();
}
fn queue(n: u32) {
    let q = Arc::new(Mutex::new(Vec::new()));
    let waiter = {
        let q = Arc::clone(&q);
        thread::spawn(move || {
            let mut got = Vec::new();
            for _ in 0..n {
                let mut backoff = Backoff::default();
                loop {
                    let next = q.lock().unwrap().pop();
                    if let Some(next) = next {
                        got.push(next);
                        break;
                    }
                    if backoff.is_completed() {
                        thread::park();
                    } else {
                        backoff.snooze();
                    }
                }
            }
            got
        })
    };
    for item in 0..n {
        q.lock().unwrap().push(item);
        waiter.thread().unpark();
    }
    assert_eq!(waiter.join().unwrap().len(), n as usize);
}
fn main() {
    let max: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(3);
    for n in 1..=max {
        for (name, f) in [("parks", parks as fn(u32)), ("queue", queue)] {
            let t = std::time::Instant::now();
            let s = Builder::new().executions_max(20_000).explore(move || f(n));
            println!(
                "{name} {n}: {} executions, {} for loops, {} states, {:?}, ok {}",
                s.executions,
                s.executions_for_loops,
                s.states,
                t.elapsed(),
                s.is_ok()
            );
        }
    }
}
