//! Loads of atomics without synchronisation, against all interleavings of random programs with
//! happens-before by its definition.

use anyorder::sync::atomic::{AtomicU32, Ordering, fence};
use anyorder::{Builder, FailureKind, MisuseKind, Program, thread};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort;
use anyorder_threads::{Act, Event, every_execution};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Do {
    Unsync(usize),
    Load(usize, Ordering),
    Store(usize, u32, Ordering),
    Add(usize, Ordering),
    /// From 0 to 2.
    Exchange(usize, Ordering),
    Fence(Ordering),
    /// Loads, and ends the thread on a zero.
    Guard(usize, Ordering),
    /// The same on less than a two.
    Behind(usize, Ordering),
}

fn random(rng: &mut Rng) -> Vec<Vec<Do>> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let one = |rng: &mut Rng| {
        let register = rng.index(2);
        match rng.index(12) {
            10 | 11 => Do::Guard(register, [Relaxed, Relaxed, Acquire][rng.index(3)]),
            0..=2 => Do::Unsync(register),
            3 | 4 => Do::Load(register, [Relaxed, Acquire, Acquire, SeqCst][rng.index(4)]),
            5 | 6 => Do::Store(
                register,
                1 + rng.index(2) as u32,
                [Relaxed, Release, Release, SeqCst][rng.index(4)],
            ),
            7 => Do::Add(register, [Relaxed, Acquire, Release, AcqRel][rng.index(4)]),
            8 => Do::Exchange(register, [Relaxed, AcqRel][rng.index(2)]),
            _ => Do::Fence([Acquire, Release, AcqRel][rng.index(3)]),
        }
    };
    let threads = 2 + rng.index(2);
    let most = if threads == 2 { 4 } else { 3 };
    let thread = |rng: &mut Rng| (0..1 + rng.index(most)).map(|_| one(rng)).collect();
    (0..threads).map(|_| thread(rng)).collect()
}

/// One thread publishes by a flag, which another one may add to, and one loads behind the flag.
fn publishing(rng: &mut Rng) -> Vec<Vec<Do>> {
    use Ordering::{Acquire, Relaxed, Release};
    let mut publisher = vec![Do::Store(0, 1, Relaxed)];
    publisher.extend((rng.index(2) == 0).then_some(Do::Fence(Release)));
    publisher.push(Do::Store(1, 1, [Relaxed, Release][rng.index(2)]));
    let mut reader = vec![Do::Guard(1, [Relaxed, Acquire][rng.index(2)])];
    reader.extend((rng.index(2) == 0).then_some(Do::Fence(Acquire)));
    reader.push(Do::Unsync(0));
    let mut threads = vec![publisher, reader];
    match rng.index(4) {
        0 => threads.push(vec![Do::Add(1, Relaxed)]),
        1 => threads.push(vec![Do::Guard(1, Relaxed), Do::Add(1, Relaxed)]),
        2 => threads[0].push(Do::Add(1, Relaxed)),
        _ => {}
    }
    // So that the reader passes only behind the addition.
    if rng.index(2) == 0 {
        let adds = threads.iter().flatten().any(|one| matches!(one, Do::Add(..)));
        threads[1][0] = if adds { Do::Behind(1, Acquire) } else { threads[1][0] };
    }
    threads
}

fn run(threads: &[Vec<Do>]) {
    let registers = [AtomicU32::new(0), AtomicU32::new(0)];
    thread::scope(|scope| {
        for script in threads {
            let registers = &registers;
            scope.spawn(move || {
                for one in script {
                    match *one {
                        // SAFETY: whether nobody stores is what the test is about.
                        Do::Unsync(of) => drop(unsafe { registers[of].unsync_load() }.to_string()),
                        Do::Load(of, order) => drop(registers[of].load(order).to_string()),
                        Do::Store(of, value, order) => registers[of].store(value, order),
                        Do::Add(of, order) => drop(registers[of].fetch_add(1, order).to_string()),
                        Do::Exchange(of, order) => {
                            let failure = Ordering::Relaxed;
                            let _ = registers[of].compare_exchange(0, 2, order, failure);
                        }
                        Do::Fence(order) => fence(order),
                        Do::Guard(of, order) => {
                            if registers[of].load(order) == 0 {
                                return;
                            }
                        }
                        Do::Behind(of, order) => {
                            if registers[of].load(order) < 2 {
                                return;
                            }
                        }
                    }
                }
            });
        }
    });
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// Programs with more executions are not tried.
const EXECUTIONS_MAX: u64 = 3_000;

/// What an operation of an execution does: the thread, the script's operation, whether it writes.
struct Done {
    thread: usize,
    what: Do,
    writes: bool,
}

/// A rule of happens-before that may be left out.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Without {
    Nothing,
    Fences,
    Sequences,
    Updates,
}

