//! Our solver against Z3, one line a trace.

use crate::ours::{self, Decided};
use crate::z3::{Z3, Z3Result};
use crate::{Options, load, rows};
use anyorder_consistency::MailboxRule;
use anyorder_generate::Counts;
use std::path::Path;
use std::time::Duration;

/// Rows on which Z3 takes less time are listed but not compared.
const LONG: Duration = Duration::from_secs(1);

/// The factor by which we want to be faster on the others.
const WANTED: f64 = 100.0;

/// Prints the table and a summary.
///
/// # Panics
///
/// Panics when Z3 and we disagree.
pub(crate) fn print(options: &Options, z3: Option<&Z3>, folder: &Path) {
    print!(
        "{:<24}{:>8}{:>7}{:>6}  {:<13}{:>10}{:>10}{:>8}",
        "trace", "events", "msgs", "hand", "answer", "ours ms", "whole ms", "open"
    );
    for encoding in options.encodings.iter().filter(|_| z3.is_some()) {
        print!("{:>14}", format!("z3 {encoding} ms"));
    }
    println!("{:>11}{:>7}", "ratio", "load");
    let mut ratios = Vec::new();
    for row in rows::all().iter().filter(|row| options.wants(&row.name)) {
        let trace = row.make();
        let path = ours::write(&trace, &row.name, folder);
        let decided = ours::best(&ours::partial(&trace, MailboxRule::Fifo), options.runs);
        let whole = (0..3).map(|_| ours::process(&path).whole).min().expect("a run");
        let Counts { events, messages, handlers } = Counts::of(&trace);
        print!(
            "{:<24}{events:>8}{messages:>7}{handlers:>6}  {:<13}{:>10.3}{:>10.1}{:>8}",
            row.name,
            decided.answer,
            milliseconds(decided.solve),
            milliseconds(whole),
            decided.stats.pairs
        );
        let result = z3.map_or_else(Vec::new, |z3| ask(options, z3, &row.name, &path, &decided));
        let ratio = result.first().and_then(|result| ratio(result, options.limit, decided.solve));
        let shown = match (&ratio, result.first()) {
            (Some((_, ratio)), Some(Z3Result::TimedOut)) => format!(">{ratio:.0}"),
            (Some((_, ratio)), _) => format!("{ratio:.0}"),
            (None, _) => "-".to_owned(),
        };
        println!("{shown:>11}{:>7}", load().split(' ').next().unwrap_or("-"));
        ratios.extend(ratio.map(|(time, ratio)| (row.name.clone(), time, ratio)));
        std::fs::remove_file(&path).expect("a file that can be removed");
    }
    summary(&ratios);
}

/// Runs Z3 on every encoding, and prints each time.
fn ask(options: &Options, z3: &Z3, name: &str, path: &Path, decided: &Decided) -> Vec<Z3Result> {
    let mut all = Vec::new();
    for encoding in &options.encodings {
        let result = z3.decide(path, encoding, options.limit);
        if let Z3Result::Answer { answer, .. } = &result {
            assert_eq!(answer, decided.answer, "Z3 ({encoding}) and we disagree on {name}");
        }
        print!("{:>14}", result.cell(options.limit));
        all.push(result);
    }
    all
}

/// Returns Z3's time (a lower bound), and its ratio to ours.
fn ratio(result: &Z3Result, limit: Duration, ours: Duration) -> Option<(Duration, f64)> {
    let time = result.at_least(limit)?;
    Some((time, time.as_secs_f64() / ours.as_secs_f64()))
}

/// Prints how many times faster we are, on which long rows.
fn summary(ratios: &[(String, Duration, f64)]) {
    let mut long: Vec<_> = ratios.iter().filter(|(_, time, _)| *time >= LONG).collect();
    long.sort_by(|one, other| one.2.total_cmp(&other.2));
    let Some((name, _, least)) = long.first() else {
        println!("no row on which Z3 takes {LONG:?}");
        return;
    };
    println!("{} rows on which Z3 takes {LONG:?}; least ratio {least:.0} ({name})", long.len());
    for (name, time, ratio) in long.iter().filter(|row| row.2 < WANTED) {
        println!("below {WANTED}: {name}, {ratio:.1} times, Z3 {time:.1?}");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
