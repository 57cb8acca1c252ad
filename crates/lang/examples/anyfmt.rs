//! Prints a model file in the canonical layout: `cargo run -p anyorder-lang --example anyfmt --
//! FILE`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use anyorder_lang::{diagnostic::render, format::format, source::Source};

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        match format(&text) {
            Ok(out) => print!("{out}"),
            Err(diagnostics) => {
                let source = Source::new(&path, &text);
                diagnostics.iter().for_each(|d| eprint!("{}", render(&source, d, false)));
            }
        }
    }
}
