//! Expressions, built-in methods, functions.

use crate::lower::explore::run;

#[test]
fn arithmetic_and_comparison() {
    let out = run(
        "const N = 2 + 1; var g = 7;",
        "out = [g + N, g - N, g * N, g / 2, -g / 2, -g % 2, 10 - g, g > 3, g >= 8, g < 8, g <= 6, g == 7, 7 != g];",
    );
    assert_eq!(out, "[10, 4, 21, 3, -3, -1, 3, true, false, true, false, true, false]");
}

#[test]
fn operands_go_from_left_to_right() {
    let out = run(
        "var n = 0; fn next() -> int { n++; return n; }",
        "out.push(next() - next()); out.push(next() < next()); out.push([next(), next()]);
         let xs = [1, 2]; out.push(xs == [1, xs.pop()]); out.push(xs);",
    );
    assert_eq!(out, "[-1, true, [5, 6], true, [1]]");
}

#[test]
fn constants_of_records_and_variants() {
    let out = run(
        "const K = [P { x: N, e: E.B(2) }]; const N = 3; record P { x: int, e: E } enum E { A, B(int) }",
        "out.push(K[0].x); out.push(K[0].e == E.B(2));",
    );
    assert_eq!(out, "[3, true]");
}

#[test]
fn short_circuits() {
    let out = run(
        "var n = 0; fn t() -> bool { n++; return true; } fn f() -> bool { n++; return false; }",
        "let a = f() && t(); out.push(a); out.push(n); a = t() || f(); out.push(a); out.push(n);
         let b = true; b = !b || b; out.push(b); b = b && !b; out.push(b);
         if (t() && f()) || !(f() || t()) { out.push(1); } else { out.push(2); } out.push(n);",
    );
    assert_eq!(out, "[false, 1, true, 2, true, false, 2, 6]");
}

#[test]
fn lists() {
    let out = run(
        "",
        "let xs = [3, 1, 2]; xs.sort(); out.push(xs); xs.reverse(); out.push(xs); xs.insert(1, 9); out.push(xs.remove(0));
         out.push(xs); out.push(xs.first()); out.push(xs.last()); out.push(xs.index_of(2)); out.push(xs.contains(5));
         out.push(xs.slice(1, 2)); out.push(xs.sum()); out.push(xs.min()); out.push(xs.max()); out.push(xs.take_first());
         out.push(xs.len()); xs.clear(); out.push(xs.is_empty()); out.push([1] + [2]); out.push([0; 2]); out.push(1..4);",
    );
    let wanted = "[[1, 2, 3], [3, 2, 1], 3, [9, 2, 1], 9, 1, 1, false, [2], 12, 1, 9, 9, 2, true, [1, 2], [0, 0], [1, 2, 3]]";
    assert_eq!(out, wanted);
}

#[test]
fn functions_over_elements() {
    let out = run(
        "fn odd(n: int) -> bool { n % 2 == 1 }",
        "let k = 2; let xs = [1, 2, 3]; out.push(xs.map(fn(x) x * k)); out.push(xs.filter(odd)); out.push(xs.count(odd));
         out.push(xs.all(fn(x) x > 0)); out.push(xs.any(fn(x) { return x > 5; })); out.push(set[1, 2].filter(fn(x) x > 1));
         xs = xs.map(fn(x) x + xs.len()); out.push(xs); out.push([[1], []].map(fn(l) l.len()));",
    );
    assert_eq!(out, "[[2, 4, 6], [1, 3], 2, true, false, set[2], [4, 5, 6], [1, 0]]");
}

