//! The worked examples: counts and tables that are known from elsewhere.

use crate::naive::explore::{explore, kinds, parse, search};
use crate::naive::interp::program::Mutant;
use crate::naive::interp::step;

const SLIDES: &str = r#"model slides
var queue: list<int> = [], shown: list<int> = [], stats = 0;
fn show_next() -> bool {
    if queue.is_empty() { return false; }
    shown.push(queue.take_first());
    return true;
}
once event e0 { queue.push(2); }
once event e1 { call show_next(); }
once event e2 after e1 { if !show_next() { post any e4(); } }
once event e3 { queue.push(3); }
procedure e4() { call show_next(); }
once event e5 { stats = 1; }
final: true;
"#;

#[test]
fn the_slide_show_has_68_states_and_124_transitions() {
    let found = search(SLIDES);
    assert_eq!((found.states, found.transitions), (68, 124));
    assert!(found.failures.is_empty() && found.deadlocks == 0);
}

const FIGURE_3: &str = r#"model figure3
var x = 0, y = 0, z = 0;
event e1 { x = 1; let t = z; }
event e2 { if y == 0 { z = 0; y = 1; } }
event e3 { y = 0; }
event e4 { if x == 0 { assert y == 0; } else { x = 0; } }
"#;

#[test]
fn the_table_of_figure_3() {
    let p = parse(FIGURE_3, Mutant::None);
    let found = explore(p, 100);
    assert_eq!((found.states, found.transitions), (4, 16));
    let start = step::initial(p);
    let name = |s: &crate::naive::interp::state::State| {
        let number = |n: &str| format!("{:?}", s.globals[n]);
        match (number("x").as_str(), number("y").as_str()) {
            ("Int(0)", "Int(0)") => 0,
            ("Int(1)", "Int(0)") => 1,
            ("Int(1)", "Int(1)") => 2,
            _ => 3,
        }
    };
    let mut states = std::collections::BTreeMap::from([(0, start.clone())]);
    let mut table = std::collections::BTreeMap::new();
    while let Some((from, state)) =
        states.iter().find(|(n, _)| !table.contains_key(*n)).map(|(n, s)| (*n, s.clone()))
    {
        let mut row = vec![];
        for t in step::successors(p, &state) {
            match t.result {
                Ok(next) => {
                    row.push(Some(name(&next)));
                    states.entry(name(&next)).or_insert(next);
                }
                Err(failure) => {
                    assert_eq!(failure.kind, "assert");
                    row.push(None);
                }
            }
        }
        table.insert(from, row);
    }
    let some = |row: [usize; 4]| row.map(Some).to_vec();
    assert_eq!(table[&0], some([1, 3, 0, 0]));
    assert_eq!(table[&1], some([1, 2, 1, 0]));
    assert_eq!(table[&2], some([2, 2, 1, 3]));
    assert_eq!(table[&3], vec![Some(2), Some(3), Some(0), None]);
}

#[test]
fn figure_1_fails_and_its_loop_is_one_state() {
    let found = search(
        "model figure1
        var x = 0, y = 0, z = 0;
        thread t1 { let r1 = x; x = r1 + 1; assert r1 == 0; }
        thread t2 { while true { let r2 = y; } }
        thread t3 { let r3 = z; let r4 = x; x = r4 + 1; assert r4 == 0; }
        final: true;",
    );
    assert_eq!(kinds(&found), ["assert"]);
    let alone = search("model t2 var y = 0; thread t2 { while true { let r2 = y; } } final: true;");
    // Not begun, and at the read.
    assert_eq!((alone.states, alone.transitions), (2, 2));
}

#[test]
fn figure_5_fails_after_e2_and_e3() {
    let found = search(
        "model figure5
        var x = 0, y = 0;
        once event e1 { y = 1; }
        once event e2 { x = 1; }
        once event e3 { if x == 1 { assert y == 1; } }
        final: true;",
    );
    assert_eq!(kinds(&found), ["assert"]);
    assert_eq!((found.states, found.failures.len(), found.deadlocks), (8, 1, 0));
}

#[test]
fn two_states_and_three_events() {
    let found = search(
        "model fair
        var s = 0, u = 0;
        event a { s = 0; disable c; }
        event b { s = 1; enable c; }
        disabled event c { let t = u; }",
    );
    assert_eq!((found.states, found.transitions), (2, 5));
}

#[test]
fn the_machine_agrees_on_the_worked_examples() {
    for text in [SLIDES, FIGURE_3] {
        let compared = crate::naive::differential::compare(text, Mutant::None, 1_000);
        let compared = compared.unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        println!("{compared:?}");
    }
}
