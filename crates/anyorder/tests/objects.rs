//! Objects with specifications.

use anyorder::object::{Commutes, Linearizable, Object, Sequential, ready, validate};
use anyorder::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};
use anyorder::sync::{Arc, Condvar, Mutex};
use anyorder::{Builder, FailureKind, thread};
use ready::{Answer, Call};
use std::collections::{BTreeMap, VecDeque};

/// A set of lists, as hash tables are.
struct Table {
    object: Object<ready::Set>,
    buckets: [Mutex<Vec<i64>>; 2],
    size: AtomicUsize,
}

impl Table {
    fn new() -> Table {
        Table { object: Object::new(), buckets: Default::default(), size: AtomicUsize::new(0) }
    }

    fn add(&self, element: i64) -> bool {
        self.object.invoke(Call::new("add", &[element]), || {
            let mut bucket = self.buckets[element as usize % 2].lock().unwrap();
            let is_new = !bucket.contains(&element);
            if is_new {
                bucket.push(element);
                self.size.fetch_add(1, SeqCst);
            }
            is_new
        })
    }

    fn contains(&self, element: i64) -> bool {
        self.object.invoke(Call::new("contains", &[element]), || {
            self.buckets[element as usize % 2].lock().unwrap().contains(&element)
        })
    }

    fn size(&self) -> usize {
        self.object.invoke(Call::new("size", &[]), || self.size.load(SeqCst))
    }
}

