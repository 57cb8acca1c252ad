//! The programs with which peers are compared: how many executions each takes.

use crate::tests::script::Script;
use anyorder_testkit::concurrent::{Concurrent, Do, Hold, Stmt, Thing, Waits};
use anyorder_threads::{Fault, LearnOptions, Learnt, explore_by_learning};

const LOCK: [Do; 2] = [Do::Lock(1, Hold::Write, Waits::Ever), Do::Unlock(1, Hold::Write)];

/// The main thread spawns all, joins them, and does `after`.
fn spawned(things: Vec<Thing>, threads: Vec<Vec<Do>>, joins: bool, after: Vec<Do>) -> Concurrent {
    let count = threads.len();
    let mut main: Vec<Do> = (1..=count).map(Do::Spawn).collect();
    if joins {
        main.extend((1..=count).map(Do::Join));
    }
    main.extend(after);
    let all = std::iter::once(main).chain(threads);
    let threads = all.map(|ops| ops.into_iter().map(Stmt::Do).collect()).collect();
    Concurrent { things, threads }
}

fn explore(program: &Concurrent, classes: bool) -> Learnt {
    let mut script = Script::new(program.clone());
    let options = LearnOptions { classes, ..LearnOptions::default() };
    let begun = std::time::Instant::now();
    let learnt = explore_by_learning(&mut script, &options);
    println!(
        "{} threads: {} executions, {} searches, {} states, {} transitions, {} classes, {} places, {:?}",
        program.threads.len(),
        learnt.executions,
        learnt.searches,
        learnt.states,
        learnt.transitions,
        learnt.classes,
        learnt.behaviours,
        begun.elapsed()
    );
    assert_eq!(learnt.incomplete, None);
    assert!(!learnt.faults.iter().any(|found| !matches!(found.fault, Fault::Failure(_))));
    learnt
}

pub(crate) fn counter(count: usize, times: usize) -> Concurrent {
    let one = [LOCK[0], Do::Use(0), Do::AlterNext(0), LOCK[1]];
    let body: Vec<Do> = one.iter().copied().cycle().take(4 * times).collect();
    let after = vec![LOCK[0], Do::Use(0), LOCK[1]];
    spawned(vec![Thing::Content(0), Thing::Lock], vec![body; count], true, after)
}

pub(crate) fn readers(count: usize) -> Concurrent {
    let mut threads = vec![vec![Do::Store(0, 1)]];
    threads.extend(vec![vec![Do::Load(0)]; count]);
    spawned(vec![Thing::Number(0)], threads, true, vec![])
}

pub(crate) fn locked_readers(count: usize) -> Concurrent {
    let mut threads = vec![vec![LOCK[0], Do::Alter(0, 1), LOCK[1]]];
    threads.extend(vec![vec![LOCK[0], Do::Use(0), LOCK[1]]; count]);
    spawned(vec![Thing::Content(0), Thing::Lock], threads, true, vec![])
}

pub(crate) fn same_writes(count: usize) -> Concurrent {
    let mut threads = vec![vec![Do::Store(0, 1)]; count];
    threads.push(vec![Do::Load(0)]);
    spawned(vec![Thing::Number(0)], threads, true, vec![])
}

fn locked_reads(count: usize) -> Concurrent {
    let body = vec![LOCK[0], Do::Use(0), LOCK[1]];
    spawned(vec![Thing::Content(7), Thing::Lock], vec![body; count], true, vec![])
}

/// One thread reads, the others add.
pub(crate) fn checker_and_adders(count: usize) -> Concurrent {
    let mut threads = vec![vec![Do::Load(0)]];
    threads.extend(vec![vec![Do::Add(0, 1)]; count]);
    spawned(vec![Thing::Number(0)], threads, false, vec![])
}

/// Readers of a lock that admits them together.
pub(crate) fn shared_readers(count: usize) -> Concurrent {
    let (take, give) = (Do::Lock(1, Hold::Read, Waits::Ever), Do::Unlock(1, Hold::Read));
    let body = vec![take, Do::Use(0), give];
    spawned(vec![Thing::Content(7), Thing::Lock], vec![body; count], true, vec![])
}

/// Owners of one value that go away.
pub(crate) fn owners(count: usize) -> Concurrent {
    spawned(vec![Thing::Owners(count as u64)], vec![vec![Do::Disown(0)]; count], true, vec![])
}

/// Each thread reads a number and writes the next one; another one looks for the last zero.
pub(crate) fn lastzero(count: usize) -> Concurrent {
    let mut search = Vec::new();
    for at in 0..=count {
        let load = Stmt::Do(Do::Load(at));
        search = if at == 0 { vec![load] } else { vec![load, Stmt::If(0, vec![], search)] };
    }
    let threads = (1..=count).map(|at| vec![Do::Load(at - 1), Do::StoreNext(at)]).collect();
    let mut program = spawned(vec![Thing::Number(0); count + 1], threads, true, vec![]);
    program.threads[0].splice(0..0, [Stmt::Do(Do::Spawn(count + 1))]);
    program.threads.push(search);
    program
}

#[test]
fn small_programs() {
    for count in [2, 3, 4, 5, 6, 8] {
        println!("counter");
        explore(&counter(count, 1), false);
        println!("locked reads");
        assert_eq!(explore(&locked_reads(count), false).executions, 1);
        println!("readers");
        explore(&readers(count), false);
        println!("locked readers");
        explore(&locked_readers(count), false);
        println!("same writes");
        assert_eq!(explore(&same_writes(count), false).executions, 2);
        println!("checker");
        explore(&checker_and_adders(count), false);
    }
    for count in [2, 3, 4, 5, 6] {
        println!("classes");
        assert_eq!(explore(&readers(count), true).classes, 1 << count);
        assert_eq!(explore(&locked_readers(count), true).classes, 1 << count);
        assert_eq!(explore(&same_writes(count), true).classes, 2);
        assert_eq!(explore(&locked_reads(count), true).classes, 1);
        let factorial: u64 = (1..=count as u64).product();
        assert_eq!(explore(&counter(count, 1), true).classes, factorial);
    }
}
