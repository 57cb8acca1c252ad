//! Events: families, order, guards, enabling.

use crate::lower::explore::{explore, machine};
use anyorder_system::{Choice, StateSystem, TaskSystem as _};
use anyorder_vm::MachineRun;
use std::sync::Arc;

#[test]
fn order_of_events() {
    let found = explore(
        "model m
handler h[2]: fifo;
var log: list<str>;
once event a { log.push(\"a\"); }
once event b { log.push(\"b\"); }
driver a, b;
once event c[i in 0..2] on h[i] after b { log.push(\"c\" + i.to_str()); }
once event last after c[1] { log.push(\"last\"); }
",
    );
    let ends: Vec<&str> = found.ends.iter().map(String::as_str).collect();
    let wanted = [
        "log = [\"a\", \"b\", \"c0\", \"c1\", \"last\"]",
        "log = [\"a\", \"b\", \"c1\", \"c0\", \"last\"]",
        "log = [\"a\", \"b\", \"c1\", \"last\", \"c0\"]",
    ];
    assert_eq!(ends, wanted);
}

#[test]
fn enabling_members() {
    let found = explore(
        "model m
var log: list<int>;
disabled event d[i in 2..5] { disable d[i]; log.push(i); }
once event one { enable d[3]; }
once event all after one when log.len() == 1 { for i in 2..5 { enable d[i]; } disable d[2]; }
",
    );
    let ends: Vec<&str> = found.ends.iter().map(String::as_str).collect();
    assert_eq!(ends, ["log = [3, 3, 4]", "log = [3, 4, 3]"]);
}

#[test]
fn enabling_all_members() {
    let text = "model m
handler h[2]: fifo;
var log: list<int>;
disabled once event d[i in 0..2] { log.push(i); }
once event go { enable d; assert enabled(d); if log.len() > 0 { disable d; } }
once event last after d { assert !enabled(d); log.push(9); }
";
    let wanted = ["log = [0, 1, 9]", "log = [1, 0, 9]"];
    assert_eq!(explore(text).ends.into_iter().collect::<Vec<_>>(), wanted);
    // With a handler of its own, each member is an event of the machine.
    let own = text.replace("d[i in 0..2]", "d[i in 0..2] on h[i]");
    assert_eq!(explore(&own).ends.into_iter().collect::<Vec<_>>(), wanted);
    let none =
        text.replace("if log.len() > 0 { disable d; }", "disable d;").replace("after d ", "");
    let none = none.replace("d[i in 0..2]", "d[i in 0..2] on h[i]");
    assert_eq!(explore(&none).ends.into_iter().collect::<Vec<_>>(), ["log = [9]"]);
}

#[test]
fn all_members_change_in_one_step() {
    let text = "model m
handler h[2]: fifo;
var log: list<str>;
disabled event d[i in 0..2] when false { }
once event seen { log.push(enabled(d[0]).to_str() + enabled(d[1]).to_str()); }
thread t { enable d; }
";
    let wanted = ["log = [\"falsefalse\"]", "log = [\"truetrue\"]"];
    let found = explore(text);
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), wanted);
    let own = explore(&text.replace("d[i in 0..2]", "d[i in 0..2] on h[i]"));
    assert_eq!(own.ends.into_iter().collect::<Vec<_>>(), wanted);
    assert_eq!((own.states, own.transitions), (found.states, found.transitions));
}

#[test]
fn guards_and_properties_ask_for_all_members() {
    let text = "model m
handler h[2]: fifo;
var x = 0;
disabled event d[i in 0..2] when false { }
once event one { enable d[0]; }
once event other after one { enable d; }
once event go when enabled(d) { x = 1; }
invariant i: x == 0 || enabled(d);
";
    let found = explore(text);
    assert!(found.violated.is_empty() && found.failures.is_empty(), "{found:?}");
    assert_eq!(found.ends.iter().collect::<Vec<_>>(), ["x = 1"]);
    assert_eq!((found.states, found.transitions), (4, 3));
    let own = explore(&text.replace("d[i in 0..2]", "d[i in 0..2] on h[i]"));
    assert!(own.violated.is_empty() && own.failures.is_empty(), "{own:?}");
    assert_eq!((own.ends, own.states, own.transitions), (found.ends, 4, 3));
}

#[test]
fn members_that_are_events_of_their_own_are_enabled_by_number() {
    let found = explore(
        "model m
handler h[2]: fifo;
var log: list<int>;
disabled event d[i in 0..2] on h[i] { disable d[i]; log.push(i); }
once event go { for i in 0..2 { enable d[1 - i]; } disable d[0]; }
",
    );
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), ["log = [1]"]);
}

#[test]
fn guards_properties_and_names() {
    let text = "model m
var x = 0;
event up when x < 3 { x += 1; }
event down when x > 0 && x != 2 { x -= 1; }
invariant small: x < 3;
invariant fine: x >= 0 || false;
response down_again: x == 1 leads_to x == 0;
final: x == 9;
";
    let found = explore(text);
    assert_eq!((found.states, found.transitions), (4, 5));
    assert_eq!(found.violated.into_iter().collect::<Vec<_>>(), ["small"]);
    let machine = machine(text);
    assert_eq!(machine.invariants(), ["small", "fine"]);
    assert_eq!(machine.responses(), ["down_again"]);
    assert_eq!(machine.response(0, &machine.initial()[0]), (false, true));
    assert!(!machine.is_final(&machine.initial()[0]));
    assert_eq!(machine.part_names(), ["up", "down"]);
}

#[test]
fn whether_an_event_is_enabled() {
    let text = "model m
handler h[2]: fifo;
var log: list<bool>;
once event a { log.push(enabled(a)); log.push(enabled(b[1])); enable b[1]; log.push(enabled(b[1])); log.push(enabled(b[0])); }
disabled once event b[i in 0..2] { log.push(enabled(b[i])); }
";
    let wanted = "log = [false, false, true, false, false]";
    assert_eq!(explore(text).ends.into_iter().collect::<Vec<_>>(), [wanted]);
    let own = text.replace("b[i in 0..2]", "b[i in 0..2] on h[i]");
    assert_eq!(explore(&own).ends.into_iter().collect::<Vec<_>>(), [wanted]);
    let guard = "model m\nvar x = 0;\ndisabled event a { }\nevent b when x < 1 && !enabled(a) { x += 1; enable a; }\ninvariant i: x == 0 || enabled(a);\n";
    let found = explore(guard);
    assert!(found.violated.is_empty());
    assert_eq!((found.states, found.transitions), (2, 2));
}

/// A task is named by its event and its member, however the family is lowered.
#[test]
fn names_of_members() {
    let text = "model m
handler h[2]: fifo;
var x = 0;
once event d[i in 0..2] { x = i; }
once event e[i in 0..2] on h[i] { x = i; }
";
    let machine = machine(text);
    let mut names: Vec<String> = Vec::new();
    let mut run = MachineRun::new(Arc::new(machine));
    run.reset().unwrap();
    while let Some(first) = run.enabled().unwrap().into_iter().next() {
        names.push(first.task.to_string());
        run.execute(&Choice::of(first.task)).unwrap();
    }
    names.sort();
    assert_eq!(names, ["d@0#1", "d@1#1", "e@0#1", "e@1#1"]);
}
