//! The layout keeps the tree and the comments, whatever the spacing. Formatting twice changes
//! nothing more.

use anyorder_lang::{format::format, lex::lex, parse};

use crate::naive::generate;
mod words;

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

fn texts() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("tests/all.any")];
    for folder in ["tests/programs", "../../examples/models"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of models");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "any"));
    files.sort();
    let read = |file: std::path::PathBuf| {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        (file.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

/// The tree as text, without places and numbers of nodes: `12..34` and `#5`.
fn tree(text: &str) -> String {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    let shown = format!("{:?}", parsed.model.items);
    let name = parsed.model.name.map(|name| name.name);
    let mut out = format!("{name:?}");
    let mut chars = shown.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '#' || c.is_ascii_digit() {
            let mut word = String::from(c);
            while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || *c == '.') {
                word.push(c);
            }
            if c != '#' && !word.contains("..") {
                out.push_str(&word);
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn comments(text: &str) -> Vec<String> {
    let lexed = lex(text);
    // Blanks at the ends of the lines of a block comment may go.
    let lines = |comment: &str| comment.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    lexed.comments.iter().map(|comment| lines(comment.span.of(text))).collect()
}

fn check(name: &str, text: &str) -> String {
    let once = format(text).unwrap_or_else(|d| panic!("{name}: {d:?}\n{text}"));
    assert_eq!(tree(text), tree(&once), "{name}: the tree changed\n{text}\n----\n{once}");
    assert_eq!(comments(text), comments(&once), "{name}: comments changed\n{text}\n----\n{once}");
    let twice = format(&once).unwrap_or_else(|d| panic!("{name}: {d:?}\n{once}"));
    assert_eq!(once, twice, "{name}: the second time changed something");
    once
}

#[test]
fn all_models_keep_their_trees_and_comments() {
    for (name, text) in texts() {
        let once = check(&name, &text);
        let wide =
            once.lines().filter(|line| line.chars().count() > 100 && !line.contains("//")).count();
        assert_eq!(wide, 0, "{name} has {wide} long lines of code");
    }
}

#[test]
fn any_spacing_and_any_comments_are_kept() {
    let rounds = anyorder_testkit::effort::cases(300);
    let texts = texts();
    let mut random = Random(0x5EED_0003);
    let (mut line_comments, mut block_comments, mut lines) = (0, 0, 0);
    for round in 0..rounds {
        let (name, text) = &texts[random.below(texts.len())];
        let lexed = lex(text);
        let mut mangled = String::new();
        // A part of the tokens gets something before it.
        let rate = [3, 12, 60][random.below(3)];
        for token in &lexed.tokens {
            mangled.push(' ');
            match random.below(rate) {
                0 => {
                    line_comments += 1;
                    mangled.push_str("// note\n");
                }
                1 => {
                    block_comments += 1;
                    mangled.push_str(["/* a */", "/* b\n   c */"][random.below(2)]);
                }
                2 => {
                    lines += 1;
                    mangled.push_str(["\n", "\n\n\n"][random.below(2)]);
                }
                _ => {}
            }
            mangled.push_str(token.span.of(text));
        }
        check(&format!("{name}, round {round}"), &mangled);
    }
    println!(
        "seed 5EED0003: {line_comments} line comments, {block_comments} block comments, {lines} line feeds"
    );
    assert!(line_comments > 0 && block_comments > 0 && lines > 0);
}

#[test]
fn random_models_keep_their_trees_and_are_without_errors() {
    let seeds = anyorder_testkit::effort::seeds(500);
    let mut covered = generate::Coverage::new();
    for seed in seeds.clone() {
        let (text, coverage) = generate::model(seed);
        for (what, count) in coverage {
            *covered.entry(what).or_default() += count;
        }
        let loaded = anyorder_lang::load(&text);
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "seed {seed}: {errors:?}\n{text}");
        check(&format!("seed {seed}"), &text);
    }
    println!("seeds {seeds:?}: {covered:?}");
    assert!(covered.len() > 30, "the generator covers the language");
}
