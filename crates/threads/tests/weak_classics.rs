//! The litmus programs of the literature, with what RC11 says of each, and programs of which it is
//! known how many graphs they have.

use crate::tests::litmus::{LitmusProgram, run_of};
use crate::tests::script::Script;
use anyorder_testkit::concurrent::{Concurrent, Do, Hold, Stmt, Thing, Waits};
use anyorder_testkit::litmus::Strength::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use anyorder_testkit::litmus::{
    Code, Litmus, LitmusRun, Modify, Strength, Written, consistent_graphs,
};
use anyorder_threads::{WeakOptions, explore_weak, explore_weak_with};
use std::collections::BTreeSet;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

const fn load(at: usize, strength: Strength) -> Code {
    Code::Load(at, strength)
}

const fn store(at: usize, value: u64, strength: Strength) -> Code {
    Code::Store(at, Written::Is(value), strength)
}

const fn add(at: usize, strength: Strength) -> Code {
    Code::Modify(at, Modify::Add(1), strength, Relaxed)
}

const fn fence(strength: Strength) -> Code {
    Code::Fence(strength)
}

/// A program, and an outcome: what its reads give, thread by thread, those at the end last.
pub(crate) struct Classic {
    pub(crate) name: &'static str,
    pub(crate) program: Litmus,
    seen: Vec<u64>,
    is_allowed: bool,
}

/// The threads, what the first one reads after it has joined them, and the outcome.
fn ended(
    name: &'static str,
    bodies: Vec<Vec<Code>>,
    after: Vec<Code>,
    (seen, is_allowed): (&[u64], bool),
) -> Classic {
    let count = bodies.len();
    let mut program = Litmus::of(bodies);
    if !after.is_empty() {
        program.threads[0].extend((1..=count).map(Code::Join).chain(after));
    }
    Classic { name, program, seen: seen.to_vec(), is_allowed }
}

fn classic(name: &'static str, bodies: Vec<Vec<Code>>, outcome: (&[u64], bool)) -> Classic {
    ended(name, bodies, vec![], outcome)
}

/// Store buffering, with something between.
fn sb(name: &'static str, orders: [Strength; 2], between: Option<Code>, allowed: bool) -> Classic {
    let body = |own, other| {
        let all = [Some(store(own, 1, orders[0])), between.clone(), Some(load(other, orders[1]))];
        all.into_iter().flatten().collect()
    };
    classic(name, vec![body(X, Y), body(Y, X)], (&[0, 0], allowed))
}

/// Message passing.
fn mp(name: &'static str, sends: Vec<Code>, receives: Vec<Code>, allowed: bool) -> Classic {
    let sender = [vec![store(X, 1, Relaxed)], sends].concat();
    let receiver = [receives, vec![load(X, Relaxed)]].concat();
    classic(name, vec![sender, receiver], (&[1, 0], allowed))
}

/// Independent reads of independent writes.
fn iriw(
    name: &'static str,
    orders: [Strength; 2],
    between: Option<Code>,
    allowed: bool,
) -> Classic {
    let reader = |first, second| {
        let all = [Some(load(first, orders[1])), between.clone(), Some(load(second, orders[1]))];
        all.into_iter().flatten().collect()
    };
    let writer = |at| vec![store(at, 1, orders[0])];
    let bodies = vec![writer(X), writer(Y), reader(X, Y), reader(Y, X)];
    classic(name, bodies, (&[1, 0, 1, 0], allowed))
}

/// Two writes of each of two locations.
fn two_two(name: &'static str, order: Strength, between: Option<Code>, allowed: bool) -> Classic {
    let writer = |first, second| {
        let all = [Some(store(first, 1, order)), between.clone(), Some(store(second, 2, order))];
        all.into_iter().flatten().collect()
    };
    let after = vec![load(X, Relaxed), load(Y, Relaxed)];
    ended(name, vec![writer(X, Y), writer(Y, X)], after, (&[1, 1], allowed))
}

/// Write to read causality, and the same through one more thread.
fn wrc(name: &'static str, write: Strength, read: Strength, allowed: bool) -> Classic {
    let bodies = vec![
        vec![store(X, 1, Relaxed)],
        vec![load(X, Relaxed), store(Y, 1, write)],
        vec![load(Y, read), load(X, Relaxed)],
    ];
    classic(name, bodies, (&[1, 1, 0], allowed))
}

