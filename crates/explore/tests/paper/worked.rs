//! The paper's figures.

use crate::tests::common::Toy;
use crate::tests::paper::naive::{Naive, Twin};
use crate::tests::paper::systems::{fairness, figure_1, figure_3, figure_5};
use anyorder_explore::paper::{Cause, Choice, Outcome, PaperOptions, Revisit, Trail, explore};
use anyorder_search::{Limit, Property};
use anyorder_system::{Control, Limits, StateSystem};
use std::collections::BTreeSet;

pub(crate) fn traced() -> PaperOptions {
    PaperOptions { keep_trail: true, values: false, ..PaperOptions::default() }
}

pub(crate) fn run(toy: &Toy, options: &PaperOptions) -> Outcome<Toy> {
    explore(toy, options, &Control::default()).unwrap()
}

/// The tasks of the path to the first failure.
pub(crate) fn failing_path(outcome: &Outcome<Toy>) -> Option<Vec<usize>> {
    let failure = |property: &Property| matches!(property, Property::Failure(_));
    let found = outcome.violations.iter().find(|one| failure(&one.property))?;
    Some(found.path.steps.iter().map(|step| step.action.0).collect())
}

fn distinct(trail: &Trail) -> usize {
    trail.executed.iter().collect::<BTreeSet<_>>().len()
}

/// All options with which the search promises to find everything.
fn sound() -> Vec<PaperOptions> {
    let mut all = Vec::new();
    for summaries in [false, true] {
        for choice in [Choice::First, Choice::LeastRecent] {
            for values in [false, true] {
                all.push(PaperOptions { summaries, choice, values, ..traced() });
            }
        }
    }
    all
}

#[test]
fn figure_1_goes_on_until_the_cycle_is_full() {
    let toy = figure_1();
    assert!(!Twin::explore(&toy, Naive::EndsAtMatch).failed);
    for options in sound() {
        let outcome = run(&toy, &options);
        let path = failing_path(&outcome).expect("T1 and T3 fail together");
        assert_eq!(path.len(), 3, "{path:?}");
    }
}

#[test]
fn figure_3_needs_all_predecessors() {
    let toy = figure_3();
    let twin = Twin::explore(&toy, Naive::CurrentOnly);
    println!("{:?}", twin.executions);
    assert!(!twin.failed);
    assert_eq!(twin.executions[0], [0, 1, 2, 2, 3]);
    assert_eq!(twin.set(&[0, 0, 0]), [0, 1, 2, 3]);
    assert_eq!(twin.set(&[1, 0, 0]), [0, 1, 2, 3]);
    assert_eq!(twin.set(&[1, 1, 0]), [1, 2]);
    assert_eq!(twin.set(&[0, 1, 0]), [1, 2]);
    for as_printed in [false, true] {
        for options in sound() {
            let outcome = run(&toy, &PaperOptions { as_printed, ..options.clone() });
            assert_eq!(failing_path(&outcome), Some(vec![1, 3]), "{options:?}");
            assert_eq!(outcome.stats.transitions, 16, "{options:?}");
            assert_eq!(distinct(outcome.detail.trail.as_ref().unwrap()), 16);
        }
    }
}

#[test]
fn figure_3_inclusions_have_their_causes() {
    let toy = figure_3();
    let (x, y, z) = (0, 1, 2);
    let (s0, s1, s2, s3) = ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]);
    // The event, the state, the place, and the event executed there.
    let inclusions = [
        (1, s0, z, 0),
        (2, s1, y, 1),
        (1, s2, y, 2),
        (3, s0, x, 0),
        (0, s1, x, 3),
        (2, s0, y, 1),
        (1, s3, y, 2),
        (3, s3, y, 2),
    ];
    for as_printed in [false, true] {
        for options in sound().into_iter().filter(|options| !options.values) {
            let outcome = run(&toy, &PaperOptions { as_printed, ..options.clone() });
            let points = outcome.detail.trail.unwrap().points;
            for (event, state, place, with) in inclusions {
                let cause = Cause::Conflict { with: toy.key(with), place: toy.place(place) };
                let found = points.iter().any(|point| {
                    point.state == toy.fingerprint(&state.to_vec())
                        && point.task == Some(toy.key(event))
                        && point.cause == cause
                });
                assert!(found, "e{} in backtrack({state:?}): {options:?}", event + 1);
            }
        }
    }
}

#[test]
fn figure_5_needs_conflicts_by_place() {
    let toy = figure_5();
    let twin = Twin::explore(&toy, Naive::LastOnly);
    assert!(!twin.failed);
    assert_eq!(twin.executions[0], [0, 1, 2]);
    assert_eq!(twin.set(&[0; 5]), [0]);
    assert_eq!(twin.executions.len(), 2, "{:?}", twin.executions);
    for options in sound() {
        let outcome = run(&toy, &options);
        assert_eq!(failing_path(&outcome), Some(vec![1, 2]), "{options:?}");
    }
}

#[test]
fn line_5_must_be_fair() {
    let toy = fairness();
    let options = PaperOptions { choice: Choice::First, ..traced() };
    let outcome = run(&toy, &options);
    assert!(outcome.complete);
    assert_eq!((outcome.stats.executions, outcome.stats.transitions), (7, 5));
    let bounded = Control {
        limits: Limits { executions: Some(100_000), ..Limits::NONE },
        ..Control::default()
    };
    let unfair = PaperOptions { revisit: Revisit::First, ..options };
    let outcome = explore(&toy, &unfair, &bounded).unwrap();
    assert_eq!((outcome.complete, outcome.limits), (false, vec![Limit::Executions]));
    // When full cycles close early, the choice matters less.
    let quick = run(&toy, &traced());
    assert!(quick.complete);
    assert_eq!((quick.stats.executions, quick.stats.transitions), (5, 5));
}
