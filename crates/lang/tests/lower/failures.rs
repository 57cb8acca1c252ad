//! What fails, and where.

use crate::lower::explore::{explore, failure, machine, successors};
use anyorder_lang::lower::compile;
use anyorder_system::StateSystem;

#[test]
fn kinds() {
    let cases = [
        ("assert out.len() == 1;", "assertion: out.len() == 1"),
        ("assert 1 == 2, \"no\";", "assertion: no"),
        ("fail \"gone\";", "failure: gone"),
    ];
    for (body, wanted) in cases {
        assert_eq!(failure("", body), wanted, "{body}");
    }
    let cases = [
        "let x = 9223372036854775807; x += out.len() + 1;",
        "let x = 1 / out.len();",
        "let xs = [1]; out.push(xs[out.len() + 1]);",
        "let m = map[1: 2]; out.push(m[3]);",
        "let xs = [out.len(); out.len() - 1];",
        "let x: any = 1; let s: str = x;",
        "let x: any = null; x.foo = 1;",
        "match out.len() { 3 => {} }",
        "loop { }",
        "out.push(deep(0));",
        "\"x\".to_int();",
    ];
    let declarations = "record R { foo: int } fn deep(n: int) -> int { return deep(n + 1) + 1; }";
    let mut kinds: Vec<String> = cases
        .iter()
        .map(|body| failure(declarations, body).split(':').next().unwrap_or_default().to_owned())
        .collect();
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() >= 8, "different kinds: {kinds:?}");
}

#[test]
fn places_are_exact() {
    let found = explore(
        "model m
var xs = [1];
once event a {
    let n = 2;
    let r = 1 +
        xs[n];
}
once event b { xs[0] = 1 / (xs[0] - 1); }
once event c { if xs[0] == 1 { assert   xs == []; } }
",
    );
    let places: Vec<&str> = found.failures.iter().filter_map(|f| f.split(" at ").nth(1)).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["m.any:6:9", "m.any:8:24", "m.any:9:32"]);
}

#[test]
fn mistakes_are_not_lowered() {
    let errors = compile("model m\nevent a { x = 1; }\n", "m.any").map(|_| ()).unwrap_err();
    assert!(errors.iter().any(|d| d.is_error()));
}

#[test]
fn too_large_is_said_not_a_panic() {
    let many: Vec<String> = (0..70_000).map(|i| format!("x + {i}")).collect();
    let text =
        format!("model m\nvar x = 0;\nevent a {{ let l = [{}]; x = l.len(); }}\n", many.join(", "));
    let errors = compile(&text, "m.any").map(|_| ()).unwrap_err();
    assert!(errors.iter().any(|d| d.is_error()), "{errors:?}");
    let many: String = (0..70_000).map(|i| format!("var v{i} = {i};\n")).collect();
    assert!(compile(&format!("model m\n{many}event a {{ v69999 = v0; }}\n"), "m.any").is_err());
    let last = i64::MAX;
    let text = format!(
        "model m\nhandler h[2]: fifo;\nvar x = 0;\ndisabled event a[i in {}..{last}] on h[i - {}] {{ x = 1; }}\nonce event b {{ enable a[{}]; }}\n",
        last - 2,
        last - 2,
        last - 1
    );
    assert_eq!(explore(&text).failures.len(), 0);
}

#[test]
fn a_choice_that_is_dropped_leaves_no_trace() {
    let text =
        "model m\nvar x = 0;\nonce event a { x = 1; assume x == 2; }\nonce event b { x = 3; }\n";
    let found = explore(text);
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), ["x = 3"]);
}

#[test]
fn choices_that_multiply_without_bound_fail() {
    let machine = machine(
        "model m\nvar n = 0;\nevent e {\n    let i = 0;\n    while i < 40 {\n        choose { { n += 1; } { n += 2; } }\n        i += 1;\n    }\n}\n",
    );
    let initial = machine.initial();
    let successors = successors(&machine, &initial[0]);
    let last =
        successors.last().and_then(|successor| successor.failure.as_ref().map(ToString::to_string));
    assert!(
        last.as_ref().is_some_and(|text| text.contains("more than 65536 alternatives")),
        "{last:?}"
    );
    assert_eq!(successors.iter().filter(|successor| successor.failure.is_some()).count(), 1);
}