fn isa2(name: &'static str, write: Strength, read: Strength, allowed: bool) -> Classic {
    let bodies = vec![
        vec![store(X, 1, Relaxed), store(Y, 1, write)],
        vec![load(Y, read), store(Z, 1, write)],
        vec![load(Z, read), load(X, Relaxed)],
    ];
    classic(name, bodies, (&[1, 1, 0], allowed))
}

fn rwc(name: &'static str, order: [Strength; 2], allowed: bool) -> Classic {
    let [write, read] = order;
    let bodies = vec![
        vec![store(X, 1, write)],
        vec![load(X, read), load(Y, read)],
        vec![store(Y, 1, write), load(X, read)],
    ];
    classic(name, bodies, (&[1, 0, 0], allowed))
}

fn lb(name: &'static str, read: Strength, write: Strength) -> Classic {
    let body = |from, to| vec![load(from, read), store(to, 1, write)];
    classic(name, vec![body(X, Y), body(Y, X)], (&[1, 1], false))
}

fn coherence() -> Vec<Classic> {
    let (x1, x2, rx) = (store(X, 1, Relaxed), store(X, 2, Relaxed), load(X, Relaxed));
    let reader = || vec![rx.clone(), rx.clone()];
    vec![
        classic("CoRR", vec![vec![x1.clone()], reader()], (&[1, 0], false)),
        classic(
            "CoRR of two readers",
            vec![vec![x1.clone()], vec![x2.clone()], reader(), reader()],
            (&[1, 2, 2, 1], false),
        ),
        classic("CoRW of one thread", vec![vec![rx.clone(), x1.clone()]], (&[1], false)),
        ended(
            "CoRW",
            vec![vec![rx.clone(), x1.clone()], vec![x2.clone()]],
            vec![rx.clone()],
            (&[2, 2], false),
        ),
        classic("CoWR", vec![vec![x1.clone(), rx.clone()], vec![x2.clone()]], (&[0], false)),
        ended("CoWW", vec![vec![x1, x2]], vec![rx], (&[1], false)),
        classic("atomicity", vec![vec![add(X, Relaxed)]; 2], (&[0, 0], false)),
        ended(
            "lost add",
            vec![vec![add(X, Relaxed)]; 2],
            vec![load(X, Relaxed)],
            (&[0, 1, 1], false),
        ),
        ended(
            "add between",
            vec![vec![add(X, Relaxed)], vec![store(X, 5, Relaxed)]],
            vec![load(X, Relaxed)],
            (&[0, 1], false),
        ),
        ended(
            "add after",
            vec![vec![add(X, Relaxed)], vec![store(X, 5, Relaxed)]],
            vec![load(X, Relaxed)],
            (&[5, 6], true),
        ),
    ]
}

fn release_sequences() -> Vec<Classic> {
    let chain = |name, change, allowed| {
        let bodies = vec![
            vec![store(X, 1, Relaxed), store(Y, 1, Release)],
            vec![add(Y, change)],
            vec![load(Y, Acquire), load(X, Relaxed)],
        ];
        classic(name, bodies, (&[1, 2, 0], allowed))
    };
    vec![
        chain("release sequence through a read-modify-write", Relaxed, false),
        chain("release sequence through a releasing one", Release, false),
        // Until C++20 the second store was part of the sequence.
        classic(
            "no release sequence through a store",
            vec![
                vec![store(X, 1, Relaxed), store(Y, 1, Release), store(Y, 2, Relaxed)],
                vec![load(Y, Acquire), load(X, Relaxed)],
            ],
            (&[2, 0], true),
        ),
    ]
}

