//! How the cost of a check grows with each thing that can grow, one at a time.
//!
//! `cargo bench -p anyorder-hb --bench scaling` doubles each family of traces and prints, for the
//! check that a trace is well-formed, for the check of happens-before, and for the candidates of
//! event-driven EDC, the seconds of the largest trace and the exponent between the last two sizes:
//! 1.0 is linear, 2.0 quadratic. `-- --doublings N` sets how often (3), `-- --only WORD` chooses
//! families by a part of their names, `-- --write FOLDER` also writes the largest trace of each.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use anyorder_formats::native_binary::BinaryWriter;
use anyorder_hb::{CandidateLimits, Points, RaceOptions, RuleSet, check, order_candidates};
use anyorder_system::Control;
use anyorder_testkit::synthetic::growth::{FAMILIES, Family};
use anyorder_trace::{TaskKind, Trace, wellformed};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::time::Instant;

/// The engines that are measured.
const ENGINES: [&str; 3] = ["well-formed", "check", "EDC"];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let doublings = value("--doublings").and_then(|n| n.parse().ok()).unwrap_or(3);
    let (only, folder) = (value("--only").unwrap_or_default(), value("--write"));
    print!("{:<26} {:>8} {:>9}", "family", "n", "events");
    for engine in ENGINES {
        print!(" {engine:>11} s {:>5}", "exp");
    }
    println!(" {:>9} {:>5}", "steps/ev", "exp");
    for family in FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        row(family, doublings, folder.as_deref())?;
    }
    Ok(())
}

/// The seconds of each engine, and the steps of the check.
type Cost = ([f64; ENGINES.len()], f64);

fn row(family: &Family, doublings: u32, folder: Option<&str>) -> io::Result<()> {
    let mut costs: Vec<Cost> = Vec::new();
    let mut n = family.start;
    for at in 0..=doublings {
        n = family.start << at;
        let trace = (family.make)(n).map_err(io::Error::other)?;
        costs.push(cost(&trace));
        if at == doublings {
            print!("{:<26} {n:>8} {:>9}", family.name, trace.len());
            if let Some(folder) = folder {
                let name = format!("{folder}/{}.trace", family.name.replace([' ', ','], "-"));
                let file = BufWriter::new(File::create(name)?);
                let mut sink = BinaryWriter::new(file)?;
                trace.write(&mut sink)?;
                sink.into_inner().flush()?;
            }
        }
    }
    let _ = n;
    let exponent = |before: f64, after: f64| (after / before.max(1e-9)).log2();
    let (before, after) = (&costs[costs.len() - 2], &costs[costs.len() - 1]);
    for engine in 0..ENGINES.len() {
        let (before, after) = (before.0[engine], after.0[engine]);
        print!(" {after:>13.3} {:>5.1}", exponent(before, after));
    }
    println!(" {:>9.1} {:>5.1}", after.1, exponent(before.1, after.1) + 1.0);
    io::stdout().flush()
}

fn cost(trace: &Trace) -> Cost {
    let posted = trace.tables().tasks.iter().any(|task| task.kind == TaskKind::Posted);
    let rules = if posted { RuleSet::Mailbox } else { RuleSet::Threads };
    let control = Control::default();
    let (form, _) = timed(|| wellformed::check(trace));
    let (checking, checked) = timed(|| check(trace, &RaceOptions::new(rules), &control));
    let (limits, points) = (CandidateLimits::default(), Points::default());
    let (candidates, _) = timed(|| order_candidates(trace, rules, &points, limits, &control));
    let steps = checked.statistics.steps as f64 / trace.len() as f64;
    ([form, checking, candidates], steps)
}

/// Runs `what`; returns its seconds (the best of two, to see less of the machine's noise).
fn timed<T>(what: impl Fn() -> T) -> (f64, T) {
    let once = || {
        let start = Instant::now();
        let result = what();
        (start.elapsed().as_secs_f64(), result)
    };
    let first = once();
    if first.0 > 1.0 {
        return first;
    }
    let second = once();
    if second.0 < first.0 { second } else { first }
}
