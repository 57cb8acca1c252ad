//! Merged recordings of random runs: with exact clocks in the order of the run, and with clocks
//! that differ in an order that can happen.

use crate::heap_merge::HeapMerge;
use crate::simulated::{Done, MEET, run};
use crate::synthetic::Writer;
use anyorder_common::random::{Random, Rng};
use anyorder_native::merge::{Came, Known, Merge, Slack, Step};
use anyorder_native::recording::{Event, Recording, kind};
use anyorder_native::{NoNames, Options, to_trace};
use anyorder_testkit::effort::sampled;
use anyorder_trace::wellformed;
use std::collections::{BTreeMap, BTreeSet};

const STEPS: u64 = 1_000;

fn recorded(run: &[Done]) -> Recording {
    let mut writer = Writer::default();
    run.iter().for_each(|(thread, event)| writer.push(*thread, *event));
    writer.recording()
}

/// Returns the merged order, which is that of the slow twin, and how often nobody could continue.
fn merged(recording: &Recording, slack: Slack) -> (Vec<Step>, u64) {
    let mut known = Known::default();
    let threads = (0..recording.threads.len()).map(|lane| {
        let created = recording.events(lane).filter(|event| event.kind == kind::THREAD_CREATE);
        known.created.extend(created.map(|event| event.address as u32));
        (recording.threads[lane].number, recording.events(lane))
    });
    let threads: Vec<_> = threads.collect();
    let mut slow = HeapMerge::new(threads.clone(), known.clone(), slack);
    let mut merge = Merge::new(threads, known, slack);
    let steps: Vec<Step> = merge.by_ref().collect();
    assert!(slow.by_ref().eq(steps.iter().copied()), "the order of the slow twin");
    assert_eq!(merge.disorders(), slow.disorders());
    (steps, merge.disorders())
}

/// Gives each thread a clock that differs, and events a time that is a little late.
fn with_bad_clocks(run: &[Done], rng: &mut Rng, most: u64) -> Vec<Done> {
    let skew: Vec<u64> = (0..8).map(|_| rng.below(most)).collect();
    let mut last = [0; 8];
    let late = |(thread, event): &Done| {
        let at = *thread as usize;
        let time = event.time + skew[at] + rng.below(most / 4 + 1);
        last[at] = time.max(last[at]);
        (*thread, Event { time: last[at], ..*event })
    };
    run.iter().map(late).collect()
}

/// Returns the rules that an order breaks: what happens by the definition of each object.
fn broken(steps: impl Iterator<Item = (u32, Event)>) -> BTreeSet<&'static str> {
    let mut broken = BTreeSet::new();
    let mut holders: BTreeMap<u64, Vec<(u32, bool)>> = BTreeMap::new();
    let mut created = vec![0];
    let mut ended = Vec::new();
    let (mut arrived, mut permits) = (BTreeMap::<u32, u64>::new(), 1_i64);
    let mut seen = Vec::new();
    for (thread, event) in steps {
        let object = event.address;
        let others = |lock: u64, shared: bool, holders: &BTreeMap<u64, Vec<(u32, bool)>>| {
            let list = holders.get(&lock).map_or(&[][..], Vec::as_slice);
            list.iter().any(|(holder, reads)| *holder != thread && !(shared && *reads))
        };
        if !created.contains(&thread) {
            broken.insert("creation");
        }
        match event.kind {
            kind::THREAD_CREATE => created.push(object as u32),
            kind::THREAD_END => ended.push(thread),
            kind::THREAD_JOIN if !ended.contains(&(object as u32)) => {
                broken.insert("join");
            }
            kind::LOCK => {
                if others(object, event.arg & 1 != 0, &holders) {
                    broken.insert("lock");
                }
                holders.entry(object).or_default().push((thread, event.arg & 1 != 0));
            }
            kind::UNLOCK => holders.entry(object).or_default().retain(|one| one.0 != thread),
            kind::COND_WAIT => {
                holders.entry(event.third).or_default().retain(|one| one.0 != thread);
            }
            kind::COND_WAKE => {
                if others(event.third, false, &holders) {
                    broken.insert("lock after a wait");
                }
                holders.entry(event.third).or_default().push((thread, false));
            }
            kind::BARRIER_ARRIVE => *arrived.entry(thread).or_default() += 1,
            kind::BARRIER_LEAVE => {
                // All arrivals of the rounds so far: nobody leaves a round that is not full.
                seen.push(thread);
                let left = seen.iter().filter(|one| **one == thread).count() as u64;
                if arrived.values().sum::<u64>() < left * MEET {
                    broken.insert("barrier");
                }
            }
            kind::SEM_POST => permits += 1,
            kind::SEM_WAIT => {
                permits -= 1;
                if permits < 0 {
                    broken.insert("semaphore");
                }
            }
            _ => {}
        }
    }
    broken
}

