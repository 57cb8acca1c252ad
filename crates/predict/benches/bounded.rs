//! What bounded tracking of critical sections loses, and what it wins, beside EDC without bounds.
//!
//! Racy accesses are compared one by one: those that EDC does not have are *invented*, those that bounded tracking does not have *missed*. `EVENTS`
//! is the length of each trace (1,000,000). The table is in Markdown.

#![allow(clippy::print_stdout, reason = "a bench prints")]

mod measure;
mod workload;

use anyorder_predict::MemoryOnly;
use anyorder_predict::{
    Analysis, BoundedAnalysis, Candidates, Options, PredictError, Report, WdcAnalysis, run,
};
use anyorder_trace::copy;
use anyorder_trace::format::native_binary::{BinaryReader, BinaryWriter};
use measure::{number, print_load, timed};
use std::collections::HashSet;
use std::io::Cursor;
use workload::{Shape, Workload};

const DEPTHS: [usize; 5] = [1, 4, 16, 64, 1_024];

fn main() -> Result<(), PredictError> {
    let events = number("EVENTS", 1_000_000);
    let plain = Shape { events, stray_every: 100, ..Shape::default() };
    let any = Shape { any_variable: true, same_nests: false, ..plain };
    print_load();
    println!("| trace | tracking | M events/s | KiB | racy | invented | missed | lost |");
    println!("|{}", " --- |".repeat(8));
    compare("each variable has its lock", plain)?;
    compare("any variable under any lock", any)?;
    compare("any variable under any 4 locks", Shape { held: 4, ..any })?;
    compare(
        "few variables, 4 of 8 locks held",
        Shape { held: 4, locks: 8, variables: 400, ..any },
    )?;
    compare("64 threads, any variable under any lock", Shape { threads: 64, ..any })
}

fn compare(name: &str, shape: Shape) -> Result<(), PredictError> {
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory");
    copy(&mut Workload::new(shape), &mut writer, |_| {}).expect("memory");
    let bytes = writer.into_inner();
    let options =
        Options { candidates: Candidates::Off, violations_max: 50_000_000, ..Options::default() };
    let mut exact = WdcAnalysis::new(MemoryOnly, options);
    let (seconds, memory, report) = timed_run(&bytes, &mut exact)?;
    let row = |tracking: &str, seconds: f64, memory: usize, racy: usize, rest: &str| {
        let rate = shape.events as f64 / seconds / 1e6;
        println!("| {name} | {tracking} | {rate:.1} | {memory} | {racy} | {rest} |");
    };
    let all = seconds_of(&report);
    row("unbounded", seconds, memory, all.len(), "0 | 0 | 0");
    for depth in DEPTHS {
        let (seconds, memory, report) =
            timed_run(&bytes, &mut BoundedAnalysis::new(options, depth))?;
        let found = seconds_of(&report);
        let (invented, missed) = (found.difference(&all).count(), all.difference(&found).count());
        let lost = report.counts.sections_lost;
        let rest = format!("{invented} | {missed} | {lost}");
        row(&format!("last {depth} sections"), seconds, memory, found.len(), &rest);
    }
    Ok(())
}

fn timed_run(
    bytes: &[u8],
    analysis: &mut dyn Analysis,
) -> Result<(f64, usize, Report), PredictError> {
    let (seconds, events) =
        timed(|| run(&mut BinaryReader::new(Cursor::new(bytes)), &mut [analysis], |_| {}));
    events?;
    let memory = analysis.memory_bytes() / 1024;
    Ok((seconds, memory, analysis.finish()))
}

fn seconds_of(report: &Report) -> HashSet<u64> {
    report.violations.iter().map(|violation| violation.second.event).collect()
}
