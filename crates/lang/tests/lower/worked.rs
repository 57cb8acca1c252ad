//! The worked examples of the papers.

use crate::lower::explore::{explore, machine, shown, successors};
use anyorder_system::StateSystem;
use anyorder_vm::{Machine, State};
use std::collections::BTreeSet;

const SLIDES_A: &str = "model slides_a
var queue: list<str>, shown: list<str>, stats = 0;
fn show_next() -> bool {
    if queue.is_empty() { return false; }
    shown.push(queue.take_first());
    return true;
}
once event e0 { queue.push(\"img2\"); }
once event e1 { show_next(); }
once event e2 after e1 { if !show_next() { enable e4; } }
once event e3 { queue.push(\"img3\"); }
disabled event e4 { disable e4; show_next(); }
once event e5 { stats = 1; }
";

fn sequences(machine: &Machine, state: &State, ends: &mut BTreeSet<String>) -> usize {
    let next = successors(machine, state);
    if next.is_empty() {
        ends.insert(shown(machine, state));
        return 1;
    }
    next.iter().map(|s| sequences(machine, &s.state, ends)).sum()
}

#[test]
fn slide_show_with_six_events() {
    let found = explore(SLIDES_A);
    assert_eq!((found.states, found.transitions, found.ends.len()), (68, 124, 6));
    assert_eq!(found.deadlocks, 0);
    let machine = machine(SLIDES_A);
    let mut ends = BTreeSet::new();
    assert_eq!(sequences(&machine, &machine.initial()[0], &mut ends), 100);
    assert_eq!(ends, found.ends);
}

#[test]
fn slide_show_with_real_timers() {
    let found = explore(
        "model slides_b
var queue: list<str>, shown: list<str>, stats = 0;
handler timers: bag;
fn show_next() {
    if queue.is_empty() { post timer(); } else { shown.push(queue.take_first()); }
}
task timer() on timers { show_next(); }
once event e0 { queue.push(\"img2\"); }
once event e1 { show_next(); }
once event e2 after e1 { show_next(); }
once event e3 { queue.push(\"img3\"); }
once event e5 { stats = 1; }
",
    );
    // Whatever the order, both images are shown in the order in which they were loaded.
    let ends: Vec<&str> = found.ends.iter().map(String::as_str).collect();
    let first = "queue = []; shown = [\"img2\", \"img3\"]; stats = 1";
    let second = "queue = []; shown = [\"img3\", \"img2\"]; stats = 1";
    assert_eq!(ends, [first, second]);
}

#[test]
fn figure_1_the_loop_hides_nothing() {
    let found = explore(
        "model figure_1
var x = 0, y = 0, z = 0;
thread t1 { atomic { let r1 = x; x++; assert r1 == 0; } }
thread t2 { loop { let r2 = y; } }
thread t3 { let r3 = z; atomic { let r4 = x; x++; assert r4 == 0; } }
",
    );
    assert_eq!(found.failures.len(), 2, "either of the two assertions: {:?}", found.failures);
    // x, where t1 is, where t3 is: t2 adds no states.
    assert_eq!(found.states, 5);
}

#[test]
fn figure_3_all_sixteen_transitions() {
    let text = "model figure_3
var x = 0, y = 0, z = 0;
event e1 { x = 1; let t = z; }
event e2 { if y == 0 { z = 0; y = 1; } }
event e3 { y = 0; }
event e4 { if x == 0 { assert y == 0; } else { x = 0; } }
";
    let machine = machine(text);
    let mut states = machine.initial();
    let mut table = Vec::new();
    let at = |state: &State| shown(&machine, state).replace("; z = 0", "");
    let mut next = 0;
    while let Some(state) = states.get(next).cloned() {
        next += 1;
        for s in successors(&machine, &state) {
            let what = machine.describe(&state, &s.action);
            let to = s.failure.as_ref().map_or_else(|| at(&s.state), ToString::to_string);
            table.push(format!("{} -{}-> {to}", at(&state), what.trim()));
            let known =
                states.iter().any(|k| machine.fingerprint(k) == machine.fingerprint(&s.state));
            if s.failure.is_none() && !known {
                states.push(s.state);
            }
        }
    }
    assert_eq!(states.len(), 4);
    assert_eq!(table.len(), 16);
    let (s0, s1, s2, s3) = ("x = 0; y = 0", "x = 1; y = 0", "x = 1; y = 1", "x = 0; y = 1");
    let wanted = [
        (s0, [s1, s3, s0, s0]),
        (s1, [s1, s2, s1, s0]),
        (s2, [s2, s2, s1, s3]),
        (s3, [s2, s3, s0, "assertion: y == 0 at m.any:6:24"]),
    ];
    for (from, row) in wanted {
        for (event, to) in ["e1", "e2", "e3", "e4"].iter().zip(row) {
            let start = format!("{from} -{event}");
            let end = format!("-> {to}");
            let hit = table.iter().filter(|l| l.starts_with(&start) && l.ends_with(&end)).count();
            assert_eq!(hit, 1, "{start} {end}\n{}", table.join("\n"));
        }
    }
}

#[test]
fn figure_5_needs_e2_first() {
    let found = explore(
        "model figure_5
var x = 0, y = 0;
once event e1 { y = 1; }
once event e2 { x = 1; }
once event e3 { if x == 1 { assert y == 1; } }
",
    );
    assert_eq!(found.failures.len(), 1);
    // Every subset of the three has happened, in any order, but for e2 e3.
    assert_eq!((found.states, found.transitions), (8, 12));
}

#[test]
fn two_states_that_one_event_leaves_for_ever() {
    // Section 5: states u and v, c only in v; a search that always takes the first event never
    // leaves u.
    let found = explore(
        "model fair
var at = 0, other = 0;
event a { at = 0; disable c; }
event b { at = 1; enable c; }
disabled event c { let r = other; }
",
    );
    assert_eq!((found.states, found.transitions), (2, 5));
}