#[test]
fn exact_clocks_give_the_order_of_the_run() {
    let mut kinds: BTreeMap<u8, u64> = BTreeMap::new();
    for seed in sampled(1_000, 10_000) {
        let run = run(seed, STEPS);
        run.iter().for_each(|(_, event)| *kinds.entry(event.kind).or_default() += 1);
        let recording = recorded(&run);
        let (steps, disorders) = merged(&recording, Slack::default());
        let number = |step: &Step| recording.threads[step.thread].number;
        let order: Vec<Done> = steps.iter().map(|step| (number(step), step.event)).collect();
        assert_eq!(order, run, "seed {seed}");
        assert_eq!(disorders, 0, "seed {seed}");
        assert!(broken(run.iter().copied()).is_empty(), "seed {seed}: the machine keeps the rules");
        well_formed(&recording, seed);
    }
    let needed = [
        kind::COND_WAKE,
        kind::COND_SIGNAL,
        kind::COND_BROADCAST,
        kind::BARRIER_LEAVE,
        kind::SEM_WAIT,
        kind::THREAD_JOIN,
        kind::THREAD_END,
        kind::UNLOCK,
    ];
    for kind in needed {
        assert!(kinds.get(&kind).is_some_and(|count| *count > 30), "kind {kind}: {kinds:?}");
    }
}

/// The trace of a recording is well-formed, without doubts.
fn well_formed(recording: &Recording, seed: u64) {
    let traced = to_trace(recording, &mut NoNames, &Options::default(), &mut || true);
    let traced = traced.expect("small tables");
    let problems = wellformed::check(&traced.trace);
    assert_eq!(problems.errors_total, 0, "seed {seed}: {problems:?}");
    let doubts = problems.list.iter().filter(|problem| problem.unknown.is_some());
    assert_eq!(doubts.count(), 0, "seed {seed}: {problems:?}");
}

/// Times that have nothing to do with the run: locks are taken that others hold, waits end before
/// their signals, and often nobody can continue.
#[test]
fn wild_clocks_give_the_order_of_the_slow_twin() {
    let (mut forced, mut alone, mut waits) = (0, 0, 0);
    for seed in sampled(400, 10_000) {
        let mut rng = Rng::new(seed);
        let most = rng.pick(&[1, 2_000, 100_000]);
        let mut run = with_bad_clocks(&run(seed, STEPS), &mut rng, most);
        if rng.percent(30) {
            // Many events at the same time.
            run.iter_mut().for_each(|(_, event)| event.time /= 64);
        }
        let (steps, disorders) = merged(&recorded(&run), Slack(rng.pick(&[0, 50, 5_000])));
        assert_eq!(steps.len(), run.len(), "seed {seed}");
        forced += disorders;
        alone += steps.iter().filter(|step| step.came == Came::Alone).count();
        let late = steps.windows(2).filter(|two| two[1].event.time < two[0].event.time);
        waits += late.count();
    }
    println!("{forced} forced, {alone} alone, {waits} late");
    assert!(forced > 20 && alone > 50 && waits > 100);
}

#[test]
fn clocks_that_differ_give_an_order_that_can_happen() {
    let mut by_time: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut forced, mut alone, mut runs) = (0, 0, 0);
    for seed in sampled(2_000, 20_000) {
        let mut rng = Rng::new(seed);
        let most = rng.pick(&[8, 80, 400]);
        let run = with_bad_clocks(&run(seed, STEPS), &mut rng, most);
        let recording = recorded(&run);
        let (steps, disorders) = merged(&recording, Slack::default());
        assert_eq!(steps.len(), run.len(), "seed {seed}: each event once");
        for thread in 0..recording.threads.len() {
            let of_thread = steps.iter().filter(|step| step.thread == thread);
            let own = recording.events(thread);
            assert!(of_thread.map(|step| step.event).eq(own), "seed {seed}: thread {thread}");
        }
        let number = |step: &Step| recording.threads[step.thread].number;
        let order = steps.iter().map(|step| (number(step), step.event));
        let is_forced = |step: &&Step| step.came == Came::Forced;
        assert_eq!(disorders, steps.iter().filter(is_forced).count() as u64, "seed {seed}");
        runs += 1;
        if steps.iter().all(|step| step.came == Came::InTurn) {
            assert_eq!(broken(order), BTreeSet::new(), "seed {seed}");
        }
        forced += u64::from(disorders > 0);
        alone += u64::from(steps.iter().any(|step| step.came == Came::Alone));
        well_formed(&recording, seed);
        // The order of the times alone breaks each rule: the check sees them.
        let mut naive = run.clone();
        naive.sort_by_key(|(_, event)| event.time);
        for rule in broken(naive.into_iter()) {
            *by_time.entry(rule).or_default() += 1;
        }
    }
    for rule in ["creation", "join", "lock", "lock after a wait", "barrier", "semaphore"] {
        assert!(by_time.contains_key(rule), "{rule}: {by_time:?}");
    }
    println!("{runs} runs, {forced} forced, {alone} alone, {by_time:?}");
    assert!(forced * 4 < runs, "{forced} of {runs} runs have an event that could not come");
}
