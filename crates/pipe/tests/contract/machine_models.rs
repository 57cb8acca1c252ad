//! The other features of the language, one small model each: the machine keeps the contract there.

use super::promises::{Coverage, Effort, check};
use super::subject::Violation;
use anyorder_lang::lower::compile;
use anyorder_vm::MachineFactory;
use std::sync::Arc;

const EFFORT: Effort = Effort { seed: 3, walks: 20, steps_max: 10 };

/// Name and text of models whose steps report all shared accesses.
const KEPT: [(&str, &str); 12] = [
    (
        "virtual time",
        "var x = 0; handler a: delayed; handler b: delayed;
        init { post v(1) after 10; post w() after 20; }
        task v(i: int) on a { x = x * 2 + i; } task w() on b { post u() to a after 5; } task u() { x = 7; }",
    ),
    ("after", "var x = 0; once event e1 { } once event e2 after e1 { x += 1; } once event e3 { }"),
    (
        "enable",
        "var x = 0; event e1[i in 0..2] when x < 3 { disable e2; } event e2 { }
        event e3 when x < 3 { x += 1; disable e1; }",
    ),
    (
        "guards",
        "var x = 0; event e1 when x < 3 { x += 1; } event e2 when x > 1 && x < 9 { x += 3; }",
    ),
    (
        "objects",
        "class N { var v = 0; } var l: N? = null; var m: N? = null;
        once event e1 { l = new N { v: 1 }; } once event e2 { m = new N { v: 2 }; }",
    ),
    (
        "locks",
        "lock m; var x = 0, y = 0; thread t { with m { x += 1; } } thread u { with m { y += 1; } }",
    ),
    (
        "conditions",
        "lock m; cond c; var x = 0; thread t { with m { wait c with m; x += 1; } }
        thread u { with m { notify c; } }",
    ),
    ("join", "var x = 0; thread t { let h = fork f(); join h; } fn f() { yield; yield; x = 1; }"),
    (
        "cancel",
        "var x = 0; handler a: bag; handler b: bag; var p: list<task>;
        init { post k(); let t = post v(); p.push(t); }
        task k() on a { cancel p[0]; } task v() on b { x += 1; }",
    ),
    (
        "posts to a fifo",
        "var x = 0; handler a: bag; handler b: fifo; init { post k(1); post k(2); }
        task k(i: int) on a { post v(i); } task v(i: int) on b { x = x * 2 + i; }",
    ),
    (
        "posts with delays",
        "var x = 0; handler a: bag; handler b: delayed; init { post k(10); post k(20); }
        task k(i: int) on a { post v(i) after i; } task v(i: int) on b { x = x * 2 + i; }",
    ),
    (
        "order of forks",
        "var x = 0; once event e1 { let _h = fork f(1); } once event e2 { let _h = fork f(2); }
        fn f(i: int) { x += i; }",
    ),
];

fn checked(name: &str, text: &str) -> Result<Coverage, Violation> {
    let compiled = compile(&format!("model m\n{text}\n"), "m.any");
    let compiled = compiled.unwrap_or_else(|messages| panic!("{name}: {messages:?}"));
    let machine = anyorder_vm::Machine::new(compiled.program)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    check(&MachineFactory(Arc::new(machine)), EFFORT)
}

#[test]
fn models_keep_the_contract() {
    let (mut commuted, mut conflicting) = (0, 0);
    for (name, text) in KEPT {
        let coverage = checked(name, text).unwrap_or_else(|violation| {
            panic!("{name} breaks the contract: {violation} ({EFFORT:?})")
        });
        println!("{name}: {coverage:?}");
        assert!(coverage.replayed > 0 && coverage.restored > 0, "{name}: {coverage:?}");
        commuted += coverage.commuted;
        conflicting += coverage.conflicting;
    }
    assert!(commuted > 0 && conflicting > 0, "{commuted} and {conflicting}");
}
