//! No text makes the crate panic or hang: token soup, mutations of real models, deep nesting.
//! Seeded; the counts of what happened are printed and checked.

use anyorder_lang::diagnostic::{Code, render};
use anyorder_lang::{
    format::format,
    lex::{CONTEXTUAL, RESERVED},
    load,
    lower::compile,
    source::Source,
};

/// A small generator (xorshift*), so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

const MODELS: &[&str] = &[
    include_str!("all.any"),
    include_str!("programs/threads.any"),
    include_str!("programs/specs.any"),
    include_str!("programs/robust-send.any"),
    include_str!("programs/dynamic.any"),
];

fn iterations() -> usize {
    anyorder_testkit::effort::cases(4_000) as usize
}

/// Does everything with a text, and checks what must hold.
fn exercise(text: &str) -> (usize, bool) {
    let loaded = load(text);
    let source = Source::new("soup.any", text);
    for diagnostic in &loaded.diagnostics {
        let spans = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        for label in spans {
            let span = label.span;
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{diagnostic:?}");
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
        }
        assert!(!render(&source, diagnostic, false).is_empty());
    }
    let formatted = format(text);
    if let Ok(once) = &formatted {
        let twice = format(once).expect("what was formatted can be formatted");
        assert_eq!(&twice, once, "formatting twice");
    }
    // What the check accepts is lowered, unless it is too large for the machine.
    if loaded.is_valid() {
        match compile(text, "soup.any") {
            Ok(compiled) => assert!(anyorder_vm::Machine::new(compiled.program).is_ok(), "{text}"),
            Err(errors) => {
                assert!(errors.iter().any(|d| d.code == Code::TOO_LARGE), "{text}\n{errors:?}")
            }
        }
    }
    (loaded.diagnostics.len(), formatted.is_ok())
}

fn pieces(text: &str) -> Vec<&str> {
    let lexed = anyorder_lang::lex::lex(text);
    let mut last = 0;
    let mut out = Vec::new();
    for token in lexed.tokens {
        out.push(&text[last..token.span.end as usize]);
        last = token.span.end as usize;
    }
    out
}

#[test]
fn token_soup_never_panics() {
    let signs = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        ";",
        ":",
        "..",
        ".",
        "->",
        "=>",
        "?",
        "~",
        "_",
        "++",
        "--",
        "+=",
        "+",
        "-",
        "*",
        "/",
        "==",
        "!=",
        "<=",
        ">=",
        "<",
        ">",
        "&&",
        "||",
        "!",
        "=",
        "\"s\"",
        "1",
        "0xff",
        "x",
        "y",
        "on",
        "to",
        "any",
        "when",
        "after",
        "front",
        "int",
        "list",
        "\n",
        "\"",
        "é",
        "@",
        "// c\n",
        "/* c */",
        "99999999999999999999",
    ];
    let words: Vec<&str> = RESERVED.iter().chain(CONTEXTUAL).copied().chain(signs).collect();
    let mut random = Random(0x5EED_0001);
    let mut with_messages = 0;
    for _ in 0..iterations() {
        let len = 1 + random.below(40);
        let mut text = String::from(if random.below(2) == 0 { "model m\n" } else { "" });
        for _ in 0..len {
            text.push_str(words[random.below(words.len())]);
            text.push(' ');
        }
        let (messages, _) = exercise(&text);
        with_messages += usize::from(messages > 0);
    }
    println!("seed 5EED0001: {with_messages} of {} with messages", iterations());
    assert!(with_messages * 10 > iterations() * 9, "soup is hardly ever a model");
}

#[test]
fn mutated_models_never_panic() {
    let mut random = Random(0x5EED_0002);
    let models: Vec<Vec<&str>> = MODELS.iter().map(|text| pieces(text)).collect();
    let (mut broken, mut sound, mut kinds) = (0, 0, [0usize; 5]);
    for _ in 0..iterations() / 4 {
        let model = &models[random.below(models.len())];
        let mut tokens: Vec<&str> = model.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(tokens.len());
            let kind = random.below(5);
            kinds[kind] += 1;
            match kind {
                0 => drop(tokens.remove(at)),
                1 => {
                    let other = tokens[random.below(tokens.len())];
                    tokens.insert(at, other);
                }
                2 => {
                    let other = random.below(tokens.len());
                    tokens.swap(at, other);
                }
                3 => tokens.truncate(at.max(1)),
                _ => tokens[at] = model[random.below(model.len())],
            }
        }
        let (messages, formatted) = exercise(&tokens.concat());
        broken += usize::from(messages > 0);
        sound += usize::from(formatted);
    }
    println!("seed 5EED0002: {broken} with messages, {sound} formatted, mutations {kinds:?}");
    assert!(broken > 0 && sound > 0 && kinds.iter().all(|count| *count > 0));
}

#[test]
fn bytes_cut_anywhere_never_panic() {
    let text = MODELS[0];
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(7) {
        exercise(&text[..end]);
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let n = 20_000;
    let shapes = [
        format!("model m\nvar x = {}1{};", "(".repeat(n), ")".repeat(n)),
        format!("model m\nvar x = {}1;", "- ".repeat(n)),
        format!("model m\nvar x = {}true;", "!".repeat(n)),
        format!("model m\nvar x = 1{};", " + 1".repeat(n)),
        format!("model m\nvar x = a{};", ".b".repeat(n)),
        format!("model m\nvar x = f{};", "(1)".repeat(n)),
        format!("model m\nvar x: {}int{} = 1;", "list<".repeat(n), ">".repeat(n)),
        format!("model m\ninit {{ {} }}", "if a { ".repeat(n)),
        format!("model m\ninit {{ if a {{}} {} }}", "else if a {} ".repeat(n)),
        format!("model m\ninit {{ {} }}", "let f = fn(x) { ".repeat(n)),
        format!("model m\nvar f = {}1;", "fn(x) ".repeat(n)),
        format!("model m\ninit {{ match a {{ {} }} }}", "A.B(".repeat(n)),
        format!("model m\nvar x = {}", "match a { _ => ".repeat(n)),
        format!("model m\nvar x = {}", "[".repeat(n)),
        "{".repeat(n),
        "/*".repeat(n),
    ];
    for text in shapes {
        let (messages, _) = exercise(&text);
        assert!(messages > 0 && messages < 300, "{} messages for {}...", messages, &text[..40]);
    }
}

#[test]
fn constants_that_grow_are_stopped() {
    let mut text = String::from("model m\nconst c0 = [1, 2];\n");
    for i in 1..60 {
        text.push_str(&format!("const c{i} = c{} + c{};\n", i - 1, i - 1));
    }
    text.push_str("const big = [[0; 60000]; 60000];\n");
    let (messages, _) = exercise(&text);
    assert!(messages > 0);
    let mut chain = String::from("model m\n");
    for i in 0..5_000 {
        chain.push_str(&format!("const c{i} = c{};\n", i + 1));
    }
    assert!(exercise(&chain).0 > 0);
}
