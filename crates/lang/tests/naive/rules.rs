//! Rules of docs/semantics.md on the smallest models: what the naive interpreter says, and that the
//! machine says the same. The list of open differences holds models on which the machine does not
//! follow the page yet.

use crate::naive::differential::{Difference, compare};
use crate::naive::explore::{kinds, search};
use crate::naive::interp::program::Mutant;
use crate::naive::with_stack;

/// Rule, model, states and transitions, kinds of failures.
pub type Case = (&'static str, &'static str, (usize, usize), &'static [&'static str]);

pub const CASES: &[Case] = &[
    (
        "T3: a thread without visible operations ends in one step",
        "thread t { let a = 1; }",
        (2, 1),
        &[],
    ),
    (
        "C2, M3: messages of two components differ",
        "handler h: bag; task t() on h {} once event e { post t(); } once event f { post t(); } component a: e; component b: f;",
        (9, 12),
        &[],
    ),
    (
        "C2, M3: messages of one component do not",
        "handler h: bag; task t() on h {} once event e { post t(); } once event f { post t(); } component a: e, f;",
        (8, 10),
        &[],
    ),
    (
        "U4: a member of a component is created for nobody",
        "handler h: bag; task t() on h {} once event e { post t(); } once event f { post t(); } component a: e; component b: f; component c: t;",
        (8, 10),
        &[],
    ),
    (
        "U4: tasks post on for who posted them",
        "handler h: bag; task t() on h {} task r() on h { post t(); } once event e { post r(); } once event f { post r(); } component a: e; component b: f;",
        (16, 24),
        &[],
    ),
    (
        "U4: forked threads of two components differ",
        "fn w() { yield; } once event e { fork w(); } once event f { fork w(); } component a: e; component b: f;",
        (9, 12),
        &[],
    ),
    (
        "U4: bodies on the way differ",
        "setting granularity = access; var x = 0; task t() { x = 1; } once event e { post any t(); } once event f { post any t(); } component a: e; component b: f;",
        (25, 40),
        &[],
    ),
    (
        "T9: final does not hide two locks in opposite order",
        "var a = 0, b = 0; lock m, n; thread t { with m { with n { a = 1; } } } thread u { with n { with m { b = 1; } } } final: a + b == 0;",
        (23, 26),
        &[],
    ),
    (
        "T12: a daemon may wait to be notified",
        "lock m; cond c; daemon thread t { with m { wait c with m; } } final: true;",
        (3, 2),
        &[],
    ),
    (
        "T12: a daemon may not wait for a lock",
        "lock m; thread t { acquire m; } daemon thread u { with m {} }",
        (5, 4),
        &[],
    ),
    (
        "T12: messages of a daemon may stay",
        "handler h: fifo; daemon task s() on h { assume false; } task t() on h { } init { post s(); }",
        (1, 0),
        &[],
    ),
    (
        "T12: those behind them may not",
        "handler h: fifo; daemon task s() on h { assume false; } task t() on h { } init { post s(); post t(); }",
        (1, 0),
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
        "T13: a loop over an index type is one step",
        "index I = 2; var xs: [int; I]; thread t { for i in I { xs[i] = 1; } }",
        (2, 1),
        &[],
    ),
    (
        "T13: so are calls over one",
        "index I = 2; var xs: [int; I], n = 0; thread t { n = I.count(fn(i) xs[i] == 0); xs.all(fn(x) x == 0); }",
        (5, 4),
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
    (
        "V3: functions are equal by their place in the text: members of a family that are lowered one by one share theirs",
        "var g: fn(int) -> int = fn(x) x; once event e[i in 0..2] { g = fn(x: int) -> int { x - 1 }; } once event f after e[0] {} final: true;",
        (6, 7),
        &[],
    ),
    (
        "V3, X15: the index of a family is a captured value",
        "var g: fn(int) -> int = fn(x) x, y = 0; once event e[i in 0..2] { let h = fn(x: int) -> int { fn(z: int) -> int { z + i }(x) }; g = h; y = g(10); } once event f after e[0] {} final: true;",
        (8, 8),
        &[],
    ),
    (
        "X4: the index comes before the element of a local is looked up",
        "var x = 5; once event e { let a = [0, 1, 2]; x = a[a.remove(0)]; assert x == 1; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X4: what is not held directly is evaluated before the index",
        "once event e { let a = [[4, 5], [6]]; assert a[0][a.remove(0).len() - 2] == 4 && a == [[6]]; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X4: the object is that of before the index",
        "class C { var w: list<int> = [1, 2]; } once event e { let a: C? = new C(); let x = a.w[if true { a = null; 1 } else { 0 }]; assert x == 2; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X4: an element of a constant",
        "const K: list<int> = [3, 4]; var x = 0; once event e { x = K[x] + K[1]; assert x == 7; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X6: a part of a local is read before the indices behind it, and written back",
        "once event e { let a = [[1, 2], [3]]; a[0][a[0].pop() - 2] = 7; assert a == [[7, 2], [3]]; a[0][a[1].pop() - 3] = 8; assert a == [[8, 2], []]; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "S4: `init` with choices is a first step",
        "var x = 0, y = 0; init { x = choose 0..2; } once event e { y = x; }  final: true;",
        (5, 4),
        &[],
    ),
    (
        "S4: `init` that fails is a first step",
        "var x = 1; init { assert x == 0; } invariant never: x == 0; final: true;",
        (1, 1),
        &["assert"],
    ),
    (
        "S4: `init` that is assumed away leaves a state in which nothing can happen",
        "var x = 1; init { assume x == 0; }",
        (1, 0),
        &[],
    ),
    (
        "S4: one alternative is no choice",
        "var x = 1; init { x = choose [7]; } invariant is: x == 7; final: true;",
        (1, 0),
        &[],
    ),
    (
        "M3: equal messages of a bag are one",
        "var n = 0; task t(i: int) on main { n += i; } init { post t(1) to main; post t(1) to main; post t(2) to main; }",
        (6, 7),
        &[],
    ),
    (
        "M3: not when something has a handle of one",
        "var n = 0, p: task? = null; task t(i: int) on main { n += i; } init { p = post t(1) to main; post t(1) to main; }",
        (4, 4),
        &[],
    ),
    (
        "M3: messages that are posted in another order are the same bag",
        "handler b: bag; task u(n: int) on b {} once event e { let p = post u(1); post u(3); } once event f { post u(3); post u(1); } final: true;",
        (18, 30),
        &[],
    ),
    (
        "E1, E2: a driver names members one by one",
        "driver e[1], f; once event e[i in 0..2] {} once event f {} final: true;",
        (6, 7),
        &[],
    ),
    (
        "X3: a field of null fails in the step that reads it, whatever is known of the value",
        "class C { var id = 0; } var a: any = null, y = 0; thread t { y = a.id; } final: true;",
        (2, 2),
        &["null"],
    ),
    (
        "X8: a method call on null fails before, also that of a function in a field",
        "class C { var f: fn(int) -> int = fn(x) x; } var a: C? = null, y = 0; thread t { y = a.f(1); } final: true;",
        (1, 1),
        &["null"],
    ),
    (
        "X6: an element of an element of a field of null is read before the last index",
        "class C { var g: list<list<int>> = []; } var a: C? = null, i = 0; thread t { a.g[0][i] = 1; } final: true;",
        (2, 2),
        &["null"],
    ),
    (
        "C4: the index of an element of null is an operand",
        "class C { var w: list<int> = []; } var a: C? = null, i = 0; thread t { a.w[i] = 1; } thread u { i = 1; } final: true;",
        (7, 10),
        &["null"],
    ),
    (
        "section 8: null is told apart",
        "var a: any = null, b = 0; once event e { b = 1 + a; } once event f { let c: any = true; b = c + a; } once event g { let k: int = a; } final: true;",
        (1, 3),
        &["null", "type"],
    ),
    (
        "B1: to_set",
        "once event e { assert [2, 1, 2].to_set() == set[1, 2] && set[3].to_set() == set[3]; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "V7: default values",
        "enum P { A, B(int) } record R { p: P, n: int, l: [bool; 2] } var p: P, r: R; invariant i: p == P.A && r == R { p: P.A, n: 0, l: [false, false] }; final: true;",
        (1, 0),
        &[],
    ),
    (
        "X7: changes of captured variables are lost",
        "once event e { let a = 1; let f: fn(int) -> int = fn(x) { let b = a; b += x; b }; assert f(1) + f(1) + a == 5; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "X10: 256 calls may nest",
        "fn f(n: int) { if n > 1 { f(n - 1); } } once event e { f(256); } once event g { f(257); } final: true;",
        (2, 3),
        &["recursion"],
    ),
    (
        "V3: handles of ended tasks are one value from the next step on",
        "var p: task? = null, q: task? = null; task t() on main {} once event e { p = post t(); q = post t(); cancel p; cancel q; assert p != q; } once event f after e { assert p == q; } final: true;",
        (3, 2),
        &[],
    ),
    (
        "V3: functions are equal only with the same captured values",
        "var g: fn(int) -> int = fn(x) x, y = 0; once event e { let a = choose 0..2; g = fn(x: int) -> int { x + a }; } once event f after e { y = g(1); } final: true;",
        (5, 4),
        &[],
    ),
    (
        "V4: the order of values",
        "enum P { A, B(int) } record R { n: int } once event e { let x: list<any> = [map[1: 2], set[2], [1], R { n: 1 }, \"b\", \"ab\", P.B(1), P.A, 3, -1, true, false, null]; let y: any = x; y.sort(); x.reverse(); x[0] = null; assert y[0] == null && y[3] == -1 && y[5] == P.A && y[7] == \"ab\" && y[9] == R { n: 1 } && y[12] == map[1: 2]; } final: true;",
        (2, 1),
        &[],
    ),
    ("T9: a lock that is taken is no end", "lock m; once event e { acquire m; }", (2, 1), &[]),
    (
        "X13: `in` a map looks for keys",
        "once event e { assert 1 in map[1: 2] && !(2 in map[1: 2]); } final: true;",
        (2, 1),
        &[],
    ),
    (
        "B1, B2: what `remove` and `add` give",
        "once event e { let l = [4, 5]; let s = set[1]; assert l.remove(0) == 4 && !s.add(1) && s.add(2) && s.remove(2) && !s.remove(2); } final: true;",
        (2, 1),
        &[],
    ),
    (
        "B5: `all` and `any` stop where it is decided",
        "var n = 0; once event e { let a = [1, 2, 3].all(fn(x) { n += 1; x < 2 }); let b = [1, 2, 3].any(fn(x) { n += 10; x > 1 }); assert n == 22 && !a && b; } final: true;",
        (2, 1),
        &[],
    ),
    (
        "L1: only the holder releases",
        "lock m; once event a { acquire m; } once event b after a { release m; } final: true;",
        (2, 2),
        &["unlock"],
    ),
    (
        "B6: a method of null",
        "var a: any = null; once event e { a.push(1); } final: true;",
        (1, 1),
        &["null"],
    ),
    ("A3: step limit", "once event a { loop {} } final: true;", (1, 1), &["step_limit"]),
    (
        "C1: forked threads that stand at the same place are interchangeable",
        "var x = 0; fn f() { x = 1; x = 2; } thread t { fork f(); fork f(); } final: true;",
        (11, 15),
        &[],
    ),
    (
        "C1: messages of a bag have no order, whatever they refer to",
        "handler b: bag; class N { var v = 0; } var n = 0; task t(o: N) on b { n += o.v; }
        once event e { post t(new N { v: 1 }); } once event f { post t(new N { v: 2 }); }",
        (9, 12),
        &[],
    ),
    (
        "A7: the operands of a choice from a range are its ends, and fail in the choice",
        "var g = 0, a: any = null; thread t { let n = g; let v = choose 0..n; } thread u { let n = a; let v = choose 0..n; } event e { g = -1; }",
        (10, 24),
        &["null"],
    ),
    (
        "V5: what has no order is no element, no key, and not sorted among others",
        "class C { } var o: any = new C(); var s: any = set[1]; var m: any = map[1: 2]; fn f() { }
        event a { assert !(o in s) && !m.has(o) && !s.remove(o); } event b { s.add(o); } event c { m[o] = 1; } event d { m.set([f], 1); }
        event e { let x = set[o]; } event g { let x = map[o: 1]; } event h { let x: any = [o, 1]; x.sort(); } event i { let x: any = [f, f]; let y = x.max(); }
        event j { let x: any = [o]; x.sort(); let y = x.min(); } event k { let y = [o].to_set(); } final: true;",
        (1, 10),
        &["type"],
    ),
    (
        "X6: a field of an object is written alone, also where only the run tells that it is one",
        "class C { var v = 0; } var g: any = new C(), x = 0; thread t { g.v = 1; x = 2; } final: true;",
        (4, 3),
        &[],
    ),
    (
        "X8: a method of an object that is named as a changing one writes nothing back",
        "class C { var v = 0; fn add(n: int) { self.v = n; } } var g: any = new C(), x = 0; thread t { g.add(1); x = 2; } final: true;",
        (4, 3),
        &[],
    ),
    (
        "X8: a function in a field is called through an `any`, too",
        "class C { var f: fn(int) -> int = fn(x) x + 1; } var g: any = new C(), x = 0; thread t { x = g.f(1); } final: true;",
        (4, 3),
        &[],
    ),
    (
        "X8: the field is read before the arguments",
        "class C { var f: any = fn(x) x + 1; } var c = new C(); var g: any = c, y = 1, x = 0; thread t { x = g.f(y); } thread u { c.f = 7; y = 2; } final: true;",
        (24, 35),
        &["type"],
    ),
    (
        "X8: a method wins over built-in ones, also `all` and the like, and these work on what is no object",
        "class C { fn all(f: any) -> int { return f(3); } } record R { any_of: int, all: any } var g: any = new C(), l: any = [1, 2], r: any = R { any_of: 1, all: fn(x) 7 }, x: any = 0; thread t { x = g.all(fn(y) y + 1); x = l.all(fn(y) y > 0); x = r.all(fn(y) true); } final: true;",
        (7, 6),
        &[],
    ),
    (
        "X8: null fails before the arguments",
        "var g: any = null, y = 1, x: any = 0; thread t { x = g.contains(y); } final: true;",
        (1, 1),
        &["null"],
    ),
    (
        "X8: an object without such a member fails before the arguments",
        "class C { } var g: any = new C(), y = 1, x: any = 0; thread t { x = g.contains(y); } final: true;",
        (1, 1),
        &["type"],
    ),
    (
        "X3: an object without the field fails in the step before, as there is nothing to read",
        "class C { } record R { id: int } var g: any = new C(), x = 0; thread t { x = g.id; } final: true;",
        (1, 1),
        &["type"],
    ),
    (
        "X6: an object without the field that is written fails in the step before",
        "class C { } record R { id: int } var g: any = new C(), x = 0; thread t { g.id = x; } final: true;",
        (2, 2),
        &["type"],
    ),
    (
        "T6: an index that is no member fails in the operation, not in the step that read it",
        "var i = 2; disabled event a[n in 0..2] { } disabled event b after a[0] { } thread t { enable a[i]; } thread u { assume enabled(a[i]); } final: true;",
        (4, 8),
        &["index"],
    ),
    (
        "C2: whether a `once` event that has started is on does not count",
        "once event e { } event d { disable e; } final: true;",
        (3, 4),
        &[],
    ),
];

#[test]
fn rules_on_the_smallest_models() {
    with_stack(|| {
        let mut wrong = vec![];
        for (rule, body, counts, failures) in CASES {
            let text = format!("model m\n{body}\n");
            let found = search(&text);
            if (found.states, found.transitions) != *counts || kinds(&found) != *failures {
                let counts = (found.states, found.transitions);
                wrong.push(format!("{rule}: {counts:?}, {:?}", kinds(&found)));
            }
            if let Err(difference) = compare(&text, Mutant::None, 1_000) {
                wrong.push(format!("{rule}: {difference:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// Models on which mutants show that random models rarely meet.
pub const SHARP: &[&str] = &[
    "model m\nvar x = 0; handler d: delayed; task t(n: int) on d { x = x * 10 + n; } init { post t(1) after 5; post t(2) after 3; }\n",
    "model m\nvar n = 0; lock m; cond c; thread w[i in 0..2] { with m { wait c with m; } n++; } thread s { notify c; } final: true;\n",
    "model m\nvar x = 0; handler b: bag; task t(n: int) on b { x = x * 10 + n; } init { post t(1); post t(2); }\n",
];

/// Rule, what the page lets a machine do, and a model on which the machine does it and the naive
/// interpreter does not.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "X4",
        "of an element of a field of an `any`, the whole field may be read before the index",
        "class C { var w: list<int> = [1, 2]; } var a: any = new C(), i = 0, x = 0; thread t { x = a.w[i]; } thread u { i = 1; a.w[1] = 7; } final: true;",
    ),
    (
        "X10",
        "a function written in place as the argument of `map` need not count as a call, so one more fits into the limit",
        "fn f(n: int) { if n == 0 { assert [1].map(fn(x) x).len() == 1; } else { f(n - 1); } } once event e { f(255); } final: true;",
    ),
];

/// Compares on one file: `NAIVE_FILE=model.any cargo test -p anyorder-lang naive::rules::one_file`.
#[test]
fn one_file() {
    let Ok(path) = std::env::var("NAIVE_FILE") else { return };
    let text = std::fs::read_to_string(&path).expect("a file");
    let bound = std::env::var("NAIVE_BOUND").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    match compare(&text, Mutant::None, bound) {
        Ok(compared) => println!("{compared:?}"),
        Err(Difference::Found(what)) => panic!("{what}"),
        Err(Difference::Refused(why)) => panic!("refused: {why}"),
    }
}

/// What the page leaves to the machine is seen, and nothing else is listed: an entry without a
/// difference has to go.
#[test]
fn differences_that_the_page_allows() {
    with_stack(|| {
        for (rule, what, body) in ALLOWED {
            let compared = compare(&format!("model m\n{body}\n"), Mutant::None, 1_000);
            assert!(matches!(compared, Err(Difference::Found(_))), "{rule}: {what}: {compared:?}");
        }
    });
}
