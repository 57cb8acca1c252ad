//! Data that is not seen, as in atomics of the standard library, under a lock: nothing is
//! told of it that no execution shows.

use anyorder::sync::{Arc, Condvar, Mutex, MutexGuard};
use anyorder::{Builder, FailureKind, Incomplete, Program, Summary, thread};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort;
use anyorder_threads::{Act, Ending, every_execution};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most executions of a program that is tried in all of them.
const EXECUTIONS_MAX: u64 = 2_000;

/// What threads share: the numbers are protected by the lock.
#[derive(Default)]
struct Shared {
    lock: Mutex<u32>,
    conditions: [Condvar; 2],
    numbers: [AtomicUsize; 2],
}

impl Shared {
    fn get(&self, number: usize) -> usize {
        self.numbers[number].load(Ordering::SeqCst)
    }

    fn set(&self, number: usize, value: usize) {
        self.numbers[number].store(value, Ordering::SeqCst);
    }
}

/// One producer, two consumers and a place for one item. With one condition for all, a consumer may
/// wake the other one instead of the producer (R. and A. Arpaci-Dusseau, "Operating Systems: Three
/// Easy Pieces", figures 30.10 and 30.12).
fn produce(conditions: usize) -> Summary {
    Builder::new().explore(move || {
        let shared = Arc::new(Shared::default());
        let (empty, full) = (0, conditions - 1);
        for _ in 0..2 {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut guard = shared.lock.lock().unwrap();
                while shared.get(0) == 0 {
                    guard = shared.conditions[full].wait(guard).unwrap();
                }
                assert_eq!(shared.get(0), 1, "nothing to get");
                shared.set(0, 0);
                shared.conditions[empty].notify_one();
                drop(guard);
            });
        }
        for _ in 0..2 {
            let mut guard = shared.lock.lock().unwrap();
            while shared.get(0) == 1 {
                guard = shared.conditions[empty].wait(guard).unwrap();
            }
            assert_eq!(shared.get(0), 0, "no space to put");
            shared.set(0, 1);
            shared.conditions[full].notify_one();
            drop(guard);
        }
    })
}

#[test]
fn what_a_lock_protects_may_be_elsewhere() {
    let right = produce(2);
    assert!(right.is_ok() && right.executions > 1, "{right}");
    let wrong = produce(1);
    assert!(wrong.incomplete.is_none() && !wrong.failures.is_empty(), "{wrong}");
    for failure in &wrong.failures {
        assert!(
            matches!(failure.kind, FailureKind::Deadlock(_)) && failure.is_confirmed,
            "{wrong}"
        );
    }
}

#[test]
fn failures_of_such_programs_can_be_run_again() {
    let run = |replay: Option<String>| {
        let builder = Builder::new();
        let builder = replay.map_or(builder.clone(), |text| builder.replay(text));
        builder.explore(|| {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                let _guard = other.lock.lock().unwrap();
                if other.get(0) == 1 {
                    other.conditions[0].notify_all();
                    other.set(1, 1);
                }
            });
            let guard = shared.lock.lock().unwrap();
            shared.set(0, 1);
            drop(guard);
            let guard = shared.lock.lock().unwrap();
            assert_eq!(shared.get(1), 0, "it came between");
            drop(guard);
            thread.join().unwrap();
        })
    };
    let found = run(None);
    assert!(found.incomplete.is_none() && found.failures.len() == 1, "{found}");
    assert!(found.failures[0].is_confirmed, "{found}");
    let again = run(Some(found.failures[0].replay()));
    assert_eq!(again.replayed, Some(anyorder::Replayed::Same), "{again}");
}

/// What nothing protects is no function of anything, and is said to be so.
#[test]
fn what_no_lock_protects_is_noticed() {
    let summary = Builder::new().explore(|| {
        let shared = Arc::new(Shared::default());
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.set(0, 1);
            drop(other.lock.lock().unwrap());
        });
        let guard = shared.lock.lock().unwrap();
        if shared.get(0) == 0 {
            drop(shared.conditions[0].wait(guard).unwrap());
        }
        thread.join().unwrap();
    });
    assert!(!summary.is_ok(), "{summary}");
    assert!(summary.failures.iter().all(|failure| failure.is_confirmed), "{summary}");
}

/// What a thread does while it has the lock.
#[derive(Clone, Copy, Debug)]
enum Do {
    Set(usize, usize),
    Add(usize),
    /// Waits at a condition while the number is not that; in a loop, or once.
    Wait {
        condition: usize,
        number: usize,
        value: usize,
        again: bool,
    },
    Notify {
        condition: usize,
        all: bool,
    },
    /// Reads what the lock has, or changes it and changes it back.
    Touch {
        changes: bool,
    },
    /// The number must not be that.
    Refuse(usize, usize),
}

