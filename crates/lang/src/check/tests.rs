use crate::load;

/// Returns the codes of the messages for a model, each with the text that it points at.
fn told(body: &str) -> Vec<String> {
    let text = format!("model m\n{body}");
    let loaded = load(&text);
    let shown = |d: &crate::diagnostic::Diagnostic| {
        format!("{} `{}`", d.code.as_str(), d.primary.span.of(&text))
    };
    loaded.diagnostics.iter().map(shown).collect()
}

fn fine(body: &str) {
    assert_eq!(told(body), Vec::<String>::new(), "{body}");
}

#[test]
fn empty_containers_get_their_types_from_use() {
    fine("var xs = [];\ninit { xs.push(1); assert xs[0] + 1 == 2; }");
    assert_eq!(told("var xs = [];\ninit { xs.push(1); xs.push(\"a\"); }"), ["E030 `\"a\"`"]);
    assert_eq!(told("init { let m = map[]; m[1] = \"a\"; m[\"b\"] = \"c\"; }"), ["E030 `\"b\"`"]);
}

#[test]
fn null_makes_a_variable_nullable() {
    fine("class N { var v = 0; }\nvar n = null;\ninit { n = new N(); n.v = 1; n = null; }");
    assert_eq!(told("var n = 0;\ninit { n = null; }"), ["E043 `null`"]);
    assert_eq!(told("var n = 0;\ninit { assert n != null; }"), ["W006 `!=`"]);
}

#[test]
fn any_is_looked_at_when_the_model_runs() {
    let text = "model m\nvar a: any = 1;\nvar n: int = 0;\ninit { n = a; assert a + 1 == n; }";
    let loaded = load(text);
    assert!(loaded.is_valid());
    assert_eq!(loaded.program.runtime_checks.len(), 2);
}

#[test]
fn closures_take_over_the_types_of_their_place() {
    fine("var xs = [1];\ninit { let ys = xs.map(fn(v) v.to_str()); assert ys[0].len() == 1; }");
    assert_eq!(
        told("var xs = [1];\ninit { xs = xs.filter(fn(v) v + 1); }"),
        ["E030 `fn(v) v + 1`"],
        "a filter needs a bool"
    );
}

#[test]
fn closures_copy_the_locals_around_them() {
    let text = "model m\ninit { let a = 1; let f = fn(x) fn(y) x + y + a; let _ = f(1); }";
    let loaded = load(text);
    assert!(loaded.is_valid(), "{:?}", loaded.diagnostics);
    let counts: Vec<usize> = loaded.program.captures.values().map(Vec::len).collect();
    assert_eq!(counts.iter().sum::<usize>(), 3, "`a` in both, `x` in the inner one");
}

#[test]
fn match_knows_what_is_covered() {
    let head = "enum E { A, B(bool), C(E2) }\nenum E2 { X, Y }\nvar e: E? = E.A;\n";
    let with = |arms: &str| told(&format!("{head}init {{ match e {{ {arms} }} }}"));
    assert_eq!(
        with("E.A => {} E.B(true) => {} E.B(false) => {} E.C(_) => {} null => {}"),
        Vec::<String>::new()
    );
    assert_eq!(with("E.A => {} E.B(true) => {} E.C(_) => {} null => {}"), ["W003 `match`"]);
    assert_eq!(with("E.A => {} _ => {} null => {}"), ["W004 `null`"]);
    let text = format!(
        "model m\n{head}init {{ match e {{ E.A => {{}} E.B(_) => {{}} E.C(E2.X) => {{}} null => {{}} }} }}"
    );
    let loaded = load(&text);
    assert!(
        loaded.diagnostics[0].message.contains("E.C(E2.Y)"),
        "{}",
        loaded.diagnostics[0].message
    );
}

#[test]
fn flow_finds_dead_code_and_missing_values() {
    fine("fn f() -> int { loop { return 1; } }\ninit { assert f() == 1; }");
    fine(
        "fn f(a: int) -> int { match a { 0 => { return 1; } _ => { fail \"no\"; } } }\ninit { assert f(0) == 1; }",
    );
    assert_eq!(told("fn f() -> int { loop { break; } }\ninit { f(); }"), ["E036 `}`"]);
    assert_eq!(told("init { loop { } let _ = 1; }"), ["W002 `let _ = 1;`"]);
}

#[test]
fn what_leaves_a_block_leaves_what_is_around_it() {
    fine("fn f() -> int { atomic { return 1; } }\ninit { assert f() == 1; }");
    fine("lock l;\nfn f() -> int { with l { return 1; } }\ninit { assert f() == 1; }");
    fine("fn f() -> int { loop { atomic { break; } } return 1; }\ninit { assert f() == 1; }");
    let may_end = "var x = 0;\nfn f() -> int { atomic { if x == 0 { return 1; } } }\ninit { f(); }";
    assert_eq!(told(may_end), ["E036 `}`"]);
    let dead = "fn f() -> int { atomic { return 1; } return 2; }\ninit { f(); }";
    assert_eq!(told(dead), ["W002 `return 2;`"]);
}

