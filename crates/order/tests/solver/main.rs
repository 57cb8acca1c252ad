//! The order solver against the definition, on thousands of random problems, and with deliberate
//! faults.

mod checks;
mod encoding;
mod example;
mod mutants;
mod oracle;
mod proof;
mod random;
mod saturation;
mod session;
mod small;

use anyorder_order::solver::Sabotage;
use anyorder_testkit::effort::{Seeds, seeds};
use session::{Counters, Plan, SMALL};

/// Runs sessions with these seeds, some of them twice.
fn sessions(seeds: Seeds, nodes: u32, sabotage: Sabotage, counters: &mut Counters) {
    for seed in seeds {
        let plan = Plan { seed, nodes, sabotage, most_conflicts: None };
        let answers = match session::run(plan, counters) {
            Ok(answers) => answers,
            Err(wrong) => panic!("seed {seed}, {nodes} nodes: {wrong}"),
        };
        if seed % 8 == 0 {
            let again = session::run(plan, &mut Counters::default());
            assert_eq!(again, Ok(answers), "seed {seed}: the same calls gave other answers");
            counters.add("repeated", 1);
        }
    }
}

/// Fails when a part is less than this percentage of the whole.
fn at_least(percent: u64, part: &str, whole: &str, counters: &Counters) {
    let of = |name: &str| counters.0.get(name).copied().unwrap_or(0);
    assert!(of(part) * 100 >= of(whole) * percent, "{part}: {} of {}", of(part), of(whole));
}

fn report(title: &str, counters: &Counters, may_be_zero: &[&str]) {
    println!("{title}");
    for (name, count) in &counters.0 {
        println!("{count:9} {name}");
        assert!(*count > 0 || may_be_zero.contains(name), "it never occurred: {name}");
    }
}

#[test]
fn small_problems_agree_with_all_orders() {
    let mut counters = Counters::default();
    sessions(seeds(3_000), SMALL, Sabotage::None, &mut counters);
    report(
        "at most 12 nodes, judged by all orders or, where there are too many, by batsat",
        &counters,
        &["with more than 10 conflicts"],
    );
    at_least(70, "judged by all orders", "sessions", &counters);
    at_least(40, "refutations with all inputs known", "refutations checked", &counters);
}

#[test]
fn the_search_alone_is_complete() {
    let mut counters = Counters::default();
    let sabotage = Sabotage::SearchOnly;
    sessions(seeds(1_200), SMALL, sabotage, &mut counters);
    report("at most 12 nodes, no saturation", &counters, &["with more than 10 conflicts"]);
    at_least(65, "judged by all orders", "sessions", &counters);
    at_least(40, "refutations with all inputs known", "refutations checked", &counters);
}

#[test]
fn middling_problems_agree_with_the_plain_encoding() {
    let mut counters = Counters::default();
    sessions(seeds(600), 30, Sabotage::None, &mut counters);
    let sabotage = Sabotage::SearchOnly;
    sessions(seeds(100), 30, sabotage, &mut counters);
    report(
        "with and without saturation, at most 30 nodes, judged by batsat",
        &counters,
        // All of these have more nodes than the other oracle can handle.
        &["judged by all orders"],
    );
}
