//! Exploration by learning on the programs with which tools of this kind are compared: executions
//! of the program, and time; each is stopped after 20 seconds.
//! Then the plain search for a second, one execution for each Mazurkiewicz trace, and one for each
//! reads-from class: `REDUCED=1` for these alone.
//! Then exploration under RC11 of some of them: executions, those given up, and time.
//! `cargo bench -p anyorder-threads --bench programs [NAME [THREADS]]`; with `RC11=1`, only those
//! under RC11.

#![allow(clippy::print_stdout, reason = "a benchmark prints its numbers")]

#[path = "../tests/script.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod script;

use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_testkit::concurrent::{Call, Concurrent, Do, Hold, Stmt, Thing, Waits};
use anyorder_threads::{
    DporOptions, LearnOptions, WeakOptions, every_execution, explore_by_learning, explore_optimal,
    explore_reads_from, explore_weak,
};
use script::Script;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The most time for one program of one size.
const TIME_LIMIT: Duration = Duration::from_secs(20);

const LOCK: Do = Do::Lock(1, Hold::Write, Waits::Ever);
const UNLOCK: Do = Do::Unlock(1, Hold::Write);

/// The main thread spawns all, and joins them.
fn joined(things: Vec<Thing>, threads: Vec<Vec<Stmt>>) -> Concurrent {
    let count = threads.len();
    let main = (1..=count).map(Do::Spawn).chain((1..=count).map(Do::Join)).map(Stmt::Do);
    Concurrent { things, threads: std::iter::once(main.collect()).chain(threads).collect() }
}

fn body(ops: &[Do]) -> Vec<Stmt> {
    ops.iter().copied().map(Stmt::Do).collect()
}

fn locked(count: usize, section: &[Do]) -> Concurrent {
    let ops: Vec<Do> = [LOCK].into_iter().chain(section.iter().copied()).chain([UNLOCK]).collect();
    joined(vec![Thing::Content(0), Thing::Lock], vec![body(&ops); count])
}

fn counter(count: usize) -> Concurrent {
    locked(count, &[Do::Use(0), Do::AlterNext(0)])
}

fn counter2(count: usize) -> Concurrent {
    let one = [LOCK, Do::Use(0), Do::AlterNext(0), UNLOCK];
    joined(vec![Thing::Content(0), Thing::Lock], vec![body(&[one, one].concat()); count])
}

fn set(count: usize) -> Concurrent {
    let thread = |own| body(&[LOCK, Do::Use(0), Do::AlterOwn(0, own), UNLOCK]);
    joined(vec![Thing::Content(0), Thing::Lock], (1..=count as u64).map(thread).collect())
}

fn mxread(count: usize) -> Concurrent {
    locked(count, &[Do::Use(0)])
}

fn ainc(count: usize) -> Concurrent {
    joined(vec![Thing::Number(0)], vec![body(&[Do::Add(0, 1)]); count])
}

fn readers(count: usize) -> Concurrent {
    let mut threads = vec![body(&[Do::Store(0, 1)])];
    threads.extend(vec![body(&[Do::Load(0)]); count]);
    joined(vec![Thing::Number(0)], threads)
}

fn mxreaders(count: usize) -> Concurrent {
    let mut threads = vec![body(&[LOCK, Do::Use(0), Do::Alter(0, 1), UNLOCK])];
    threads.extend(vec![body(&[LOCK, Do::Use(0), UNLOCK]); count]);
    joined(vec![Thing::Content(0), Thing::Lock], threads)
}

fn samewrite(count: usize) -> Concurrent {
    let mut threads = vec![body(&[Do::Store(0, 1)]); count];
    threads.push(body(&[Do::Load(0)]));
    joined(vec![Thing::Number(0)], threads)
}

fn lastzero(count: usize) -> Concurrent {
    let mut search = Vec::new();
    for at in 0..=count {
        let load = Stmt::Do(Do::Load(at));
        search = if at == 0 { vec![load] } else { vec![load, Stmt::If(0, vec![], search)] };
    }
    let mut threads = vec![search];
    threads.extend((1..=count).map(|at| body(&[Do::Load(at - 1), Do::StoreNext(at)])));
    joined(vec![Thing::Number(0); count + 1], threads)
}

/// Inserts into a table of some size with linear probing: `times` numbers each thread.
fn table(
    count: usize,
    size: usize,
    times: usize,
    slot: fn(usize, usize) -> (u64, usize),
) -> Concurrent {
    let thread = |thread: usize| {
        let mut stmts = Vec::new();
        for time in 1..=times {
            let (number, first) = slot(time, thread);
            let mut probe = Vec::new();
            for step in (0..count).rev() {
                let swap = Stmt::Do(Do::Swap((first + step) % size, 0, number));
                probe = vec![swap, Stmt::If(0, vec![], probe)];
            }
            stmts.extend(probe);
        }
        stmts
    };
    joined(vec![Thing::Number(0); size], (0..count).map(thread).collect())
}

fn indexer(count: usize) -> Concurrent {
    table(count, 128, 4, |time, thread| {
        let number = time * 11 + thread;
        (number as u64, number * 7 % 128)
    })
}