#[test]
fn sets_maps_strings() {
    let out = run(
        "",
        "let s = set[2, 1]; out.push(s.add(3)); out.push(s.add(3)); out.push(s.remove(1)); out.push(s.to_list());
         out.push(s.union(set[7])); out.push(s.intersect(set[2])); out.push(s.minus(set[2])); out.push(2 in s);
         let m = map[\"b\": 1, \"a\": 2]; m.set(\"c\", 3); m[\"d\"] = 4; m[\"a\"] += 5; out.push(m.keys()); out.push(m.values());
         out.push(m.get(\"z\") == null); out.push(m.get_or(\"z\", 8)); out.push(m.remove(\"b\")); out.push(m.has(\"b\")); out.push(m.len());
         out.push(\"ab\" + \"c\"); out.push(\"hello\".slice(1, 3)); out.push(\"12\".to_int()); out.push((5).to_str()); out.push(\"ell\" in \"hello\");
         out.push(\"hello\".starts_with(\"he\")); out.push(\"a\" < \"b\");",
    );
    let wanted = "[true, false, true, [2, 3], set[2, 3, 7], set[2], set[3], true, [\"a\", \"b\", \"c\", \"d\"], [7, 1, 3, 4], \
                  true, 8, 1, false, 3, \"abc\", \"el\", 12, \"5\", true, true, true]";
    assert_eq!(out, wanted);
}

#[test]
fn enums_and_match() {
    let out = run(
        "enum P { Idle, Busy(int), Failed(str, int?) }
         fn name(p: P) -> str { match p { P.Idle => \"idle\", P.Busy(0) => \"zero\", P.Busy(n) => \"busy\" + n.to_str(),
             P.Failed(w, null) => w, P.Failed(_, k) => \"failed\" } }
         var g = P.Idle;",
        "out.push(name(g)); g = P.Busy(0); out.push(name(g)); g = P.Busy(4); out.push(name(g)); out.push(g == P.Busy(4));
         out.push(name(P.Failed(\"why\", null))); out.push(name(P.Failed(\"why\", 1)));
         match 3 { 1 => { out.push(1); } n => { out.push(n + 1); } } match \"x\" { \"x\" => { out.push(\"x\"); } _ => {} }
         match true { false => { out.push(0); } true => { out.push(1); } }",
    );
    assert_eq!(out, "[\"idle\", \"zero\", \"busy4\", true, \"why\", \"failed\", 4, \"x\", 1]");
}

#[test]
fn records_are_values_objects_are_not() {
    let out = run(
        "record Item { id: int, name: str } class Node { var next: Node? = null; var v = 1, made = stamp(); fn bump(by: int) -> int { self.v += by; return self.v; } }
         var n = 0; fn stamp() -> int { n++; return n; }",
        "let a = Item { name: \"a\", id: 1 }; let b = a; b.id = 2; out.push(a); out.push(Item { id: 3, ..b }); out.push(a == b);
         let x = new Node(); let y = x; y.v = 5; out.push(x.v); out.push(x.bump(2)); out.push(x == y); out.push(x == new Node { v: 7 });
         x.next = new Node { v: 9 }; out.push(x.next.v); out.push(x.next.made); x.next.v += 1; out.push(x.next.bump(0));",
    );
    let wanted = "[Item { id: 1, name: \"a\" }, Item { id: 3, name: \"a\" }, false, 5, 7, true, false, 9, 3, 10]";
    assert_eq!(out, wanted);
}

#[test]
fn functions_and_closures() {
    let out = run(
        "fn fact(n: int) -> int { if n <= 1 { 1 } else { n * fact(n - 1) } } fn twice(f: fn(int) -> int, x: int) -> int { return f(f(x)); }
         class C { var k = 3; fn adder() -> fn(int) -> int { return fn(x: int) x + self.k; } }",
        "out.push(fact(10)); let k = 1; let add = fn(x: int) x + k; k = 50; out.push(add(1)); out.push(twice(add, 1)); out.push(twice(fact, 3));
         let c = new C(); let f = c.adder(); c.k = 10; out.push(f(1));
         let g = fn(a: int) { let b = a * 2; let h = fn(c: int) b + c + k; return h(1); }; out.push(g(3));
         let xs = [1]; let size = fn() { let ys = xs; ys.push(2); return ys.len(); }; xs.push(3); out.push(size()); out.push(size()); out.push(xs);",
    );
    assert_eq!(out, "[3628800, 2, 3, 720, 11, 57, 2, 2, [1, 3]]");
}
