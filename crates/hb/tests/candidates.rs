//! The candidates of event-driven EDC are those of its definition, on random traces.

use anyorder_common::random::{Random, Rng};
use anyorder_hb::order_candidates;
use anyorder_hb::{
    CandidateLimits, CandidatePair, Conflicting, OrderCandidates, Point, Points, RuleSet,
};
use anyorder_system::Control;
use anyorder_testkit::effort::seeds;
use anyorder_testkit::{
    Fault, Locks as NaiveLocks, Naive, Rules, Shape, random_sections, random_trace, show,
};
use anyorder_trace::{Columns, EventId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Seeds for each shape.
const SEEDS: u64 = 350;

fn oracle_set(rules: RuleSet) -> anyorder_testkit::RuleSet {
    match rules {
        RuleSet::Android => anyorder_testkit::RuleSet::Android,
        RuleSet::Mailbox => anyorder_testkit::RuleSet::Mailbox,
        RuleSet::Threads => anyorder_testkit::RuleSet::Threads,
    }
}

fn candidates(trace: &Trace, rules: RuleSet) -> OrderCandidates {
    let (points, limits) = (Points::default(), CandidateLimits::default());
    order_candidates(trace, rules, &points, limits, &Control::default()).expect("it fits")
}

/// The first access of a visit: in the same sections, to the same location, of the same class.
fn visit(trace: &Trace, naive: &Naive<'_, '_>, event: EventId) -> EventId {
    let around = |event: EventId| -> Vec<usize> {
        let all = naive.sections();
        (0..all.len()).filter(|s| all[*s].inside.contains(&event)).collect()
    };
    let at = trace.event(event);
    let same = trace.events().find(|e| {
        e.kind().is_access()
            && e.location() == at.location()
            && e.kind().writes() == at.kind().writes()
            && e.mode().is_atomic() == at.mode().is_atomic()
            && around(e.id) == around(event)
    });
    same.expect("an access is like itself").id
}

/// The non-racy candidates of the definition, as visits.
fn expected(trace: &Trace, naive: &Naive<'_, '_>) -> BTreeSet<(EventId, EventId)> {
    let pairs = naive.candidates().into_iter();
    pairs.map(|(a, b)| (visit(trace, naive, a), visit(trace, naive, b))).collect()
}

fn pairs(list: &[CandidatePair]) -> BTreeSet<(EventId, EventId)> {
    list.iter().map(|pair| (pair.first, pair.second)).collect()
}

#[test]
fn agree_on_random_traces() {
    type MakeTrace = Box<dyn Fn(u64) -> Trace>;
    let mut makers: Vec<(&str, u64, MakeTrace)> =
        vec![("sections", 6 * SEEDS, Box::new(random_sections))];
    for (name, shape) in Shape::all() {
        makers.push((name, SEEDS / 7, Box::new(move |seed| random_trace(seed, &shape))));
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, number, make) in makers {
        for seed in seeds(number) {
            let trace = make(seed);
            for rules in RuleSet::ALL {
                let set = oracle_set(rules);
                let naive = Naive::with_locks(&trace, Rules::all(set), &NaiveLocks::Sections(&[]));
                let found = candidates(&trace, rules);
                let place = format!("{name}, seed {seed}, rules {}", rules.word());
                let races: BTreeSet<(EventId, EventId)> = naive.races().into_iter().collect();
                assert!(pairs(&found.racy).is_subset(&races), "{place}\n{}", show(&trace));
                assert_eq!(found.race_pairs, races.len() as u64, "{place}\n{}", show(&trace));
                let seconds: BTreeSet<EventId> = races.iter().map(|(_, b)| *b).collect();
                assert_eq!(found.racy_seconds, seconds.len() as u64, "{place}");
                let expected = expected(&trace, &naive);
                let ours = pairs(&found.non_racy);
                assert_eq!(ours, expected, "{place}\n{}", show(&trace));
                assert_eq!(ours.len() as u64, found.non_racy_total, "{place}: found twice");
                let mut count = |what, n| *counts.entry(what).or_default() += n;
                count("traces and rule sets", 1);
                count("racy pairs", found.racy_total);
                count("pairs of accesses in races", found.race_pairs);
                count("non-racy candidates", found.non_racy_total);
                count("traces with non-racy candidates", u64::from(found.non_racy_total > 0));
                count("ordered", found.ordered);
                count("undecided", found.undecided);
                count("stray releases", found.stray_releases);
                assert_eq!(found.lost, 0);
            }
        }
    }
    println!("{counts:#?}");
    assert!(counts.values().all(|count| *count > 0), "a count is 0: {counts:#?}");
}

/// The test of the test: the comparison must notice an oracle with a fault.
#[test]
fn a_fault_is_noticed() {
    for fault in Fault::OF_CANDIDATES {
        let faults = [fault];
        let differs = |trace: &Trace| {
            RuleSet::ALL.into_iter().any(|rules| {
                let rules_of = Rules::all(oracle_set(rules));
                let naive = Naive::with_locks(trace, rules_of, &NaiveLocks::Sections(&faults));
                expected(trace, &naive) != pairs(&candidates(trace, rules).non_racy)
            })
        };
        let seed = seeds(6 * SEEDS).into_iter().find(|seed| differs(&random_sections(*seed)));
        println!("{fault:?}: noticed by seed {seed:?}");
        assert!(seed.is_some(), "{fault:?} goes unnoticed");
    }
}

/// Points at random events, in four classes, of which some do not commute. They are reported, but
/// make no edges between sections, so that the oracle need not know them.
fn random_points(trace: &Trace, rng: &mut Rng) -> Points {
    let mut reported: Conflicting = [0; 32];
    for _ in 0..1 + rng.index(5) {
        let (a, b) = (rng.index(4), rng.index(4));
        reported[a] |= 1 << b;
        reported[b] |= 1 << a;
    }
    let mut list = Vec::new();
    for event in trace.events().filter(|event| !event.kind().is_access()) {
        for object in 0..3 {
            if rng.percent(75) {
                continue;
            }
            list.push(Point { event: event.id, object, table: 0, class: rng.index(4) as u8 });
        }
    }
    Points { list, tables: vec![[0; 32]], reported: vec![reported] }
}

#[test]
fn racy_points_are_those_of_the_definition() {
    let (mut racy, mut several, mut commuting) = (0, 0, 0);
    for seed in seeds(2 * SEEDS) {
        let trace = random_sections(seed);
        let mut rng = Rng::new(seed);
        let points = random_points(&trace, &mut rng);
        for rules in RuleSet::ALL {
            let set = oracle_set(rules);
            let naive = Naive::with_locks(&trace, Rules::all(set), &NaiveLocks::Sections(&[]));
            let limits = CandidateLimits::default();
            let found = order_candidates(&trace, rules, &points, limits, &Control::default());
            let found = found.expect("it fits");
            let mut expected: BTreeMap<(EventId, u32), BTreeSet<EventId>> = BTreeMap::new();
            for (at, b) in points.list.iter().enumerate() {
                for a in points.list[..at].iter().filter(|a| a.object == b.object) {
                    let commute = points.reported[0][usize::from(a.class)] >> b.class & 1 == 0;
                    let unordered = !naive.happens_before(a.event, b.event);
                    commuting += u64::from(commute && unordered);
                    if !commute && unordered {
                        expected.entry((b.event, b.object)).or_default().insert(a.event);
                    }
                }
            }
            let mut ours: BTreeMap<(EventId, u32), Vec<EventId>> = BTreeMap::new();
            for pair in &found.racy {
                if let Some(object) = pair.object {
                    ours.entry((pair.second, object)).or_default().push(pair.first);
                }
            }
            let place = || format!("seed {seed}, rules {}:\n{}", rules.word(), show(&trace));
            assert!(ours.keys().eq(expected.keys()), "{}", place());
            for (second, firsts) in &ours {
                assert!(firsts.iter().all(|a| expected[second].contains(a)), "{}", place());
                racy += 1;
                several += u64::from(firsts.len() > 1);
            }
        }
    }
    println!("{racy} racy seconds, {several} with several firsts, {commuting} pairs commute");
    assert!(racy > 1_000 && several > 100 && commuting > 1_000);
}

/// Traces that no program has: events in a random order, some of them missing. The engine only
/// promises to answer.
#[test]
fn odd_traces_do_no_harm() {
    let (mut found, mut strays) = (0, 0);
    for seed in seeds(2 * SEEDS) {
        let whole = random_sections(seed);
        let mut rng = Rng::new(seed);
        let mut rows: Vec<usize> = (0..whole.len()).filter(|_| rng.percent(85)).collect();
        for i in 0..rows.len() {
            let j = (i + rng.index(4)).min(rows.len() - 1);
            rows.swap(i, j);
        }
        let mut columns = Columns::default();
        for row in rows {
            let from = whole.columns();
            let kind = from.ops[row];
            columns.push(kind, from.tasks[row], from.operands[row], from.sites[row]);
        }
        let trace = Trace::new(whole.tables().clone(), columns);
        for rules in RuleSet::ALL {
            let candidates = candidates(&trace, rules);
            found += candidates.non_racy_total;
            strays += candidates.stray_releases;
            let all = candidates.racy.iter().chain(&candidates.non_racy);
            assert!(all.into_iter().all(|pair| pair.first < pair.second));
        }
    }
    println!("{found} non-racy candidates, {strays} stray releases");
    assert!(found > 0 && strays > 0);
}

/// Limits bound the listed and the open pairs, and the counts include the omitted ones.
#[test]
fn limits_are_kept() {
    let (mut lost, mut cut, mut in_cut) = (0, 0, 0);
    let shapes = [("crowd", Shape::crowd()), ("bags", Shape::bags())];
    for seed in seeds(SEEDS) {
        let sections = [("sections", random_sections(seed))];
        let random = Shape::all().into_iter().chain(shapes.clone());
        let random = random.map(|(name, shape)| (name, random_trace(seed, &shape)));
        for (name, trace) in sections.into_iter().chain(random.filter(|_| seed % 4 == 0)) {
            let all = candidates(&trace, RuleSet::Mailbox);
            for pairs_max in [0, 2, 9] {
                let limits = CandidateLimits { pairs_max, open_max: 1 };
                let (points, control) = (Points::default(), Control::default());
                let few = order_candidates(&trace, RuleSet::Mailbox, &points, limits, &control);
                let few = few.expect("it fits");
                let place = format!("{name}, seed {seed}, {pairs_max}\n{}", show(&trace));
                let listed = pairs_max.min(all.racy.len());
                assert_eq!(few.racy, all.racy[..listed], "{place}");
                assert_eq!(few.racy_total, all.racy_total, "{place}");
                assert_eq!(few.race_pairs, all.race_pairs, "{place}");
                assert_eq!(few.racy_seconds, all.racy_seconds, "{place}");
                assert!(few.non_racy.len() <= pairs_max);
                assert!(pairs(&few.non_racy).is_subset(&pairs(&all.non_racy)));
                assert!(few.non_racy_total + few.lost >= all.non_racy_total);
                lost += few.lost;
                cut += u64::from(few.racy_total > pairs_max as u64);
                in_cut += few.racy_total.saturating_sub(pairs_max as u64);
            }
        }
    }
    println!("{lost} lost, {cut} lists cut, {in_cut} pairs not listed");
    assert!(lost > 0 && cut > 300 && in_cut > 10 * cut);
}
