//! The streaming analyses against the definitions, on random traces.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_predict::{
    Analysis, CandidateOptions, Conditions, EdcAnalysis, Engine, HbAnalysis, Relation, Stamp,
    StreamEvent, Violation, ViolationKind,
};
use anyorder_trace::{EventKind, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder};
use common::generate::{Shape, trace};
use common::naive::{Naive, Order};
use common::show;
use std::collections::BTreeSet;

const TRACES: u64 = 12_000;

#[derive(Default, Debug)]
struct Tally {
    traces: u64,
    ordered: u64,
    unordered: u64,
    racy: u64,
    traces_with_races: u64,
    non_racy: u64,
    dropped: u64,
    hb_only_silent: u64,
    slots_reused: u64,
    /// Lists of records that are kept by class: by HB, by EDC, of one lock.
    apart: [u64; 3],
}

fn shape(rng: &mut Rng) -> Shape {
    Shape {
        events: 8 + rng.index(50),
        threads: 2 + rng.index(5),
        locks: 1 + rng.index(3),
        variables: 1 + rng.index(5),
        locking: 20 + rng.index(40),
        other: [0, 5, 20][rng.index(3)],
        atomic: [0, 0, 30][rng.index(3)],
        shared: [0, 0, 50][rng.index(3)],
        ranges: rng.percent(25),
        guarded: rng.percent(50),
    }
}

/// Feeds a trace event by event, comparing the order with the naive one at each.
fn check_order<R: Relation>(
    t: &Trace,
    naive: &Naive,
    engine: &mut Engine<R, Conditions>,
    tally: &mut Tally,
) -> Vec<Violation> {
    engine.grow(t.tables()).expect("small");
    let mut stamps: Vec<Stamp> = Vec::new();
    for event in t.events() {
        let step = StreamEvent::of_event(t, event.id);
        engine.step(t.tables(), step).expect("the trace is right");
        stamps.push(engine.stamp().expect("there is an event"));
        let at = event.id.index();
        for (i, stamp) in stamps.iter().enumerate() {
            let ordered = engine.knows(*stamp);
            assert_eq!(
                ordered,
                naive.before[at][i],
                "{i} before {at} by {}:\n{}",
                std::any::type_name::<R>(),
                show(t)
            );
            if ordered {
                tally.ordered += 1;
            } else {
                tally.unordered += 1;
            }
        }
    }
    engine.finish().violations
}

fn of_kind(violations: &[Violation], kind: ViolationKind) -> BTreeSet<(usize, usize)> {
    violations
        .iter()
        .filter(|v| v.kind == kind)
        .map(|v| (v.first.event as usize, v.second.event as usize))
        .collect()
}

fn seconds(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    pairs.iter().map(|pair| pair.1).collect()
}

fn compare(
    t: &Trace,
    what: &str,
    found: &BTreeSet<(usize, usize)>,
    expected: &BTreeSet<(usize, usize)>,
) {
    assert_eq!(seconds(found), seconds(expected), "{what}: second events of\n{}", show(t));
    assert!(found.is_subset(expected), "{what}: {found:?} in {expected:?} of\n{}", show(t));
}

