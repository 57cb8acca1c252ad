//! Searches that are interrupted, saved and resumed give the same results as others.

use crate::random;

use anyorder_search::{
    Limit, Order, Outcome, Pause, Search, SearchError, SearchOptions, Stats, Storage, Violation,
};
use anyorder_system::Control;
use random::{RandomSystem, Shape};
use std::fs;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;

fn system(seed: u64) -> RandomSystem {
    let shape = Shape {
        states: 2_000 + (seed % 5) as u32 * 700,
        branches: 4,
        failures: 3_000,
        ends: 500,
        broken: 3_000,
        triggers: 100,
        answers: 4,
        classes: (seed % 3) as usize,
        properties: 1,
        near: 400,
    };
    RandomSystem::new(seed, shape)
}

fn violation(one: &Violation<RandomSystem>) -> (String, Vec<u32>, Option<usize>) {
    (one.name.clone(), one.path.choices().unwrap(), one.path.repeats_from)
}

fn summary(outcome: &Outcome<RandomSystem>) -> String {
    let violations: Vec<_> = outcome.violations.iter().map(violation).collect();
    format!("{outcome:?} {violations:?}")
}

#[test]
fn resumed_is_as_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search.checkpoint");
    let (mut interrupted, mut resumed, mut limited) = (0, 0, 0);
    for seed in 1..=anyorder_testkit::effort::cases(30) {
        for order in [Order::Breadth, Order::Depth] {
            for storage in
                [Storage::Fingerprints, Storage::Exact, Storage::Bitstate { bytes: 4_000 }]
            {
                let threads = NonZeroUsize::new(1 + (seed % 4) as usize).unwrap();
                let responses = !matches!(storage, Storage::Bitstate { .. });
                let options = SearchOptions {
                    order,
                    storage,
                    threads,
                    responses,
                    ..SearchOptions::default()
                };
                let mut system = system(seed);
                system.weak = (storage == Storage::Exact && seed % 2 == 0).then_some(97);
                let whole =
                    Search::new(&system, &options).unwrap().run(&Control::default()).unwrap();

                let mut search = Search::new(&system, &options).unwrap();
                search.save(&path, "random").unwrap();
                let mut limits = Vec::new();
                for step in 1..=6u64 {
                    // A stop from outside and a counted limit, in turn.
                    let mut stopped = random_copy(&system);
                    let control = Control::default();
                    let mut options = options.clone();
                    if step % 2 == 0 {
                        options.transitions_max = Some(step * seed * 50);
                    } else {
                        let calls = AtomicU64::new(step * 131 + seed * 7);
                        stopped.stop_after = Some((calls, control.cancel.clone()));
                    }
                    let mut again = Search::resume(&stopped, &options, &path, "random").unwrap();
                    let outcome = again.run(&control).unwrap();
                    limits.extend(outcome.limits);
                    again.save(&path, "random").unwrap();
                    resumed += 1;
                }
                interrupted += limits.iter().filter(|limit| **limit == Limit::Interrupt).count();
                limited += limits.iter().filter(|limit| **limit == Limit::Transitions).count();
                search = Search::resume(&system, &options, &path, "random").unwrap();
                let outcome = search.run(&Control::default()).unwrap();
                if order == Order::Breadth {
                    assert_eq!(summary(&outcome), summary(&whole), "seed {seed} {options:?}");
                } else if !responses {
                    // The states that bits miss depend on the order, and depth-first the order
                    // differs here.
                    let (states, other) = (outcome.stats.states, whole.stats.states);
                    assert!(states.abs_diff(other) * 20 < other, "{states} {other}");
                } else {
                    // Depth, width and memory depend on the position of the cut; nothing else does.
                    let stats = |one: &Outcome<RandomSystem>| Stats {
                        max_depth: 0,
                        frontier_peak: 0,
                        bytes_per_state: 0,
                        ..one.stats
                    };
                    assert_eq!(stats(&outcome), stats(&whole), "seed {seed} {options:?}");
                    let rest = |one: &Outcome<RandomSystem>| {
                        let violations: Vec<_> = one.violations.iter().map(violation).collect();
                        let ends = (one.complete, one.limits.clone(), one.never_run.clone());
                        (violations, ends, one.responses.clone())
                    };
                    assert_eq!(rest(&outcome), rest(&whole), "seed {seed} {options:?}");
                }
            }
        }
    }
    println!("{resumed} resumed, {interrupted} interrupted, {limited} limited");
    assert!(interrupted > 100 && limited > 50, "{interrupted} {limited}");
}

