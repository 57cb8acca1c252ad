//! The paper's running example, run by run.

use crate::tests::r4::naive::Twin;
use crate::tests::r4::slides::{Slides, event, word};
use crate::tests::r4::toy::{ALL, NONE, factory};
use anyorder_explore::r4::{
    Order, Outcome, ReversalKind, ReversalOptions, RunInfo, Sleep, Verdict, explore,
};
use anyorder_system::{Choice, Control, PartPath, ProgramIdentity, Schedule};
use std::collections::BTreeSet;

pub(crate) fn recording() -> Schedule {
    let mut schedule = Schedule::new(ProgramIdentity::new("toy"));
    let tasks = ["e0", "e1", "e2", "e3"].map(event);
    schedule.choices.extend(tasks.into_iter().map(Choice::of));
    schedule.choices.push(Choice::of(event("e2").child("timer")));
    schedule.choices.push(Choice::of(event("e5")));
    schedule
}

pub(crate) fn options(bound: Option<u32>) -> ReversalOptions {
    ReversalOptions { bound, recording: Some(recording()), ..ReversalOptions::default() }
}

pub(crate) fn run(real: bool, options: &ReversalOptions) -> Outcome {
    explore(&factory(Slides::new(real), ALL), options, &Control::default()).unwrap()
}

/// The runs that are not equivalent to an earlier one, as `sequence parent first second depth
/// skipped new`. Parents are named `Q` and their position in this list.
pub(crate) fn shown(outcome: &Outcome) -> Vec<String> {
    let distinct: Vec<usize> =
        (0..outcome.runs.len()).filter(|i| outcome.runs[*i].equivalent_to.is_none()).collect();
    let name = |run: usize| match distinct.iter().position(|i| *i == run) {
        Some(place) => format!("Q{}", place + 1),
        None => "?".to_owned(),
    };
    let words = |names: &[_]| names.iter().map(word).collect::<Vec<_>>().join(" ");
    let show = |i: &usize| {
        let run = &outcome.runs[*i];
        let from = match (&run.parent, &run.reversal) {
            (Some(parent), Some(pair)) => {
                format!("{} <{},{}>", name(*parent), word(&pair.first), word(&pair.second))
            }
            _ => "-".to_owned(),
        };
        let (sequence, skipped) = (words(&outcome.sequence(*i)), words(&run.skipped));
        let new = words(&run.new);
        format!("{sequence} | {from} | {} | {skipped} | {new}", run.depth)
    };
    distinct.iter().map(show).collect()
}

const SEVEN: [&str; 7] = [
    "e0 e1 e2 e3 e4 e5 | - | 0 |  | ",
    "e0 e1 e2 e4 e3 e5 | Q1 <e3,e4> | 1 |  | ",
    "e0 e1 e3 e2 e5 | Q1 <e2,e3> | 1 | e4 | ",
    "e1 e0 e2 e3 e5 | Q1 <e0,e1> | 1 | e4 | ",
    "e0 e3 e1 e2 e5 | Q3 <e1,e3> | 2 |  | ",
    "e1 e0 e3 e2 e5 | Q4 <e2,e3> | 2 |  | ",
    "e1 e2 e0 e3 e5 e4 | Q4 <e0,e2> | 2 |  | e4",
];

#[test]
fn seven_sequences_at_bound_two() {
    for sleep in [Sleep::Exact, Sleep::Greedy] {
        for workers in [1, 3] {
            let outcome = run(false, &ReversalOptions { sleep, workers, ..options(Some(2)) });
            assert_eq!(shown(&outcome), SEVEN);
            assert!(outcome.complete && !outcome.exhausted);
        }
    }
}

#[test]
fn the_papers_order_is_depth_first() {
    let outcome = run(false, &ReversalOptions { order: Order::DepthFirst, ..options(Some(2)) });
    // Q5 before Q4; names here are positions in the order of execution.
    let order = [
        "e0 e1 e2 e3 e4 e5",
        "e0 e1 e2 e4 e3 e5",
        "e0 e1 e3 e2 e5",
        "e0 e3 e1 e2 e5",
        "e1 e0 e2 e3 e5",
        "e1 e0 e3 e2 e5",
        "e1 e2 e0 e3 e5 e4",
    ];
    let lines = shown(&outcome);
    let sequences: Vec<&str> = lines.iter().map(|line| line.split(" | ").next().unwrap()).collect();
    assert_eq!(sequences, order);
    let depths: Vec<u32> =
        outcome.runs.iter().filter(|r| r.equivalent_to.is_none()).map(|r| r.depth).collect();
    assert_eq!(depths, [0, 1, 1, 2, 1, 2, 2]);
}

