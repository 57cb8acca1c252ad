//! Faults in the rules that spare work: the comparison with the naive closure must notice each.

mod posters;
mod racy;

use crate::races::list::races_in;
use crate::relation::engine::{Engine, Mode};
use crate::relation::sabotage::Sabotage;
use anyorder_hb::{CoverageLevel, HappensBefore, RuleSet};
use anyorder_system::Cancel;
use anyorder_testkit::effort::{counts_all, sampled};
use anyorder_testkit::{Naive, Rules};
use anyorder_trace::{EventId, Trace};
use posters::trace_of;

/// What a fault changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Changes {
    Order,
    Races,
}

const FAULTS: [(Sabotage, Changes); 11] = [
    (Sabotage::QuietBeforeWrites, Changes::Races),
    (Sabotage::QuietBesideOthers, Changes::Races),
    (Sabotage::QuietBesideOwn, Changes::Races),
    (Sabotage::QuietBesideAtomics, Changes::Races),
    (Sabotage::QuietOverlapping, Changes::Races),
    (Sabotage::BesideOrdered, Changes::Order),
    (Sabotage::BesideLater, Changes::Order),
    (Sabotage::BesideForgotten, Changes::Order),
    (Sabotage::RecentLater, Changes::Order),
    (Sabotage::RecentUnlike, Changes::Order),
    (Sabotage::LastUnsorted, Changes::Order),
];

/// Traces that few others are like: only in one of a thousand do `BesideOrdered` and `RecentUnlike`
/// change anything.
const RARE: [u64; 2] = [1_023, 4_402];

/// Returns whether engine and oracle differ in the order of some tasks or events.
fn orders_differ(trace: &Trace, naive: &Naive<'_, '_>, sabotage: Sabotage) -> bool {
    let (mode, cancel) = (Mode { sabotage, ..Mode::EXACT }, Cancel::new());
    let engine = Engine::new(trace, RuleSet::Mailbox, mode, &cancel).expect("small traces fit");
    let hb = HappensBefore::recorded(engine, &cancel).expect("small traces fit");
    let events = |from| (from..trace.len() as u32).map(EventId);
    let tasks = |a, b| hb.task_order(a, b) != naive.task_order(a, b);
    let pair = |x, y| hb.happens_before(x, y) != naive.happens_before(x, y);
    trace.task_ids().any(|a| trace.task_ids().any(|b| tasks(a, b)))
        || events(0).any(|x| events(x.0 + 1).any(|y| pair(x, y)))
}

/// Returns whether engine and oracle differ in the races.
fn races_differ(trace: &Trace, expected: &[(EventId, EventId)], sabotage: Sabotage) -> bool {
    let mode = Mode { sabotage, ..Mode::default() };
    let level = CoverageLevel::Access;
    let found = races_in(mode, trace, RuleSet::Mailbox, level, &Cancel::new());
    let found = found.expect("small traces fit");
    found.iter().map(|race| (race.first, race.second)).ne(expected.iter().copied())
}

#[test]
fn faults_in_what_spares_work_are_noticed() {
    let mut noticed = FAULTS.map(|_| 0_u64);
    let mut traces = 0_u64;
    for seed in RARE.into_iter().chain(sampled(160, 1_500)) {
        let trace = trace_of(seed).expect("small traces fit");
        let rules = Rules { set: anyorder_testkit::RuleSet::Mailbox, disabled: &[] };
        let naive = Naive::new(&trace, rules);
        let races = naive.races();
        let differs = |fault: Sabotage, changes: Changes| match changes {
            Changes::Order => orders_differ(&trace, &naive, fault),
            Changes::Races => races_differ(&trace, &races, fault),
        };
        for changes in [Changes::Order, Changes::Races] {
            let shown = || anyorder_testkit::show(&trace);
            assert!(!differs(Sabotage::None, changes), "seed {seed}: {changes:?}\n{}", shown());
        }
        traces += 1;
        for ((fault, changes), count) in FAULTS.iter().zip(&mut noticed) {
            if *count == 0 || counts_all() {
                *count += u64::from(differs(*fault, *changes));
            }
        }
    }
    let missed: Vec<_> = FAULTS.iter().zip(noticed).filter(|(_, count)| *count == 0).collect();
    println!("{traces} traces; {FAULTS:?} noticed by {noticed:?}");
    assert!(missed.is_empty(), "{missed:?} go unnoticed");
}
