//! Chains of edges that explain why two events are ordered, against the relation computed from its
//! definition.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_predict::{Conditions, MemoryOnly, OrderPaths, OrderRule, OrderStep, Ordered};
use anyorder_trace::{EventId, EventKind, Trace};
use common::generate::{Shape, trace};
use common::naive::{Naive, Order};
use common::script::script;
use common::show;
use std::collections::{BTreeMap, VecDeque};

const TRACES: u64 = 600;
const STEPS: u64 = 1 << 24;

fn shape(rng: &mut Rng) -> Shape {
    Shape {
        events: 8 + rng.index(40),
        threads: 2 + rng.index(5),
        locks: 1 + rng.index(3),
        variables: 1 + rng.index(5),
        locking: 20 + rng.index(40),
        other: [0, 5, 30][rng.index(3)],
        atomic: [0, 0, 30][rng.index(3)],
        shared: [0, 0, 50][rng.index(3)],
        ranges: rng.percent(25),
        guarded: rng.percent(50),
    }
}

/// For each event, the least number of edges other than program order from it to `b`.
fn distances(naive: &Naive, b: usize) -> Vec<Option<usize>> {
    let mut distance = vec![None; b + 1];
    let mut queue = VecDeque::from([(b, 0)]);
    while let Some((at, edges)) = queue.pop_front() {
        for event in (0..=at).filter(|e| naive.actions[*e].lane == naive.actions[at].lane) {
            if distance[event].is_some_and(|known| known <= edges) {
                continue;
            }
            distance[event] = Some(edges);
            let into = naive.edges.iter().filter(|edge| edge.to == event);
            queue.extend(into.map(|edge| (edge.from, edges + 1)));
        }
    }
    distance
}

fn check_step(naive: &Naive, step: &OrderStep, what: &str) {
    let (from, to) = (step.from.index(), step.to.index());
    assert!(from < to, "{step:?} {what}");
    let (a, b) = (naive.actions[from], naive.actions[to]);
    let has_edge = |section: Option<usize>| {
        naive.edges.iter().any(|e| (e.from, e.to, e.section) == (from, to, section))
    };
    let kinds = match step.rule {
        OrderRule::ProgramOrder => {
            assert_eq!(a.lane, b.lane, "{step:?} {what}");
            return;
        }
        OrderRule::Section { lock, action } => {
            let at =
                naive.sections.iter().position(|s| s.release == Some(from) && s.lock == lock.0);
            let at = at.unwrap_or_else(|| panic!("{step:?} {what}"));
            assert!(has_edge(Some(at)), "{step:?} {what}");
            assert!(naive.inside[action.index()].contains(&at), "{step:?} {what}");
            assert!(naive.conflict(action.index(), to), "{step:?} {what}");
            return;
        }
        OrderRule::Fork => (&[EventKind::Fork][..], None),
        OrderRule::Join => (&[][..], Some(EventKind::Join)),
        OrderRule::Post => (&[EventKind::Post][..], Some(EventKind::Get)),
        OrderRule::Wake => (&[EventKind::Signal, EventKind::Broadcast][..], Some(EventKind::Wake)),
        OrderRule::Barrier => (&[EventKind::Barrier][..], Some(EventKind::Barrier)),
        OrderRule::Atomic => (&[EventKind::Write, EventKind::Rmw][..], None),
    };
    assert!(has_edge(None), "{step:?} {what}");
    assert!(kinds.0.is_empty() || kinds.0.contains(&a.kind), "{step:?} {what}");
    assert!(kinds.1.is_none_or(|kind| kind == b.kind), "{step:?} {what}");
}

