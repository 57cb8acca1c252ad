//! Memory that is freed too early or twice, in random programs: what is reported is what some
//! interleaving of their steps has, no more and no less.
//!
//! Interleavings are those of sequential consistency. A thread goes on after a use of memory that
//! was freed, and after a second free, as in the executions of the library.

use anyorder::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use anyorder::{Builder, FailureKind, MisuseKind, Summary, thread};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort;
use std::collections::{BTreeSet, HashSet};

/// What a thread does.
#[derive(Clone, Copy, Debug)]
enum Do {
    /// Uses memory.
    Use(usize),
    Free(usize),
    Set(usize, Ordering),
    /// Ends the thread unless the flag is set.
    If(usize, Ordering),
    /// Ends the thread if the flag is set.
    Unless(usize),
    /// Sets the flag. Ends the thread if it was set.
    Claim(usize),
    /// Gives up one of two shares. The last one frees the first memory.
    Release,
}

const FLAGS: usize = 2;

fn random(rng: &mut Rng) -> Vec<Vec<Do>> {
    use Ordering::{Acquire, Relaxed, Release, SeqCst};
    let one = |rng: &mut Rng| {
        let (memory, flag) = (rng.index(2), rng.index(FLAGS));
        match rng.index(12) {
            0..=2 => Do::Use(memory),
            3 | 4 => Do::Free(memory),
            5 | 6 => Do::Set(flag, [Relaxed, Release, SeqCst][rng.index(3)]),
            7 | 8 => Do::If(flag, [Relaxed, Acquire, SeqCst][rng.index(3)]),
            9 => Do::Unless(flag),
            10 => Do::Claim(flag),
            _ => Do::Release,
        }
    };
    let threads = 2 + rng.index(2);
    let thread = |rng: &mut Rng| (0..1 + rng.index(4)).map(|_| one(rng)).collect();
    (0..threads).map(|_| thread(rng)).collect()
}

/// Addresses that threads share: whether they may is what is tested.
#[derive(Clone, Copy)]
struct Memory(*mut AtomicU32, *mut AtomicU64);

// SAFETY: what is freed stays to the end of the execution, and misuse is found.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn used(self, which: usize) {
        // SAFETY: as above.
        unsafe {
            match which {
                0 => drop((*self.0).load(Ordering::Relaxed).to_string()),
                _ => drop((*self.1).load(Ordering::Relaxed).to_string()),
            }
        }
    }

    fn free(self, which: usize) {
        // SAFETY: as above.
        unsafe {
            match which {
                0 => drop(Box::from_raw(self.0)),
                _ => drop(Box::from_raw(self.1)),
            }
        }
    }
}

fn run(threads: &[Vec<Do>]) {
    let flags = [const { AtomicU32::new(0) }; FLAGS];
    let shares = AtomicU32::new(2);
    let first = Box::into_raw(Box::new(AtomicU32::new(0)));
    let second = Box::into_raw(Box::new(AtomicU64::new(0)));
    let memory = Memory(first, second);
    // So that reports name both.
    (0..2).for_each(|which| memory.used(which));
    thread::scope(|scope| {
        for script in threads {
            let (flags, shares) = (&flags, &shares);
            scope.spawn(move || {
                for one in script {
                    match *one {
                        Do::Use(which) => memory.used(which),
                        Do::Free(which) => memory.free(which),
                        Do::Set(flag, order) => flags[flag].store(1, order),
                        Do::If(flag, order) if flags[flag].load(order) == 0 => return,
                        Do::Unless(flag) if flags[flag].load(Ordering::Acquire) == 1 => return,
                        Do::Claim(flag) if flags[flag].swap(1, Ordering::AcqRel) == 1 => return,
                        Do::Release if shares.fetch_sub(1, Ordering::AcqRel) == 1 => memory.free(0),
                        _ => {}
                    }
                }
            });
        }
    });
}

type Faults = BTreeSet<(bool, usize)>;

/// Where an interleaving is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    flags: [bool; FLAGS],
    shares: u32,
    freed: [bool; 2],
}

/// A rule that may be left out.
#[derive(Clone, Copy, PartialEq)]
enum Without {
    Nothing,
    /// Threads do not look at flags.
    Flags,
    /// What was freed may be freed again.
    SecondFrees,
    /// Whoever gives up a share does not free.
    Releases,
}