#[test]
fn a_family_without_index_is_all_of_it() {
    let family = "disabled once event e[i in 0..2] { }\n";
    fine(&format!("{family}init {{ enable e; disable e; assert !enabled(e); }}"));
    fine(&format!("{family}init {{ enable e; }}\nevent last after e {{ }}"));
    assert_eq!(told(&format!("{family}init {{ enable e[2]; }}")), ["E041 `2`"]);
    assert_eq!(told(&format!("{family}init {{ enable f; }}")), ["E020 `f`"]);
    let driver = "once event e[i in 0..2] { }\nonce event a { }\ndriver a, e;";
    assert_eq!(told(driver), ["E040 `e`"], "a driver names its events one by one");
}

#[test]
fn only_what_changes_is_assigned() {
    assert_eq!(
        told("record R { a: int }\nfn f(r: R) { r.a = 1; }\ninit { f(R { a: 0 }); }"),
        ["E037 `r`"]
    );
    fine("class C { var a = 0; }\nfn f(c: C) { c.a = 1; }\ninit { f(new C()); }");
    assert_eq!(told("init { for i in 0..3 { i += 1; } }"), ["E037 `i`"]);
    assert_eq!(told("fn f() { }\ninit { f = fn() { }; }"), ["E037 `f`"]);
}

#[test]
fn guards_and_properties_leave_the_state_alone() {
    assert_eq!(told("var xs = [1];\nevent e when xs.pop() == 1 { }"), ["E044 `xs.pop`"]);
    assert_eq!(
        told(
            "var x = 0;\nfn a() -> bool { return b(); }\nfn b() -> bool { x = 1; return true; }\ninvariant i: a();\nevent e { }"
        ),
        ["E044 `a`"],
        "through two calls"
    );
    fine(
        "fn a(n: int) -> bool { let x = n; x += 1; return x > 0; }\ninvariant i: a(1);\nevent e { }",
    );
}

#[test]
fn blocking_is_for_threads_and_fine_steps() {
    let wait = "lock l;\ncond c;\n";
    fine(&format!("{wait}thread t {{ with l {{ wait c with l; }} }}"));
    assert_eq!(told(&format!("{wait}event e {{ with l {{ wait c with l; }} }}")), ["E042 `wait`"]);
    fine(&format!(
        "{wait}setting granularity = access;\nevent e {{ with l {{ wait c with l; }} }}"
    ));
    assert_eq!(told("thread t { atomic { yield; } }"), ["E042 `yield`"]);
    assert_eq!(told("init { yield; }"), ["E042 `yield`"]);
}

#[test]
fn constants_are_values() {
    let text = "model m\nconst A = B * 2;\nconst B = [1, 2][1] + 1;\nconst S = \"a\" + \"b\";\nlock l[A];\nthread t { acquire l[5]; assert S == \"ab\"; }";
    let loaded = load(text);
    assert!(loaded.is_valid(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.program.locks[0].size, Some(6));
    assert_eq!(told("const A = B;\nconst B = A;\nevent e { assert A == B; }"), ["E025 `A`"]);
    assert_eq!(told("const A = 9223372036854775807 + 1;\nevent e { assert A > 0; }"), ["E039 `+`"]);
    assert_eq!(told("var x = 1;\nlock l[x];\nthread t { acquire l[0]; }"), ["E039 `x`"]);
}

#[test]
fn constants_are_records_and_variants() {
    fine("const K = [P { x: 1 }];\nrecord P { x: int }\ninit { assert K[0].x == 1; }");
    fine("const E1 = E.B(2);\nenum E { A, B(int) }\ninit { assert E1 == E.B(2); }");
    assert_eq!(
        told("record P { x: int }\nconst K = P { y: 1 };\ninit { assert K == K; }").len(),
        2
    );
    // Sizes in the types of fields need constants, and these constants need the fields.
    let text = "model m\nrecord P { x: int, ys: [int; N] }\nconst N = P { x: 3, ys: [] }.x;\nvar p: P;\ninit { assert p.ys.len() == 3; }";
    let loaded = load(text);
    assert!(loaded.is_valid(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.program.array_sizes.into_values().collect::<Vec<_>>(), [3]);
    assert_eq!(
        told("record P { ys: [int; -1] }\ninit { let p = P { ys: [] }; assert p == p; }"),
        ["E039 `-1`"]
    );
}

#[test]
fn names_mean_the_innermost() {
    fine(
        "var x = \"a\";\nevent e { x = \"b\"; }\ninit { let x = 1; { let x = true; assert x; } assert x + 1 == 2; }",
    );
    assert_eq!(told("init { let a = 1; let a = 2; assert a == 2; }"), ["E021 `a`",]);
    assert_eq!(told("var b = a, a = 1;\ninit { assert b == a; }"), ["E042 `a`"]);
}

#[test]
fn a_model_without_anything_to_do_is_told() {
    assert_eq!(told("const A = 1;"), ["W005 `m`", "W001 `A`"]);
}

#[test]
fn codes_are_distinct() {
    let mut codes: Vec<&str> = crate::diagnostic::CODES.iter().map(|code| code.as_str()).collect();
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), count);
}
