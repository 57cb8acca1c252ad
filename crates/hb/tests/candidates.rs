//! The candidates of event-driven EDC are those of its definition, on random traces.

use anyorder_hb::order_candidates;
use anyorder_hb::{CandidateLimits, CandidatePair, OrderCandidates, Points, RuleSet};
use anyorder_system::Control;
use anyorder_testkit::{
    Locks as NaiveLocks, Naive, Rules, Shape, random_sections, random_trace, show,
};
use anyorder_trace::{EventId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Seeds for each shape; `ANYORDER_ORACLE_SEEDS` overrides.
fn seeds() -> u64 {
    std::env::var("ANYORDER_ORACLE_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(700)
}

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

fn pairs(list: &[CandidatePair]) -> BTreeSet<(EventId, EventId)> {
    list.iter().map(|pair| (pair.first, pair.second)).collect()
}

#[test]
fn agree_on_random_traces() {
    type Make = Box<dyn Fn(u64) -> Trace>;
    let mut makers: Vec<(&str, u64, Make)> =
        vec![("sections", 6 * seeds(), Box::new(random_sections))];
    for (name, shape) in Shape::all() {
        makers.push((name, seeds() / 7, Box::new(move |seed| random_trace(seed, &shape))));
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, seeds, make) in makers {
        for seed in 0..seeds {
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
                let expected: BTreeSet<(EventId, EventId)> = naive
                    .candidates()
                    .into_iter()
                    .map(|(a, b)| (visit(&trace, &naive, a), visit(&trace, &naive, b)))
                    .collect();
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
