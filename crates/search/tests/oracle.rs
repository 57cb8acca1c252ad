//! The search against a naive one, on random systems: every storage, order and number of threads.

use crate::random;

use anyorder_search::{
    Limit, Order, Outcome, Property, ResponseVerdict, Search, SearchOptions, Stop, Storage,
    Violation, search,
};
use anyorder_system::{Control, StateSystem};
use random::livelocks::{Livelocks, MUTANTS, Without};
use random::{RandomSystem, Shape, Truth, lasso_fault, livelock_fault, truth};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

fn options(order: Order, storage: Storage, threads: usize) -> SearchOptions {
    let threads = NonZeroUsize::new(threads).unwrap();
    SearchOptions { order, storage, threads, livelocks: true, ..SearchOptions::default() }
}

/// The name that the truth has for a violation.
fn name_of(violation: &Violation<RandomSystem>) -> String {
    match &violation.property {
        Property::Deadlock(places) => format!("deadlock {places}"),
        _ => violation.name.clone(),
    }
}

/// All comparable parts of an outcome.
type Summary = (bool, Vec<Limit>, Vec<(Property, String, Vec<u32>, Option<usize>)>, String);

fn summary(outcome: &Outcome<RandomSystem>) -> Summary {
    let violations = outcome.violations.iter().map(|one| {
        (one.property.clone(), one.name.clone(), one.path.choices().unwrap(), one.path.repeats_from)
    });
    let rest = format!("{:?} {:?} {:?}", outcome.responses, outcome.never_run, outcome.stats);
    (outcome.complete, outcome.limits.clone(), violations.collect(), rest)
}

fn check(system: &RandomSystem, truth: &Truth, options: &SearchOptions, seed: u64) -> Summary {
    let outcome = search(system, options, &Control::default()).unwrap();
    let what = format!("seed {seed} {options:?}\n{outcome:?}\n{truth:?}");
    assert!(outcome.complete, "{what}");
    assert_eq!(outcome.stats.states, truth.states, "{what}");
    assert_eq!(outcome.stats.transitions, truth.transitions, "{what}");
    assert_eq!(outcome.never_run.as_ref(), Some(&truth.never_run), "{what}");
    if options.order == Order::Breadth {
        assert_eq!(outcome.stats.max_depth, truth.max_depth, "{what}");
        assert_eq!(outcome.stats.frontier_peak, truth.widest, "{what}");
    }
    let mut found = BTreeMap::new();
    let mut responses = vec![None; truth.responses.len()];
    let mut livelocks = Livelocks::new();
    for violation in &outcome.violations {
        match &violation.property {
            Property::Response(property) => {
                let fault = lasso_fault(system, *property, &violation.path);
                assert_eq!(fault, None, "{what}");
                let steps = violation.path.repeats_from.unwrap_or(violation.path.steps.len());
                responses[*property] = Some(steps);
            }
            Property::Livelock(places) => {
                assert_eq!(livelock_fault(system, &violation.path), None, "{what}");
                let places = places.iter().map(|place| format!("{place:?}")).collect();
                let steps = violation.path.repeats_from.unwrap();
                assert_eq!(livelocks.insert(places, steps), None, "each once: {what}");
            }
            _ => {
                found.insert(name_of(violation), violation.path.choices().unwrap());
            }
        }
    }
    assert_eq!(found, truth.violations, "{what}");
    assert_eq!(responses, truth.responses, "{what}");
    assert!(outcome.livelocks_checked, "{what}");
    assert_eq!(livelocks, truth.livelocks, "{what}");
    for (verdict, violation) in outcome.responses.iter().zip(&responses) {
        let holds =
            if violation.is_none() { ResponseVerdict::Holds } else { ResponseVerdict::Violated };
        assert_eq!(*verdict, holds, "{what}");
    }
    summary(&outcome)
}

