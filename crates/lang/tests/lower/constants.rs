//! Constants of every form, and what else the check accepts: the lowering takes it.

use crate::lower::explore::{failure, run};
use anyorder_lang::lower::compile;

#[test]
fn a_constant_may_be_chosen_by_another_one() {
    let out = run(
        "const BIG = true; const C = if BIG { 3 } else { 1 }; const D = if !BIG { 1 } else if C == 3 { 2 } else { 0 };",
        "out = [C, D];",
    );
    assert_eq!(out, "[3, 2]");
}

#[test]
fn a_constant_may_be_a_long_range() {
    let out = run(
        "const R = 0..5000; const Z = [false; 5000];",
        "out = [R.len(), R[4999], Z.len()]; for i in R { if i == 4998 { out.push(i); } }",
    );
    assert_eq!(out, "[5000, 4999, 5000, 4998]");
}

#[test]
fn a_constant_may_look_into_others() {
    let out = run(
        "const L = [1, 2]; const OK = 2 in L; const NO = \"x\" in \"abc\"; const Q = P { a: 3, b: set[2, 1] }; record P { a: int, b: set<int> }
         const A = Q.a; const B = Q.b == set[1, 2]; const M = map[\"a\": 1]; const K = M[\"a\"]; const S = \"a\" < \"b\";",
        "out = [OK, NO, A, B, K, S]; if 2 in L && A == 3 { out.push(Q.b); }",
    );
    assert_eq!(out, "[true, false, 3, true, 1, true, set[1, 2]]");
}

#[test]
fn the_least_int_has_remainder_zero_by_minus_one() {
    let least = "(-9223372036854775807 - 1)";
    let out = run(&format!("const R = {least} % -1;"), &format!("out = [R, {least} % -1];"));
    assert_eq!(out, "[0, 0]");
}

#[test]
fn constants_do_not_get_past_a_look_at_their_type() {
    let out = run("const A: any = 3; const N: int = A;", "let n: int = A; out = [N, n];");
    assert_eq!(out, "[3, 3]");
    let errors =
        compile("model m const A: any = \"x\"; const N: int = A; init { assert N == 3; }", "m.any");
    let errors = errors.expect_err("no int");
    assert_eq!(errors[0].message, "expected `int`, found another value");
    // In a body it is a failure like any other.
    let failed = failure("const A: any = \"x\";", "let k: int = A; out.push(k);");
    assert_eq!(failed, "type: expected int, found str \"x\"");
}

#[test]
fn a_record_has_the_built_in_method() {
    let out = run("record P { a: int }", "let p = P { a: 1 }; out.push(p.to_str());");
    assert_eq!(out, "[\"P { a: 1 }\"]");
}

#[test]
fn a_name_in_a_function_is_the_one_that_the_check_found() {
    // The inner `y` is not the outer one: nothing is captured, so the two functions are equal.
    let out = run(
        "",
        "let fs = []; for y in 0..2 { fs.push(fn(x: int) -> int { let y = x; return y; }); } out.push(fs[0] == fs[1]); out.push(fs[1](5));",
    );
    assert_eq!(out, "[true, 5]");
}

#[test]
fn an_event_that_runs_nowhere_is_a_mistake_of_the_model() {
    for (model, message) in [
        ("handler h[2]: fifo; event e[i in 0..3] on h[i] { }", "no such handler in the array"),
        ("handler h[2]: fifo; var k = 0; event e on h[k] { }", "no such handler in the array"),
        (
            "event a[i in 0..2] { } event b[i in 0..3] after a[i] { }",
            "no such member of the family of events",
        ),
    ] {
        let loaded = anyorder_lang::load(&format!("model m {model}"));
        let messages: Vec<&str> = loaded.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [message], "{model}");
    }
}

#[test]
fn a_default_that_is_too_large_is_a_mistake_of_the_model() {
    let loaded =
        anyorder_lang::load("model m var x: [[[int; 4096]; 4096]; 4096]; event e { x = []; }");
    assert_eq!(loaded.diagnostics[0].message, "a value of this type is too large");
}
