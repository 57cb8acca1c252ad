//! Small texts, one for each rule of the grammar, with the trees that Groovy 2.4.21 gives.

use crate::oracle::Oracle;
use anyorder_groovy::lex::WORDS;
use anyorder_groovy::{parse, print::show};
use anyorder_testkit::effort;

/// Returns the tree of a text, or `error`.
pub(crate) fn tree(text: &str) -> String {
    let parsed = parse(text);
    if parsed.diagnostics.is_empty() { show(&parsed.script) } else { "error".to_owned() }
}

/// Returns the texts and the trees of the compiler.
pub(crate) fn cases() -> Vec<(&'static str, &'static str)> {
    let file = include_str!("syntax.txt").trim_end();
    file.split("\n====\n").map(|case| case.split_once("\n----\n").expect("a tree")).collect()
}

#[test]
fn every_rule_gives_the_tree_of_the_compiler() {
    let cases = cases();
    assert!(cases.len() > 800, "{} cases", cases.len());
    let errors = cases.iter().filter(|(_, tree)| *tree == "error").count();
    assert!(errors > 200, "{errors} of them are wrong");
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}\n{:?}", parse(text).diagnostics.first());
    }
}

/// The stored trees are those of the compiler, and every reserved word is read as it reads it.
#[test]
fn the_compiler_gives_the_stored_trees_and_reads_words_so() {
    let Some(mut oracle) = Oracle::start("trees.groovy") else { return };
    let places = [
        "a.W",
        "[W: 1]",
        "f(W: 1)",
        "f W: 1",
        "a.W(1)",
        "\"$a.W\"",
        "a.b.W = 1",
        "W /a/",
        "a.W { b }",
        "a.W b",
        "a b W c",
        "a?.W",
        "f(x.&W)",
        "a.@W",
        "def W = 1",
        "import a.W",
        "x = {W -> 1}",
        "W",
        "W x",
        "x W",
        "x W y",
        "W: x",
        "class W { }",
        "@W x",
        "\"$W\"",
        "W(1)",
        "new W()",
        "a as W",
    ];
    let words = WORDS.iter().flat_map(|word| places.iter().map(|one| one.replace('W', word)));
    let stored = cases().into_iter().map(|(text, _)| text.to_owned());
    let mut wrong = Vec::new();
    for (index, text) in stored.chain(words).enumerate() {
        if !effort::is_due(index, 4) {
            continue;
        }
        let real = oracle.ask(&text).unwrap_or_else(|_| "error".to_owned());
        if tree(&text) != real {
            let first = parse(&text).diagnostics.first().cloned();
            wrong.push(format!("{text}\n  real {real}\n  ours {} {first:?}", tree(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