#[test]
fn small_systems() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 1..=3_000 {
        let shape = Shape {
            states: 3 + (seed % 9) as u32,
            branches: 1 + seed % 3,
            failures: 12,
            ends: 4,
            broken: 12,
            triggers: 3,
            answers: 3,
            classes: (seed % 4) as usize,
            properties: 2,
            near: 3,
        };
        let mut system = RandomSystem::new(seed, shape);
        let truth = truth(&system);
        let mut summaries = Vec::new();
        for order in [Order::Breadth, Order::Depth] {
            for storage in [Storage::Fingerprints, Storage::Exact] {
                system.weak = None;
                let one = check(&system, &truth, &options(order, storage, 2), seed);
                summaries.push(one.2);
            }
            // Exact storage distinguishes states, however bad the fingerprints.
            for weak in [1, 3] {
                system.weak = Some(weak);
                summaries.push(check(&system, &truth, &options(order, Storage::Exact, 2), seed).2);
            }
        }
        summaries.dedup();
        assert_eq!(summaries.len(), 1, "seed {seed}: {summaries:?}");
        let rests = |way: &[u32]| {
            let last = anyorder_search::replay(&system, way).unwrap();
            let last = *last.last();
            system.is_end(last) && !system.edges[last as usize].is_empty()
        };
        let deadlocks = summaries[0].iter().filter(|one| one.1 == "deadlock").count();
        *counts.entry(format!("with {} deadlocks", deadlocks.min(2))).or_default() += 1;
        for (_, name, way, repeats) in &summaries[0] {
            if repeats.is_none() && rests(way) && (name == "final" || name.starts_with("response"))
            {
                let kind = format!("{} at an optional end", &name[..5]);
                *counts.entry(kind).or_default() += 1;
            }
            let kind = match repeats {
                Some(_) => "a cycle",
                None if name.starts_with("response") => "a response that stays away",
                None => name,
            };
            *counts.entry(kind.to_owned()).or_default() += 1;
        }
        for response in &truth.responses {
            let kind =
                if response.is_none() { "a response that holds" } else { "a response violated" };
            *counts.entry(format!("{kind} with {} classes", system.classes)).or_default() += 1;
        }
        let (definition, _) = system.definition();
        let stays = definition.stays(Without::Nothing).len();
        let mut add = |name: String, yes: bool| *counts.entry(name).or_default() += u32::from(yes);
        add(format!("with {} livelocks", truth.livelocks.len().min(2)), true);
        add("stays that are no livelocks".to_owned(), stays > 0 && truth.livelocks.is_empty());
        for mutant in MUTANTS {
            let differs = definition.livelocks(mutant) != truth.livelocks;
            add(format!("livelocks without {mutant:?}"), differs);
        }
        if !truth.never_run.is_empty() {
            *counts.entry("a part that never runs".to_owned()).or_default() += 1;
        }
    }
    println!("seeds 1 to 3000: {counts:#?}");
    let expected = [
        "a cycle",
        "a response that stays away",
        "deadlock",
        "with 2 deadlocks",
        "final at an optional end",
        "respo at an optional end",
        "final",
        "first",
        "second",
        "failure 0",
        "a part that never runs",
    ];
    for kind in expected {
        assert!(counts.get(kind).is_some_and(|count| *count > 30), "{kind}: {counts:?}");
    }
    let names = ["with 1 livelocks", "with 2 livelocks", "stays that are no livelocks"];
    let mutants = MUTANTS.map(|mutant| format!("livelocks without {mutant:?}"));
    for kind in names.map(str::to_owned).into_iter().chain(mutants) {
        assert!(counts.get(&kind).is_some_and(|count| *count > 2), "{kind}: {counts:?}");
    }
    for classes in 0..4 {
        for verdict in ["holds", "violated"] {
            let kind = format!(
                "a response {}{verdict} with {classes} classes",
                if verdict == "holds" { "that " } else { "" }
            );
            assert!(counts.get(&kind).is_some_and(|count| *count > 50), "{kind}: {counts:?}");
        }
    }
}

fn large(seed: u64) -> Shape {
    Shape {
        states: 4_000 + (seed % 7) as u32 * 3_000,
        branches: 5,
        failures: 5_000,
        ends: 2_000,
        broken: 5_000,
        triggers: 200,
        answers: 4,
        classes: (seed % 3) as usize,
        properties: 2,
        near: 3_000,
    }
}

#[test]
fn large_systems_on_several_threads() {
    for seed in anyorder_testkit::effort::sampled(4, 12) {
        let mut system = RandomSystem::new(seed, large(seed));
        let truth = truth(&system);
        assert!(truth.states > 2_000, "seed {seed}: {} states", truth.states);
        for order in [Order::Breadth, Order::Depth] {
            for storage in [Storage::Fingerprints, Storage::Exact] {
                system.weak = None;
                let one = check(&system, &truth, &options(order, storage, 1), seed);
                for threads in [2, 3, 4] {
                    let other = check(&system, &truth, &options(order, storage, threads), seed);
                    assert_eq!(one, other, "seed {seed} {order:?} {storage:?} {threads}");
                }
            }
            system.weak = Some(701);
            check(&system, &truth, &options(order, Storage::Exact, 3), seed);
        }
    }
}

