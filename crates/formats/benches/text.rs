//! The speed of reading and writing the text formats on one core.
//!
//! Run with `cargo bench -p anyorder-formats --bench text`. Real traces are in `data`.
#![allow(clippy::print_stdout, reason = "a bench prints its numbers")]

use anyorder_common::random::{Random, Rng};
use anyorder_formats::native_text::{NativeTextReader, NativeTextWriter};
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_trace::{Block, Trace, TraceSource};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

/// A text, read repeatedly.
struct Repeat<'t> {
    text: &'t [u8],
    at: usize,
    left: usize,
}

impl<'t> Repeat<'t> {
    fn new(text: &'t [u8], times: usize) -> Repeat<'t> {
        Repeat { text, at: 0, left: times }
    }
}

impl Read for Repeat<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let count = out.len().min(self.text.len() - self.at);
        out[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        if self.at == self.text.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        Ok(count)
    }
}

/// A trace with names, as tools for Java give it: threads that lock, read and write fields.
fn named_trace(events: usize) -> String {
    let mut random = Rng::new(1);
    let mut out = String::new();
    let mut lines = 0;
    while lines < events {
        let thread = random.below(16);
        let lock = random.below(50);
        let site = random.below(2_000);
        out.push_str(&format!("T{thread}|acq(L{lock})|{site}\n"));
        for _ in 0..random.below(20) {
            let op = if random.below(3) == 0 { "w" } else { "r" };
            let (object, field) = (random.below(400), random.below(12));
            let site = random.below(2_000);
            out.push_str(&format!("T{thread}|{op}(V{object}.{field}[3])|{site}\n"));
            lines += 1;
        }
        out.push_str(&format!("T{thread}|rel(L{lock})|{}\n", site + 1));
        lines += 2;
    }
    out
}

/// Runs a function that returns its events and bytes several times, and prints the best time,
/// because others use the machine too.
fn measure(what: &str, run: impl Fn() -> (u64, u64)) {
    const RUNS: usize = 12;
    let mut best = f64::INFINITY;
    let (mut events, mut bytes) = (0, 0);
    for _ in 0..RUNS {
        let started = Instant::now();
        (events, bytes) = run();
        best = best.min(started.elapsed().as_secs_f64());
    }
    println!(
        "{what:<36} {events:>8} events {:>6.1} million events/s {:>5.0} MB/s  (best of {RUNS})",
        events as f64 / best / 1e6,
        bytes as f64 / best / 1e6,
    );
}

/// Reads a source to its end and discards the events.
fn drain(source: &mut dyn TraceSource) -> u64 {
    let mut block = Block::default();
    let mut events = 0;
    while source.next_block(&mut block).expect("the trace is right") {
        events += block.columns.len() as u64;
    }
    events
}

/// Counts the events and discards them.
#[derive(Default)]
struct Sink {
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn measure_all(name: &str, text: &[u8], times: usize) {
    measure(&format!("std read, {name}"), || {
        let events = drain(&mut StdReader::new(Repeat::new(text, times)));
        (events, (text.len() * times) as u64)
    });
    let trace = Trace::read(&mut StdReader::new(text)).expect("the trace is right");
    measure(&format!("std write, {name}"), || {
        let mut sink = Sink::default();
        trace.write(&mut StdWriter::new(&mut sink)).expect("the sink takes all");
        (trace.len() as u64, sink.bytes)
    });
    measure(&format!("native text write, {name}"), || {
        let mut sink = Sink::default();
        trace.write(&mut NativeTextWriter::new(&mut sink)).expect("the sink takes all");
        (trace.len() as u64, sink.bytes)
    });
    let mut native = Vec::new();
    trace.write(&mut NativeTextWriter::new(&mut native)).expect("memory takes all");
    measure(&format!("native text read, {name}"), || {
        (drain(&mut NativeTextReader::new(&native[..])), native.len() as u64)
    });
}

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native");
    for name in ["memcached", "pbzip2"] {
        match std::fs::read(data.join(name).join("trace.std")) {
            Ok(text) => {
                let times = (50 << 20) / text.len();
                measure_all(name, &text, times);
            }
            Err(_) => println!("{name}: skipped, not there"),
        }
    }
    measure_all("generated, names", named_trace(500_000).as_bytes(), 4);
}
