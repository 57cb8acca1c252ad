//! Random systems of every kind against full search.

use crate::tests::common::generate::{KINDS, Kind, random_toy};
use crate::tests::common::oracle::{Truth, truth};
use crate::tests::common::{Local, Toy};
use anyorder_explore::paper::{Choice, Outcome, PaperOptions, explore};
use anyorder_search::{Limit, Property};
use anyorder_system::Control;
use anyorder_testkit::effort::{Seeds, sampled};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a sixth as many systems on a push as with more effort; of a kind that seldom has
/// deadlocks all.
fn tried(kind: Kind, number: u64) -> Seeds {
    sampled(if matches!(kind, Kind::Cyclic) { 2 * number } else { number / 3 }, number)
}

pub(crate) fn systems(
    kind: Kind,
    number: u64,
    most: usize,
) -> impl Iterator<Item = (u64, Toy, Truth)> {
    tried(kind, number).into_iter().filter_map(move |seed| {
        let toy = random_toy(kind, seed);
        let truth = truth(&toy, most)?;
        Some((seed, toy, truth))
    })
}

/// Searches. Returns the outcome and all local states found.
pub(crate) fn run(toy: &Toy, options: &PaperOptions) -> (Outcome<Toy>, BTreeSet<Local>) {
    toy.forget();
    let outcome = explore(toy, options, &Control::default()).unwrap();
    let locals = std::mem::take(&mut *toy.log.lock().unwrap());
    (outcome, locals)
}

/// Returns a description of the fault in an outcome, if there is one.
pub(crate) fn fault(
    toy: &Toy,
    truth: &Truth,
    outcome: &Outcome<Toy>,
    locals: &BTreeSet<Local>,
) -> Option<String> {
    let missing: Vec<_> = truth.locals.difference(locals).collect();
    if !missing.is_empty() {
        return Some(format!("local states missing: {missing:?}"));
    }
    if *locals != truth.locals {
        return Some("local states that do not exist".to_owned());
    }
    let (mut failures, mut broken) = (BTreeSet::new(), BTreeSet::new());
    let (mut deadlocks, mut wrong_end) = (BTreeSet::new(), false);
    for violation in &outcome.violations {
        let path = &violation.path;
        let failure = path.steps.last().and_then(|step| step.failure.clone());
        let shown = match &violation.property {
            Property::Failure(message) => {
                failures.insert(message.to_string());
                failure.as_ref() == Some(message)
            }
            Property::Invariant(invariant) => {
                broken.insert(*invariant);
                failure.is_none() && !toy.holds(*invariant, path.last())
            }
            Property::Deadlock(places) => {
                deadlocks.insert(places.clone());
                truth.dead.contains(path.last()) && toy.is_stuck(path.last())
            }
            Property::Final => {
                wrong_end = true;
                truth.dead.contains(path.last()) && !toy.is_stuck(path.last())
            }
            Property::Response(_) | Property::Livelock(_) => false,
        };
        if !shown {
            return Some(format!("the path does not show {:?}", violation.property));
        }
    }
    let found = (failures, broken, deadlocks, wrong_end);
    let expected =
        (truth.failures.clone(), truth.broken.clone(), truth.deadlocks.clone(), truth.wrong_end);
    if found != expected {
        return Some(format!("found {found:?}, expected {expected:?}"));
    }
    if outcome.detail.counts.ends != truth.dead.len() as u64 {
        return Some(format!("{} ends of {}", outcome.detail.counts.ends, truth.dead.len()));
    }
    if outcome.stats.states > truth.states || outcome.stats.transitions > truth.transitions {
        return Some("more than there is".to_owned());
    }
    let edges = &outcome.detail.trail.as_ref()?.edges;
    let mut steps = edges.iter().filter_map(|edge| Some((edge.from, edge.task, edge.to?)));
    let wrong = steps.find(|step| !truth.edges.contains(step));
    wrong.map(|edge| format!("an edge that is none: {edge:?}"))
}

/// The number of seeds a kind.
const SEEDS: u64 = 3_000;

