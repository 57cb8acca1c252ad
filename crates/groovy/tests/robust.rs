//! No text makes the parser or the evaluator panic, and none takes more than linear time.

use crate::generate::{Generator, mutate};
use anyorder_common::random::{Random, Rng};
use anyorder_groovy::eval::{Evaluator, NoHost};
use anyorder_groovy::parse;
use anyorder_groovy::print::{print, show};
use anyorder_testkit::effort;

fn survives(text: &str) {
    let parsed = parse(text);
    show(&parsed.script);
    print(&parsed.script);
    let mut host = NoHost::default();
    Evaluator::new(&parsed.script, &mut host, 2_000).run(&parsed.script).ok();
}

#[test]
fn bytes_and_tokens_are_survived() {
    const SOUP: &[&str] = &[
        "(", ")", "[", "]", "{", "}", "\"", "'", "\"\"\"", "'''", "/", "$/", "/$", "${", "$a",
        "\\", "\n", ";", ",", ":", "?", ".", "->", "=", "<", ">", ">>", "a", "1", "0x", "1e", "if",
        "else", "class", "def", "case", "@", "new ", "é", "//", "/*", "*/", "😀", "switch", "try",
        "catch", "import", "enum", "static", "\\u", "\u{0}", "...", "*:",
    ];
    for seed in effort::seeds(4_000) {
        let mut rng = Rng::for_purpose(seed, *b"soup");
        let count = rng.below(60);
        let text: String = (0..count).map(|_| rng.pick(SOUP)).collect();
        survives(&text);
        let bytes: Vec<u8> = (0..count).map(|_| rng.below(256) as u8).collect();
        survives(&String::from_utf8_lossy(&bytes));
        survives(&mutate(&mut rng, &Generator::new(seed).program()));
    }
}

/// What repeats: its start, the part that repeats, its end, and the end that repeats.
const GROWING: &[(&str, &str, &str, &str)] = &[
    ("", "(", "a", ")"),
    ("", "[", "a", "]"),
    ("", "{ ->", "a", "}"),
    ("", "a(", "b", ")"),
    ("", "if (a) { ", "b", " }"),
    ("a", " + a", "", ""),
    ("a", ".b", "", ""),
    ("a", "(b)", "", ""),
    ("a", " = a", "", ""),
    ("a", " ? b : a", "", ""),
    ("", "!", "a", ""),
    ("", "-", "a", ""),
    ("", "(a) ", "b", ""),
    ("", "a: ", "b", ""),
    ("", "A<", "b", ">"),
    ("", "\"${", "a", "}\""),
    ("", "a { b = ", "c", " -> }"),
    ("", "new A() { def a() { ", "", " } }"),
    ("", "if (a) b else ", "c", ""),
    ("", "a; ", "", ""),
    ("f(", "A < B, ", "c", ")"),
    ("x = [", "a: 1, ", "", "]"),
    ("class A { ", "A() ", "", "}"),
    ("", "@A ", "def x", ""),
    ("", "(A)", "b", ""),
    ("", "{", "", ""),
    ("", "(", "", ""),
    ("", "\"$", "", ""),
    ("", "/*", "", ""),
    ("", "a ?: ", "b", ""),
    ("a", " b", "", ""),
    ("", "(a)(b, ", "c", ")"),
];

/// Each shape grows until a quadratic reader would need minutes. No clock is read: one that is not
/// linear makes the suite hang.
#[test]
fn what_grows_is_read_to_its_end() {
    for (start, part, middle, end) in GROWING {
        let count = 32_000;
        survives(&format!("{start}{}{middle}{}", part.repeat(count), end.repeat(count)));
    }
}
