//! The work of a check grows with the trace and no faster: steps are counted, not seconds.

use anyorder_hb::{RaceOptions, RuleSet, check};
use anyorder_system::{Cancel, Control, Limits, StopReason};
use anyorder_testkit::synthetic::growth::{FAMILIES, Family};
use anyorder_trace::{TaskKind, Trace};

fn rules_of(trace: &Trace) -> RuleSet {
    let posted = trace.tables().tasks.iter().any(|task| task.kind == TaskKind::Posted);
    if posted { RuleSet::Mailbox } else { RuleSet::Threads }
}

/// The steps of a check with `n` of what grows.
fn steps(family: &Family, n: u32) -> u64 {
    let trace = (family.make)(n).unwrap();
    // The pairs of like runs that are kept by default are many, though bounded.
    let options = RaceOptions { like_pairs_max: 16, ..RaceOptions::new(rules_of(&trace)) };
    let checked = check(&trace, &options, &Control::default());
    assert_eq!(checked.stopped, None);
    assert!(checked.statistics.steps >= trace.len() as u64);
    checked.statistics.steps
}

/// The families whose steps grow faster. In a tree of posts, tasks are posted from ever more
/// chains.
const FASTER: [&str; 1] = ["posts in a tree, fifo"];

#[test]
fn steps_double_with_what_grows() {
    for family in &FAMILIES {
        if FASTER.contains(&family.name) {
            continue;
        }
        // Clocks become one level deeper at 257 and at 4,097 chains, so all sizes are between.
        let counts = [600, 1_200, 2_400].map(|n| steps(family, n));
        for pair in counts.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!(ratio <= 2.2, "{}: {counts:?}", family.name);
        }
    }
}

#[test]
fn a_check_that_is_stopped_reports_what_it_found() {
    for family in &FAMILIES {
        let trace = (family.make)(100).unwrap();
        let options = RaceOptions { max_pairs: 100_000, ..RaceOptions::new(rules_of(&trace)) };
        let whole = check(&trace, &options, &Control::default());
        let mut stopped = 0;
        for polls in 0.. {
            let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
            let checked = check(&trace, &options, &control);
            if checked.stopped.is_none() {
                assert_eq!(checked.groups, whole.groups);
                break;
            }
            stopped += 1;
            assert!(checked.statistics.race_pairs <= whole.statistics.race_pairs);
            for group in &checked.groups {
                let known = |pair| whole.groups.iter().any(|other| other.pairs.contains(pair));
                assert!(group.pairs.iter().all(known), "{}: {group:?}", family.name);
            }
        }
        assert!(stopped > 3, "{}", family.name);
    }
}

#[test]
fn races_are_charged_to_the_memory_limit() {
    let family = FAMILIES.iter().find(|family| family.name == "racers").unwrap();
    let trace = (family.make)(600).unwrap();
    let limits = Limits { memory_bytes: Some(1 << 20), ..Limits::NONE };
    let control = Control { limits, ..Control::default() };
    let options = RaceOptions { like_pairs_max: usize::MAX, ..RaceOptions::new(RuleSet::Threads) };
    let checked = check(&trace, &options, &control);
    assert_eq!(checked.stopped, Some(StopReason::MemoryLimit));
    assert!(checked.statistics.race_pairs > 1_000);
    assert!(!checked.groups.is_empty());
}