fn random_copy(system: &RandomSystem) -> RandomSystem {
    RandomSystem {
        initial: system.initial.clone(),
        edges: system.edges.clone(),
        last: system.last.clone(),
        rests: system.rests.clone(),
        broken: system.broken.clone(),
        responses: system.responses.clone(),
        classes: system.classes,
        must_end: system.must_end,
        who: system.who.clone(),
        weak: system.weak,
        stop_after: None,
        lies: system.lies,
    }
}

/// A checkpoint saved between rounds is as good as one saved at an end.
#[test]
fn saved_between_rounds_is_as_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(format!("{number}.checkpoint"));
    let (mut rounds, mut cuts) = (0, 0);
    for seed in 1..=5 {
        for storage in [Storage::Fingerprints, Storage::Exact] {
            let system = system(seed);
            let options = SearchOptions { storage, ..SearchOptions::default() };
            let mut search = Search::new(&system, &options).unwrap();
            let mut saved = 0;
            let whole = search
                .run_paused(&Control::default(), &mut |search, pause| {
                    assert_eq!(pause, Pause::Round, "nothing cuts it");
                    search.save(&path(saved), "random")?;
                    saved += 1;
                    Ok(())
                })
                .unwrap();
            for number in 0..saved {
                let mut again = Search::resume(&system, &options, &path(number), "random").unwrap();
                let outcome = again.run(&Control::default()).unwrap();
                assert_eq!(summary(&outcome), summary(&whole), "seed {seed}, round {number}");
            }
            rounds += saved;

            let few = SearchOptions { states_max: Some(500), ..options.clone() };
            let mut search = Search::new(&system, &few).unwrap();
            let cut = search.run_paused(&Control::default(), &mut |search, pause| {
                if pause == Pause::Cut {
                    cuts += 1;
                    search.save(&path(0), "random")?;
                }
                Ok(())
            });
            assert_eq!(cut.unwrap().limits, [Limit::States]);
            let mut again = Search::resume(&system, &options, &path(0), "random").unwrap();
            let outcome = again.run(&Control::default()).unwrap();
            assert_eq!(summary(&outcome), summary(&whole), "seed {seed}");
        }
    }
    println!("{rounds} rounds, {cuts} cuts");
    assert!(rounds > 50 && cuts == 10, "{rounds} {cuts}");
}

#[test]
fn what_fails_in_a_pause_ends_the_search() {
    let system = system(2);
    let mut search = Search::new(&system, &SearchOptions::default()).unwrap();
    let gone = std::path::Path::new("no such folder/search");
    let result =
        search.run_paused(&Control::default(), &mut |search, _| search.save(gone, "random"));
    assert!(matches!(result, Err(SearchError::Io(_))), "{:?}", result.map(|_| ()));
}

#[test]
fn one_search_goes_on_after_each_stop() {
    let system = system(3);
    let options =
        SearchOptions { threads: NonZeroUsize::new(3).unwrap(), ..SearchOptions::default() };
    let whole = Search::new(&system, &options).unwrap().run(&Control::default()).unwrap();
    let mut stopped = random_copy(&system);
    let control = Control::default();
    stopped.stop_after = Some((AtomicU64::new(700), control.cancel.clone()));
    let mut search = Search::new(&stopped, &options).unwrap();
    let first = search.run(&control).unwrap();
    assert_eq!(first.limits, [Limit::Interrupt]);
    assert!(first.stats.states > 100 && first.stats.states < whole.stats.states);
    let rest = search.run(&Control::default()).unwrap();
    assert_eq!(summary(&rest), summary(&whole));
}