/// By thread, what it does each time that it takes the lock. The first one is the main thread.
type Threads = Vec<Vec<Vec<Do>>>;

fn random(rng: &mut Rng) -> Threads {
    let operation = |rng: &mut Rng| {
        let (number, value, condition) = (rng.index(2), rng.index(3), rng.index(2));
        match rng.index(10) {
            9 => Do::Touch { changes: rng.index(2) == 0 },
            0 | 1 => Do::Set(number, value),
            2 => Do::Add(number),
            3 | 4 => Do::Wait { condition, number, value, again: rng.index(4) > 0 },
            5 | 6 => Do::Notify { condition, all: rng.index(2) == 0 },
            _ => Do::Refuse(number, value),
        }
    };
    let sections = |rng: &mut Rng| -> Vec<Vec<Do>> {
        let count = 1 + rng.index(2);
        (0..count).map(|_| (0..1 + rng.index(3)).map(|_| operation(rng)).collect()).collect()
    };
    (0..2 + rng.index(2)).map(|_| sections(rng)).collect()
}

fn perform(shared: &Shared, sections: &[Vec<Do>]) {
    for section in sections {
        let mut guard: MutexGuard<'_, u32> = shared.lock.lock().unwrap();
        for operation in section {
            match *operation {
                Do::Set(number, value) => shared.set(number, value),
                Do::Add(number) => shared.set(number, (shared.get(number) + 1) % 3),
                Do::Wait { condition, number, value, again } => {
                    while shared.get(number) != value {
                        guard = shared.conditions[condition].wait(guard).unwrap();
                        if !again {
                            break;
                        }
                    }
                }
                Do::Notify { condition, all: true } => shared.conditions[condition].notify_all(),
                Do::Notify { condition, all: false } => shared.conditions[condition].notify_one(),
                Do::Touch { changes: false } => assert_eq!(*guard, 0),
                Do::Touch { changes: true } => {
                    *guard += 1;
                    *guard -= 1;
                }
                Do::Refuse(number, value) => {
                    assert_ne!(shared.get(number), value, "number {number}");
                }
            }
        }
        drop(guard);
    }
}

fn run(threads: &Threads) {
    let shared = Arc::new(Shared::default());
    for sections in &threads[1..] {
        let (shared, sections) = (Arc::clone(&shared), sections.clone());
        thread::spawn(move || perform(&shared, &sections));
    }
    perform(&shared, &threads[0]);
}

