//! Loops, branches, choices.

use crate::lower::explore::{explore, run};

#[test]
fn return_out_of_atomic_and_with() {
    let out = run(
        "lock l; var x = 4;
         fn a() -> int { atomic { x++; return x; } }
         fn b() -> int { with l { x++; return x; } }",
        "out.push(a()); out.push(b()); acquire l; release l; out.push(a());",
    );
    assert_eq!(out, "[5, 6, 7]");
}

#[test]
fn loops() {
    let out = run(
        "var xs = [1, 2, 3];",
        "let t = 0; for i in 0..6 { if i == 1 { continue; } if i == 4 { break; } t += i; } out.push(t);
         for x in xs { xs.push(x); } out.push(xs.len()); for k in map[\"b\": 1, \"a\": 2] { out.push(k); } for v in set[2, 1] { out.push(v); }
         let n = 0; while n < 3 { n++; } out.push(n); loop { n--; if n == 0 { break; } } out.push(n);
         for i in 0..2 { for j in 0..3 { if j == 1 { break; } out.push(i * 10 + j); } }
         for i in 3..1 { out.push(i); } for i in 0..2 { let i = i + 5; out.push(i); }",
    );
    assert_eq!(out, "[5, 6, \"a\", \"b\", 1, 2, 3, 0, 0, 10, 5, 6]");
}

#[test]
fn blocks_are_scopes() {
    let out = run(
        "",
        "let x = 1; { let x = 2; out.push(x); } out.push(x); if true { let x = 3; out.push(x); } out.push(x);
         let y = if x == 1 { let z = x + 1; z * 2 } else { 0 }; out.push(y); let w = match y { 4 => { let q = 1; q + y } _ => 0 }; out.push(w);",
    );
    assert_eq!(out, "[2, 1, 3, 1, 4, 5]");
}

#[test]
fn choices() {
    let found = explore(
        "model choices
var got: list<any>;
once event a {
    choose {
        \"lost\" => { got.push(\"lost\"); }
        \"ok\" => { let i = choose 0..2; got.push(i); }
    }
}
once event b after a { let n = choose set[1, 5]; assume n != 1; got.push(choose_one()); got.push(n); }
fn choose_one() -> str { let c = choose [\"r\", \"g\"]; return c; }
once event none { let e: list<int> = []; let v = choose e; got.push(v); }
",
    );
    let ends: Vec<&str> = found.ends.iter().map(String::as_str).collect();
    let wanted = [
        "got = [\"lost\", \"g\", 5]",
        "got = [\"lost\", \"r\", 5]",
        "got = [0, \"g\", 5]",
        "got = [0, \"r\", 5]",
        "got = [1, \"g\", 5]",
        "got = [1, \"r\", 5]",
    ];
    assert_eq!(ends, wanted);
}

#[test]
fn init_in_several_ways() {
    let found =
        explore("model m\nvar x = 0, y = 1 + x;\ninit { let c = choose 0..3; x = c; y += c; }\n");
    let ends: Vec<&str> = found.ends.iter().map(String::as_str).collect();
    assert_eq!(ends, ["x = 0; y = 1", "x = 1; y = 2", "x = 2; y = 3"]);
}
