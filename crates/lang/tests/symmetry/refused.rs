//! Mutants of a symmetric model: one use that tells members apart, refused at its place.

use super::explore::{checked, compiled};
use anyorder_lang::check::SymmetryRule;

use std::collections::BTreeMap;

/// The model; `/*here*/` is where mutants put statements.
const MODEL: &str = "model locks
const N = 3;
enum Got { Nothing, By(int) }
record Note { by: int?, size: int }
var holder: int?;
var last: int?;
var tries: [int; N];
var waiting: list<int>;
var told: Got = Got.Nothing;
var total = 0;
lock m;
symmetric handler client[N]: fifo;
handler server: bag;
handler log: fifo;
event want[i in 0..N] on client[i] when tries[i] == 0 { tries[i] = 1; post ask(i); }
task ask(i: int) on server { if holder == null { holder = i; post yes(i); } else { waiting.push(i); } }
task yes(i: int) on client[i] { tries[i] = 2; post done(i); }
task done(i: int) on server {
    holder = null;
    last = i;
    if !waiting.is_empty() { let next = waiting.take_first(); holder = next; post yes(next); }
}
task more(i: int, j: int) on server {
    if tries[i] == 9 && tries[j] == 9 { total = 3; }
    /*here*/
}
task write(i: int) on log { total = tries[i]; }
event start[i in 0..N] { let j = choose 0..N; post more(i, j); }
invariant one: tries.count(fn(t) t == 2) <= 1 || total == 0;
final: true;
";

/// A statement (or `old => new`), the text that is told apart, and the rule.
const MUTANTS: &[(&str, &str, SymmetryRule)] = &[
    ("if i == 0 { total += 1; }", "0", SymmetryRule::Constant),
    ("if i < j { total += 1; }", "i < j", SymmetryRule::Order),
    ("let k = i + 1; total = k;", "i", SymmetryRule::Arithmetic),
    ("total = -j;", "j", SymmetryRule::Arithmetic),
    ("tries[0] = 1;", "0", SymmetryRule::Constant),
    ("post yes(1);", "1", SymmetryRule::Constant),
    ("post yes(i) to client[2];", "2", SymmetryRule::Constant),
    ("let s = i.to_str(); assert s != \"\";", "i", SymmetryRule::Text),
    ("total = i;", "0", SymmetryRule::Constant),
    ("holder = waiting.len();", "waiting.len()", SymmetryRule::Computed),
    ("holder = waiting.min();", "waiting.min()", SymmetryRule::Order),
    ("waiting.sort();", "waiting.sort()", SymmetryRule::Order),
    ("let first = tries.first(); total = first;", "tries.first()", SymmetryRule::ByPosition),
    ("tries = [0, 0, 0];", "[0, 0, 0]", SymmetryRule::Length),
    ("tries = [0; 4];", "[0; 4]", SymmetryRule::Length),
    ("for k in 0..2 { tries[k] = 0; }", "0..2", SymmetryRule::PartRange),
    ("for k in 1..N { tries[k] = 0; }", "1..N", SymmetryRule::PartRange),
    ("for k in 0..N { post write(k); }", "post write(k)", SymmetryRule::LoopOrder),
    ("for k in 0..N { holder = k; }", "holder = k;", SymmetryRule::LoopOrder),
    ("for k in 0..N { waiting.push(k); }", "waiting.push(k)", SymmetryRule::LoopOrder),
    (
        "for k in 0..N { if tries[k] == 0 { holder = k; break; } }",
        "holder = k;",
        SymmetryRule::LoopOrder,
    ),
    ("for k in 0..N { total += 1; tries[k] = total; }", "total", SymmetryRule::LoopOrder),
    ("for k in 0..N { assert tries[k] < 9; }", "assert tries[k] < 9;", SymmetryRule::LoopOrder),
    (
        "let all = (0..N).all(fn(k) 4 / tries[k] > 1); assert all;",
        "4 / tries[k]",
        SymmetryRule::LoopOrder,
    ),
    (
        "let few = tries.filter(fn(t) t == 0); total = few.len();",
        "tries.filter(fn(t) t == 0)",
        SymmetryRule::ByPosition,
    ),
    ("match i { 1 => { total = 2; } _ => {} }", "1", SymmetryRule::Constant),
    (
        "told = Got.By(i); match told { Got.By(2) => { total = 2; } _ => {} }",
        "2",
        SymmetryRule::Constant,
    ),
    (
        "let note = Note { by: i, size: 0 }; if note.by == 2 { total = 1; }",
        "2",
        SymmetryRule::Constant,
    ),
    ("keep(i);", "i", SymmetryRule::Untyped),
    ("var last: int?; => var last: int;", "int", SymmetryRule::StartsAsZero),
    ("invariant one: => invariant two: tries[1] < 3;\ninvariant one:", "1", SymmetryRule::Constant),
    ("final: true; => final: holder == null || holder == 2;", "2", SymmetryRule::Constant),
    (
        "handler log: fifo; => handler log: fifo;\nthread t { for k in 0..N { tries[k] = 0; } }",
        "0..N",
        SymmetryRule::InSteps,
    ),
    (
        "handler log: fifo; => handler log: fifo;\nsymmetric handler other[4]: bag;\nevent o[k in 0..N] on other[k] { tries[k] = 1; }",
        "other",
        SymmetryRule::Sizes,
    ),
];

fn mutant(change: &str) -> String {
    match change.split_once(" => ") {
        Some((old, new)) if MODEL.contains(old) => MODEL.replacen(old, new, 1),
        _ => {
            MODEL.replacen("/*here*/", change, 1)
                + "fn keep(what) { let kept = what; assert kept != \"x\"; }\n"
        }
    }
}

#[test]
fn the_model_itself_is_symmetric() {
    let compiled = compiled(MODEL);
    assert_eq!(compiled.program.symmetries.len(), 1);
    println!("accepted: {:?}", compiled.symmetries.rules);
}

#[test]
fn one_use_that_tells_members_apart_is_refused_at_its_place() {
    let mut fired: BTreeMap<SymmetryRule, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (change, place, rule) in MUTANTS {
        let text = mutant(change);
        let checked = checked(&text);
        let found: Vec<(&str, &str)> = checked
            .diagnostics
            .iter()
            .map(|d| {
                let span = d.primary.span;
                (&text[span.start as usize..span.end as usize], d.message.as_str())
            })
            .collect();
        if !found.iter().any(|(at, _)| at == place) || !checked.rules.contains_key(rule) {
            wrong.push(format!(
                "{change}: wanted {rule:?} at `{place}`, found {found:?} {:?}",
                checked.rules
            ));
        }
        *fired.entry(*rule).or_insert(0) += 1;
    }
    println!("refused: {fired:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
