//! Rules of docs/semantics.md on the smallest models: what the naive interpreter says, and that the machine says the same. The list of open
//! differences holds models on which the machine does not follow the page yet.

use crate::differential::{Difference, compare};
use crate::explore::{kinds, search};
use crate::interp::program::Mutant;

/// Rule, model, states and transitions, kinds of failures.
type Case = (&'static str, &'static str, (usize, usize), &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "T3: a thread without visible operations ends in one step",
        "thread t { let a = 1; }",
        (2, 1),
        &[],
    ),
    ("T7: ++ is a read and a write", "var x = 0; thread t { x++; }", (3, 2), &[]),
    ("T7: lost update", "var x = 0; thread t[i in 0..2] { x++; } final: x == 2;", (12, 14), &[]),
    (
        "A2: atomic is one step",
        "var x = 0; thread t[i in 0..2] { atomic { x++; } } final: x == 2;",
        (4, 4),
        &[],
    ),
    (
        "A6: what is assumed away is no transition",
        "var x = 0; once event e { x = 1; assume x == 0; } final: true;",
        (1, 0),
        &[],
    ),
    (
        "A7: alternatives",
        "var x = 0; once event e { let v = choose 0..3; x = v; } final: true;",
        (4, 3),
        &[],
    ),
    (
        "A7: nothing to choose from",
        "var x = 0; once event e { let v = choose 0..0; x = v; } final: true;",
        (1, 0),
        &[],
    ),
    (
        "L1: a lock taken in a task is the handler's",
        "lock m; handler h: fifo; once event a on h { acquire m; } once event b on h after a { release m; }",
        (3, 2),
        &[],
    ),
    (
        "E1: after a member of a family",
        "once event e[i in 0..2] {} once event f after e[0] {} final: true;",
        (6, 7),
        &[],
    ),
    ("L1: unlock", "lock m; once event a { release m; } final: true;", (1, 1), &["unlock"]),
    (
        "A1: blocking",
        "lock m; once event a { acquire m; acquire m; } final: true;",
        (1, 1),
        &["blocking"],
    ),
    (
        "X12: overflow",
        "once event a { let x = 9223372036854775807; let y = x + 1; } final: true;",
        (1, 1),
        &["overflow"],
    ),
    (
        "X12: / truncates",
        "once event a { let x = -7; assert x / 2 == -3 && x % 2 == -1; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X10: recursion",
        "fn f(n: int) -> int { return f(n); } once event a { call f(1); } final: true;",
        (1, 1),
        &["recursion"],
    ),
    ("A3: step limit", "once event a { loop {} } final: true;", (1, 1), &["step_limit"]),
];

#[test]
fn rules_on_the_smallest_models() {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 20);
        let run = || {
            for (rule, body, counts, failures) in CASES {
                let text = format!("model m\n{body}\n");
                let found = search(&text);
                assert_eq!((found.states, found.transitions), *counts, "{rule}");
                assert_eq!(kinds(&found), *failures, "{rule}");
                compare(&text, Mutant::None, 1_000).unwrap_or_else(|e| panic!("{rule}: {e:?}"));
            }
        };
        builder.spawn_scoped(scope, run).expect("a thread").join().expect("no panic");
    });
}

/// Models on which mutants show that random models rarely meet.
pub const SHARP: &[&str] = &[
    "model m\nvar x = 0; handler d: delayed; task t(n: int) on d { x = x * 10 + n; } init { post t(1) after 5; post t(2) after 3; }\n",
    "model m\nvar n = 0; lock m; cond c; thread w[i in 0..2] { with m { wait c with m; } n++; } thread s { notify c; } final: true;\n",
    "model m\nvar x = 0; handler b: bag; task t(n: int) on b { x = x * 10 + n; } init { post t(1); post t(2); }\n",
];

/// Rule, what is right, and a model on which the machine does otherwise.
const OPEN: &[(&str, &str, &str)] = &[
    (
        "C1",
        "forked threads are a multiset: two that stand at the same place are interchangeable",
        "var x = 0; fn f() { x = 1; x = 2; } thread t { fork f(); fork f(); } final: true;",
    ),
    (
        "V3",
        "functions are equal by their code in the text: members of a family share theirs, even if one is named after `after`",
        "var g: fn(int) -> int = fn(x) x; once event e[i in 0..2] { g = fn(x: int) -> int { x - 1 }; } once event f after e[0] {} final: true;",
    ),
    (
        "X4",
        "the index of a place comes before the element is looked up, for locals too: x is 1",
        "var x = 5; once event e { let a = [0, 1, 2]; x = a[a.remove(0)]; } final: true;",
    ),
    (
        "C2",
        "whether a `once` event that has started is on does not count",
        "once event e { } event d { disable e; } final: true;",
    ),
];

#[test]
fn open_differences() {
    for (rule, right, body) in OPEN {
        match compare(&format!("model m\n{body}\n"), Mutant::None, 1_000) {
            Ok(compared) if compared.crowds == 0 => println!("{rule}: no difference seen"),
            Ok(_) => println!("{rule}: not compared to the end: {right}"),
            Err(Difference::Found(what)) => println!("{rule}: open: {right}\n{what}"),
            Err(Difference::Refused(why)) => panic!("{why}"),
        }
    }
}
