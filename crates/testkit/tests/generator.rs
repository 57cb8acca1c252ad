//! Measures the random traces: how often each rule, task order and verdict occurs in them, and
//! whether a missing rule would be noticed. The test fails if one never occurs.

use anyorder_testkit::effort::seeds;
use anyorder_testkit::{Naive, RuleName, RuleSet, Rules, Shape, random_trace};
use anyorder_trace::{EventId, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;

/// The number of traces of each shape.
const TRACES: u64 = 1_500;

/// Prints even when the test harness captures what tests print.
fn print(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The occurrences, by shape.
type Counts = BTreeMap<String, [u64; 5]>;

fn count(counts: &mut Counts, shape: usize, what: impl Into<String>, by: usize) {
    counts.entry(what.into()).or_default()[shape] += by as u64;
}

fn measure(counts: &mut Counts, shape: usize, set: RuleSet, trace: &Trace) {
    let naive = Naive::new(trace, Rules::all(set));
    let derived = naive.derived_edges().iter().map(|(edge, _)| edge);
    let edges = naive.base_edges().iter().chain(naive.end_get_edges()).chain(derived);
    for edge in edges {
        count(counts, shape, format!("edge {set:?}: {}", edge.rule.word()), 1);
    }
    for x in trace.events() {
        for y in trace.events().filter(|y| x.id < y.id) {
            if let Some(rule) = naive.ended(x.id, y.id) {
                count(counts, shape, format!("edge {set:?}: {}", rule.word()), 1);
            }
        }
    }
    for order in naive.task_orders() {
        count(counts, shape, format!("order {set:?}: {}", order.rule.word()), 1);
    }
    for race in naive.races() {
        let word = |covered| if covered { "covered" } else { "uncovered" };
        let (access, task) = (naive.covered_access(race), naive.covered_task(race));
        let verdict = format!("race {set:?}: access {}, task {}", word(access), word(task));
        count(counts, shape, verdict, 1);
        let single = word(naive.covered_single(race));
        count(counts, shape, format!("race {set:?}: single {single}"), 1);
    }
    let depth = naive.rounds_backwards().min(5);
    count(counts, shape, format!("rounds read backwards {set:?}: {depth}"), 1);
}

fn table(counts: &Counts) -> String {
    let mut text = format!("{:70}", "");
    for (name, _) in Shape::all() {
        let _ = write!(text, "{name:>11}");
    }
    for (what, row) in counts {
        let _ = write!(text, "\n{what:70}");
        for n in row {
            let _ = write!(text, "{n:>11}");
        }
    }
    text.push('\n');
    text
}

#[test]
fn every_rule_order_and_verdict_occurs() {
    let mut counts = Counts::new();
    for (index, (_, shape)) in Shape::all().iter().enumerate() {
        for seed in seeds(TRACES) {
            let trace = random_trace(seed, shape);
            for set in RuleSet::ALL {
                measure(&mut counts, index, set, &trace);
            }
        }
    }
    print(&table(&counts));
    let mut missing = Vec::new();
    let mut need = |what: String| {
        if !counts.contains_key(&what) {
            missing.push(what);
        }
    };
    let orders =
        [RuleName::NoPreemption, RuleName::Fifo, RuleName::DelayedPoster, RuleName::Transitivity];
    for set in RuleSet::ALL {
        for rule in RuleName::ALL.iter().copied().filter(|rule| rule.is_in(set)) {
            let kind = if orders.contains(&rule) { "order" } else { "edge" };
            need(format!("{kind} {set:?}: {}", rule.word()));
        }
    }
    for set in RuleSet::ALL {
        for a in ["covered", "uncovered"] {
            for t in ["covered", "uncovered"] {
                need(format!("race {set:?}: access {a}, task {t}"));
            }
            need(format!("race {set:?}: single {a}"));
        }
    }
    need("order Android: lifecycle (step)".to_owned());
    need("order Android: service (step)".to_owned());
    need("rounds read backwards Mailbox: 4".to_owned());
    assert!(missing.is_empty(), "never occurred: {missing:#?}");
}

/// The whole relation, as a set of pairs.
fn relation(trace: &Trace, rules: Rules<'_>) -> Vec<(u32, u32)> {
    let naive = Naive::new(trace, rules);
    let events = trace.len() as u32;
    (0..events)
        .flat_map(|x| (x + 1..events).map(move |y| (x, y)))
        .filter(|(x, y)| naive.happens_before(EventId(*x), EventId(*y)))
        .collect()
}

#[test]
fn a_missing_rule_changes_some_relation() {
    for set in RuleSet::ALL {
        let mut open: BTreeSet<RuleName> =
            RuleName::ALL.iter().copied().filter(|rule| rule.is_in(set)).collect();
        let mut caught: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in seeds(TRACES) {
            for (_, shape) in Shape::all() {
                let trace = random_trace(seed + 1_000_000, &shape);
                let whole = relation(&trace, Rules::all(set));
                for rule in open.clone() {
                    let disabled = [rule];
                    if relation(&trace, Rules::without(set, &disabled)) != whole {
                        *caught.entry(rule.word()).or_default() += 1;
                        // A few detected mutations are enough; the remaining time goes to the other
                        // rules.
                        if caught[rule.word()] >= 3 {
                            open.remove(&rule);
                        }
                    }
                }
            }
        }
        let missed: Vec<RuleName> =
            open.into_iter().filter(|rule| !caught.contains_key(rule.word())).collect();
        let expected: Vec<RuleName> = RuleName::ALL
            .iter()
            .copied()
            .filter(|rule| rule.is_in(set) && rule.is_implied())
            .collect();
        print(&format!("mutants of {set:?} caught (3 is enough): {caught:?}\n"));
        assert_eq!(missed, expected, "{set:?}: rules that nothing depends on");
    }
}