fn sc_programs() -> Vec<Classic> {
    // Of the paper on RC11, section 2.
    let z6u = vec![
        vec![store(X, 1, SeqCst), store(Y, 1, Release)],
        vec![add(Y, SeqCst), load(Y, Relaxed)],
        vec![store(Y, 3, SeqCst), load(X, SeqCst)],
    ];
    let r = |order| {
        vec![vec![store(X, 1, order), store(Y, 1, order)], vec![store(Y, 2, order), load(X, order)]]
    };
    let s = |write, read| {
        vec![
            vec![store(X, 2, Relaxed), store(Y, 1, write)],
            vec![load(Y, read), store(X, 1, Relaxed)],
        ]
    };
    vec![
        classic("Z6.U", z6u, (&[1, 3, 0], true)),
        ended("R", r(Relaxed), vec![load(Y, Relaxed)], (&[0, 2], true)),
        ended("R, sc", r(SeqCst), vec![load(Y, Relaxed)], (&[0, 2], false)),
        ended("S", s(Relaxed, Relaxed), vec![load(X, Relaxed)], (&[1, 2], true)),
        ended(
            "S, release and acquire",
            s(Release, Acquire),
            vec![load(X, Relaxed)],
            (&[1, 2], false),
        ),
    ]
}

/// All of them.
pub(crate) fn classics() -> Vec<Classic> {
    let (rlx, ra, sc) = ([Relaxed; 2], [Release, Acquire], [SeqCst; 2]);
    let (y1, ry) = (|order| store(Y, 1, order), |order| load(Y, order));
    let mut all = vec![
        sb("SB", rlx, None, true),
        sb("SB, release and acquire", ra, None, true),
        sb("SB, sc", sc, None, false),
        sb("SB, sc stores", [SeqCst, Relaxed], None, true),
        sb("SB, sc fences", rlx, Some(fence(SeqCst)), false),
        sb("SB, other fences", rlx, Some(fence(AcqRel)), true),
        mp("MP", vec![y1(Relaxed)], vec![ry(Relaxed)], true),
        mp("MP, release and acquire", vec![y1(Release)], vec![ry(Acquire)], false),
        mp("MP, release", vec![y1(Release)], vec![ry(Relaxed)], true),
        mp("MP, acquire", vec![y1(Relaxed)], vec![ry(Acquire)], true),
        mp(
            "MP, fences",
            vec![fence(Release), y1(Relaxed)],
            vec![ry(Relaxed), fence(Acquire)],
            false,
        ),
        mp("MP, release fence", vec![fence(Release), y1(Relaxed)], vec![ry(Relaxed)], true),
        mp("MP, acquire fence", vec![y1(Relaxed)], vec![ry(Relaxed), fence(Acquire)], true),
        lb("LB", Relaxed, Relaxed),
        lb("LB, acquire", Acquire, Release),
        iriw("IRIW", rlx, None, true),
        iriw("IRIW, release and acquire", ra, None, true),
        iriw("IRIW, sc", sc, None, false),
        iriw("IRIW, sc stores", [SeqCst, Acquire], None, true),
        iriw("IRIW, sc fences", rlx, Some(fence(SeqCst)), false),
        iriw("IRIW, other fences", rlx, Some(fence(AcqRel)), true),
        two_two("2+2W", Relaxed, None, true),
        two_two("2+2W, release", Release, None, true),
        two_two("2+2W, sc", SeqCst, None, false),
        two_two("2+2W, sc fences", Relaxed, Some(fence(SeqCst)), false),
        wrc("WRC", Relaxed, Relaxed, true),
        wrc("WRC, release and acquire", Release, Acquire, false),
        isa2("ISA2", Relaxed, Relaxed, true),
        isa2("ISA2, release and acquire", Release, Acquire, false),
        rwc("RWC", rlx, true),
        rwc("RWC, release and acquire", ra, true),
        rwc("RWC, sc", sc, false),
    ];
    all.extend(coherence());
    all.extend(release_sequences());
    all.extend(sc_programs());
    all
}

/// What the reads of a run gave, thread by thread, the first one last.
fn reads(program: &Litmus, run: &LitmusRun) -> Vec<u64> {
    let mut all = Vec::new();
    for thread in (1..program.threads.len()).chain([0]) {
        let code = program.threads[thread].iter().zip(&run[&thread]);
        let is_read = |code: &Code| matches!(code, Code::Load(..) | Code::Modify(..));
        all.extend(code.filter(|(code, _)| is_read(code)).map(|(_, result)| *result));
    }
    all
}