const ALL: [Without; 4] = [Without::Nothing, Without::Fences, Without::Sequences, Without::Updates];

/// The operations of the scripts in an execution.
fn operations(threads: &[Vec<Do>], events: &[Event]) -> Vec<Done> {
    let mut next: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::new();
    for event in events {
        let is_ours = matches!(
            event.op.act,
            Act::Load(_) | Act::Store(..) | Act::Update { .. } | Act::Fence(_)
        );
        let thread = event.step.thread.0 as usize;
        // What a scope counts comes after the script.
        let number = next.entry(thread).or_default();
        if !is_ours || thread == 0 || *number == threads[thread - 1].len() {
            continue;
        }
        let what = threads[thread - 1][*number];
        *number += 1;
        let writes = match what {
            Do::Store(..) | Do::Add(..) => true,
            Do::Exchange(..) => event.result == 0,
            _ => false,
        };
        all.push(Done { thread, what, writes });
    }
    all
}

fn register(what: Do) -> Option<usize> {
    match what {
        Do::Unsync(of) | Do::Load(of, _) | Do::Guard(of, _) | Do::Behind(of, _) => Some(of),
        Do::Store(of, ..) | Do::Add(of, _) | Do::Exchange(of, _) => Some(of),
        Do::Fence(_) => None,
    }
}

/// What happens before what, as a matrix.
fn happens_before(all: &[Done], without: Without) -> Vec<Vec<bool>> {
    let count = all.len();
    let mut before = vec![vec![false; count]; count];
    for (first, second) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
        before[first][second] |= all[first].thread == all[second].thread;
    }
    let order_of = |at: usize| match all[at].what {
        Do::Unsync(_) => Ordering::Relaxed,
        Do::Load(_, order) | Do::Guard(_, order) | Do::Behind(_, order) => order,
        Do::Store(_, _, order) | Do::Add(_, order) => order,
        // It fails relaxed.
        Do::Exchange(_, order) => {
            if all[at].writes {
                order
            } else {
                Ordering::Relaxed
            }
        }
        Do::Fence(order) => order,
    };
    let is_update = |at: usize| matches!(all[at].what, Do::Add(..) | Do::Exchange(..));
    let fences = |thread: usize, range: std::ops::Range<usize>, is: fn(Ordering) -> bool| {
        let is_it = move |at: &usize| {
            all[*at].thread == thread
                && matches!(all[*at].what, Do::Fence(order) if is(order))
                && without != Without::Fences
        };
        range.filter(is_it).collect::<Vec<_>>()
    };
    // The write that each operation reads or follows.
    let last_write = |at: usize| {
        let of = register(all[at].what);
        (0..at).rev().find(|before| all[*before].writes && register(all[*before].what) == of)
    };
    for reader in 0..count {
        let loads = matches!(all[reader].what, Do::Load(..) | Do::Guard(..) | Do::Behind(..));
        let reads = loads || is_update(reader);
        if !reads {
            continue;
        }
        let mut to = fences(all[reader].thread, reader + 1..count, acquires);
        to.extend(acquires(order_of(reader)).then_some(reader));
        let mut from = Vec::new();
        let mut next = last_write(reader);
        // The release sequences that the write is in.
        while let Some(write) = next {
            from.extend(releases(order_of(write)).then_some(write));
            from.extend(fences(all[write].thread, 0..write, releases));
            let goes_on = is_update(write) && without != Without::Sequences;
            next = if goes_on { last_write(write) } else { None };
        }
        for one in from {
            to.iter().for_each(|other| before[one][*other] = true);
        }
    }
    for between in 0..count {
        for first in 0..count {
            if before[first][between] {
                let after = before[between].clone();
                before[first].iter_mut().zip(after).for_each(|(one, other)| *one |= other);
            }
        }
    }
    before
}

