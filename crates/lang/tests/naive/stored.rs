//! X17: whatever way a value takes to a typed place, its kind is checked there. Every way to every
//! place, with values that fit and values that do not.

use crate::naive::differential::compare;
use crate::naive::interp::program::Mutant;

/// Statements that prepare, and an expression that gives the value of `v`, which is of type `any`.
const WAYS: &[(&str, &str)] = &[
    ("", "v"),
    ("", "(v)"),
    ("", "if c { v } else { 3 }"),
    ("", "if !c { 3 } else { v }"),
    ("", "(if c { (v) } else { 3 })"),
    ("", "if c { if c { v } else { 2 } } else { 3 }"),
    ("", "if !c { 1 } else if c { v } else { 3 }"),
    ("", "if c { let w = v; w } else { 3 }"),
    ("", "match c { true => v, _ => 3 }"),
    ("", "match c { false => 3, _ => { let w = v; w } }"),
    ("", "match v { 7 => 3, other => other }"),
    ("", "if c { match c { true => v, _ => 3 } } else { 3 }"),
    ("", "same(v)"),
    ("", "if c { same(v) } else { 3 }"),
    ("", "if c { u.any } else { 3 }"),
    ("let w = choose [v];", "w"),
    ("", "[3, v][1]"),
    ("let us: list<int> = [v];", "us[0]"),
    ("let us: list<any> = [v]; let ws: list<int> = us;", "ws[0]"),
    ("let us: list<any> = [v]; let ws: list<int> = us; let w = ws.pop();", "w"),
    ("let us = []; us.push(v); us.push(3);", "us[0]"),
    ("let us: map<int, any> = map[1: v]; let ws: map<int, int> = us;", "ws[1]"),
    ("let us: map<int, any> = map[1: v]; let ws: map<int, int> = us;", "ws.get(1)"),
    ("let f: fn(int) -> int = fn(x) v;", "f(1)"),
    ("let f: fn(int) -> int = fn(x) { return v; };", "f(1)"),
    ("let f = fn(x) { return v; };", "f(1)"),
    ("let us: list<int> = [1].map(fn(x) v);", "us[0]"),
    ("let us: list<any> = [v]; for w in us { n = 1; }", "us.first()"),
    ("let f: fn(int) -> int = fn(x) x;", "f(v)"),
    ("let f = fn(x) x; let z: int = f(1);", "f(v)"),
    ("let us: map<int, int> = map[2: 3];", "us.get_or(1, v)"),
    ("let w: any = [v]; let us: list<int> = w;", "us.last()"),
    ("let w: any = [v]; let us = [1]; us += w;", "us.last()"),
    ("let w: any = fn(x) v; let us = [1].map(w); let z: list<int> = us;", "us[0]"),
    ("let w: any = fn() v; let f: fn() -> int = w;", "f()"),
    ("let us: [int; 2] = [v; 2];", "us[1]"),
    ("let us: set<any> = set[v]; let ws: set<int> = us; let w = ws.max();", "w"),
];

/// Statements that store `$` in a place for ints.
const PLACES: &[&str] = &[
    "let x: int = $; n = 1;",
    "let x: int? = $; n = 1;",
    "g = $;",
    "r.n = $;",
    "o.n = $;",
    "r = R { n: $ };",
    "r = R { n: $, ..r };",
    "o = new C { n: $ };",
    "let x = E.B($); n = 1;",
    "call taken($);",
    "o.taken($);",
    "post t($) to h;",
    "let k = fn(x: int) { n = 1; }; call k($);",
    "let k = fn() -> int { $ }; let x = k(); n = 1;",
    "let k = fn() -> int { return $; }; let x = k(); n = 1;",
];

const VALUES: &[&str] = &["\"text\"", "null", "5", "[5]"];

fn model(value: &str, (before, way): (&str, &str), place: &str) -> String {
    let store = place.replace('$', way);
    format!(
        "model m
record R {{ n: int }}
record U {{ any: any }}
class C {{ var n: int = 0; fn taken(x: int) {{ n = 1; }} }}
enum E {{ A, B(int) }}
var c = true, g: int = 0, n = 0, r = R {{ n: 0 }}, o = new C();
handler h: bag;
task t(x: int) on h {{ n = 1; }}
fn same(v: any) -> any {{ v }}
fn taken(x: int) {{ n = 1; }}
once event e {{ let v: any = {value}; let u = U {{ any: v }}; {before} {store} }}
final: true;
"
    )
}

/// What is done with values of other types than the checker thinks.
const USES: &[&str] = &[
    "let us: list<any> = [\"s\"]; let ws: list<int> = us; let w = ws[0]; if w in (0..3) { n = 1; }",
    "let us: list<any> = [7]; let ws: list<bool> = us; let w = ws[0]; match w { true => { n = 1; } _ => { n = 2; } }",
    "let us: list<any> = [set[1, 2]]; let ws: list<list<int>> = us; let w = ws[0]; for x in w { n += x; }",
    "let us: list<any> = [set[1, 2]]; let ws: list<list<int>> = us; let w = ws[0].map(fn(x) x > 0); n = w.len();",
    "let us: any = map[1: 2]; n = us.count(fn(x) x > 0);",
    "let us: any = set[1, 2]; n = us.map(fn(x) x).len();",
    "let us: any = \"12\"; n = us.map(fn(x) x).len();",
    "let us: any = [null, n]; n = us.filter(fn(x) x != null).len();",
    "let us: any = set[1, 2]; let w = us.filter(fn(x) x > 1); if w == set[2] { n = 1; }",
];

#[test]
fn what_is_done_with_a_value_depends_on_its_kind() {
    for what in USES {
        let text = format!("model m\nvar n = 0;\nonce event e {{ {what} }}\nfinal: true;\n");
        compare(&text, Mutant::None, 100).unwrap_or_else(|found| panic!("{text}{found:?}"));
    }
}

#[test]
fn every_way_to_a_typed_place_is_checked() {
    let (mut wrong, mut failing) = (Vec::new(), 0);
    for place in PLACES {
        for way in WAYS {
            for value in VALUES {
                let text = model(value, *way, place);
                match compare(&text, Mutant::None, 100) {
                    Ok(compared) => failing += usize::from(!compared.kinds.is_empty()),
                    Err(found) => wrong.push(format!("{text}{found:?}")),
                }
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(8);
    assert!(count == 0, "{count} models\n{}", wrong.join("\n\n"));
    assert!(failing > PLACES.len() * WAYS.len() * 2, "{failing}");
}
