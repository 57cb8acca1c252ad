//! The orders of calls are edges like all others: the engine agrees with the naive closure.

use crate::oracle::{difference, oracle_set};
use anyorder_common::random::{Random, Rng};
use anyorder_hb::{RaceOptions, RuleSet, check_with_calls};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::seeds;
use anyorder_testkit::{Naive, Rules, Shape, random_trace};
use anyorder_trace::EventId;
use std::collections::BTreeSet;

#[test]
fn orders_of_calls_are_edges() {
    let (mut ordered, mut fewer_races, mut traces) = (0_u64, 0_u64, 0_u64);
    for rules in RuleSet::ALL {
        for (name, shape) in Shape::all() {
            for seed in seeds(60) {
                let trace = random_trace(seed, &shape);
                if trace.len() < 2 {
                    continue;
                }
                let mut rng = Rng::new(seed);
                let pair = |rng: &mut Rng| {
                    let to = 1 + rng.index(trace.len() - 1);
                    (EventId(rng.index(to) as u32), EventId(to as u32))
                };
                let calls: Vec<_> = (0..1 + rng.index(4)).map(|_| pair(&mut rng)).collect();
                let all = Rules::all(oracle_set(rules));
                let (plain, naive) =
                    (Naive::new(&trace, all), Naive::with_calls(&trace, all, &calls));
                let options = RaceOptions { keep_order: true, ..RaceOptions::new(rules) };
                let checked = check_with_calls(&trace, &calls, &options, &Control::default());
                let races = naive.races();
                let what = format!("{name}, {rules:?}, seed {seed}, {calls:?}");
                assert_eq!(checked.statistics.race_pairs, races.len() as u64, "{what}");
                let hb = checked.into_order(&Cancel::new()).expect("small traces fit");
                assert_eq!(difference(&trace, &hb, &naive), None, "{what}");
                let new = calls.iter().filter(|(a, b)| !plain.happens_before(*a, *b));
                ordered += u64::from(new.count() > 0);
                fewer_races += u64::from(races.len() < plain.races().len());
                traces += 1;
                let races: BTreeSet<_> = races.into_iter().collect();
                assert!(plain.races().into_iter().collect::<BTreeSet<_>>().is_superset(&races));
            }
        }
    }
    println!("{traces} traces, {ordered} with a new order, {fewer_races} with fewer races");
    assert!(ordered > 100 && fewer_races > 30, "{ordered} {fewer_races}");
}
