//! Assignments and changing methods, through all kinds of places.

use crate::lower::explore::{explore, run};

#[test]
fn nested_places() {
    let out = run(
        "record In { xs: list<int>, n: int } record Out { a: In, m: map<str, In> } class Box { var r: Out; var l: list<list<int>>; fn init_it(r: Out) { self.r = r; self.l = [[1], [2]]; } }
         var g: list<Out>; var grid: [[int; 2]; 2];",
        "let i = In { xs: [1, 2], n: 0 }; let o = Out { a: i, m: map[\"k\": i] };
         o.a.xs[1] += 5; o.m[\"k\"].n = 4; o.m[\"k\"].xs.push(3); out.push(o);
         g.push(o); g[0].a.n++; g[0].a.xs.push(8); g[0].m[\"k\"].xs[0] = -1; out.push(g[0].a); out.push(g[0].m[\"k\"].xs);
         grid[1][0] = 4; grid[0][1] -= 2; out.push(grid);
         let b = new Box { r: o, l: [[1], [2]] }; b.r.a.n = 6; b.l[1].push(3); b.l[0][0]--; out.push(b.r.a.n); out.push(b.l); out.push(o.a.n);",
    );
    let wanted = "[Out { a: In { xs: [1, 7], n: 0 }, m: map[\"k\": In { xs: [1, 2, 3], n: 4 }] }, In { xs: [1, 7, 8], n: 1 }, \
                  [-1, 2, 3], [[0, -2], [4, 0]], 6, [[0], [2, 3]], 0]";
    assert_eq!(out, wanted);
}

#[test]
fn the_right_side_comes_first() {
    let out = run(
        "var n = 0; var xs = [0, 0, 0]; fn next() -> int { n++; return n; }",
        "xs[next()] = next(); out.push(xs); xs[n - 1] += next(); out.push(xs);
         xs.push(xs.pop()); out.push(xs); xs.push(xs.len()); out.push(xs);",
    );
    // First 1, then index 2. Then 3, then index 2.
    assert_eq!(out, "[[0, 0, 1], [0, 0, 4], [0, 0, 4], [0, 0, 4, 3]]");
}

#[test]
fn unknown_types_find_their_way() {
    let out = run(
        "record R { f: int } class C { var f = 1; fn get() -> int { return self.f; } } fn id(x: any) -> any { return x; }",
        "let r: any = R { f: 1 }; r.f = 5; out.push(r.f); let c: any = new C(); c.f = 7; out.push(c.f); out.push(c.get());
         let l: any = [1]; l.push(2); out.push(l); out.push(id(l).len()); let n: int = id(4); out.push(n + 1);",
    );
    assert_eq!(out, "[5, 7, 7, [1, 2], 2, 5]");
}

#[test]
fn element_accesses_do_not_lose_updates() {
    // Two threads write different elements of one list: each write is to its element alone.
    let found = explore(
        "model m
var xs = [0, 0];
thread t[i in 0..2] { xs[i] = 1; }
",
    );
    assert_eq!(found.ends.into_iter().collect::<Vec<_>>(), ["xs = [1, 1]"]);
}
