//! Our solver against Z3, one line a trace.

use crate::ours::{self, Decided};
use crate::z3::{Told, Z3};
use crate::{Asked, load, rows};
use anyorder_consistency::MailboxRule;
use anyorder_generate::Counts;
use std::path::Path;
use std::time::Duration;

/// Rows on which Z3 takes less are listed, and not compared.
const LONG: Duration = Duration::from_secs(1);

/// How many times faster we want to be on the others.
const WANTED: f64 = 100.0;

/// Prints the table and what follows from it.
///
/// # Panics
///
/// Panics when Z3 and we disagree.
pub(crate) fn print(asked: &Asked, z3: Option<&Z3>, folder: &Path) {
    print!(
        "{:<24}{:>8}{:>7}{:>6}  {:<13}{:>10}{:>10}{:>8}",
        "trace", "events", "msgs", "hand", "answer", "ours ms", "whole ms", "open"
    );
    for encoding in asked.encodings.iter().filter(|_| z3.is_some()) {
        print!("{:>14}", format!("z3 {encoding} ms"));
    }
    println!("{:>11}{:>7}", "ratio", "load");
    let mut ratios = Vec::new();
    for row in rows::all().iter().filter(|row| asked.wants(&row.name)) {
        let trace = row.make();
        let path = ours::write(&trace, &row.name, folder);
        let decided = ours::best(&ours::partial(&trace, MailboxRule::Fifo), asked.runs);
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
        let told = z3.map_or_else(Vec::new, |z3| ask(asked, z3, &row.name, &path, &decided));
        let ratio = told.first().and_then(|told| ratio(told, asked.limit, decided.solve));
        let shown = match (&ratio, told.first()) {
            (Some((_, ratio)), Some(Told::Over)) => format!(">{ratio:.0}"),
            (Some((_, ratio)), _) => format!("{ratio:.0}"),
            (None, _) => "-".to_owned(),
        };
        println!("{shown:>11}{:>7}", load().split(' ').next().unwrap_or("-"));
        ratios.extend(ratio.map(|(time, ratio)| (row.name.clone(), time, ratio)));
        std::fs::remove_file(&path).expect("a file that can be removed");
    }
    summary(&ratios);
}

/// Asks Z3 in every encoding, and prints each time.
fn ask(asked: &Asked, z3: &Z3, name: &str, path: &Path, decided: &Decided) -> Vec<Told> {
    let mut all = Vec::new();
    for encoding in &asked.encodings {
        let told = z3.decide(path, encoding, asked.limit);
        if let Told::Answer { answer, .. } = &told {
            assert_eq!(answer, decided.answer, "Z3 ({encoding}) and we disagree on {name}");
        }
        print!("{:>14}", told.cell(asked.limit));
        all.push(told);
    }
    all
}

/// Returns the time of Z3, at least, and how many times ours it is.
fn ratio(told: &Told, limit: Duration, ours: Duration) -> Option<(Duration, f64)> {
    let time = told.at_least(limit)?;
    Some((time, time.as_secs_f64() / ours.as_secs_f64()))
}

/// Says on which long rows we are how many times faster.
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
