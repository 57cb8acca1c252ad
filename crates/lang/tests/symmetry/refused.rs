//! Mutants of a symmetric model: one use that tells the values of an index type apart, refused at
//! its place.

use super::explore::{compiled, errors};

use std::collections::BTreeMap;

/// The model; `/*here*/` is where mutants put statements.
const MODEL: &str = "model locks
const N = 3;
index I = N;
enum Got { Nothing, By(I) }
record Note { by: I?, size: int }
var holder: I?;
var last: I?;
var tries: [int; I];
var waiting: list<I>;
var told: Got = Got.Nothing;
var total = 0;
lock m;
handler client[I]: fifo;
handler server: bag;
handler log: fifo;
event want[i in I] on client[i] when tries[i] == 0 { tries[i] = 1; post ask(i); }
task ask(i: I) on server { if holder == null { holder = i; post yes(i); } else { waiting.push(i); } }
task yes(i: I) on client[i] { tries[i] = 2; post done(i); }
task done(i: I) on server {
    holder = null;
    last = i;
    if !waiting.is_empty() { let next = waiting.take_first(); holder = next; post yes(next); }
}
task more(i: I, j: I) on server {
    if tries[i] == 9 && tries[j] == 9 { total = 3; }
    /*here*/
}
task write(i: I) on log { total = tries[i]; }
event start[i in I] { let j = choose I; post more(i, j); }
invariant one: tries.count(fn(t) t == 2) <= 1 || total == 0;
final: true;
";

