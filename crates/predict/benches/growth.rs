//! How speed depends on the number of threads, of locks held at once, and on the depth of nested
//! sections; tables in Markdown, and a plot where `SVG` names a file for it.
//!
//! `EVENTS` is the length of each trace (1,000,000), in the binary format and in memory; reading is
//! included. Each analysis is repeated until it has used `MILLISECONDS` (300) of processor time.

#![allow(clippy::print_stdout, reason = "a bench prints")]

mod measure;
mod nested;
mod plot;
mod workload;

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_predict::{
    Analysis, CandidateOptions, Candidates, EdcAnalysis, HbAnalysis, MemoryOnly, PredictError,
    WdcAnalysis, run,
};
use anyorder_trace::copy;
use measure::{number, print_load, timed};
use plot::{Panel, Series};
use std::error::Error;
use std::io::Cursor;
use workload::{Shape, Workload};

const NAMES: [&str; 3] = ["HB", "WDC", "EDC"];
const THREADS: [usize; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000];
const HELD: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

fn main() -> Result<(), Box<dyn Error>> {
    let plain = Shape { events: number("EVENTS", 1_000_000), ..Shape::default() };
    print_load();
    let by_threads = table("threads", &THREADS, |threads| Shape { threads, ..plain })?;
    let nested = Shape { locks: 64, ..plain };
    println!("a lock is always taken with the same others:");
    let by_locks = table("locks held", &HELD, |held| Shape { held, ..nested })?;
    println!("by chance with any others:");
    let any = table("locks held", &HELD, |held| Shape { held, same_nests: false, ..nested })?;
    nested::table()?;
    if let Some(path) = std::env::var_os("SVG") {
        let panels = [
            panel("threads (16 locks, one held at a time)", true, &THREADS, &by_threads),
            panel("locks held, always the same together", false, &HELD, &by_locks),
            panel("locks held, any together", false, &HELD, &any),
        ];
        std::fs::write(path, plot::svg("million events a second, one core", &panels))?;
    }
    Ok(())
}

/// Prints a line for each value; returns the rates, one row a value.
fn table(
    what: &str,
    values: &[usize],
    shape: impl Fn(usize) -> Shape,
) -> Result<Vec<[f64; 3]>, PredictError> {
    println!("| {what} | {} | HB, KiB | EDC, KiB |", NAMES.join(" | "));
    println!("|{}", " --- |".repeat(NAMES.len() + 3));
    let mut rows = Vec::new();
    for value in values {
        let bytes = written(shape(*value));
        let (mut rates, mut memory) = ([0.0; 3], [0; 3]);
        for which in 0..3 {
            let (rate, bytes) = rate(&bytes, which)?;
            (rates[which], memory[which]) = (rate, bytes / 1024);
        }
        let rate = rates.map(|rate| format!("{rate:.1}")).join(" | ");
        println!("| {value} | {rate} | {} | {} |", memory[0], memory[2]);
        rows.push(rates);
    }
    Ok(rows)
}

fn written(shape: Shape) -> Vec<u8> {
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory");
    copy(&mut Workload::new(shape), &mut writer, |_| {}).expect("memory");
    writer.into_inner()
}

/// Million events a second, and the bytes held in the end.
fn rate(bytes: &[u8], which: usize) -> Result<(f64, usize), PredictError> {
    let options = CandidateOptions { violations_max: 0, ..CandidateOptions::default() };
    let plain = CandidateOptions { candidates: Candidates::Off, ..options };
    let make = || -> Box<dyn Analysis> {
        match which {
            0 => Box::new(HbAnalysis::new(MemoryOnly, options)),
            1 => Box::new(WdcAnalysis::new(MemoryOnly, plain)),
            _ => Box::new(EdcAnalysis::new(MemoryOnly, options)),
        }
    };
    let least = number("MILLISECONDS", 300) as f64 / 1e3;
    let (mut events, mut seconds, mut memory) = (0, 0.0, 0);
    while seconds < least {
        let mut analysis = make();
        let mut source = BinaryReader::new(Cursor::new(bytes));
        let (took, number) = timed(|| run(&mut source, &mut [analysis.as_mut()], |_| {}));
        events += number?;
        seconds += took;
        memory = analysis.memory_bytes();
    }
    Ok((events as f64 / seconds / 1e6, memory))
}

fn panel(title: &str, log: bool, values: &[usize], rows: &[[f64; 3]]) -> Panel {
    let series = (0..3).map(|which| Series {
        name: NAMES[which],
        points: values.iter().zip(rows).map(|(x, row)| (*x as f64, row[which])).collect(),
    });
    Panel { title: title.to_owned(), log, series: series.collect() }
}