#[test]
fn calls_that_commute_are_tried_in_one_order() {
    let summary = Builder::new().explore(|| {
        let table = Arc::new(Table::new());
        let threads: Vec<_> = (0..6)
            .map(|element| {
                let table = Arc::clone(&table);
                thread::spawn(move || assert!(table.add(element)))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(table.size(), 6);
    });
    assert!(summary.is_ok(), "{summary}");
    assert_eq!(summary.executions, 1);
}

#[test]
fn calls_that_do_not_commute_are_tried_in_all_orders() {
    let seen = Arc::new(std::sync::Mutex::new(BTreeMap::<_, u32>::new()));
    let noted = Arc::clone(&seen);
    let summary = Builder::new().explore(move || {
        let table = Arc::new(Table::new());
        let other = Arc::clone(&table);
        let thread = thread::spawn(move || (other.add(1), other.contains(2), other.size()));
        let mine = (table.add(1), table.add(2));
        let its = thread.join().unwrap();
        *noted.lock().unwrap().entry((mine, its)).or_default() += 1;
    });
    assert!(summary.is_ok(), "{summary}");
    let seen: Vec<_> = seen.lock().unwrap().keys().copied().collect();
    let all = [
        ((false, true), (true, false, 1)),
        ((false, true), (true, false, 2)),
        ((false, true), (true, true, 2)),
        ((true, true), (false, false, 1)),
        ((true, true), (false, false, 2)),
        ((true, true), (false, true, 2)),
    ];
    assert_eq!(seen, all);
}

#[test]
fn a_call_that_fails_is_told_as_a_call() {
    let summary = Builder::new().explore(|| {
        let table = Arc::new(Table::new());
        let other = Arc::clone(&table);
        let thread = thread::spawn(move || assert!(other.add(1)));
        assert!(!table.contains(1), "it is there");
        thread.join().unwrap();
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
    assert!(
        matches!(&summary.failures[0].kind, FailureKind::Panic(panic) if panic.message.contains("it is there"))
    );
    let told = summary.to_string();
    assert!(told.contains("object: add(1)") && told.contains("object: contains(1)"), "{told}");
}

/// A queue whose `get` waits.
struct Queue {
    object: Object<ready::Queue>,
    items: Mutex<VecDeque<i64>>,
    filled: Condvar,
}

#[test]
fn calls_may_wait_inside() {
    let run = |gets: usize| {
        Builder::new().explore(move || {
            let (items, filled) = (Mutex::new(VecDeque::new()), Condvar::new());
            let queue = Arc::new(Queue { object: Object::new(), items, filled });
            let other = Arc::clone(&queue);
            let thread = thread::spawn(move || {
                let mut got = Vec::new();
                for _ in 0..gets {
                    got.push(other.object.invoke(Call::new("dequeue", &[]), || {
                        let mut items = other.items.lock().unwrap();
                        while items.is_empty() {
                            items = other.filled.wait(items).unwrap();
                        }
                        items.pop_front().unwrap()
                    }));
                }
                got
            });
            for item in [1, 2] {
                queue.object.invoke(Call::new("enqueue", &[item]), || {
                    queue.items.lock().unwrap().push_back(item);
                    queue.filled.notify_one();
                });
            }
            assert_eq!(thread.join().unwrap(), [1, 2]);
        })
    };
    assert!(run(2).is_ok(), "{}", run(2));
    assert!(matches!(run(3).failures[0].kind, FailureKind::Deadlock(_)));
}

/// What is outside of the object is no matter of its specification.
#[test]
fn calls_do_not_hide_what_is_outside() {
    let summary = Builder::new().explore(|| {
        let (table, flag) = (Arc::new(Table::new()), Arc::new(AtomicU64::new(0)));
        let (its_table, its_flag) = (Arc::clone(&table), Arc::clone(&flag));
        let thread = thread::spawn(move || {
            its_flag.store(1, SeqCst);
            its_table.add(1);
        });
        table.add(2);
        let before = flag.load(SeqCst);
        thread.join().unwrap();
        assert_eq!(before, 0, "the other one came first");
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
}

#[test]
fn specifications_of_common_types_are_valid() {
    fn valid<T: Sequential + Commutes<Call = <T as Sequential>::Call>>() -> u64 {
        let validated = validate::<T, T>(3_000).unwrap_or_else(|why| panic!("{why}"));
        assert!(validated.states > 1, "{validated:?}");
        validated.pairs
    }
    let pairs = [
        valid::<ready::Register>(),
        valid::<ready::Counter>(),
        valid::<ready::Set>(),
        valid::<ready::Map>(),
        valid::<ready::Multiset>(),
        valid::<ready::Queue>(),
        valid::<ready::Stack>(),
        valid::<ready::UnionFind>(),
    ];
    assert!(pairs.iter().all(|pairs| *pairs > 0), "{pairs:?}");
}

/// Says that all calls of a set commute.
struct Wrong;

impl Commutes for Wrong {
    type Call = Call;
    fn commute(_: &Call, _: &Call) -> bool {
        true
    }
}

#[test]
fn a_wrong_specification_is_found() {
    let why = validate::<Wrong, ready::Set>(1_000).unwrap_err();
    assert!(why.before.is_empty());
    assert!(why.to_string().contains("do not commute after []"), "{why}");
    assert_ne!(why.one_way, why.other_way);
}

fn count(counter: &AtomicI64, call: &Call, is_atomic: bool) -> Answer {
    let by = call.arguments.first().copied().unwrap_or(0);
    let add = || match is_atomic {
        true => counter.fetch_update(SeqCst, SeqCst, |old| Some((old + by).rem_euclid(5))).unwrap(),
        false => {
            let old = counter.load(SeqCst);
            counter.store((old + by).rem_euclid(5), SeqCst);
            old
        }
    };
    match call.method {
        "add" => {
            add();
            Answer::Null
        }
        "fetch_add" => Answer::Int(add()),
        _ => Answer::Int(counter.load(SeqCst)),
    }
}

#[test]
fn atomics_are_linearizable() {
    let ran = Linearizable::<ready::Counter>::new()
        .calls(1)
        .check(|| AtomicI64::new(0), |counter, call| count(counter, call, true));
    assert!(ran.scenarios > 20 && ran.executions > ran.scenarios, "{ran:?}");
    let ran = Linearizable::<ready::Register>::new().check(
        || AtomicI64::new(0),
        |register, call| match call.method {
            "write" => {
                register.store(call.arguments[0], SeqCst);
                Answer::Null
            }
            _ => Answer::Int(register.load(SeqCst)),
        },
    );
    assert!(ran.scenarios > 100 && ran.executions > ran.scenarios, "{ran:?}");
}

#[test]
#[should_panic(expected = "not linearizable")]
fn a_counter_that_adds_in_two_steps_is_not_linearizable() {
    Linearizable::<ready::Counter>::new()
        .check(|| AtomicI64::new(0), |counter, call| count(counter, call, false));
}

/// A register whose reads may return the value before a write that has returned.
#[test]
#[should_panic(expected = "begins after the end of")]
fn what_returned_before_counts() {
    Linearizable::<ready::Register>::new().check(
        || (AtomicI64::new(0), AtomicI64::new(0)),
        |(new, old), call| match call.method {
            "write" => {
                old.store(new.load(SeqCst), SeqCst);
                new.store(call.arguments[0], SeqCst);
                Answer::Null
            }
            _ => Answer::Int(old.load(SeqCst)),
        },
    );
}