fn indexer_s(count: usize) -> Concurrent {
    table(count, 4, 1, |_, thread| (thread as u64 + 1, thread.div_ceil(2) % 4))
}

fn disjoint(count: usize) -> Concurrent {
    let thread = |at: usize| {
        let (content, lock) = (2 * at, 2 * at + 1);
        let one = [
            Do::Lock(lock, Hold::Write, Waits::Ever),
            Do::Use(content),
            Do::AlterNext(content),
            Do::Unlock(lock, Hold::Write),
        ];
        body(&[one, one, one].concat())
    };
    let things = [Thing::Content(0), Thing::Lock].repeat(count);
    joined(things, (0..count).map(thread).collect())
}

fn fkp(count: usize) -> Concurrent {
    let main = (1..=count + 1).map(Do::Spawn).map(Stmt::Do).collect();
    let mut threads = vec![main, body(&[Do::Load(0)])];
    threads.extend(vec![body(&[Do::Add(0, 1)]); count]);
    Concurrent { things: vec![Thing::Number(0)], threads }
}

fn demo(count: usize) -> Concurrent {
    let one = [LOCK, Do::Use(0), Do::AlterNext(0), UNLOCK];
    joined(vec![Thing::Content(0), Thing::Lock], vec![body(&one.repeat(count)); 2])
}

/// The same program with what each thread does as calls of one object, which commute with all
/// others: each from a lock to its release, or each statement.
fn specified(mut program: Concurrent) -> Concurrent {
    for stmts in program.threads.iter_mut().skip(1) {
        let mut calls = Vec::new();
        let mut body = Vec::new();
        let has_locks = stmts.contains(&Stmt::Do(LOCK)) || stmts.contains(&Stmt::Do(UNLOCK));
        for stmt in stmts.drain(..) {
            body.push(stmt);
            if !has_locks || body.last() == Some(&Stmt::Do(UNLOCK)) {
                let body = std::mem::take(&mut body);
                let call = Call { object: 0, call: 0, clashes: vec![], body, returns: false };
                calls.push(Stmt::Call(Box::new(call)));
            }
        }
        calls.append(&mut body);
        *stmts = calls;
    }
    program
}

/// Two threads that do nothing but stores of their own number and loads of a third one.
fn long(count: usize) -> Concurrent {
    let thread = |own| body(&[Do::Store(own, 1), Do::Load(2)].repeat(count / 4));
    joined(vec![Thing::Number(0); 3], vec![thread(0), thread(1)])
}

type Make = fn(usize) -> Concurrent;

const PROGRAMS: &[(&str, Make, &[usize])] = &[
    ("counter", counter, &[2, 3, 4, 5, 7, 10, 13]),
    ("counter2", counter2, &[2, 3, 4, 5, 6]),
    ("ainc", ainc, &[3, 4, 7, 10, 13]),
    ("set", set, &[2, 3, 4, 5, 6]),
    ("mxread", mxread, &[3, 4, 7, 10, 13]),
    ("readers", readers, &[2, 3, 4, 8, 12]),
    ("mxreaders", mxreaders, &[2, 3, 7, 10, 12]),
    ("samewrite", samewrite, &[2, 3, 8, 12]),
    ("lastzero", lastzero, &[2, 3, 5, 8, 10]),
    ("indexer", indexer, &[2, 4, 8, 11, 12, 13, 14]),
    ("indexer_s", indexer_s, &[3, 4]),
    ("disjoint", disjoint, &[2, 4, 8, 16]),
    ("fkp", fkp, &[2, 6, 20, 50]),
    ("demo", demo, &[2, 4, 8, 20, 40]),
    ("counter, spec", |count| specified(counter(count)), &[2, 7, 13, 16, 32]),
    ("counter2, spec", |count| specified(counter2(count)), &[2, 6, 16]),
    ("set, spec", |count| specified(set(count)), &[2, 6, 16]),
    ("mxread, spec", |count| specified(mxread(count)), &[3, 16]),
    ("ainc, spec", |count| specified(ainc(count)), &[3, 13, 16]),
    ("indexer, spec", |count| specified(indexer(count)), &[2, 11, 14, 16]),
    ("demo, spec", |count| specified(demo(count)), &[2, 8, 20, 40]),
];

/// For exploration under RC11.
const WEAK: &[(&str, Make, &[usize])] = &[
    ("counter", counter, &[4, 6, 7]),
    ("ainc", ainc, &[4, 6, 8]),
    ("readers", readers, &[4, 8, 12, 16]),
    ("mxreaders", mxreaders, &[3, 5, 6]),
    ("samewrite", samewrite, &[4, 6, 8]),
    ("lastzero", lastzero, &[5, 8, 10, 12]),
    ("indexer", indexer, &[4, 8, 11, 12, 13]),
    ("indexer_s", indexer_s, &[3, 4]),
    ("disjoint", disjoint, &[4, 8, 16]),
    ("fkp", fkp, &[4, 6, 7]),
    ("demo", demo, &[4, 6, 8]),
    ("long", long, &[1_250, 2_500, 5_000, 10_000]),
];