fn check_one(t: &Trace, tally: &mut Tally) {
    let hb_naive = Naive::new(t, Order::Hb, true);
    let events = t.events().count();
    let apart = [1, 2, 24][events / 2 % 3];
    let mut hb = HbAnalysis::new(Conditions, CandidateOptions::default()).apart_above(apart);
    let hb_found = check_order(t, &hb_naive, &mut hb, tally);
    compare(t, "hb races", &of_kind(&hb_found, ViolationKind::Racy), &hb_naive.races());

    let naive = Naive::new(t, Order::Edc, true);
    let mut edc = EdcAnalysis::new(Conditions, CandidateOptions::default())
        .index_above([2, 8][events % 2])
        .apart_above(apart);
    let found = check_order(t, &naive, &mut edc, tally);
    let racy = of_kind(&found, ViolationKind::Racy);
    let non_racy = of_kind(&found, ViolationKind::NonRacy);
    compare(t, "edc races", &racy, &naive.races());
    compare(t, "candidates", &non_racy, &naive.candidates());

    tally.traces += 1;
    let [by_edc, of_lock] = edc.lists_apart();
    tally.apart[0] += hb.lists_apart()[0];
    tally.apart[1] += by_edc;
    tally.apart[2] += of_lock;
    tally.racy += racy.len() as u64;
    tally.traces_with_races += u64::from(!racy.is_empty());
    tally.non_racy += non_racy.len() as u64;
    tally.hb_only_silent += u64::from(hb_found.is_empty() && !found.is_empty());
    let lanes: BTreeSet<u32> = naive.actions.iter().map(|action| action.lane).collect();
    tally.slots_reused += u64::from((edc.slots_count() as usize) < lanes.len());
    let together = |(i, j): (usize, usize)| {
        naive.conflict(i, j) && !naive.common(i, j).is_empty() && !non_racy.contains(&(i, j))
    };
    let all = (0..naive.actions.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    tally.dropped += all.filter(|pair| together(*pair)).count() as u64;
}

#[test]
fn orders_races_and_candidates_are_those_of_the_definitions() {
    let mut tally = Tally::default();
    for seed in 1..=TRACES {
        let mut rng = Rng::new(seed);
        let shape = shape(&mut rng);
        check_one(&trace(&mut rng, shape), &mut tally);
    }
    println!("{tally:?}");
    let fired = [
        tally.ordered,
        tally.unordered,
        tally.racy,
        tally.traces_with_races,
        tally.non_racy,
        tally.dropped,
        tally.hb_only_silent,
        tally.slots_reused,
        tally.apart[0],
        tally.apart[1],
        tally.apart[2],
    ];
    assert!(fired.iter().all(|count| *count > 0), "a branch never fired: {tally:?}");
}

/// Longer traces in which sections and locksets are freed and reused.
#[test]
fn longer_traces_agree_too() {
    let mut tally = Tally::default();
    for seed in 1..=60 {
        let mut rng = Rng::new(1_000_000 + seed);
        let mut shape = shape(&mut rng);
        shape.events = 200;
        check_one(&trace(&mut rng, shape), &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.racy > 0 && tally.non_racy > 0);
}

/// Many threads on few variables: lists of records long enough to be searched by slot, and to be
/// kept by class.
#[test]
fn traces_of_many_threads_agree_too() {
    let mut tally = Tally::default();
    for seed in 1..=80 {
        let mut rng = Rng::new(2_000_000 + seed);
        let mut shape = shape(&mut rng);
        shape.threads = 30 + rng.index(60);
        shape.variables = 1 + rng.index(2);
        (shape.events, shape.other, shape.locking) = (300, 3, [0, 10, 40][rng.index(3)]);
        if seed % 2 == 0 {
            // Writers under a shared lock: many of them do not know each other.
            (shape.locks, shape.locking, shape.shared) = (1, 60, 90);
        }
        if seed % 4 < 2 {
            // Atomic accesses race with plain ones only.
            shape.atomic = [70, 90, 97][rng.index(3)];
        }
        check_one(&trace(&mut rng, shape), &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.racy > 0 && tally.non_racy > 0);
}

/// A thread that repeats an atomic write looks again at what others did in between, although the
/// record of a reader was replaced in place and its own is still the newest one.
#[test]
fn a_record_that_is_replaced_in_place_is_seen_by_the_thread_of_the_newest_one() {
    let mut b = TraceBuilder::new();
    let tasks: Vec<TaskId> = (0..40)
        .map(|i| {
            let handler = b.handler(&format!("t{i}"), Mailbox::None).expect("few");
            b.initial(handler)
        })
        .collect();
    let section = |b: &mut TraceBuilder, task: TaskId| {
        b.acquire(task, "m", Mode::EXCLUSIVE).expect("few");
        b.release(task, "m", Mode::EXCLUSIVE).expect("few");
    };
    for reader in &tasks[1..] {
        b.read(*reader, "x").expect("few");
        section(&mut b, *reader);
    }
    section(&mut b, tasks[0]);
    let (x, op) = (b.variable("x").expect("few"), Op::new(EventKind::Write, Mode::RELAXED));
    b.push(tasks[0], op, x.0);
    b.read(tasks[9], "x").expect("few");
    let last = b.push(tasks[0], op, x.0);
    let trace = b.finish();
    let mut hb = HbAnalysis::new(Conditions, CandidateOptions::default());
    let naive = Naive::new(&trace, Order::Hb, true);
    let found =
        of_kind(&check_order(&trace, &naive, &mut hb, &mut Tally::default()), ViolationKind::Racy);
    assert!(seconds(&found).contains(&last.index()), "{found:?}");
    check_one(&trace, &mut Tally::default());
}
