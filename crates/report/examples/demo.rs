//! Writes an HTML report of a small made-up trace, and shows the report for the terminal:
//! `cargo run -p anyorder-report --example demo [FOLDER]`.
#![allow(clippy::print_stdout, reason = "an example shows something")]
#![allow(
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    reason = "the sample is shared with tests"
)]

use anyorder_finding::Policy;
use anyorder_finding::run::Runs;
use anyorder_report::{html, terminal};
use std::io::{self, Write};
use std::path::PathBuf;

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or("target/demo-report".into(), PathBuf::from);
    let sample = sample::trace();
    let outcome = sample::outcome(&sample);
    let policy = Policy::default();
    let mut out = io::stdout().lock();
    let options = terminal::TextOptions { style: terminal::Style::Colour, ..Default::default() };
    terminal::write(&outcome, &policy, &Runs::new(), &options, &mut out)?;
    let options = html::HtmlOptions::default();
    let path = html::write_report(
        &folder,
        &outcome,
        &policy,
        Some(&sample.trace),
        &Runs::new(),
        &options,
    )?;
    writeln!(out, "report: {}", path.display())
}
