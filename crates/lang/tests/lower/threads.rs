//! Threads: locks, conditions, fork and join, atomic sections.

use crate::lower::explore::{explore, machine};
use anyorder_system::StateSystem;

fn ends(text: &str) -> Vec<String> {
    let found = explore(text);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    found.ends.into_iter().collect()
}

#[test]
fn locks_make_increments_safe() {
    let text = "model m\nlock l;\nvar x = 0;\nthread t[i in 0..3] { with l { x += 1; } }\n";
    assert_eq!(ends(text), ["x = 3"]);
    assert_eq!(ends(&text.replace("with l", "")), ["x = 1", "x = 2", "x = 3"]);
    assert_eq!(ends(&text.replace("with l", "atomic")), ["x = 3"]);
    assert_eq!(ends(&text.replace("with l { x += 1; }", "acquire l; x++; release l;")), ["x = 3"]);
}

#[test]
fn with_gives_the_lock_back_on_every_way_out() {
    let text = "model m
lock l[2]; var x = 0;
fn f(i: int) -> int { for k in 0..3 { with l[i] { if k == 0 { continue; } if k == 1 { break; } return 7; } } with l[i] { with l[1 - i] { return 5; } } return 9; }
thread t { x = f(0) + f(1); acquire l[0]; acquire l[1]; release l[0]; release l[1]; }
";
    let found = explore(text);
    assert_eq!(found.deadlocks, 0);
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), ["x = 10"]);
}

#[test]
fn locks_in_the_other_order_deadlock() {
    let text = "model m
lock a, b; var x = 0;
thread s { with a { with b { x += 1; } } }
thread t { with b { with a { x += 1; } } }
";
    assert_eq!(explore(text).deadlocks, 1);
    assert_eq!(explore(&text.replace("with b { with a", "with a { with b")).deadlocks, 0);
}

#[test]
fn conditions() {
    let text = "model m
lock m; cond c; var ready = 0, got = 0;
thread consumer[i in 0..2] { with m { while ready == 0 { wait c with m; } ready -= 1; got += 1; } }
thread producer { with m { ready = 2; notify_all c; } }
";
    let found = explore(text);
    assert_eq!(found.deadlocks, 0);
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), ["ready = 0; got = 2"]);
    // One notification wakes one of the two only.
    assert!(explore(&text.replace("notify_all", "notify")).deadlocks > 0);
}

#[test]
fn fork_and_join() {
    let text = "model m
var log: list<int>, sum = 0;
fn work(n: int) { atomic { log.push(n); } }
thread t { let a = fork work(1); let b = fork work(2); join a; join b; sum = log.len(); }
";
    assert_eq!(ends(text), ["log = [1, 2]; sum = 2", "log = [2, 1]; sum = 2"]);
    assert!(ends(&text.replace("join b;", "")).len() > 2);
}

#[test]
fn dead_variables_do_not_count() {
    // The loop reads another value each time, and forgets it.
    let text =
        "model m\nvar x = 0;\nthread t { loop { let r = x; } }\nevent e when x < 3 { x += 1; }\n";
    assert_eq!(explore(text).states, 4);
}

#[test]
fn symmetric_threads_have_one_representative() {
    let text = "model m
index I = 3;
var at: [int; I];
thread t[i in I] { at[i] = 1; at[i] = 2; }
";
    let machine = machine(text);
    let initial = &machine.initial()[0];
    let mut next = Vec::new();
    machine.successors(initial, &mut next);
    assert_eq!(next.len(), 3);
    let one = machine.representative(&next[0].state).map(|s| machine.fingerprint(&s));
    for s in &next {
        assert!(one.is_some());
        assert_eq!(machine.representative(&s.state).map(|s| machine.fingerprint(&s)), one);
    }
}
