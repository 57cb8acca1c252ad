//! Programs that `instrumented-rust.sh` and rustc build: right ones, and wrong ones.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

/// Memory that nothing protects but what the program does.
struct Bare(UnsafeCell<u64>);
// SAFETY: the right programs order its uses.
unsafe impl Sync for Bare {}
impl Bare {
    const fn new() -> Bare {
        Bare(UnsafeCell::new(0))
    }
    #[inline(never)]
    fn add(&self) {
        // SAFETY: the right programs order its uses.
        unsafe { *self.0.get() += 1 }
    }
    #[inline(never)]
    fn get(&self) -> u64 {
        // SAFETY: the right programs order its uses.
        unsafe { *self.0.get() }
    }
}

static BARE: Bare = Bare::new();
const ROUNDS: usize = 200;

fn threads(count: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let all: Vec<_> = (0..count)
        .map(|at| {
            let body = body.clone();
            thread::spawn(move || body(at))
        })
        .collect();
    all.into_iter().for_each(|one| one.join().unwrap());
}

fn mutex() {
    let lock = Mutex::new(0);
    threads(4, move |_| {
        for _ in 0..ROUNDS {
            let mut guard = lock.lock().unwrap();
            *guard += 1;
            BARE.add();
            // Others find it taken.
            thread::yield_now();
        }
    });
    assert_eq!(BARE.get(), 4 * ROUNDS as u64);
}

fn try_lock() {
    let lock = Mutex::new(0);
    threads(3, move |_| {
        let mut done = 0;
        while done < ROUNDS / 4 {
            if let Ok(mut guard) = lock.try_lock() {
                *guard += 1;
                BARE.add();
                done += 1;
            } else {
                thread::yield_now();
            }
        }
    });
}

fn rwlock() {
    let lock = RwLock::new(());
    threads(4, move |at| {
        for round in 0..ROUNDS {
            if (at + round) % 4 == 0 {
                let _guard = lock.write().unwrap();
                BARE.add();
                thread::yield_now();
            } else {
                let _guard = lock.read().unwrap();
                std::hint::black_box(BARE.get());
            }
        }
    });
}

fn condvar() {
    let shared = (Mutex::new(VecDeque::new()), Condvar::new());
    threads(4, move |at| {
        for round in 0..ROUNDS / 4 {
            if at % 2 == 0 {
                shared.0.lock().unwrap().push_back(Box::new(round));
                shared.1.notify_one();
            } else {
                let mut queue = shared.0.lock().unwrap();
                while queue.is_empty() {
                    queue = shared.1.wait(queue).unwrap();
                }
                BARE.add();
                std::hint::black_box(*queue.pop_front().unwrap());
            }
        }
    });
}

fn condvar_timeout() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = shared.clone();
    let setter = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        BARE.add();
        *other.0.lock().unwrap() = true;
        other.1.notify_all();
    });
    let mut guard = shared.0.lock().unwrap();
    while !*guard {
        guard = shared.1.wait_timeout(guard, Duration::from_millis(1)).unwrap().0;
    }
    BARE.add();
    drop(guard);
    setter.join().unwrap();
}

fn channel() {
    let (sender, receiver) = mpsc::channel::<Box<usize>>();
    let senders: Vec<_> = (0..3)
        .map(|at| {
            let sender = sender.clone();
            thread::spawn(move || {
                (0..ROUNDS).for_each(|round| sender.send(Box::new(at * round)).unwrap())
            })
        })
        .collect();
    drop(sender);
    let mut sum = 0;
    while let Ok(one) = receiver.recv() {
        sum += *one;
    }
    senders.into_iter().for_each(|one| one.join().unwrap());
    assert_eq!(sum, 3 * ROUNDS * (ROUNDS - 1) / 2);
}

fn rendezvous() {
    let (sender, receiver) = mpsc::sync_channel::<Vec<usize>>(0);
    let one = thread::spawn(move || {
        for round in 0..ROUNDS / 4 {
            BARE.add();
            sender.send(vec![round; 3]).unwrap();
        }
    });
    let sum: usize = receiver.iter().map(|list| list.iter().sum::<usize>()).sum();
    BARE.add();
    std::hint::black_box(sum);
    one.join().unwrap();
}

fn bounded() {
    let (sender, receiver) = mpsc::sync_channel::<Box<usize>>(2);
    let receiver = Arc::new(Mutex::new(receiver));
    let takers: Vec<_> = (0..2)
        .map(|_| {
            let receiver = receiver.clone();
            thread::spawn(move || {
                loop {
                    let one = receiver.lock().unwrap().recv();
                    let Ok(one) = one else { break };
                    std::hint::black_box(*one);
                }
            })
        })
        .collect();
    (0..ROUNDS).for_each(|round| sender.send(Box::new(round)).unwrap());
    drop(sender);
    takers.into_iter().for_each(|one| one.join().unwrap());
}

