//! Random programs and changed ones: read as the real compiler reads them, and printing keeps them.

use crate::generate::{Generator, mutate};
use crate::oracle::{Oracle, corpus};
use crate::syntax::{cases, tree};
use anyorder_common::random::{Random, Rng};
use anyorder_groovy::ast::{Expr, Stmt, Visitor, walk_expr, walk_stmt};
use anyorder_groovy::{
    parse,
    print::{print, show},
};
use anyorder_testkit::effort;
use std::collections::BTreeMap;

/// Counts the kinds of nodes.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

fn kind_of(debug: &str) -> String {
    debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

impl Visitor for Counts {
    fn expr(&mut self, expr: &Expr) {
        *self.0.entry(format!("expr {}", kind_of(&format!("{:?}", expr.kind)))).or_default() += 1;
        walk_expr(self, expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        *self.0.entry(format!("stmt {}", kind_of(&format!("{:?}", stmt.kind)))).or_default() += 1;
        walk_stmt(self, stmt);
    }
}

/// Every kind of expression and statement that a right program can have.
const KINDS: &[&str] = &[
    "expr Null",
    "expr Bool",
    "expr Number",
    "expr Text",
    "expr Parts",
    "expr Name",
    "expr Paren",
    "expr List",
    "expr EmptyMap",
    "expr Closure",
    "expr Member",
    "expr Index",
    "expr Call",
    "expr New",
    "expr NewArray",
    "expr Unary",
    "expr Prefix",
    "expr Postfix",
    "expr Binary",
    "expr Assign",
    "expr AssignMany",
    "expr Conditional",
    "expr Elvis",
    "expr Cast",
    "expr As",
    "expr InstanceOf",
    "stmt Import",
    "stmt Class",
    "stmt Method",
    "stmt Declare",
    "stmt Expr",
    "stmt Block",
    "stmt If",
    "stmt While",
    "stmt For",
    "stmt Switch",
    "stmt Try",
    "stmt Synchronized",
    "stmt Return",
    "stmt Break",
    "stmt Continue",
    "stmt Throw",
    "stmt Assert",
];

fn survives_printing(text: &str, seed: u64) -> bool {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return false;
    }
    let printed = print(&parsed.script);
    let again = parse(&printed);
    assert!(
        again.diagnostics.is_empty(),
        "seed {seed}\n{text}\nprinted\n{printed}\n{:?}",
        again.diagnostics
    );
    assert_eq!(
        show(&parsed.script),
        show(&again.script),
        "seed {seed}\n{text}\nprinted\n{printed}"
    );
    assert_eq!(print(&again.script), printed, "seed {seed}\n{text}");
    true
}

#[test]
fn random_programs_survive_printing() {
    let mut counts = Counts::default();
    let (mut right, mut all) = (0, 0);
    for seed in effort::seeds(4_000) {
        let text = Generator::new(seed).program();
        all += 1;
        if survives_printing(&text, seed) {
            right += 1;
            parse(&text).script.statements.iter().for_each(|stmt| counts.stmt(stmt));
        }
    }
    println!("{right} of {all} right: {:?}", counts.0);
    assert!(right * 3 > all, "{right} of {all} are right");
    for kind in KINDS {
        assert!(counts.0.get(*kind).copied().unwrap_or(0) > 0, "no {kind}");
    }
}

#[test]
fn changed_texts_survive_printing() {
    let (mut right, mut all) = (0, 0);
    let cases = cases();
    for seed in effort::seeds(8_000) {
        let mut rng = Rng::for_purpose(seed, *b"muta");
        let index = rng.index(cases.len());
        let text = mutate(&mut rng, cases[index].0);
        all += 1;
        right += u64::from(survives_printing(&text, seed));
    }
    println!("{right} of {all} right");
    assert!(right * 10 > all, "{right} of {all} are right");
}

#[test]
fn the_compiler_reads_random_texts_so() {
    let Some(mut oracle) = Oracle::start("trees.groovy") else { return };
    let pool: Vec<String> = cases().iter().map(|(text, _)| (*text).to_owned()).collect();
    let apps = corpus();
    let (mut wrong, mut right, mut all) = (Vec::new(), 0, 0);
    for seed in effort::sampled(600, 5_000) {
        let mut rng = Rng::for_purpose(seed, *b"real");
        let text = match rng.below(8) {
            0..=2 => Generator::new(seed).program(),
            3 => mutate(&mut rng, &Generator::new(seed).program()),
            4 if !apps.is_empty() => {
                // Some lines of an app.
                let lines: Vec<&str> = apps[rng.index(apps.len())].1.lines().collect();
                let from = rng.index(lines.len());
                let part = lines[from..(from + 12).min(lines.len())].join("\n");
                mutate(&mut rng, &part)
            }
            _ => {
                let index = rng.index(pool.len());
                mutate(&mut rng, &pool[index])
            }
        };
        all += 1;
        let answer = oracle.ask(&text);
        let real = answer.clone().unwrap_or_else(|_| "error".to_owned());
        right += u64::from(real != "error");
        if tree(&text) != real {
            let first = parse(&text).diagnostics.first().cloned();
            let message = answer.err().unwrap_or_default();
            wrong.push(format!(
                "seed {seed}: {text}\n  real {real} {message}\n  ours {} {first:?}",
                tree(&text)
            ));
        }
    }
    println!("{all} texts, {right} right");
    wrong.sort_by_key(String::len);
    assert!(right * 4 > all, "{right} of {all} are right");
    let list = wrong.join("\n----\n");
    assert!(wrong.is_empty(), "{} of {all} wrong\n{list}", wrong.len());
}
