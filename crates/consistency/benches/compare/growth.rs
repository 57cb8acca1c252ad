//! Growth of the solver: large traces, and formulas near the hardest clause ratio.

use crate::ours::{self, Decided};
use crate::z3::{Z3, Z3Result};
use crate::{Options, load, rows};
use anyorder_consistency::MailboxRule;
use anyorder_generate::Counts;
use std::path::Path;
use std::time::Duration;

/// The time limit of our own solver for one formula.
const PATIENCE: Duration = Duration::from_secs(180);

/// Prints time and memory for traces of a million events.
pub(crate) fn large(options: &Options, folder: &Path) {
    println!(
        "{:<30}{:>9}{:>8}{:>6}  {:<13}{:>11}{:>9}{:>9}{:>10}",
        "trace", "events", "msgs", "hand", "answer", "open", "solve s", "whole s", "peak MiB"
    );
    for (handlers, seed) in [(4, 1), (16, 1), (16, 2), (64, 1), (64, 2)] {
        let row = rows::android(1_000_000, 10_000, handlers, seed);
        if !options.wants(&row.name) {
            continue;
        }
        let trace = row.make();
        let path = ours::write(&trace, &row.name, folder);
        let decided = ours::decide(&ours::partial(&trace, MailboxRule::Fifo), None);
        let Counts { events, messages, handlers } = Counts::of(&trace);
        drop(trace);
        let runs: Vec<_> = (0..3).map(|_| ours::process(&path)).collect();
        let whole = runs.iter().map(|run| run.whole).min().expect("a run");
        let solve = runs.iter().map(|run| run.solve).min().expect("a run");
        let peak = runs.iter().map(|run| run.peak_kib).max().expect("a run");
        println!(
            "{:<30}{events:>9}{messages:>8}{handlers:>6}  {:<13}{:>11}{:>9.2}{:>9.2}{:>10.0}",
            row.name,
            decided.answer,
            decided.stats.pairs,
            solve.as_secs_f64(),
            whole.as_secs_f64(),
            peak as f64 / 1024.0
        );
        std::fs::remove_file(&path).expect("a file that can be removed");
    }
}

/// Prints our time and memory for formulas of many variables, and Z3's time for the plain formula,
/// without a trace.
///
/// # Panics
///
/// Panics when Z3's answer differs.
pub(crate) fn formulas(options: &Options, z3: Option<&Z3>, folder: &Path) {
    println!(
        "{:<16}{:>9}{:>8}  {:<13}{:>9}{:>9}{:>10}{:>10}{:>10}{:>7}",
        "trace",
        "events",
        "msgs",
        "answer",
        "wall s",
        "busy s",
        "conflicts",
        "open",
        "peak MiB",
        "load"
    );
    for variables in [120, 160, 200, 250, 300] {
        for seed in 1..=4 {
            let row = rows::sat3(variables, seed);
            if !options.wants(&row.name) {
                continue;
            }
            let trace = row.make();
            let Counts { events, messages, .. } = Counts::of(&trace);
            let Decided { answer, solve, busy, stats } =
                ours::decide(&ours::partial(&trace, MailboxRule::Fifo), Some(PATIENCE));
            // A second process measures the memory, if the solver was fast.
            let peak = (solve < Duration::from_secs(60)).then(|| {
                let path = ours::write(&trace, &row.name, folder);
                let peak = ours::process(&path).peak_kib;
                std::fs::remove_file(&path).expect("a file that can be removed");
                format!("{:.0}", peak as f64 / 1024.0)
            });
            let result = z3.map(|z3| {
                let path = folder.join("formula.cnf");
                std::fs::write(&path, rows::sat3_dimacs(variables, seed)).expect("a new file");
                z3.decide(&path, "dimacs", options.limit)
            });
            if let Some(Z3Result::Answer { answer: formula, .. }) = &result
                && answer != "unknown"
            {
                assert_eq!(formula, answer, "the formula of {} has another answer", row.name);
            }
            let formula =
                result.map_or_else(|| "-".to_owned(), |result| result.cell(options.limit));
            println!(
                "{:<16}{events:>9}{messages:>8}  {answer:<13}{:>9.2}{:>9.2}{:>10}{:>10}{:>10}{formula:>14}{:>7}",
                row.name,
                solve.as_secs_f64(),
                busy.unwrap_or_default().as_secs_f64(),
                stats.conflicts,
                stats.pairs,
                peak.as_deref().unwrap_or("-"),
                load().split(' ').next().unwrap_or("-")
            );
        }
    }
}

/// Prints, for each encoding, formulas with more and more variables until Z3 fails on one of three
/// within the limit.
pub(crate) fn formulas_of_z3(options: &Options, z3: &Z3, folder: &Path) {
    for encoding in &options.encodings {
        let mut most = 0;
        'sizes: for variables in (40..=300).step_by(20) {
            for seed in 1..=3 {
                let row = rows::sat3(variables, seed);
                let trace = row.make();
                let path = ours::write(&trace, &row.name, folder);
                let decided = ours::decide(&ours::partial(&trace, MailboxRule::Fifo), None);
                let result = z3.decide(&path, encoding, options.limit);
                println!(
                    "{:<16}{:<13} ours {:>9.1} ms, z3 {encoding} {:>9} ms, load {}",
                    row.name,
                    decided.answer,
                    decided.solve.as_secs_f64() * 1e3,
                    result.cell(options.limit),
                    load()
                );
                std::fs::remove_file(&path).expect("a file that can be removed");
                match result {
                    Z3Result::Answer { answer, .. } => {
                        assert_eq!(answer, decided.answer, "we disagree on {}", row.name);
                    }
                    Z3Result::TimedOut | Z3Result::NotStated => break 'sizes,
                }
            }
            most = variables;
        }
        println!(
            "z3 {encoding}: all three formulas of {most} variables within {:?}",
            options.limit
        );
    }
}
