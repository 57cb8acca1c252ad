//! The worked examples of the paper: its Figures 1, 3 and 5, and the fair choice.

use crate::tests::common::oracle::truth;
use crate::tests::common::{Task, Toy, Tree, Value};
use crate::tests::stateful::check::{fault, options, run, sabotaged};
use anyorder_explore::stateful::{Outcome, Sabotage};
use anyorder_search::Property;
use anyorder_system::StateSystem;
use std::collections::{BTreeMap, BTreeSet};

fn read(place: usize, branches: [Tree; 2]) -> Tree {
    Tree::Read(place, branches.into())
}

fn write(place: usize, value: u8, next: Tree) -> Tree {
    Tree::Write(place, Value::Constant(value), Box::new(next))
}

fn task(awaits: Option<(usize, u8)>, body: Tree) -> Task {
    let awaits = awaits.into_iter().map(|(place, value)| (place, vec![value])).collect();
    Task { awaits, body, component: None }
}

fn toy(places: usize, domain: u8, tasks: Vec<Task>) -> Toy {
    Toy { initial: vec![vec![0; places]], domain, tasks, ..Toy::default() }
}

/// Searches with values and without. Both find everything that full search finds.
fn explored(toy: &Toy) -> [Outcome<Toy>; 2] {
    let truth = truth(toy, 100_000).unwrap();
    [false, true].map(|values| {
        let (outcome, locals) = run(toy, &options(values, 1));
        assert_eq!(fault(toy, &truth, &outcome, &locals), None);
        println!(
            "values {values}: {} of {} states, {} of {} transitions",
            outcome.stats.states, truth.states, outcome.stats.transitions, truth.transitions
        );
        outcome
    })
}

fn shortest_failure(outcome: &Outcome<Toy>) -> Option<Vec<usize>> {
    let failure = |property: &Property| matches!(property, Property::Failure(_));
    let found = outcome.violations.iter().find(|violation| failure(&violation.property))?;
    Some(found.path.steps.iter().map(|step| step.action.0).collect())
}

/// The tasks followed from each state, by the state.
fn followed(
    toy: &Toy,
    outcome: &Outcome<Toy>,
    states: &[Vec<u8>],
) -> BTreeMap<Vec<u8>, BTreeSet<usize>> {
    let graph = outcome.detail.graph.as_ref().unwrap();
    let of = |state: &Vec<u8>| {
        let hash = toy.fingerprint(state);
        let at = graph.states.iter().position(|one| *one == hash)?;
        Some(graph.edges[at].iter().map(|(key, _)| toy.task(*key)).collect())
    };
    states.iter().map(|state| (state.clone(), of(state).unwrap_or_default())).collect()
}

#[test]
fn figure_1_goes_on_after_a_match() {
    // Places: x, y, z, and the position of each thread. x++ and its assertion are one step; T2
    // loops for ever and has no local.
    let (x, y, z) = (0, 1, 2);
    let increment = |next: Tree| {
        let more = Tree::Write(x, Value::LastPlus(1), Box::new(next));
        Tree::Read(x, vec![more, Tree::Fail(0)])
    };
    let system = toy(
        6,
        4,
        vec![
            task(Some((3, 0)), increment(write(3, 1, Tree::Done))),
            task(Some((4, 0)), read(y, [Tree::Done, Tree::Done])),
            task(Some((5, 0)), read(z, [write(5, 1, Tree::Done), write(5, 1, Tree::Done)])),
            task(Some((5, 1)), increment(write(5, 2, Tree::Done))),
        ],
    );
    for outcome in explored(&system) {
        assert_eq!(outcome.violations.len(), 2);
        assert_eq!(shortest_failure(&outcome).map(|steps| steps.len()), Some(3));
    }
}

#[test]
fn figure_3_reaches_back_over_all_predecessors() {
    let (x, y, z) = (0, 1, 2);
    let system = toy(
        3,
        2,
        vec![
            task(None, write(x, 1, read(z, [Tree::Done, Tree::Done]))),
            task(None, read(y, [write(z, 0, write(y, 1, Tree::Done)), Tree::Done])),
            task(None, write(y, 0, Tree::Done)),
            task(None, read(x, [read(y, [Tree::Done, Tree::Fail(0)]), write(x, 0, Tree::Done)])),
        ],
    );
    // x and y; z is never changed.
    let states = [vec![0, 0, 0], vec![1, 0, 0], vec![1, 1, 0], vec![0, 1, 0]];
    // The backtracking points that the paper's text derives: state, event.
    let derived = [(0, 2), (1, 3), (2, 2), (0, 4), (1, 1), (0, 3), (3, 2), (3, 4)];
    let [without, with] = explored(&system);
    assert_eq!(shortest_failure(&without), Some(vec![1, 3]));
    assert_eq!(shortest_failure(&with), Some(vec![1, 3]));
    for (outcome, values) in [(&without, false), (&with, true)] {
        let sets = followed(&system, outcome, &states);
        for (state, event) in derived {
            if !sets[&states[state]].contains(&(event - 1)) {
                println!("values {values}: e{event} need not be followed from s{state}");
                assert!(values, "e{event} from s{state}");
            }
        }
        println!("values {values}: {sets:?}");
    }
}

#[test]
fn figure_5_looks_at_each_location() {
    let (x, y) = (0, 1);
    let checks = read(y, [Tree::Fail(0), write(4, 1, Tree::Done)]);
    let system = toy(
        5,
        2,
        vec![
            task(Some((2, 0)), write(y, 1, write(2, 1, Tree::Done))),
            task(Some((3, 0)), write(x, 1, write(3, 1, Tree::Done))),
            task(Some((4, 0)), read(x, [write(4, 1, Tree::Done), checks])),
        ],
    );
    for outcome in explored(&system) {
        assert_eq!(shortest_failure(&outcome), Some(vec![1, 2]));
        let sets = followed(&system, &outcome, &[vec![0; 5]]);
        assert!(sets[&vec![0; 5]].contains(&1), "e2 is followed from the start: {sets:?}");
    }
}

#[test]
fn the_fair_choice_ends() {
    // u and v; a leads to u, b to v, and c, only in v, reads something else.
    let system = toy(
        3,
        2,
        vec![
            task(None, write(0, 0, write(1, 0, Tree::Done))),
            task(None, write(0, 1, write(1, 1, Tree::Done))),
            task(Some((1, 1)), read(2, [Tree::Done, Tree::Done])),
        ],
    );
    for outcome in explored(&system) {
        let stats = outcome.stats;
        assert_eq!((stats.states, stats.transitions), (2, 5));
        assert!(stats.executions <= 5, "{stats:?}");
    }
}

#[test]
fn a_task_that_awaits_two_places_must_be_known() {
    // The first and the second event are independent. The third is ready only between them, and
    // only if the second comes first.
    let mut late = task(None, Tree::Fail(0));
    late.awaits = vec![(1, vec![1]), (0, vec![0])];
    let events = vec![
        task(Some((2, 0)), write(0, 1, write(2, 1, Tree::Done))),
        task(Some((3, 0)), write(1, 1, write(3, 1, Tree::Done))),
        late,
    ];
    for dynamic in [false, true] {
        let system = Toy { dynamic, ..toy(4, 2, events.clone()) };
        for outcome in explored(&system) {
            assert_eq!(shortest_failure(&outcome), Some(vec![1, 2]));
        }
        let (missed, _) = run(&system, &sabotaged(true, Sabotage::NoForeknowledge));
        assert_eq!(shortest_failure(&missed), None);
    }
}