/// The threads that load without synchronisation, each with one that stores at the same time, in
/// some execution: by all rules, and without some. `None` if there are too many executions.
fn races(threads: &[Vec<Do>]) -> Option<[BTreeSet<(usize, usize)>; 4]> {
    let (owned, mut count) = (threads.to_vec(), 0);
    let mut races = [const { BTreeSet::new() }; 4];
    let mut program = Program::new(move || run(&owned));
    let plain = every_execution(&mut program, (1_000, 1), |_, events, _| {
        let all = operations(threads, events);
        for (without, races) in ALL.into_iter().zip(&mut races) {
            races.extend(races_in(&all, without));
        }
        count += 1;
        if count < EXECUTIONS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    plain.complete.then_some(races)
}

/// The same in one execution.
fn races_in(all: &[Done], without: Without) -> BTreeSet<(usize, usize)> {
    let before = happens_before(all, without);
    let mut races = BTreeSet::new();
    for (load, of) in all.iter().enumerate() {
        let Do::Unsync(at) = of.what else { continue };
        for (store, other) in all.iter().enumerate() {
            let is_update = !matches!(other.what, Do::Store(..));
            if other.writes
                && register(other.what) == Some(at)
                && other.thread != of.thread
                && !before[load][store]
                && !before[store][load]
                && !(is_update && without == Without::Updates)
            {
                races.insert((of.thread, other.thread));
            }
        }
    }
    races
}

#[test]
fn races_of_unsynchronised_loads_are_those_of_all_interleavings() {
    let (mut racy, mut clean, mut partly) = (0, 0, 0);
    let mut noticed = [0; 4];
    for seed in effort::sampled(160, 240) {
        let rng = &mut Rng::new(seed);
        let threads = if rng.index(2) == 0 { random(rng) } else { publishing(rng) };
        let Some(by_rules) = races(&threads) else { continue };
        let expected = by_rules[0].clone();
        let program = threads.clone();
        let summary = Builder::new().explore(move || run(&program));
        assert_eq!(summary.incomplete, None, "seed {seed}: {threads:?}\n{summary}");
        let mut found = BTreeSet::new();
        for failure in &summary.failures {
            let FailureKind::Misuse(misuse) = &failure.kind else { panic!("{summary}") };
            assert_eq!(misuse.kind, MisuseKind::UnsynchronisedLoad, "{summary}");
            assert!(failure.is_confirmed, "seed {seed}: {threads:?}\n{summary}");
            let other = misuse.other.as_ref().map_or(0, |other| other.0.0);
            found.insert((misuse.user.0 as usize, other as usize));
        }
        assert_eq!(found, expected, "seed {seed}: {threads:?}\n{summary}");
        let loads = threads.iter().flatten().any(|one| matches!(one, Do::Unsync(_)));
        racy += u32::from(!found.is_empty());
        clean += u32::from(loads && found.is_empty());
        partly += u32::from(found.len() == 1 && threads.len() == 3);
        for (noticed, races) in noticed.iter_mut().zip(&by_rules) {
            *noticed += u32::from(*races != expected);
        }
    }
    println!("{racy} {clean} {partly} {noticed:?}");
    assert!(racy > 0 && clean > 0, "{racy} {clean} {partly}");
    assert!(noticed[1..].iter().all(|noticed| *noticed > 0), "{noticed:?}");
}

#[test]
fn the_report_names_both() {
    let summary = Builder::new().explore(|| {
        let flag = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(1, Ordering::Release));
            // SAFETY: none: that is what is found.
            let _ = unsafe { flag.unsync_load() };
        });
    });
    assert_eq!(summary.failures.len(), 1, "{summary}");
    let told = summary.to_string();
    let title = summary.failures[0].title();
    assert!(title.contains("`unsync_load` of flag by main"), "{title}");
    assert!(told.contains("data race: nothing orders the `unsync_load` of"), "{told}");
    assert!(told.contains("stores to it in step"), "{told}");
}

#[test]
fn what_is_ordered_does_not_race() {
    anyorder::check(|| {
        let flag = AtomicU32::new(0);
        thread::scope(|scope| {
            let stores = scope.spawn(|| flag.store(1, Ordering::Relaxed));
            stores.join().unwrap();
            // SAFETY: the other thread has ended.
            assert_eq!(unsafe { flag.unsync_load() }, 1);
        });
        // SAFETY: as above.
        assert_eq!(unsafe { flag.unsync_load() }, 1);
    });
}

/// Two loads of the same shape, of which one is ordered by a fence, or by a release sequence.
#[test]
fn fences_and_release_sequences_count() {
    let run = |fences: bool, order: Ordering| {
        let summary = Builder::new().explore(move || {
            let (data, flag) = (AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    data.store(1, Ordering::Relaxed);
                    if fences {
                        fence(Ordering::Release);
                    }
                    flag.store(1, order);
                    // It continues the release sequence.
                    flag.fetch_add(1, Ordering::Relaxed);
                });
                if flag.load(Ordering::Relaxed) == 2 {
                    if fences {
                        fence(Ordering::Acquire);
                    }
                    let acquired =
                        flag.load(if fences { Ordering::Relaxed } else { Ordering::Acquire });
                    // SAFETY: that is what is asked.
                    assert_eq!((acquired, unsafe { data.unsync_load() }), (2, 1));
                }
            });
        });
        assert!(summary.incomplete.is_none(), "{summary}");
        summary.failures.len()
    };
    assert_eq!(run(false, Ordering::Release), 0);
    assert_eq!(run(false, Ordering::Relaxed), 1);
    assert_eq!(run(true, Ordering::Relaxed), 0);
}
