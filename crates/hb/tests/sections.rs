//! Event-driven EDC agrees with its definition on random traces, and the comparison notices a
//! fault.

use anyorder_hb::{HappensBefore, Locks, Points, RuleSet};
use anyorder_system::Cancel;
use anyorder_testkit::effort::{sampled, seeds};
use anyorder_testkit::{
    Fault, Locks as NaiveLocks, Naive, Rules, Shape, random_sections, random_trace, show,
};
use anyorder_trace::{EventId, Trace};
use std::collections::BTreeMap;

/// Seeds for each shape.
const SEEDS: u64 = 350;

fn oracle_set(rules: RuleSet) -> anyorder_testkit::RuleSet {
    match rules {
        RuleSet::Android => anyorder_testkit::RuleSet::Android,
        RuleSet::Mailbox => anyorder_testkit::RuleSet::Mailbox,
        RuleSet::Threads => anyorder_testkit::RuleSet::Threads,
    }
}

/// Makes a trace from a seed.
type MakeTrace = Box<dyn Fn(u64) -> Trace>;

/// A generator of random traces, and its number of seeds.
fn makers() -> Vec<(&'static str, u64, MakeTrace)> {
    let mut makers: Vec<(&str, u64, MakeTrace)> =
        vec![("sections", 6 * SEEDS, Box::new(random_sections))];
    for (name, shape) in Shape::all() {
        makers.push((name, SEEDS / 2, Box::new(move |seed| random_trace(seed, &shape))));
    }
    makers
}

fn events(trace: &Trace) -> impl Iterator<Item = EventId> + use<> {
    (0..trace.len() as u32).map(EventId)
}

/// The first pair of events, or of tasks, on which engine and oracle differ.
fn difference(trace: &Trace, edc: &HappensBefore<'_>, naive: &Naive<'_, '_>) -> Option<String> {
    for x in events(trace) {
        for y in events(trace) {
            let (ours, theirs) = (edc.happens_before(x, y), naive.happens_before(x, y));
            if ours != theirs {
                return Some(format!("{x:?} before {y:?}: engine {ours}, oracle {theirs}"));
            }
        }
    }
    let different = |a, b| edc.task_order(a, b) != naive.task_order(a, b);
    let pairs = trace.task_ids().flat_map(|a| trace.task_ids().map(move |b| (a, b)));
    let wrong = pairs.into_iter().find(|(a, b)| different(*a, *b))?;
    Some(format!("{wrong:?}: oracle {}", naive.task_order(wrong.0, wrong.1)))
}

fn sectioned<'t>(trace: &'t Trace, rules: RuleSet) -> HappensBefore<'t> {
    let points = Points::default();
    HappensBefore::with_locks(trace, rules, Locks::Sections, &points, &Cancel::new())
        .expect("small traces fit")
}

/// Counts how often two relations differ on a trace, and checks that the second is part of the
/// first.
fn compare(trace: &Trace, hb: &HappensBefore<'_>, edc: &HappensBefore<'_>, place: &str) -> u64 {
    let mut fewer = 0;
    for x in events(trace) {
        for y in events(trace) {
            let (full, part) = (hb.happens_before(x, y), edc.happens_before(x, y));
            assert!(full || !part, "{place}: {x:?}, {y:?} in EDC only\n{}", show(trace));
            fewer += u64::from(full && !part);
        }
    }
    fewer
}

#[test]
fn agrees_on_random_traces() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let cancel = Cancel::new();
    for (name, number, make) in makers() {
        for seed in sampled(number / 2, number) {
            let trace = make(seed);
            for rules in RuleSet::ALL {
                let set = oracle_set(rules);
                let naive = Naive::with_locks(&trace, Rules::all(set), &NaiveLocks::Sections(&[]));
                let edc = sectioned(&trace, rules);
                let place = format!("shape {name}, seed {seed}, rules {}", rules.word());
                if let Some(difference) = difference(&trace, &edc, &naive) {
                    panic!("{place}: {difference}\n{}", show(&trace));
                }
                let hb = HappensBefore::new(&trace, rules, &cancel).expect("small traces fit");
                if name == "sections" {
                    // These fork handlers that have already run, which the others do not.
                    let naive = Naive::new(&trace, Rules::all(set));
                    assert_eq!(difference(&trace, &hb, &naive), None, "{place}");
                }
                let fewer = compare(&trace, &hb, &edc, &place);
                let mut count = |what: &str, n: usize| {
                    *counts.entry(format!("{}: {what}", rules.word())).or_default() += n as u64;
                };
                count("traces", 1);
                count("traces with section edges", usize::from(!naive.section_edges().is_empty()));
                count("traces with fewer orders than happens-before", usize::from(fewer > 0));
                count("pairs in happens-before only", fewer as usize);
                count("sections", naive.sections().len());
                let open = naive.sections().iter().filter(|s| s.release.is_none()).count();
                count("sections that their strand leaves open", open);
                count("shared sections", naive.sections().iter().filter(|s| s.shared).count());
                count("section edges", naive.section_edges().len());
            }
        }
    }
    println!("{counts:#?}");
    assert!(counts.values().all(|count| *count > 0), "a count is 0: {counts:#?}");
}

/// The test of the test: the comparison must notice an oracle with a fault.
#[test]
fn a_fault_is_noticed() {
    for fault in Fault::ALL {
        let faults = [fault];
        let differs = |trace: &Trace| {
            RuleSet::ALL.into_iter().any(|rules| {
                let rules_of = Rules::all(oracle_set(rules));
                let naive = Naive::with_locks(trace, rules_of, &NaiveLocks::Sections(&faults));
                difference(trace, &sectioned(trace, rules), &naive).is_some()
            })
        };
        let seed = seeds(4 * SEEDS).into_iter().find(|seed| differs(&random_sections(*seed)));
        println!("{fault:?}: noticed by seed {seed:?}");
        assert!(seed.is_some(), "{fault:?} goes unnoticed");
    }
}