/// The conflicts of a sequence: the pairs that one reversal from it reverses.
fn conflicts(sequence: &str) -> String {
    let mut recording = Schedule::new(ProgramIdentity::new("toy"));
    let name = |word: &str| match word {
        "e4" => event("e2").child("timer"),
        _ => event(word),
    };
    recording.choices.extend(sequence.split(' ').map(|word| Choice::of(name(word))));
    let recording = Some(recording);
    let options = ReversalOptions { sleep: Sleep::Off, recording, ..options(Some(1)) };
    let outcome = run(false, &options);
    assert_eq!(outcome.sequence(0).iter().map(word).collect::<Vec<_>>().join(" "), sequence);
    let mut pairs: Vec<String> = outcome.runs[1..]
        .iter()
        .map(|run| {
            let pair = run.reversal.as_ref().unwrap();
            let expected = (ReversalKind::Conflict, 1, Some(0));
            assert_eq!((pair.kind, run.depth, run.parent), expected);
            format!("<{},{}>", word(&pair.first), word(&pair.second))
        })
        .collect();
    pairs.reverse();
    pairs.join(" ")
}

#[test]
fn conflicts_of_each_sequence() {
    for (sequence, expected) in [
        ("e0 e1 e2 e3 e4 e5", "<e0,e1> <e2,e3> <e3,e4>"),
        ("e0 e1 e2 e4 e3 e5", "<e0,e1> <e4,e3>"),
        ("e0 e1 e3 e2 e5", "<e0,e1> <e1,e3> <e3,e2>"),
        ("e1 e0 e2 e3 e5", "<e1,e0> <e0,e2> <e2,e3>"),
        ("e0 e3 e1 e2 e5", "<e0,e3> <e3,e1>"),
        ("e1 e0 e3 e2 e5", "<e1,e0> <e0,e3> <e3,e2>"),
        ("e1 e2 e0 e3 e5 e4", "<e2,e0> <e0,e3> <e3,e4>"),
    ] {
        assert_eq!(conflicts(sequence), expected, "{sequence}");
    }
}

#[test]
fn without_a_bound_one_run_in_each_of_18_classes() {
    let twin = Twin::new(Slides::new(false));
    let all = twin.all(1000).unwrap();
    let classes: BTreeSet<_> = all.iter().map(|run| twin.class(run)).collect();
    let finals: BTreeSet<_> = all.iter().map(|run| run.observed).collect();
    assert_eq!((all.len(), classes.len(), finals.len()), (100, 18, 6));
    let outcome = run(false, &options(None));
    let ours: BTreeSet<_> = outcome.runs.iter().map(|run| run.observation.hash()).collect();
    assert_eq!((outcome.runs.len(), ours), (18, finals));
    assert!(outcome.complete && outcome.exhausted);
}

#[test]
fn the_real_slide_show_is_harmless() {
    for (bound, count) in [(1, 4), (2, 9)] {
        let outcome = run(true, &options(Some(bound)));
        assert_eq!(shown(&outcome).len(), count, "{:#?}", shown(&outcome));
        assert_eq!(outcome.findings, []);
        let first = outcome.runs[0].observation.part(&PartPath::new(["shown"])).unwrap().hash;
        assert!(
            outcome.runs.iter().all(|run| {
                run.observation.part(&PartPath::new(["shown"])).unwrap().hash == first
            })
        );
    }
    let outcome = run(true, &options(Some(1)));
    let of = |first: &str, second: &str| {
        let is = |run: &&RunInfo| {
            let pair = run.reversal.as_ref();
            pair.is_some_and(|p| word(&p.first) == first && word(&p.second) == second)
        };
        outcome.runs.iter().find(is).unwrap()
    };
    let run = of("e2", "e3");
    assert_eq!(run.comparison.as_ref().unwrap().verdict, Verdict::Timers, "ad-hoc synchronisation");
    assert_eq!(run.skipped.iter().map(word).collect::<Vec<_>>(), ["e4"]);
}

#[test]
fn a_program_that_lists_nothing_and_keeps_nothing_gives_the_same() {
    for real in [false, true] {
        for bound in [Some(1), Some(2), Some(4)] {
            let exact = run(real, &options(bound));
            let factory = factory(Slides::new(real), NONE);
            let blind = explore(&factory, &options(bound), &Control::default()).unwrap();
            assert_eq!(shown(&exact), shown(&blind));
        }
    }
}

#[test]
fn counts_for_all_bounds() {
    let count = |bound, stop_after_plan, sleep| {
        let options = ReversalOptions { stop_after_plan, sleep, ..options(Some(bound)) };
        let outcome = run(false, &options);
        assert!(outcome.complete);
        shown(&outcome).len()
    };
    for sleep in [Sleep::Exact, Sleep::Greedy] {
        let to_quiescence: Vec<usize> =
            [0, 1, 2, 3, 4, 50].map(|bound| count(bound, false, sleep)).to_vec();
        assert_eq!(to_quiescence, [1, 4, 7, 11, 15, 18]);
        let as_planned: Vec<usize> =
            [0, 1, 2, 3, 4, 50].map(|bound| count(bound, true, sleep)).to_vec();
        assert_eq!(as_planned, [1, 4, 7, 10, 12, 13]);
    }
}