/// The failures of all executions: whether threads wait for ever, and the panics. `None` if there
/// are too many.
fn all(threads: &Threads) -> Option<(bool, BTreeSet<String>)> {
    let threads = threads.clone();
    let mut program = Program::new(move || run(&threads));
    let (mut has_deadlock, mut panics, mut count) = (false, BTreeSet::new(), 0);
    let plain = every_execution(&mut program, (1_000, 1), |program, events, ending| {
        let fails = events.iter().filter_map(|event| match event.op.act {
            Act::Fail(number) => program.panic(number).map(|panic| panic.message),
            _ => None,
        });
        let fails: BTreeSet<String> = fails.collect();
        has_deadlock |= ending == Ending::Deadlock && fails.is_empty();
        panics.extend(fails);
        count += 1;
        if count < EXECUTIONS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    plain.complete.then_some((has_deadlock, panics))
}

#[test]
fn nothing_is_told_that_no_execution_shows() {
    let (mut tried, mut right, mut deadlocks, mut panics) = (0, 0, 0, 0);
    let (mut diverged, mut missed) = (0, 0);
    for seed in effort::seeds(150) {
        let threads = random(&mut Rng::new(seed));
        let Some(expected) = all(&threads) else { continue };
        tried += 1;
        let program = threads.clone();
        let summary = Builder::new().explore(move || run(&program));
        let mut found = (false, BTreeSet::new());
        for failure in &summary.failures {
            assert!(failure.is_confirmed, "seed {seed}: {threads:?}\n{summary}");
            match &failure.kind {
                FailureKind::Deadlock(_) => found.0 = true,
                FailureKind::Panic(panic) => drop(found.1.insert(panic.message.clone())),
                other => panic!("seed {seed}: {threads:?}\n{other:?}"),
            }
        }
        let is_false = found.0 && !expected.0 || !found.1.is_subset(&expected.1);
        assert!(!is_false, "seed {seed}: {threads:?}\n{summary}");
        match summary.incomplete {
            Some(Incomplete::Diverged(_)) => diverged += 1,
            None => missed += u32::from(found != expected),
            other => panic!("seed {seed}: {other:?}"),
        }
        right += u32::from(expected == (false, BTreeSet::new()));
        deadlocks += u32::from(expected.0);
        panics += u32::from(!expected.1.is_empty());
    }
    println!("{tried}: {right} right, {deadlocks} deadlock, {panics} panic; {diverged} {missed}");
    assert!(right > 0 && deadlocks > 0 && panics > 0);
    // Random executions may not come to what the lock hides.
    assert!(20 * (diverged + missed) <= tried, "{diverged} and {missed} of {tried}");
}

/// What two threads do under a lock; the one that comes second finds what the first one left.
fn sections<L: Send + Sync + 'static>(
    new: fn() -> L,
    first: fn(&L, &AtomicUsize),
    second: fn(&L, &AtomicUsize) -> bool,
) -> Summary {
    Builder::new().explore(move || {
        let shared = Arc::new((new(), AtomicUsize::new(0)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || first(&theirs.0, &theirs.1));
        assert!(!second(&shared.0, &shared.1), "it came first");
        other.join().unwrap();
    })
}

/// Data beside a lock that protects a plain value, or behind a shared borrow of what it protects.
#[test]
fn locks_with_plain_values_may_protect_more() {
    use anyorder::sync::RwLock;
    use std::cell::Cell;
    let all: [(&str, Summary); 9] = [
        (
            "a value that is not used",
            sections(
                || Mutex::new(7_u32),
                |lock, at| {
                    let _guard = lock.lock().unwrap();
                    at.store(1, Ordering::SeqCst);
                },
                |lock, at| {
                    let _guard = lock.lock().unwrap();
                    at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
        (
            "a value that is read",
            sections(
                || Mutex::new(7_u32),
                |lock, at| at.store(*lock.lock().unwrap() as usize - 6, Ordering::SeqCst),
                |lock, at| {
                    let guard = lock.lock().unwrap();
                    *guard == 7 && at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
        (
            "a value that is changed back",
            sections(
                || Mutex::new(7_u32),
                |lock, at| {
                    let mut guard = lock.lock().unwrap();
                    *guard += 1;
                    at.store(1, Ordering::SeqCst);
                    *guard -= 1;
                },
                |lock, at| {
                    let mut guard = lock.lock().unwrap();
                    *guard += 1;
                    at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
        (
            "a lock of readers and writers",
            sections(
                || RwLock::new(false),
                |lock, at| {
                    let _guard = lock.write().unwrap();
                    at.store(1, Ordering::SeqCst);
                },
                |lock, at| {
                    let _guard = lock.read().unwrap();
                    at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
        (
            "a lock of parking_lot",
            sections(
                || anyorder::parking_lot::Mutex::new(0_u8),
                |lock, at| {
                    let _guard = lock.lock();
                    at.store(1, Ordering::SeqCst);
                },
                |lock, at| {
                    let _guard = lock.lock();
                    at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
        (
            "a cell in a lock",
            sections(
                || Mutex::new(Cell::new(0)),
                |lock, _| lock.lock().unwrap().set(1),
                |lock, _| lock.lock().unwrap().get() == 1,
            ),
        ),
        (
            "an atomic in a lock",
            sections(
                || Mutex::new(AtomicUsize::new(0)),
                |lock, _| lock.lock().unwrap().store(1, Ordering::SeqCst),
                |lock, _| lock.lock().unwrap().load(Ordering::SeqCst) == 1,
            ),
        ),
        (
            "a pointer in a lock",
            sections(
                || Mutex::new(std::sync::Arc::new(AtomicUsize::new(0))),
                |lock, _| lock.lock().unwrap().store(1, Ordering::SeqCst),
                |lock, _| lock.lock().unwrap().load(Ordering::SeqCst) == 1,
            ),
        ),
        (
            "an attempt",
            sections(
                || Mutex::new(7_u32),
                |lock, at| {
                    if let Ok(_guard) = lock.try_lock() {
                        at.store(1, Ordering::SeqCst);
                    }
                },
                |lock, at| {
                    let _guard = lock.lock().unwrap();
                    at.load(Ordering::SeqCst) == 1
                },
            ),
        ),
    ];
    let wrong: Vec<&str> = all.iter().filter(|one| one.1.is_ok()).map(|one| one.0).collect();
    assert!(wrong.is_empty(), "found nothing: {wrong:?}");
    for (name, summary) in &all {
        assert!(summary.failures.iter().all(|failure| failure.is_confirmed), "{name}: {summary}");
        println!("{name}: {:?} {}", summary.incomplete, summary.failures.len());
    }
}
