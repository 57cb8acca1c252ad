//! Explorations that do not end: each says why, and keeps what it found.

use crate::tests::script::Script;
use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_testkit::concurrent::{Concurrent, Do, Stmt, Thing};
use anyorder_threads::{
    Act, Fault, Incomplete, LearnOptions, LockMode, MemoryOrder, Next, Object, ObjectId, Op,
    Patience, SiteId, ThreadId, ThreadProgram, Watched, WeakOptions, explore_by_learning,
    explore_weak,
};

/// A number that several threads add to; the last result of one of them fails.
fn adders(count: usize) -> Script {
    let mut threads = vec![(1..=count).map(|child| Stmt::Do(Do::Spawn(child))).collect()];
    let fails = vec![Stmt::Do(Do::Add(0, 1)), Stmt::If(0, vec![Stmt::Fail(1)], vec![])];
    threads.extend(vec![fails; count]);
    Script::new(Concurrent { things: vec![Thing::Number(0)], threads })
}

#[test]
fn limits_are_named_and_keep_what_was_found() {
    let limited = |options: LearnOptions| {
        let learnt = explore_by_learning(&mut adders(4), &options);
        let fails = learnt.faults.iter().any(|found| found.fault == Fault::Failure(1));
        (learnt.incomplete, fails, learnt.executions)
    };
    assert_eq!(limited(LearnOptions::default()).0, None);
    let options = LearnOptions { executions_max: 3, ..LearnOptions::default() };
    assert_eq!(limited(options), (Some(Incomplete::Executions), true, 3));
    let options = LearnOptions { executions_max: 0, ..LearnOptions::default() };
    assert_eq!(limited(options), (Some(Incomplete::Executions), false, 0));
    let (incomplete, ..) = limited(LearnOptions { steps_max: 9, ..LearnOptions::default() });
    assert_eq!(incomplete, Some(Incomplete::Steps));
    let cancel = Cancel::new();
    cancel.stop(StopReason::TimeLimit);
    let stopped = limited(LearnOptions { cancel, ..LearnOptions::default() });
    assert_eq!(stopped, (Some(Incomplete::Stopped(StopReason::TimeLimit)), true, 1));
}

/// Of a choice among so many, some were tried: the others are what is new.
#[test]
fn what_is_left_is_estimated() {
    for (count, tried) in [(10, 4), (40, 4), (4, 2), (50, 34), (3, 2)] {
        let program =
            Concurrent { things: vec![], threads: vec![vec![Stmt::Do(Do::Choose(count))]] };
        // A third of the limit is for the search by preemptions, which comes later.
        let executions_max = tried * 3 / 2;
        let options = LearnOptions { executions_max, ..LearnOptions::default() };
        let learnt = explore_by_learning(&mut Script::new(program), &options);
        let unseen = learnt.unseen.filter(|_| learnt.incomplete.is_some());
        let (least, most) = unseen.map_or((0, 0), |unseen| unseen.percent());
        println!("{count} {tried}: {unseen:?} {least} {most}");
        if u64::from(count) <= executions_max {
            assert_eq!(learnt.unseen, None, "everything was tried in the end");
            continue;
        }
        let really = 100 * (count - tried as u32) / count;
        assert!((least..=most).contains(&really), "{count} {tried}: {least} to {most}");
        assert!(most - least < 20, "{least} to {most}");
    }
    let none = anyorder_threads::Unseen { new: 0, of: 200 };
    assert_eq!(none.percent(), (0, 2));
    assert_eq!(anyorder_threads::Unseen { new: 200, of: 200 }.percent(), (98, 100));
    assert_eq!(anyorder_threads::Unseen::default().percent(), (0, 100));
}

/// Two threads that each do one operation, which is not the same in each execution; or whose object
/// is not.
struct Fickle {
    executions: u64,
    has_fickle_object: bool,
    begun: [u32; 3],
}

impl ThreadProgram for Fickle {
    fn start(&mut self) {
        self.executions += 1;
        self.begun = [0; 3];
    }

