//! Deliberate faults in the solver: the tests must notice each.

use crate::tests::solver::session::{self, Counters, Plan, SMALL};
use anyorder_order::solver::Sabotage;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is expected, so that its message is suppressed.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps expected panics silent.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                usual(info);
            }
        }));
    });
}

/// Returns the first failure message under a fault, and how many of the sessions noticed it.
fn noticed(sabotage: Sabotage) -> (u32, String) {
    quiet();
    let (mut count, mut first) = (0, String::new());
    for seed in anyorder_testkit::effort::seeds(100) {
        let nodes = if seed % 4 == 0 { 24 } else { SMALL };
        let plan = Plan { seed, nodes, sabotage, most_conflicts: Some(2000) };
        EXPECTED.set(true);
        let outcome =
            catch_unwind(AssertUnwindSafe(|| session::run(plan, &mut Counters::default())));
        EXPECTED.set(false);
        let message = match outcome {
            Ok(Ok(_)) => continue,
            Ok(Err(wrong)) => wrong,
            Err(_) => "a panic".to_owned(),
        };
        count += 1;
        if first.is_empty() {
            first = format!("seed {seed}: {message}");
        }
    }
    (count, first)
}

fn check(name: &str, sabotage: Sabotage) {
    let (count, first) = noticed(sabotage);
    println!("{name}: noticed by {count} sessions, first {first}");
    assert!(count > 0, "{name} was not noticed");
}

#[test]
fn no_sabotage_is_not_noticed() {
    let (count, first) = noticed(Sabotage::None);
    assert_eq!(count, 0, "{first}");
}

#[test]
fn implying_the_opposite_is_noticed() {
    check("implies the opposite", Sabotage::ImpliesOpposite);
}

#[test]
fn a_cone_of_the_wrong_direction_is_noticed() {
    check("wrong cone", Sabotage::WrongCone);
}

#[test]
fn clauses_without_a_literal_are_noticed() {
    check("short clauses", Sabotage::ShortClauses);
}

#[test]
fn saturation_without_the_first_last_rule_is_noticed() {
    check("no first-last rule", Sabotage::NoFirstLast);
}

#[test]
fn saturation_without_the_entry_rule_is_noticed() {
    check("no entry rule", Sabotage::NoEntries);
}

#[test]
fn a_pair_that_is_not_forced_is_noticed() {
    check("unforced pair", Sabotage::Unforced);
}

#[test]
fn a_course_without_queues_is_noticed() {
    check("no queues", Sabotage::NoQueues);
}