#[test]
fn counted_limits_cut_the_same_everywhere() {
    let (mut cut, mut owed) = (0, 0);
    for seed in 1..=40 {
        let system = RandomSystem::new(seed, large(seed));
        for order in [Order::Breadth, Order::Depth] {
            let storages =
                [Storage::Fingerprints, Storage::Exact, Storage::Bitstate { bytes: 20_000 }];
            for storage in storages {
                let mut limited = options(order, storage, 1);
                limited.responses = !matches!(storage, Storage::Bitstate { .. });
                limited.livelocks = limited.responses;
                match seed % 4 {
                    0 => limited.states_max = Some(seed * 97),
                    1 => limited.transitions_max = Some(seed * 211),
                    2 => limited.depth_max = Some((seed % 9) as u32),
                    _ => limited.stop = Stop::FirstViolation,
                }
                let one = search(&system, &limited, &Control::default()).unwrap();
                assert!(one.stats.states <= limited.states_max.unwrap_or(u64::MAX));
                assert!(one.stats.transitions <= limited.transitions_max.unwrap_or(u64::MAX));
                let deepest = u64::from(limited.depth_max.unwrap_or(u32::MAX));
                assert!(one.stats.max_depth <= deepest);
                cut += u32::from(!one.complete);
                // Every finding is true, however few states were explored.
                for violation in &one.violations {
                    if let Property::Response(property) = violation.property {
                        let fault = lasso_fault(&system, property, &violation.path);
                        assert_eq!(fault, None, "seed {seed} {limited:?}");
                        owed += 1;
                    }
                    if let Property::Livelock(_) = violation.property {
                        let fault = livelock_fault(&system, &violation.path);
                        assert_eq!(fault, None, "seed {seed} {limited:?}");
                    }
                }
                for threads in 2..=4 {
                    limited.threads = NonZeroUsize::new(threads).unwrap();
                    let other = search(&system, &limited, &Control::default()).unwrap();
                    assert_eq!(summary(&one), summary(&other), "seed {seed} {limited:?}");
                }
            }
        }
    }
    println!("{cut} cut, {owed} responses violated");
    assert!(cut > 100 && owed > 20, "{cut} {owed}");
}

#[test]
fn the_first_violation_is_a_shortest_one() {
    let mut found = 0;
    for seed in 1..=600 {
        let mut shape = large(seed);
        (shape.states, shape.broken, shape.properties) = (300, 60, 0);
        let system = RandomSystem::new(seed, shape);
        let truth = truth(&system);
        let shortest = truth.violations.values().map(Vec::len).min();
        let mut firsts = Vec::new();
        for order in [Order::Breadth, Order::Depth] {
            let options = SearchOptions {
                stop: Stop::FirstViolation,
                ..options(order, Storage::Fingerprints, 2)
            };
            let outcome = search(&system, &options, &Control::default()).unwrap();
            let first = outcome.violations.first();
            assert_eq!(
                first.map(|one| one.path.choices().unwrap().len()),
                shortest,
                "seed {seed} {order:?}"
            );
            if let Some(first) = first {
                assert_eq!(
                    truth.violations[&name_of(first)],
                    first.path.choices().unwrap(),
                    "seed {seed}"
                );
                found += 1;
            }
            firsts.push(first.map(|one| (one.name.clone(), one.path.choices().unwrap())));
            assert!(outcome.complete || first.is_some());
        }
        assert_eq!(firsts[0], firsts[1], "seed {seed}");
    }
    assert!(found > 300, "{found}");
}

#[test]
fn states_of_a_graph_are_in_the_order_of_one_thread() {
    let system = RandomSystem::new(5, large(5));
    let options =
        SearchOptions { keep_graph: true, ..options(Order::Breadth, Storage::Fingerprints, 4) };
    let mut search = anyorder_search::Search::new(&system, &options).unwrap();
    assert!(search.run(&Control::default()).unwrap().complete);
    let graph = search.graph().unwrap();
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let mut order = Vec::new();
    for state in system.initial() {
        numbers.entry(state).or_insert_with(|| {
            order.push(state);
            order.len() as u32 - 1
        });
    }
    let mut at = 0;
    while at < order.len() {
        let targets: Vec<Option<u32>> = graph.successors(at as u32).collect();
        let edges = system.edges[order[at] as usize].clone();
        assert_eq!(targets.len(), edges.len());
        for (edge, target) in edges.iter().zip(targets) {
            if edge.failure.is_some() {
                assert_eq!(target, None);
                continue;
            }
            let number = *numbers.entry(edge.to).or_insert_with(|| {
                order.push(edge.to);
                order.len() as u32 - 1
            });
            assert_eq!(target, Some(number));
        }
        at += 1;
    }
    assert_eq!(graph.len(), order.len());
}

/// A search whose limit on states is raised whenever it was met is one without a limit.
#[test]
fn a_limit_that_is_raised_leaves_no_trace() {
    let (mut raised, mut ended) = (0, 0);
    for seed in 1..=12 {
        let system = RandomSystem::new(seed, large(seed));
        // Depth first, the limit decides where a round ends, and so which states come first.
        for storage in [Storage::Fingerprints, Storage::Exact] {
            let mut options = options(Order::Breadth, storage, 1 + seed as usize % 3);
            options.livelocks = true;
            let whole = search(&system, &options, &Control::default()).unwrap();
            options.states_max = Some(1 + seed % 50);
            let mut times = 0;
            let mut raise = |limit: u64| {
                times += 1;
                Some(limit * 2)
            };
            let mut search = Search::new(&system, &options).unwrap();
            let control = Control::default();
            let outcome = search.run_raising(&control, &mut |_, _| Ok(()), &mut raise).unwrap();
            assert_eq!(summary(&outcome), summary(&whole), "seed {seed} {storage:?}");
            raised += times;
            ended += u32::from(outcome.complete);
        }
    }
    println!("raised {raised} times, {ended} complete");
    assert!(raised > 100 && ended > 20, "{raised} {ended}");
}