/// The faults of all interleavings: whether it is a second free, and of which memory.
fn faults(threads: &[Vec<Do>], without: Without) -> Faults {
    let start =
        State { at: vec![0; threads.len()], flags: [false; FLAGS], shares: 2, freed: [false; 2] };
    let (mut todo, mut known, mut faults) = (vec![start], HashSet::new(), Faults::new());
    while let Some(state) = todo.pop() {
        if !known.insert(state.clone()) {
            continue;
        }
        for (thread, script) in threads.iter().enumerate() {
            let Some(one) = script.get(state.at[thread]) else { continue };
            let mut after = state.clone();
            after.at[thread] += 1;
            let mut frees = None;
            let looks = without != Without::Flags;
            match *one {
                Do::Use(which) if state.freed[which] => {
                    faults.insert((false, which));
                }
                Do::Use(_) => {}
                Do::Free(which) => frees = Some(which),
                Do::Set(flag, _) => after.flags[flag] = true,
                Do::If(flag, _) if looks && !state.flags[flag] => after.at[thread] = script.len(),
                Do::Unless(flag) if looks && state.flags[flag] => after.at[thread] = script.len(),
                Do::Claim(flag) if looks && state.flags[flag] => after.at[thread] = script.len(),
                Do::Claim(flag) => after.flags[flag] = true,
                Do::If(..) | Do::Unless(_) => {}
                Do::Release => {
                    after.shares = after.shares.wrapping_sub(1);
                    let is_last = state.shares == 1 && without != Without::Releases;
                    frees = is_last.then_some(0);
                }
            }
            if let Some(which) = frees {
                if state.freed[which] && without != Without::SecondFrees {
                    faults.insert((true, which));
                }
                after.freed[which] = true;
            }
            todo.push(after);
        }
    }
    faults
}

fn found(summary: &Summary) -> Faults {
    let fault = |kind: &FailureKind| {
        let FailureKind::Misuse(misuse) = kind else { panic!("{summary}") };
        let which = match &misuse.object {
            // What has no room for a name has none.
            _ if cfg!(feature = "std-size") => 0,
            object if object.contains("first") => 0,
            object if object.contains("second") => 1,
            other => panic!("{other}: {summary}"),
        };
        match misuse.kind {
            MisuseKind::UsedAfterFree => (false, which),
            MisuseKind::FreedTwice => (true, which),
            other => panic!("{other:?}: {summary}"),
        }
    };
    summary.failures.iter().map(|failure| fault(&failure.kind)).collect()
}

/// Faults as [`found`] can tell them.
fn as_named(faults: &Faults) -> Faults {
    let which = |which| if cfg!(feature = "std-size") { 0 } else { which };
    faults.iter().map(|(is_free, at)| (*is_free, which(*at))).collect()
}

#[test]
fn faults_are_those_of_all_interleavings() {
    let mut counts = [0; 4];
    let mut noticed = [0; 3];
    let mut wrong = Vec::new();
    for seed in effort::seeds(1_000) {
        let threads = random(&mut Rng::new(seed));
        let expected = faults(&threads, Without::Nothing);
        let program = threads.clone();
        let summary = Builder::new().explore(move || run(&program));
        assert!(summary.incomplete.is_none(), "seed {seed}: {threads:?}\n{summary}");
        if found(&summary) != as_named(&expected) {
            wrong.push(seed);
            println!("seed {seed}: {threads:?}\n{expected:?}\n{summary}");
        }
        if !summary.failures.iter().all(|failure| failure.is_confirmed) {
            wrong.push(seed);
            println!("seed {seed}: {threads:?} is not confirmed\n{summary}");
        }
        for (count, fault) in counts.iter_mut().zip([(false, 0), (false, 1), (true, 0), (true, 1)])
        {
            *count += u32::from(expected.contains(&fault));
        }
        let mutants = [Without::Flags, Without::SecondFrees, Without::Releases];
        for (noticed, without) in noticed.iter_mut().zip(mutants) {
            *noticed += u32::from(faults(&threads, without) != expected);
        }
    }
    assert!(wrong.is_empty(), "{} are wrong: {wrong:?}", wrong.len());
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert!(noticed.iter().all(|count| *count > 0), "{noticed:?}");
}