    fn resume(&mut self, thread: ThreadId, _: u64) -> Next {
        let count = &mut self.begun[thread.index()];
        *count += 1;
        let end = ObjectId(10 + thread.0);
        let value = if self.has_fickle_object { 7 } else { self.executions };
        let op = match (thread.index(), *count) {
            (0, 1 | 2) => {
                let child = ThreadId(*count);
                Op::new(ObjectId(10 + child.0), Act::Spawn(child))
            }
            (1, 1) => Op::new(ObjectId(0), Act::Store(value, MemoryOrder::SeqCst)),
            (2, 1) => Op::new(ObjectId(0), Act::Load(MemoryOrder::SeqCst)),
            _ => Op::new(end, Act::Exit(0)),
        };
        Next { op, site: SiteId::NONE }
    }

    fn stop(&mut self) {}

    fn initial(&self, object: ObjectId) -> Object {
        let value = if self.has_fickle_object { self.executions } else { 0 };
        if object.0 < 10 { Object::Register(value) } else { Object::End(None) }
    }
}

#[test]
fn programs_that_are_not_functions_of_the_results_are_refused() {
    for has_fickle_object in [false, true] {
        let mut program = Fickle { executions: 0, has_fickle_object, begun: [0; 3] };
        let learnt = explore_by_learning(&mut program, &LearnOptions::default());
        match learnt.incomplete {
            Some(Incomplete::Diverged(Some(how))) if !has_fickle_object => {
                assert_eq!(how.thread, ThreadId(1));
                assert_ne!(how.expected, how.found);
            }
            Some(Incomplete::Diverged(None)) if has_fickle_object => {}
            other => panic!("{has_fickle_object}: {other:?}"),
        }
    }
}

/// The main thread waits under a lock until a number is set that is no object. Another thread sets
/// it, or forgets to tell of it.
struct Hidden {
    number: u32,
    done: [u32; 2],
    is_told: bool,
}

impl ThreadProgram for Hidden {
    fn start(&mut self) {
        (self.number, self.done) = (0, [0; 2]);
    }

    fn resume(&mut self, thread: ThreadId, _: u64) -> Next {
        let (lock, condition, end) = (ObjectId(0), ObjectId(1), ObjectId(10 + thread.0));
        let count = &mut self.done[thread.index()];
        *count += 1;
        // Who finds the number set need not wait.
        if (thread.index(), *count, self.number) == (0, 3, 1) {
            *count = 6;
        }
        if (thread.index(), *count) == (1, 2) {
            self.number = 1;
        }
        let take = Op::new(lock, Act::Lock(LockMode::Exclusive, Patience::Wait));
        if (thread.index(), *count, self.is_told) == (1, 2, false) {
            *count = 3;
        }
        let give = Op::new(lock, Act::Unlock(LockMode::Exclusive));
        let wait = Act::Wait { lock, mode: LockMode::Exclusive };
        let op = match (thread.index(), *count) {
            (0, 1) => Op::new(ObjectId(11), Act::Spawn(ThreadId(1))),
            (0, 2 | 5) | (1, 1) => take,
            (0, 3) => Op::new(condition, wait),
            (0, 4) => Op::new(condition, Act::Wake(Patience::Wait)),
            (1, 2) if self.is_told => Op::new(condition, Act::Notify { all: true, counted: false }),
            (0, 6) | (1, 3) => give,
            _ => Op::new(end, Act::Exit(0)),
        };
        Next { op, site: SiteId::NONE }
    }

    fn stop(&mut self) {}

    fn initial(&self, object: ObjectId) -> Object {
        match object.0 {
            0 => Object::LOCK,
            1 => Object::condition(),
            _ => Object::End(None),
        }
    }
}

