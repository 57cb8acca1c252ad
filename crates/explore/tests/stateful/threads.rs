//! Any number of threads gives the same result; limits cut and are reported.

use crate::tests::common::generate::{KINDS, random_toy};
use crate::tests::common::oracle::truth;
use crate::tests::common::{Task, Toy, Tree, Value};
use crate::tests::stateful::check::{options, run};
use anyorder_explore::stateful::{Counts, Error, GiveUp, Outcome, StatefulOptions, explore};
use anyorder_search::{Limit, Path, Property, Stats};
use anyorder_system::{Control, Limits, StopReason};

type Actions = Vec<(usize, usize)>;

type Summary = ((Stats, Counts), Vec<Limit>, (Vec<(Property, Actions)>, Vec<Actions>), String);

fn summary(outcome: &Outcome<Toy>) -> Summary {
    let actions = |path: &Path<Toy>| path.steps.iter().map(|step| step.action).collect::<Actions>();
    let violations = outcome.violations.iter();
    let violations = violations.map(|one| (one.property.clone(), actions(&one.path))).collect();
    let conflicts = outcome.conflicts.iter().flatten().map(|one| actions(&one.path)).collect();
    let graph = format!("{:?}", outcome.detail.graph);
    let counts = (outcome.stats, outcome.detail.counts);
    (counts, outcome.limits.clone(), (violations, conflicts), graph)
}

/// Many small parts in pairs that conflict, with a failure far away: thousands of
/// states are left.
fn pairs(pairs: usize) -> Toy {
    let mut toy = Toy { domain: 4, ..Toy::default() };
    toy.initial = vec![vec![0; 3 * pairs + 1]];
    for pair in 0..pairs {
        for own in [3 * pair, 3 * pair + 1] {
            let shared = 3 * pair + 2;
            let step = |next: Tree| Tree::Write(own, Value::LastPlus(1), Box::new(next));
            let count = Tree::Write(shared, Value::LastPlus(1), Box::new(Tree::Done));
            let body = Tree::Read(own, vec![step(Tree::Read(shared, vec![count])); 3]);
            toy.tasks.push(Task { awaits: vec![(own, vec![0, 1, 2])], body, component: None });
        }
    }
    // All read what the first pair shares.
    let look = Tree::Read(2, vec![Tree::Done, Tree::Done, Tree::Fail(1), Tree::Done]);
    let body = Tree::Write(3 * pairs, Value::Constant(1), Box::new(look));
    toy.tasks.push(Task { awaits: vec![(3 * pairs, vec![0])], body, component: None });
    toy.invariants.push(crate::tests::common::Never((2, 3), (5, 3)));
    toy
}

#[test]
fn any_number_of_threads_does_the_same() {
    let (mut large, mut gave_up) = (0, 0);
    let random = KINDS.iter().flat_map(|kind| (1..40).map(|seed| random_toy(*kind, seed)));
    for toy in random.chain([pairs(2), pairs(3), pairs(4)]) {
        if truth(&toy, 200_000).is_none() {
            continue;
        }
        let (first, locals) = run(&toy, &options(true, 1));
        large += u32::from(first.stats.states > 1_000);
        for threads in [2, 4] {
            let (other, other_locals) = run(&toy, &options(true, threads));
            assert_eq!(summary(&first), summary(&other));
            assert_eq!(locals, other_locals);
        }
        let give_up = GiveUp::At(first.stats.states / 3);
        let (given_up, locals) = run(&toy, &StatefulOptions { give_up, ..options(true, 1) });
        gave_up += u32::from(given_up.detail.counts.gave_up_reducing.is_some());
        for threads in [2, 4] {
            let (other, other_locals) =
                run(&toy, &StatefulOptions { give_up, ..options(true, threads) });
            assert_eq!(summary(&given_up), summary(&other));
            assert_eq!(locals, other_locals);
        }
    }
    assert!(large > 0, "systems for more than one thread");
    assert!(gave_up > 100, "{gave_up}");
}

#[test]
fn counted_limits_cut_at_the_same_place() {
    let toy = pairs(3);
    let (whole, _) = run(&toy, &options(true, 1));
    assert!(whole.complete && whole.limits.is_empty());
    for (cut, limit) in [
        (StatefulOptions { states_max: Some(100), ..options(true, 1) }, Limit::States),
        (StatefulOptions { transitions_max: Some(100), ..options(true, 1) }, Limit::Transitions),
        (StatefulOptions { depth_max: Some(3), ..options(true, 1) }, Limit::Depth),
    ] {
        let (outcome, _) = run(&toy, &cut);
        assert!(!outcome.complete);
        assert_eq!(outcome.limits, [limit]);
        assert!(outcome.stats.states <= 100 || limit != Limit::States);
        assert!(outcome.stats.transitions <= 100 || limit != Limit::Transitions);
        assert!(outcome.stats.max_depth <= 3 || limit != Limit::Depth);
        let threads = options(true, 3).threads;
        let (other, _) = run(&toy, &StatefulOptions { threads, ..cut });
        assert_eq!(summary(&outcome), summary(&other));
    }
    let exact = StatefulOptions { states_max: Some(whole.stats.states), ..options(true, 1) };
    assert!(run(&toy, &exact).0.complete);
}

#[test]
fn a_stop_is_told() {
    let toy = pairs(2);
    let control = Control::default();
    control.cancel.stop(StopReason::TimeLimit);
    let outcome = explore(&toy, &options(true, 2), &control).unwrap();
    assert_eq!((outcome.complete, outcome.limits), (false, vec![Limit::Time]));
    for (limits, told) in [
        (Limits { memory_bytes: Some(1), ..Limits::NONE }, Limit::Memory),
        (Limits { executions: Some(50), ..Limits::NONE }, Limit::Executions),
    ] {
        let control = Control { limits, ..Control::default() };
        let outcome = explore(&toy, &options(true, 1), &control).unwrap();
        assert_eq!((outcome.complete, outcome.limits), (false, vec![told]));
    }
    let nothing = Toy::default();
    let error = explore(&nothing, &options(true, 1), &Control::default()).err();
    assert_eq!(error, Some(Error::NoInitialState));
}

#[test]
fn the_first_finding_is_enough_if_asked() {
    let toy = pairs(3);
    let (whole, _) = run(&toy, &options(true, 1));
    let (first, _) = run(&toy, &StatefulOptions { stop_at_first: true, ..options(true, 1) });
    assert!(!first.violations.is_empty() && !first.complete && first.limits.is_empty());
    assert!(first.stats.states < whole.stats.states);
}
