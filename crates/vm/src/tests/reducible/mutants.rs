//! The tester is put to the test: each line of the machine that reports what is touched, awaited,
//! watched or there is silenced in turn, and noticed.

use crate::tests::reducible::clauses::Size;
use crate::tests::reducible::sharp::SHARP;
use crate::tests::reducible::totals::Totals;
use crate::tests::reducible::{check_as, generate};

use crate::sabotage::{Counts, Reports};
use anyorder_testkit::effort::is_due;

static COUNTS: Counts = Counts::new();

const SIZE: Size = Size { states: 120, edits: 10, pairs: true };

/// Random models asked about a line that no small model tells.
const MODELS: u64 = 60;

/// A push tries one line in so many.
const PARTS: usize = 6;

#[test]
fn every_report_that_is_dropped_is_noticed() {
    let mut right = Totals::default();
    for (name, text) in SHARP {
        check_as(name, text, SIZE, Reports::Counted(&COUNTS), &mut right)
            .expect("a machine that is right");
    }
    let (mut unnoticed, mut others) = (Vec::new(), Vec::new());
    let lines = COUNTS.by_line();
    let due = lines.iter().enumerate().filter(|(index, _)| is_due(*index, PARTS));
    let due: Vec<_> = due.map(|(_, line)| line).collect();
    for (line, count) in due.iter().copied() {
        let mut totals = Totals::default();
        let wrong = |name: &str, text: &str, totals: &mut Totals| {
            check_as(name, text, SIZE, Reports::Without(*line), totals).err()
        };
        let by_name = SHARP.iter().find_map(|(name, text)| wrong(name, text, &mut totals));
        if by_name.is_none() && totals.told == right.told {
            // The line is for runs of tasks, or another one tells the same.
            others.push(format!("{}:{}", line.0.rsplit('/').next().unwrap_or_default(), line.1));
            continue;
        }
        let by_seed = || {
            (1..=MODELS).find_map(|seed| {
                wrong(&format!("seed {seed}"), &generate::model(seed).0, &mut totals)
            })
        };
        let noticed = by_name.or_else(by_seed);
        let (file, at) = (line.0.rsplit('/').next().unwrap_or_default(), line.1);
        let how = noticed.as_deref().map(|text| text.chars().take(60).collect::<String>());
        println!("{file}:{at}, {count} reports: {how:?}");
        if noticed.is_none() {
            unnoticed.push(format!("{file}:{at}"));
        }
    }
    println!(
        "{} of {} lines, of which {} add nothing: {others:?}",
        due.len(),
        lines.len(),
        others.len()
    );
    assert!((due.len() - others.len()) * lines.len() >= 60 * due.len());
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