/// No execution of the right program ends with a thread that waits, but its trees say so: the
/// thread that sets the number goes first, and the other one waits as it did before.
#[test]
fn deadlocks_are_shown_by_executions_or_not_told() {
    for is_told in [true, false] {
        for preemptions_max in [None, Some(2)] {
            let mut program = Hidden { number: 0, done: [0; 2], is_told };
            let options = LearnOptions { preemptions_max, ..LearnOptions::default() };
            let learnt = explore_by_learning(&mut program, &options);
            let deadlocks =
                learnt.faults.iter().filter(|found| matches!(found.fault, Fault::Deadlock(_)));
            let has_diverged = matches!(learnt.incomplete, Some(Incomplete::Diverged(Some(_))));
            let found = (deadlocks.count(), has_diverged, learnt.confirmations);
            // The first execution of the wrong program shows the same end.
            let expected = if is_told { (0, true, 1) } else { (1, false, 0) };
            assert_eq!(found, expected, "{learnt:?}");
        }
    }
}

#[test]
fn limits_under_weak_memory_are_named_and_keep_what_was_found() {
    let limited = |options: WeakOptions| {
        let explored = explore_weak(&mut adders(4), &options);
        let fails = explored.faults.iter().any(|found| found.fault == Fault::Failure(1));
        (explored.incomplete, fails, explored.executions)
    };
    assert_eq!(limited(WeakOptions::default()), (None, true, 24));
    let options = WeakOptions { executions_max: 3, ..WeakOptions::default() };
    assert_eq!(limited(options), (Some(Incomplete::Executions), true, 3));
    let options = WeakOptions { events_max: 9, ..WeakOptions::default() };
    assert_eq!(limited(options).0, Some(Incomplete::Steps));
    let cancel = Cancel::new();
    cancel.stop(StopReason::TimeLimit);
    let stopped = limited(WeakOptions { cancel, ..WeakOptions::default() });
    assert_eq!(stopped, (Some(Incomplete::Stopped(StopReason::TimeLimit)), false, 0));
    let mut program = Fickle { executions: 0, has_fickle_object: false, begun: [0; 3] };
    let explored = explore_weak(&mut program, &WeakOptions::default());
    assert!(matches!(explored.incomplete, Some(Incomplete::Diverged(Some(_)))), "{explored:?}");
}

/// A thread that waits for a flag, and sets another one after some turns in vain.
struct Impatient {
    turns: u32,
    turns_max: u32,
}

impl ThreadProgram for Impatient {
    fn start(&mut self) {
        self.turns = 0;
    }

    fn resume(&mut self, _: ThreadId, _: u64) -> Next {
        let flag = |at, act| Op::new(ObjectId(at), act);
        let load = flag(0, Act::Load(MemoryOrder::Relaxed));
        self.turns += 1;
        let op = match self.turns {
            turns if turns / 2 == self.turns_max => flag(1, Act::Store(1, MemoryOrder::Relaxed)),
            turns if turns / 2 > self.turns_max => Op::new(ObjectId(2), Act::Exit(0)),
            turns if turns % 2 == 1 => load,
            _ => Op::new(ObjectId::NONE, Act::Await([Watched::new(load, 0)].into())),
        };
        Next { op, site: SiteId::NONE }
    }

    fn stop(&mut self) {}

    fn initial(&self, object: ObjectId) -> Object {
        if object.0 < 2 { Object::Register(0) } else { Object::End(None) }
    }
}

#[test]
fn a_loop_that_gives_up_is_no_livelock() {
    let explore =
        |turns_max| explore_weak(&mut Impatient { turns: 0, turns_max }, &WeakOptions::default());
    let explored = explore(3);
    assert_eq!((explored.incomplete, explored.executions), (None, 1));
    assert!(explored.faults.is_empty());
    let explored = explore(40);
    assert!(matches!(explored.incomplete, Some(Incomplete::GivesUp(_))), "{explored:?}");
    assert!(explored.faults.is_empty());
    let explored = explore(1_000);
    assert_eq!(explored.incomplete, None);
    assert!(matches!(explored.faults[0].fault, Fault::Livelock(_)));
}
