//! Families with a large reduction, and families without any.

use crate::tests::common::{Task, Toy, Tree, Value};
use crate::tests::stateful::check::{options, run};
use anyorder_explore::stateful::{Counts, GiveUp, StatefulOptions};
use anyorder_search::Stats;
use anyorder_system::Control;

/// Components that step through places of their own: for ever, or to the end.
fn independent(components: usize, length: u8, endless: bool) -> Toy {
    let mut toy = Toy { domain: length + 1, ..Toy::default() };
    toy.initial = vec![vec![0; components]];
    for place in 0..components {
        for at in 0..length {
            let next = if endless { (at + 1) % length } else { at + 1 };
            let body = Tree::Write(place, Value::Constant(next), Box::new(Tree::Done));
            toy.tasks.push(Task { awaits: vec![(place, vec![at])], body, component: None });
        }
    }
    toy
}

/// As many counters as tasks; each task counts its own, and all read and write one more place.
fn all_conflict(tasks: usize) -> Toy {
    let mut toy = Toy { domain: 2, ..Toy::default() };
    toy.initial = vec![vec![0; tasks + 1]];
    for place in 0..tasks {
        let own = Tree::Write(place, Value::Constant(1), Box::new(Tree::Done));
        let shared = Tree::Write(tasks, Value::LastPlus(1), Box::new(own));
        let body = Tree::Read(tasks, vec![shared]);
        toy.tasks.push(Task { awaits: vec![(place, vec![0])], body, component: None });
    }
    toy
}

fn both(toy: &Toy) -> ((Stats, Counts), u64, u64) {
    let full = anyorder_search::search(toy, &Default::default(), &Control::default()).unwrap();
    let (outcome, _) = run(toy, &options(true, 1));
    assert!(outcome.complete && full.complete);
    println!(
        "{:?} of {} states, {} transitions",
        outcome, full.stats.states, full.stats.transitions
    );
    ((outcome.stats, outcome.detail.counts), full.stats.states, full.stats.transitions)
}

#[test]
fn independent_components_are_followed_one_at_a_time() {
    for components in 2..=6 {
        let ((stats, _), full, _) = both(&independent(components, 3, false));
        assert_eq!(full, 4u64.pow(components as u32));
        assert_eq!(stats.states, 3 * components as u64 + 1);
        assert_eq!(stats.transitions, 3 * components as u64);
    }
}

#[test]
fn independent_cycles_are_gone_around_one_at_a_time() {
    for components in 2..=6 {
        let ((stats, _), full, _) = both(&independent(components, 4, true));
        assert_eq!(full, 4u64.pow(components as u32));
        assert_eq!(stats.states, 3 * components as u64 + 1);
        assert_eq!(stats.transitions, 4 * components as u64);
    }
}

#[test]
fn nothing_is_left_out_where_all_conflict() {
    for tasks in 2..=7 {
        let ((stats, counts), states, transitions) = both(&all_conflict(tasks));
        assert_eq!((stats.states, stats.transitions), (states, transitions));
        assert_eq!((counts.inferred, counts.reduced_states), (0, 0));
        assert_eq!(counts.gave_up_reducing, None, "too few states to tell");
    }
}

#[test]
fn where_all_conflict_it_gives_up_and_does_what_full_search_does() {
    let toy = all_conflict(12);
    let ((stats, counts), states, transitions) = both(&toy);
    assert!(counts.gave_up_reducing.is_some_and(|found| (512..states).contains(&found)));
    assert_eq!((stats.states, stats.transitions), (states, transitions));
    let (never, _) = run(&toy, &StatefulOptions { give_up: GiveUp::Never, ..options(true, 1) });
    assert_eq!(never.detail.counts.gave_up_reducing, None);
    assert_eq!((never.stats.states, never.stats.transitions), (states, transitions));
    assert_eq!(never.detail.counts.ends, counts.ends);
    // Nor does it where something can be left out.
    let ((_, counts), ..) = both(&independent(6, 4, true));
    assert_eq!(counts.gave_up_reducing, None);
}
