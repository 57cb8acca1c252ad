//! Prints the diagnostics of a model file: `cargo run -p anyorder-lang --example anydump -- FILE`.
#![allow(clippy::print_stdout)]

use anyorder_lang::{diagnostic::render, load, source::Source};

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let parsed = load(&text);
        let source = Source::new(&path, &text);
        for diagnostic in &parsed.diagnostics {
            print!("{}", render(&source, diagnostic, false));
        }
    }
}