#[test]
fn everything_is_found() {
    for kind in KINDS {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (seed, toy, truth) in systems(kind, SEEDS, 2_000) {
            for (values, choice) in [
                (false, Choice::First),
                (true, Choice::First),
                (false, Choice::LeastRecent),
                (true, Choice::LeastRecent),
            ] {
                let options =
                    PaperOptions { values, choice, keep_trail: true, ..PaperOptions::default() };
                let (outcome, locals) = run(&toy, &options);
                // It says that it does not check ends that leave optional tasks.
                let partial = outcome.limits == [Limit::Algorithm];
                // It may miss ends that something optional could leave, and livelocks.
                let open = !toy.optional.is_empty() || !toy.who.is_empty();
                assert!(outcome.complete != partial && (!partial || open));
                if let Some(fault) = fault(&toy, &truth, &outcome, &locals) {
                    panic!("{kind:?} seed {seed} {options:?}: {fault}\n{toy:#?}");
                }
                let (stats, counts_of) = (outcome.stats, outcome.detail.counts);
                let mut add = |name, count: u64| *counts.entry(name).or_default() += count;
                add("searches", 1);
                add("states of full", truth.states);
                add("transitions of full", truth.transitions);
                add("states", stats.states);
                add("transitions", stats.transitions);
                add("executions", stats.executions);
                add("blocked", counts_of.blocked);
                add("points", counts_of.backtracking_points);
                add("reduced", u64::from(stats.transitions < truth.transitions));
                add("with a failure", u64::from(!truth.failures.is_empty()));
                add("with a broken invariant", u64::from(!truth.broken.is_empty()));
                add("with a deadlock", u64::from(!truth.deadlocks.is_empty()));
                add("with a wrong end", u64::from(truth.wrong_end));
            }
        }
        println!("{kind:?}: {counts:#?}");
        assert_eq!(
            counts["searches"],
            4 * tried(kind, SEEDS).count(),
            "{kind:?}: a system has too many states"
        );
        // Systems made for update conflicts have no violations but ends.
        let found = ["with a failure", "with a broken invariant", "with a deadlock"];
        for name in ["reduced", "points"].into_iter().chain(found) {
            let expected = matches!(kind, Kind::Updates) && found.contains(&name);
            let rare =
                if matches!(kind, Kind::Cyclic) && name == "with a deadlock" { 0 } else { 6 };
            assert!(expected || counts[name] > rare, "{kind:?}: {name}");
        }
    }
}

/// Without summaries each simple path is searched: the findings are the same, with as many or fewer
/// transitions.
#[test]
fn summaries_change_nothing_but_the_time() {
    for kind in KINDS {
        let (mut tried, mut cut, mut same, mut fewer) = (0, 0, 0, 0);
        let (mut with, mut without) = (0, 0);
        for (seed, toy, truth) in systems(kind, 700, 12) {
            for choice in [Choice::First, Choice::LeastRecent] {
                let options = PaperOptions {
                    choice,
                    keep_trail: true,
                    backward_max: Some(200_000),
                    ..PaperOptions::default()
                };
                let (quick, locals) = run(&toy, &options);
                let what = format!("{kind:?} seed {seed} {choice:?}");
                assert_eq!(fault(&toy, &truth, &quick, &locals), None, "{what}");
                let (slow, locals) = run(&toy, &PaperOptions { summaries: false, ..options });
                if slow.limits.iter().any(|limit| *limit != Limit::Algorithm) {
                    cut += 1;
                    continue;
                }
                assert_eq!(fault(&toy, &truth, &slow, &locals), None, "{what}");
                tried += 1;
                with += quick.detail.counts.backward_steps;
                without += slow.detail.counts.backward_steps;
                let counts =
                    |outcome: &Outcome<Toy>| (outcome.stats.states, outcome.stats.transitions);
                same += u64::from(counts(&quick) == counts(&slow));
                fewer += u64::from(counts(&slow) < counts(&quick));
            }
        }
        println!(
            "{kind:?}: {tried} searches, {cut} cut, {same} with equal counts, {fewer} with fewer without summaries; steps {with} and {without}"
        );
        assert!(tried > 66, "{kind:?}: {tried}");
    }
}