#[test]
fn classics_have_the_outcomes_of_the_definition() {
    for Classic { name, program, seen, is_allowed } in classics() {
        let mut outcomes = BTreeSet::new();
        let mut litmus = LitmusProgram::new(program.clone());
        let explored = explore_weak_with(&mut litmus, &WeakOptions::default(), &mut |execution| {
            outcomes.insert(run_of(execution));
        });
        println!("{name}: {} executions, {} outcomes", explored.executions, outcomes.len());
        assert_eq!(explored.incomplete, None, "{name}");
        let is_seen = outcomes.iter().any(|run| reads(&program, run) == seen);
        assert_eq!(is_seen, is_allowed, "{name}");
        let graphs = consistent_graphs(&program, u64::MAX).expect("no limit");
        assert_eq!((explored.executions, outcomes), (graphs.count, graphs.outcomes), "{name}");
    }
}

const LOCK: Do = Do::Lock(1, Hold::Write, Waits::Ever);
const UNLOCK: Do = Do::Unlock(1, Hold::Write);

fn joined(things: Vec<Thing>, threads: Vec<Vec<Do>>) -> Concurrent {
    let count = threads.len();
    let main: Vec<Do> = (1..=count).map(Do::Spawn).chain((1..=count).map(Do::Join)).collect();
    let all = std::iter::once(main).chain(threads);
    let threads = all.map(|ops| ops.into_iter().map(Stmt::Do).collect()).collect();
    Concurrent { things, threads }
}

fn graphs(program: Concurrent) -> (u64, u64) {
    let explored = explore_weak(&mut Script::new(program), &WeakOptions::default());
    assert_eq!(explored.incomplete, None);
    assert!(explored.faults.is_empty(), "{explored:?}");
    (explored.executions, explored.blocked)
}

#[test]
fn counts_of_known_programs() {
    let factorial = |count: u64| (1..=count).product::<u64>();
    for count in 1..=5 {
        let same = |body: &[Do]| vec![body.to_vec(); count];
        let number = || vec![Thing::Number(0)];
        let n = count as u64;
        let mut threads = same(&[Do::Load(0)]);
        threads.push(vec![Do::Store(0, 1)]);
        assert_eq!(graphs(joined(number(), threads)).0, 1 << n, "readers");
        assert_eq!(graphs(joined(number(), same(&[Do::Load(0)]))).0, 1, "reads");
        assert_eq!(graphs(joined(number(), same(&[Do::Add(0, 1)]))).0, factorial(n), "adds");
        let mut threads = same(&[Do::Store(0, 1)]);
        threads.push(vec![Do::Load(0)]);
        assert_eq!(graphs(joined(number(), threads)).0, factorial(n + 1), "same writes");
        let mut threads = same(&[Do::Add(0, 1)]);
        threads.push(vec![Do::Load(0)]);
        assert_eq!(graphs(joined(number(), threads)).0, factorial(n + 1), "checker and adders");
        let section = [LOCK, Do::Use(0), Do::AlterNext(0), UNLOCK];
        let counter = graphs(joined(vec![Thing::Content(0), Thing::Lock], same(&section)));
        println!("{count} sections: {} given up", counter.1);
        assert_eq!(counter.0, factorial(n), "counter");
        let twice = joined(vec![Thing::Content(0), Thing::Lock], vec![section.repeat(count); 2]);
        let ways = factorial(2 * n) / factorial(n).pow(2);
        let demo = graphs(twice);
        println!("{count} sections twice: {} given up", demo.1);
        assert_eq!(demo.0, ways, "demo");
    }
}

/// A thread looks for the last zero of an array, of which each other one sets a place to one more
/// than the place before.
#[test]
fn last_zero() {
    for (count, expected) in [(2, 5), (3, 12), (4, 28), (5, 64), (6, 144), (7, 320)] {
        let mut search = Vec::new();
        for at in 0..=count {
            let load = Stmt::Do(Do::Load(at));
            search = if at == 0 { vec![load] } else { vec![load, Stmt::If(0, vec![], search)] };
        }
        let mut program = joined(
            vec![Thing::Number(0); count + 1],
            (0..=count)
                .map(|at| if at == 0 { vec![] } else { vec![Do::Load(at - 1), Do::StoreNext(at)] })
                .collect(),
        );
        program.threads[1] = search;
        assert_eq!(graphs(program), (expected, 0));
    }
}