/// A statement (or `old => new`), the text that the error marks, and a part of the message.
const MUTANTS: &[(&str, &str, &str)] = &[
    ("if i == 0 { total += 1; }", "==", "`I` is not comparable with `int`"),
    ("if i < j { total += 1; }", "i", "`<` does not take `I`"),
    ("let k = i + 1; total = k;", "i", "`+` does not take `I`"),
    ("total = -j;", "j", "expected `int`, found `I`"),
    ("total += i;", "i", "expected `int`, found `I`"),
    ("let k = i; k++; total += 1;", "k", "expected `int`, found `I`"),
    ("tries[0] = 1;", "0", "expected `I`, found `int`"),
    ("post yes(1);", "1", "expected `I`, found `int`"),
    ("post yes(i) to client[2];", "2", "expected `I`, found `int`"),
    ("let s = i.to_str(); assert s != \"\";", "to_str", "`I` has no method `to_str`"),
    ("let s = told.to_str(); assert s != \"\";", "told.to_str()", "`to_str` goes by an order"),
    ("let s = tries.to_str(); assert s != \"\";", "to_str", "`[int; I]` has no method `to_str`"),
    ("total = i;", "i", "expected `int`, found `I`"),
    ("holder = waiting.len();", "waiting.len()", "expected `I?`, found `int`"),
    ("holder = waiting.min();", "waiting.min()", "`min` goes by an order"),
    ("waiting.sort();", "waiting.sort()", "`sort` goes by an order"),
    ("let ids = I.to_list(); holder = ids.first();", "I.to_list()", "`to_list` goes by an order"),
    ("holder = I.min();", "I.min()", "`min` goes by an order"),
    (
        "let m = map[i: 1]; let ks = m.keys(); holder = ks.first();",
        "m.keys()",
        "`keys` goes by an order",
    ),
    (
        "let m = map[i: 1]; let vs = m.values(); total = vs.first();",
        "m.values()",
        "`values` goes by",
    ),
    ("let first = tries.first(); total = first;", "first", "`[int; I]` has no method `first`"),
    ("tries.push(1);", "push", "`[int; I]` has no method `push`"),
    ("tries = [0, 0, 0];", "[0, 0, 0]", "expected `[int; I]`, found `list<int>`"),
    ("tries = [0; 4];", "[0; 4]", "expected `[int; I]`, found `list<int>`"),
    ("for k in 0..2 { tries[k] = 0; }", "k", "expected `I`, found `int`"),
    ("for k in I { post write(k); }", "post write(k)", "posts to a mailbox that keeps the order"),
    ("for k in I { post yes(k) front; }", "post yes(k) front", "posts in front of all others"),
    ("for k in I { holder = k; }", "holder = k;", "writes what the next round writes"),
    ("for k in I { waiting.push(k); }", "waiting.push(k)", "writes what the next round writes"),
    (
        "for k in I { if tries[k] == 0 { holder = k; break; } }",
        "holder = k;",
        "writes what the next round writes",
    ),
    ("for k in I { if tries[k] == 0 { break; } }", "break;", "ends the loop early"),
    ("for k in I { if tries[k] == 0 { return; } }", "return;", "ends the loop early"),
    ("for k in I { total += 1; tries[k] = total; }", "total", "reads what other rounds write"),
    ("for k in I { assert tries[k] < 9; }", "assert tries[k] < 9;", "fails for the first member"),
    (
        "let n = 0; for k in I { n += 1; if [1].all(fn(w) { return w > n; }) { tries[k] = 1; } }",
        "n",
        "reads what other rounds write",
    ),
    (
        "let f = fn(k: I) { holder = k; return true; }; for k in I { if [k].all(f) { total += 1; } }",
        "f",
        "calls something that is not known",
    ),
    ("for t in tries { last = null; holder = i; }", "holder = i;", "writes what the next round"),
    (
        "let all = I.all(fn(k) 4 / tries[k] > 1); assert all;",
        "4 / tries[k]",
        "divides, which may fail",
    ),
    (
        "let all = I.all(fn(k) { holder = k; return true; }); assert all;",
        "holder = k;",
        "changes something in a function",
    ),
    ("let all = I.any(keeps); assert all;", "keeps", "changes something in a function"),
    (
        "let few = tries.filter(fn(t) t == 0); total = few.len();",
        "filter",
        "`[int; I]` has no method `filter`",
    ),
    (
        "match i { 1 => { total = 2; } _ => {} }",
        "1",
        "a pattern of type `int` for a value of type `I`",
    ),
    (
        "told = Got.By(i); match told { Got.By(2) => { total = 2; } _ => {} }",
        "2",
        "a pattern of type `int` for a value of type `I`",
    ),
    (
        "let note = Note { by: i, size: 0 }; if note.by == 2 { total = 1; }",
        "==",
        "`I?` is not comparable with `int`",
    ),
    ("keep(i);", "i", "an index goes into a value of type `any`"),
    ("keep(told);", "told", "an index goes into a value of type `any`"),
    ("let x = [i]; keep(x);", "x", "an index goes into a value of type `any`"),
    ("var last: I?; => var last: I;", "last", "`last` needs a first value"),
    ("invariant one: => invariant two: tries[1] < 3;\ninvariant one:", "1", "expected `I`"),
    ("final: true; => final: holder == null || holder == 2;", "==", "`I?` is not comparable"),
    (
        "index I = N; => index I = N;\nindex J = 4;\nvar js: [int; J];\nevent o[k in J] { tries[k] = 1; }",
        "k",
        "expected `I`, found `J`",
    ),
    ("index I = N; => index I = 0;", "0", "an index type has from 1 to 4096 values, not 0"),
    ("const N = 3; => const N = 3;\nconst A = I;", "I", "`I` is not a constant"),
];

fn mutant(change: &str) -> String {
    match change.split_once(" => ") {
        Some((old, new)) if MODEL.contains(old) => MODEL.replacen(old, new, 1),
        _ => {
            MODEL.replacen("/*here*/", change, 1)
                + "fn keep(what) { let kept = what; assert kept != \"x\"; }\n"
                + "fn keeps(k: I) -> bool { holder = k; return true; }\n"
        }
    }
}

#[test]
fn the_model_itself_is_symmetric() {
    assert_eq!(compiled(MODEL).program.symmetries.len(), 1);
}

#[test]
fn one_use_that_tells_indices_apart_is_refused_at_its_place() {
    let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (change, place, message) in MUTANTS {
        let text = mutant(change);
        let found = errors(&text);
        let at = |span: anyorder_lang::source::Span| &text[span.start as usize..span.end as usize];
        let fits = |d: &&anyorder_lang::diagnostic::Diagnostic| {
            at(d.primary.span) == *place && d.message.contains(message)
        };
        match found.iter().find(fits) {
            Some(one) => *codes.entry(one.code.as_str()).or_insert(0) += 1,
            None => {
                let said: Vec<(&str, &str)> =
                    found.iter().map(|d| (at(d.primary.span), d.message.as_str())).collect();
                wrong.push(format!("{change}: wanted `{message}` at `{place}`, found {said:?}"));
            }
        }
    }
    println!("refused: {codes:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