/// Stops after some time.
fn timed() -> Cancel {
    let cancel = Cancel::new();
    let watched = cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(TIME_LIMIT);
        watched.stop(StopReason::TimeLimit);
    });
    cancel
}

fn explore_weakly(name: &str, count: usize, program: Concurrent) {
    let cores = std::env::var("CORES").ok().and_then(|cores| cores.parse().ok()).unwrap_or(1);
    let options = WeakOptions { cancel: timed(), cores, ..WeakOptions::default() };
    let begun = Instant::now();
    let explored = explore_weak(&mut Script::new(program), &options);
    let time = begun.elapsed();
    println!(
        "{name:16} {count:2} {:10} {:10} {:10} {:5} {time:>11.3?} {:10.0}{}",
        explored.executions,
        explored.blocked,
        explored.graphs,
        explored.runs,
        explored.executions as f64 / time.as_secs_f64(),
        explored.incomplete.map_or_else(String::new, |why| format!(" {why:?}")),
    );
}

/// The plain search, one execution for each trace, and one for each reads-from class.
fn explore_reduced(name: &str, count: usize, program: &Concurrent) {
    let line = |engine: &str, executions: u64, blocked: u64, begun: Instant, is_cut: bool| {
        let time = begun.elapsed();
        println!(
            "{name:16} {count:2} {engine:10} {executions:10} {blocked:8} {time:>11.3?} {:10.0}{}",
            executions as f64 / time.as_secs_f64(),
            if is_cut { " cut" } else { "" },
        );
    };
    let begun = Instant::now();
    let mut script = Script::new(program.clone());
    let plain = every_execution(&mut script, (1_000, 3), |_, _, _| {
        match begun.elapsed() > Duration::from_secs(1) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    line("plain", plain.executions, 0, begun, !plain.complete);
    let options = DporOptions { cancel: timed(), ..DporOptions::default() };
    let begun = Instant::now();
    let traces = explore_optimal(&mut Script::new(program.clone()), &options);
    line("optimal", traces.executions, traces.blocked, begun, traces.incomplete.is_some());
    let options = DporOptions { cancel: timed(), ..DporOptions::default() };
    let begun = Instant::now();
    let classes = explore_reads_from(&mut Script::new(program.clone()), &options);
    line("reads-from", classes.executions, classes.blocked, begun, classes.incomplete.is_some());
}

/// For the plain search and what is optimal.
const REDUCED: &[(&str, Make, &[usize])] = &[
    ("counter", counter, &[3, 5, 7]),
    ("ainc", ainc, &[3, 5, 7]),
    ("readers", readers, &[3, 8, 12]),
    ("mxreaders", mxreaders, &[3, 5]),
    ("samewrite", samewrite, &[3, 6, 8]),
    ("lastzero", lastzero, &[3, 5, 8]),
    ("indexer", indexer, &[4, 12, 13]),
    ("indexer_s", indexer_s, &[3, 4]),
    ("fkp", fkp, &[3, 5, 6]),
    ("demo", demo, &[2, 4, 8]),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    println!("program           n executions searches     states transitions  places        time");
    let only_weak = std::env::var_os("RC11").is_some();
    let only_reduced = std::env::var_os("REDUCED").is_some();
    for (name, make, counts) in PROGRAMS {
        if only_weak || only_reduced || args.first().is_some_and(|arg| arg != name) {
            continue;
        }
        let own: Vec<usize> = args.get(1).and_then(|arg| arg.parse().ok()).into_iter().collect();
        for count in if own.is_empty() { counts } else { own.as_slice() } {
            let mut script = Script::new(make(*count));
            let options =
                LearnOptions { shorten_max: 0, cancel: timed(), ..LearnOptions::default() };
            let begun = Instant::now();
            let learnt = explore_by_learning(&mut script, &options);
            println!(
                "{name:10} {count:2} {:10} {:8} {:10} {:11} {:7} {:>11.3?}{}",
                learnt.executions,
                learnt.searches,
                learnt.states,
                learnt.transitions,
                learnt.behaviours,
                begun.elapsed(),
                learnt.incomplete.map_or_else(String::new, |why| format!(" {why:?}")),
            );
        }
    }
    println!("reduced           n engine     executions  blocked        time executions/s");
    for (name, make, counts) in REDUCED {
        if only_weak || args.first().is_some_and(|arg| arg != name) {
            continue;
        }
        let own: Vec<usize> = args.get(1).and_then(|arg| arg.parse().ok()).into_iter().collect();
        for count in if own.is_empty() { counts } else { own.as_slice() } {
            explore_reduced(name, *count, &make(*count));
        }
    }
    println!("RC11        n executions   given up     graphs  runs        time executions/s");
    for (name, make, counts) in WEAK {
        if only_reduced || args.first().is_some_and(|arg| arg != name) {
            continue;
        }
        let own: Vec<usize> = args.get(1).and_then(|arg| arg.parse().ok()).into_iter().collect();
        for count in if own.is_empty() { counts } else { own.as_slice() } {
            explore_weakly(name, *count, make(*count));
        }
    }
}