fn once() {
    static ONCE: Once = Once::new();
    static CELL: OnceLock<Vec<usize>> = OnceLock::new();
    threads(4, |at| {
        ONCE.call_once(|| BARE.add());
        std::hint::black_box(BARE.get());
        let list = CELL.get_or_init(|| vec![at; 8]);
        std::hint::black_box(list.iter().sum::<usize>());
    });
}

fn lazy() {
    static LAZY: LazyLock<Vec<u64>> = LazyLock::new(|| {
        BARE.add();
        (0..8).collect()
    });
    threads(4, |_| {
        std::hint::black_box(LAZY.iter().sum::<u64>());
        std::hint::black_box(BARE.get());
    });
}

fn arc() {
    let value = Arc::new(Bare::new());
    let all: Vec<_> = (0..4)
        .map(|_| {
            let value = value.clone();
            thread::spawn(move || {
                std::hint::black_box(value.get());
                drop(value);
            })
        })
        .collect();
    drop(value);
    drop(all);
    thread::sleep(Duration::from_millis(5));
}

fn scope() {
    let mut list = vec![0_usize; 4];
    for _ in 0..ROUNDS / 10 {
        thread::scope(|scope| {
            for (at, one) in list.iter_mut().enumerate() {
                scope.spawn(move || *one += at);
            }
        });
        std::hint::black_box(list.iter().sum::<usize>());
    }
}

fn park() {
    let ready = Arc::new(AtomicBool::new(false));
    for _ in 0..ROUNDS / 10 {
        let main = thread::current();
        let flag = ready.clone();
        let other = thread::spawn(move || {
            BARE.add();
            flag.store(true, Ordering::Release);
            main.unpark();
        });
        while !ready.swap(false, Ordering::Acquire) {
            thread::park();
        }
        BARE.add();
        other.join().unwrap();
    }
}

/// Only the token of `park` orders the two.
fn token() {
    let main = thread::current();
    let other = thread::spawn(move || {
        BARE.add();
        main.unpark();
    });
    thread::park();
    std::hint::black_box(BARE.get());
    other.join().unwrap();
}

fn barrier() {
    let barrier = Barrier::new(4);
    threads(4, move |at| {
        for round in 0..20 {
            if round % 4 == at {
                BARE.add();
            }
            barrier.wait();
        }
    });
}

fn atomics() {
    static READY: AtomicBool = AtomicBool::new(false);
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    threads(3, |at| {
        COUNT.fetch_add(1, Ordering::Relaxed);
        if at == 0 {
            BARE.add();
            READY.store(true, Ordering::Release);
        } else {
            while !READY.load(Ordering::Acquire) {
                thread::yield_now();
            }
            std::hint::black_box(BARE.get());
        }
    });
}

fn print() {
    threads(3, |at| {
        for round in 0..10 {
            println!("{at} {round}");
        }
    });
}

fn panics() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let one = thread::spawn(move || {
        let _guard = other.lock().unwrap();
        std::panic::resume_unwind(Box::new(1));
    });
    assert!(one.join().is_err() && lock.is_poisoned());
}

fn race() {
    let one = thread::spawn(|| BARE.add());
    BARE.add();
    one.join().unwrap();
}

/// A lock hides the race in most runs.
fn hidden() {
    let lock = Arc::new(Mutex::new(()));
    let other = lock.clone();
    let one = thread::spawn(move || {
        BARE.add();
        drop(other.lock().unwrap());
    });
    thread::sleep(Duration::from_millis(50));
    drop(lock.lock().unwrap());
    BARE.add();
    one.join().unwrap();
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = locks.clone();
    thread::spawn(move || {
        let _first = other.0.lock().unwrap();
        let _second = other.1.lock().unwrap();
    })
    .join()
    .unwrap();
    let one = thread::spawn(move || {
        let _first = locks.1.lock().unwrap();
        let _second = locks.0.lock().unwrap();
    });
    one.join().unwrap();
}

fn main() {
    let all: &[(&str, fn())] = &[
        ("mutex", mutex),
        ("try_lock", try_lock),
        ("rwlock", rwlock),
        ("condvar", condvar),
        ("condvar_timeout", condvar_timeout),
        ("channel", channel),
        ("rendezvous", rendezvous),
        ("bounded", bounded),
        ("once", once),
        ("lazy", lazy),
        ("arc", arc),
        ("scope", scope),
        ("park", park),
        ("token", token),
        ("barrier", barrier),
        ("atomics", atomics),
        ("print", print),
        ("panics", panics),
        ("race", race),
        ("hidden", hidden),
        ("deadlock", deadlock),
    ];
    let which = std::env::args().nth(1).unwrap_or_default();
    let found = all.iter().find(|one| one.0 == which).expect("a program");
    found.1();
    println!("done");
}