fn check(t: &Trace, paths: &OrderPaths, naive: &Naive, counts: &mut BTreeMap<String, u64>) {
    for b in 0..t.len() {
        let distances = distances(naive, b);
        for (a, distance) in distances.iter().enumerate().take(b) {
            let what = format!("{a} and {b}:\n{}", show(t));
            let ordered = paths.why(EventId(a as u32), EventId(b as u32), STEPS);
            let chain = match ordered {
                Ordered::Unknown => panic!("few steps are needed: {what}"),
                Ordered::Not => {
                    assert!(!naive.before[b][a], "ordered: {what}");
                    *counts.entry("not".to_owned()).or_default() += 1;
                    continue;
                }
                Ordered::By(chain) => chain,
            };
            assert!(naive.before[b][a], "not ordered, {chain:?}: {what}");
            assert_eq!(chain.first().map(|s| s.from.index()), Some(a), "{chain:?}: {what}");
            assert_eq!(chain.last().map(|s| s.to.index()), Some(b), "{chain:?}: {what}");
            assert!(chain.windows(2).all(|two| two[0].to == two[1].from), "{chain:?}: {what}");
            for step in &chain {
                check_step(naive, step, &what);
                let word = format!("{:?}", step.rule);
                let word = word.split(' ').next().expect("a word").to_owned();
                *counts.entry(word).or_default() += 1;
            }
            let edges = chain.iter().filter(|step| step.rule != OrderRule::ProgramOrder).count();
            assert_eq!(Some(edges), *distance, "not shortest, {chain:?}: {what}");
        }
    }
}

#[test]
fn chains_are_shortest_and_exist_where_the_order_does() {
    let mut counts = BTreeMap::new();
    for seed in anyorder_testkit::effort::sampled(TRACES / 3, TRACES) {
        let mut rng = Rng::new(seed);
        let shape = shape(&mut rng);
        let t = trace(&mut rng, shape);
        let conditions = seed % 2 == 0;
        let naive = Naive::new(&t, Order::Edc, conditions);
        let paths = match conditions {
            true => OrderPaths::new(&t, Conditions),
            false => OrderPaths::new(&t, MemoryOnly),
        };
        check(&t, &paths.expect("small"), &naive, &mut counts);
    }
    println!("{counts:?}");
    assert_eq!(counts.len(), 9, "{counts:?}");
}

#[test]
fn a_pair_that_each_other_pair_orders() {
    let t = script(
        "T1 acq m; T1 w x; T1 w y; T1 rel m
        T2 acq m; T2 w x; T2 w y; T2 rel m",
    );
    let paths = OrderPaths::new(&t, MemoryOnly).unwrap();
    let Ordered::By(chain) = paths.why(EventId(1), EventId(6), 100) else { panic!() };
    let words: Vec<String> =
        chain.iter().map(|step| format!("{} {} {:?}", step.from.0, step.to.0, step.rule)).collect();
    assert_eq!(words, ["1 3 ProgramOrder", "3 6 Section { lock: LockId(0), action: EventId(2) }",]);
    assert_eq!(paths.why(EventId(1), EventId(6), 0), Ordered::Unknown);
    assert_eq!(paths.why(EventId(1), EventId(4), 100), Ordered::Not);
}

/// A long trace: all queries get an answer within a bound of steps that is far from quadratic.
#[test]
fn long_traces_need_few_steps() {
    for guarded in [true, false] {
        let mut rng = Rng::new(7);
        let shape = Shape {
            events: 100_000,
            threads: 8,
            locks: 16,
            variables: 2_000,
            locking: 45,
            other: 1,
            atomic: 0,
            shared: 10,
            ranges: false,
            guarded,
        };
        let t = trace(&mut rng, shape);
        let begin = std::time::Instant::now();
        let paths = OrderPaths::new(&t, Conditions).expect("small");
        let indexed = begin.elapsed();
        let begin = std::time::Instant::now();
        let mut counts = [0; 3];
        for _ in 0..200 {
            let a = rng.index(t.len() - 1);
            let b = a + 1 + rng.index(t.len() - a - 1);
            // Most pairs this far apart are ordered; an unordered pair costs a visit of all events
            // in between.
            match paths.why(EventId(a as u32), EventId(b as u32), 4_000_000) {
                Ordered::By(_) => counts[0] += 1,
                Ordered::Not => counts[1] += 1,
                Ordered::Unknown => counts[2] += 1,
            }
        }
        let asked = begin.elapsed();
        println!("guarded {guarded}: {} events, {indexed:?}, {asked:?}, {counts:?}", t.len());
        assert_eq!(counts[2], 0, "{counts:?}");
    }
}