#[test]
fn what_a_cut_round_left_behind_is_forgotten() {
    // Wide levels, so that threads are ahead of each other when they are stopped.
    let shape = Shape {
        states: 12_000,
        branches: 6,
        failures: 5_000,
        ends: 2_000,
        broken: 5_000,
        triggers: 100,
        answers: 4,
        classes: 0,
        properties: 1,
        near: 4_000,
    };
    let system = RandomSystem::new(7, shape);
    let mut stops = 0;
    for (order, storage) in [
        (Order::Breadth, Storage::Fingerprints),
        (Order::Depth, Storage::Fingerprints),
        (Order::Depth, Storage::Exact),
    ] {
        let threads = NonZeroUsize::new(4).unwrap();
        let options = SearchOptions { order, storage, threads, ..SearchOptions::default() };
        let whole = Search::new(&system, &options).unwrap().run(&Control::default()).unwrap();
        for calls in (100..12_000).step_by(600) {
            let mut stopped = random_copy(&system);
            let control = Control::default();
            stopped.stop_after = Some((AtomicU64::new(calls), control.cancel.clone()));
            let mut search = Search::new(&stopped, &options).unwrap();
            stops += usize::from(!search.run(&control).unwrap().complete);
            let rest = search.run(&Control::default()).unwrap();
            assert_eq!(summary(&rest), summary(&whole), "stopped after {calls}");
        }
    }
    assert!(stops > 40, "{stops}");
}

#[test]
fn what_is_not_ours_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search.checkpoint");
    let system = system(1);
    let options = SearchOptions { transitions_max: Some(500), ..SearchOptions::default() };
    let mut search = Search::new(&system, &options).unwrap();
    search.run(&Control::default()).unwrap();
    search.save(&path, "this program").unwrap();
    let error = |options: &SearchOptions, identity| {
        Search::resume(&system, options, &path, identity).err().map(|error| error.to_string())
    };
    assert_eq!(error(&options, "this program"), None);
    assert_eq!(
        error(&options, "that program").unwrap(),
        "the checkpoint is of something else: program is `this program`, expected `that program`"
    );
    let exact = SearchOptions { storage: Storage::Exact, ..options.clone() };
    assert!(
        error(&exact, "this program")
            .unwrap()
            .contains("options is `order=breadth storage=fingerprints")
    );
    // No other file remains in the folder.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let good = fs::read(&path).unwrap();
    for place in (0..good.len()).step_by(good.len() / 300 + 1) {
        let mut bytes = good.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(&path, bytes).unwrap();
        let error = Search::resume(&system, &options, &path, "this program").err().unwrap();
        assert!(matches!(error, SearchError::NotACheckpoint(_)), "{error}");
        fs::write(&path, &good[..place]).unwrap();
        assert!(Search::resume(&system, &options, &path, "this program").is_err());
    }
    assert!(matches!(
        Search::resume(&system, &options, &folder.path().join("none"), "x").err().unwrap(),
        SearchError::Io(_)
    ));
}

#[test]
fn damage_with_a_right_check_sum_is_an_error_or_another_search() {
    use anyorder_system::StateHash;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search.checkpoint");
    let system = system(2);
    let (mut refused, mut accepted) = (0, 0);
    for storage in [Storage::Fingerprints, Storage::Exact, Storage::Bitstate { bytes: 800 }] {
        let responses = !matches!(storage, Storage::Bitstate { .. });
        let options = SearchOptions {
            storage,
            responses,
            transitions_max: Some(300),
            ..SearchOptions::default()
        };
        let mut search = Search::new(&system, &options).unwrap();
        search.run(&Control::default()).unwrap();
        search.save(&path, "x").unwrap();
        let good = fs::read(&path).unwrap();
        let content = good.len() - 16;
        for place in (0..content).step_by(content / 700 + 1) {
            for byte in [0, 0xff, 0x7f] {
                let mut bytes = good[..content].to_vec();
                bytes[place] = byte;
                let hash = StateHash::of_bytes(&bytes);
                bytes.extend_from_slice(&hash.0.to_le_bytes());
                fs::write(&path, bytes).unwrap();
                match Search::resume(&system, &options, &path, "x") {
                    Err(_) => refused += 1,
                    Ok(mut search) => {
                        accepted += 1;
                        let _ = search.run(&Control::default());
                    }
                }
            }
        }
    }
    println!("{refused} refused, {accepted} accepted");
    assert!(refused > 100 && accepted > 100, "{refused} {accepted}");
}
