//! Speed and memory on a trace of very many events, generated while it is read.
//!
//! `EVENTS` is the length (200,000,000), `ANALYSES` the analyses to run (`hb,edc`; also `wdc`).
//! Seconds are processor time, including the generation of the events, whose own speed is printed
//! first. Memory is that of the process, which keeps nothing of the trace.

#![allow(clippy::print_stdout, reason = "a bench prints")]

mod measure;
mod workload;

use anyorder_predict::{
    Analysis, CandidateOptions, Candidates, EdcAnalysis, HbAnalysis, MemoryOnly, PredictError,
    WdcAnalysis, run,
};
use anyorder_trace::{Block, TraceSource};
use measure::{memory_kib, number, print_load, processor_seconds, timed};
use std::time::Instant;
use workload::{Shape, Workload};

/// The points at which memory and speed are printed, in tenths of the trace.
const REPORTED_TENTHS: [u64; 5] = [1, 3, 5, 8, 10];

fn main() -> Result<(), PredictError> {
    let events = number("EVENTS", 200_000_000);
    let shape = Shape { events, ..Shape::default() };
    print_load();
    let some = Shape { events: events.min(20_000_000), ..shape };
    let (seconds, made) = timed(|| make(some));
    println!("making events alone: {:.1} M/s", made? as f64 / seconds / 1e6);
    let options = CandidateOptions { violations_max: 1_000, ..CandidateOptions::default() };
    let plain = CandidateOptions { candidates: Candidates::Off, ..options };
    let wanted = std::env::var("ANALYSES").unwrap_or("hb,edc".to_owned());
    for name in wanted.split(',') {
        match name {
            "hb" => run_and_report(name, shape, &mut HbAnalysis::new(MemoryOnly, options))?,
            "wdc" => run_and_report(name, shape, &mut WdcAnalysis::new(MemoryOnly, plain))?,
            "edc" => run_and_report(name, shape, &mut EdcAnalysis::new(MemoryOnly, options))?,
            _ => println!("`{name}` is no analysis: hb, wdc, edc"),
        }
    }
    Ok(())
}

fn make(shape: Shape) -> Result<u64, PredictError> {
    let mut source = Workload::new(shape);
    let mut block = Block::default();
    let mut events = 0;
    while source.next_block(&mut block)? {
        events = block.first + block.columns.len() as u64;
    }
    Ok(events)
}

fn run_and_report(
    name: &str,
    shape: Shape,
    analysis: &mut dyn Analysis,
) -> Result<(), PredictError> {
    let start = Instant::now();
    let (mut before, mut events_before) = (processor_seconds(start), 0);
    let mut reported = 0;
    run(&mut Workload::new(shape), &mut [analysis], |events| {
        while reported < REPORTED_TENTHS.len()
            && events >= REPORTED_TENTHS[reported] * shape.events / 10
        {
            let now = processor_seconds(start);
            let (peak, present) = memory_kib("self").unwrap_or_default();
            println!(
                "{name:<8} {:>3} %: {events:>13} events, {:>6.1} M/s since the last line, resident {:.1} MiB, at most {:.1}",
                10 * REPORTED_TENTHS[reported],
                (events - events_before) as f64 / (now - before) / 1e6,
                present as f64 / 1024.0,
                peak as f64 / 1024.0,
            );
            (before, events_before) = (now, events);
            reported += 1;
        }
    })?;
    let total = processor_seconds(start);
    let memory = analysis.memory_bytes() / 1024;
    let counts = analysis.finish().counts;
    println!(
        "{name:<8} whole: {} racy accesses, {} candidates under a lock, {} ordered, {memory} KiB of its own, {:.0} s wall, {total:.0} s of this thread so far",
        counts.racy_seconds,
        counts.non_racy,
        counts.ordered,
        start.elapsed().as_secs_f64(),
    );
    Ok(())
}
