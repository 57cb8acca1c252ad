//! The tester is put to the test: each line of the machine that reports what is touched, awaited, watched or there is silenced in turn, and noticed.

use crate::clauses::Size;
use crate::sharp::SHARP;
use crate::totals::Totals;
use crate::{check_as, generate};
use anyorder_vm::testing::Reports;

const SIZE: Size = Size { states: 120, edits: 10, pairs: true };

/// Random models asked about a line that no small model tells.
const MODELS: u64 = 60;

#[test]
fn every_report_that_is_dropped_is_noticed() {
    let mut totals = Totals::default();
    for (name, text) in SHARP {
        check_as(name, text, SIZE, Reports::Counted, &mut totals).expect("a machine that is right");
    }
    let mut unnoticed = Vec::new();
    let lines = Reports::counts();
    for (line, count) in &lines {
        let mut wrong = |name: &str, text: &str| {
            check_as(name, text, SIZE, Reports::Without(*line), &mut totals).err()
        };
        let by_name = SHARP.iter().find_map(|(name, text)| wrong(name, text));
        let by_seed = || {
            (1..=MODELS).find_map(|seed| wrong(&format!("seed {seed}"), &generate::model(seed).0))
        };
        let noticed = by_name.or_else(by_seed);
        let (file, at) = (line.0.rsplit('/').next().unwrap_or_default(), line.1);
        let how = noticed.as_deref().map(|text| text.chars().take(60).collect::<String>());
        println!("{file}:{at}, {count} reports: {how:?}");
        if noticed.is_none() {
            unnoticed.push(format!("{file}:{at}"));
        }
    }
    println!("{} lines", lines.len());
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
