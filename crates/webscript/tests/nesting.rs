//! Deep nesting does not overflow the stack, and arbitrary text does no harm.

use anyorder_webscript::{Kind, Origin, Sites, SyntaxError, rewrite_script};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Returns a text of each kind of nesting, with the pieces of it repeated.
fn nested(times: usize) -> Vec<String> {
    let around = |before: &str, middle: &str, after: &str| {
        format!("{}{middle}{}", before.repeat(times), after.repeat(times))
    };
    vec![
        around("(", "1", ")"),
        around("[", "1", "]"),
        around("{", "", "}"),
        format!("x={}", around("{a:", "1", "}")),
        around("a(", "1", ")"),
        around("`${", "1", "}`"),
        around("a?b:", "1", ""),
        around("a=", "1", ""),
        around("a=>", "1", ""),
        around("a=>{", "1", "}"),
        around("-~!", "1", ""),
        around("typeof ", "1", ""),
        around("new ", "a", ""),
        around("a+", "1", ""),
        around("a**", "1", ""),
        around("a,", "1", ""),
        around("a??", "1", ""),
        around("a||", "1", ""),
        format!("a{}", ".b".repeat(times)),
        format!("a{}", "?.b".repeat(times)),
        format!("a{}", "()".repeat(times)),
        format!("a{}", "[0]".repeat(times)),
        format!("a{}", "``".repeat(times)),
        around("if(a)", ";", ""),
        around("if(a);else ", ";", ""),
        around("for(;;)", ";", ""),
        around("do ", ";", " while(0)"),
        (0..times).map(|number| format!("l{number}:")).collect::<String>() + ";",
        format!("[{}]=a", around("[", "b", "]")),
        format!("var {}=a", around("{a:", "b", "}")),
        around("class A{m(){", "", "}}"),
        around("function f(){", "", "}"),
        around("(function(){", "", "})()"),
        around("a in ", "b", ""),
        around("switch(a){case 1:", "", "}"),
        around("try{", "", "}finally{}"),
        around("async()=>await ", "1", ""),
        around("class extends ", "a", "{}"),
        around("/(", "a", ")/.x"),
    ]
}

fn run(text: &str) -> Result<String, SyntaxError> {
    let mut sites = Sites::new();
    let origin = Origin::start_of(sites.add_source("a"));
    rewrite_script(text, Kind::Classic, origin, &mut sites)
}

#[test]
fn nesting_of_every_kind() {
    let times = if anyorder_testkit::effort::effort() > 1 { 100_000 } else { 4_000 };
    for text in nested(times) {
        let start = Instant::now();
        let result = run(&text);
        let piece: String = text.chars().take(20).collect();
        if let Err(SyntaxError::Deep(bytes)) = result {
            assert!(times > 10_000, "{piece}: {bytes}");
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{piece}: {:?}", start.elapsed());
    }
}

#[test]
fn a_hundred_thousand_parentheses() {
    let text = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let result = run(&text);
    assert!(matches!(result, Ok(_) | Err(SyntaxError::Deep(_))), "{result:?}");
    let text = "(".repeat(10_000_000);
    assert!(matches!(run(&text), Err(SyntaxError::Deep(_))));
}

proptest! {
    #[test]
    fn arbitrary_text_does_no_harm(text in ".{0,200}") {
        for kind in [Kind::Classic, Kind::Module, Kind::Handler, Kind::Eval] {
            let mut sites = Sites::new();
            let origin = Origin::start_of(sites.add_source("a"));
            let _ = rewrite_script(&text, kind, origin, &mut sites);
        }
    }

    #[test]
    fn pieces_of_scripts_do_no_harm(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        for kind in [Kind::Classic, Kind::Module, Kind::Handler, Kind::Eval] {
            let mut sites = Sites::new();
            let origin = Origin::start_of(sites.add_source("a"));
            if let Ok(out) = rewrite_script(&text, kind, origin, &mut sites) {
                // What was written parses again, and lines keep their numbers.
                let again = rewrite_script(&out, kind, origin, &mut sites);
                prop_assert!(again.is_ok(), "{text:?}\n{out:?}\n{again:?}");
                prop_assert_eq!(out.lines().count(), text.lines().count());
            }
        }
    }
}

const PIECES: &[&str] = &[
    "a",
    "b",
    " ",
    "\n",
    ";",
    ".b",
    "?.b",
    "[a]",
    "?.[a]",
    "(",
    ")",
    "{",
    "}",
    "=",
    "=>",
    "+",
    "++",
    "`",
    "${",
    "'x'",
    "/x/",
    "function ",
    "class ",
    "async ",
    "await ",
    "yield ",
    "new ",
    "delete ",
    "typeof ",
    "in ",
    "of ",
    "for(",
    "if(a)",
    "let ",
    "var ",
    "const ",
    "return ",
    "...",
    ",",
    ":",
    "#p",
    "super",
    "this",
    "eval(",
    "import(",
    "export ",
    "default ",
    "static{",
    "<!--",
    "-->",
    "/*",
    "*/",
    "//",
    "?",
    "??=",
    "**",
    "1",
    "0n",
    "\u{e9}",
    "\u{2028}",
    "\\u0061",
    "with(a)",
    "switch(a){",
];
