//! Happens-before as this crate computes it against `anyorder-hb` with its rule set `threads`.

use crate::common;

use anyorder_common::random::Rng;
use anyorder_formats::std::StdReader;
use anyorder_hb::{CoverageLevel, RuleSet, races};
use anyorder_predict::{CandidateOptions, HbAnalysis, MemoryOnly};
use anyorder_system::Cancel;
use anyorder_trace::{Block, Columns, Trace, TraceSource};
use common::generate::{Shape, trace};
use common::{analyse, show};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the number of second events, after comparing them.
fn check(t: &Trace, text: impl Fn() -> String) -> usize {
    let listed = races(t, RuleSet::Threads, CoverageLevel::Access, &Cancel::new());
    let expected: BTreeSet<(u64, u64)> = listed
        .expect("nobody cancels")
        .iter()
        .map(|race| (u64::from(race.first.0), u64::from(race.second.0)))
        .collect();
    let options = CandidateOptions { violations_max: usize::MAX, ..CandidateOptions::default() };
    let report = analyse(t, &mut HbAnalysis::new(MemoryOnly, options));
    let found: BTreeSet<(u64, u64)> =
        report.violations.iter().map(|v| (v.first.event, v.second.event)).collect();
    let seconds = |pairs: &BTreeSet<(u64, u64)>| pairs.iter().map(|p| p.1).collect::<BTreeSet<_>>();
    assert_eq!(seconds(&found), seconds(&expected), "{}", text());
    assert!(found.is_subset(&expected), "{}", text());
    seconds(&found).len()
}

#[test]
fn both_find_the_same_second_events_on_random_traces() {
    let (mut with, mut without, mut events) = (0, 0, 0);
    for seed in 1..=3_000 {
        let mut rng = Rng::new(3_000_000 + seed);
        let shape = Shape::small(&mut rng);
        let t = trace(&mut rng, shape);
        let count = check(&t, || show(&t));
        events += count;
        if count == 0 { without += 1 } else { with += 1 }
    }
    println!("{with} traces with races, {without} without, {events} second events");
    assert!(with > 0 && without > 0);
}

#[test]
fn both_find_the_same_second_events_in_recorded_runs() {
    for name in ["pbzip2/trace.std", "memcached/trace.std"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native").join(name);
        let file = std::fs::File::open(&path).expect("the trace is there");
        let mut source = StdReader::new(std::io::BufReader::new(file));
        let (mut block, mut columns) = (Block::default(), Columns::default());
        while source.next_block(&mut block).expect("the trace is right") {
            columns.append(&block.columns);
        }
        let t = Trace::new(source.take_tables(), columns);
        println!("{name}: {} second events", check(&t, || name.to_owned()));
    }
}
