//! Events per second of each analysis, from a binary trace of 8 threads, 16 locks and 20,000
//! variables.
//!
//! `EVENTS`, `THREADS`, `LOCKS`, `VARIABLES` change the trace; `FREE=1` accesses half of the
//! variables under any lock, so that most objects are shared under changing locks; `ONLY=wdc`,
//! `edc` or `hb` runs one analysis.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_predict::{
    Analysis, CandidateOptions, Candidates, EdcAnalysis, HbAnalysis, MemoryOnly, PredictError, run,
};
use anyorder_trace::{
    Block, EventKind, Mailbox, Mode, Op, SiteId, TaskId, TraceBuilder, TraceSink, TraceSource,
};
use std::io::Cursor;
use std::time::Instant;

#[derive(Clone, Copy)]
struct Shape {
    events: usize,
    threads: usize,
    locks: usize,
    variables: usize,
    free: bool,
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }
}

/// Writes a trace: each thread takes a free lock, accesses variables under it, gives it back, and
/// works on its own.
fn generate(shape: Shape) -> Vec<u8> {
    let mut b = TraceBuilder::new();
    let tasks: Vec<TaskId> = (0..shape.threads)
        .map(|i| {
            let handler = b.handler(&format!("T{i}"), Mailbox::None).expect("room");
            b.initial(handler)
        })
        .collect();
    for i in 0..shape.variables {
        b.variable(&format!("x{i}")).expect("room");
    }
    for i in 0..shape.locks {
        let name = b.interner.name(&format!("m{i}")).expect("room");
        b.interner.lock(name).expect("room");
    }
    let tables = b.interner.tables;
    let mut out = BinaryWriter::new(Vec::new()).expect("memory");
    let mut rng = Rng(88_172_645_463_325_252);
    let mut holder: Vec<Option<usize>> = vec![None; shape.locks];
    let mut held: Vec<Option<(usize, usize)>> = vec![None; shape.threads];
    let mut block = Block::default();
    let mut done = 0;
    while done < shape.events {
        let t = rng.below(shape.threads);
        let (op, operand) = next(shape, &mut rng, t, &mut holder, &mut held);
        block.columns.push(op, tasks[t], operand, SiteId::UNKNOWN);
        done += 1;
        if block.columns.len() == Block::EVENTS || done == shape.events {
            out.block(&tables, &block).expect("memory");
            block.first = done as u64;
            block.columns.clear();
        }
    }
    out.finish(&tables).expect("memory");
    out.into_inner()
}

fn next(
    shape: Shape,
    rng: &mut Rng,
    t: usize,
    holder: &mut [Option<usize>],
    held: &mut [Option<(usize, usize)>],
) -> (Op, u32) {
    let kind = [EventKind::Read, EventKind::Read, EventKind::Read, EventKind::Write][rng.below(4)];
    match held[t] {
        Some((lock, 0)) => {
            (holder[lock], held[t]) = (None, None);
            (EventKind::Release.into(), lock as u32)
        }
        Some((lock, left)) => {
            held[t] = Some((lock, left - 1));
            let guarded = shape.variables / 2 / shape.locks;
            let variable = if shape.free {
                rng.below(shape.variables / 2)
            } else {
                lock * guarded + rng.below(guarded)
            };
            (kind.into(), variable as u32)
        }
        None => {
            let lock = rng.below(shape.locks);
            if holder[lock].is_none() && rng.below(4) == 0 {
                (holder[lock], held[t]) = (Some(t), Some((lock, 1 + rng.below(12))));
                return (Op::new(EventKind::Acquire, Mode::EXCLUSIVE), lock as u32);
            }
            // Its own variables, and some that all threads only read.
            let half = shape.variables / 2;
            let own = half / 2 / shape.threads;
            if rng.below(4) == 0 {
                return (EventKind::Read.into(), (half + half / 2 + rng.below(half / 2)) as u32);
            }
            (kind.into(), (half + t * own + rng.below(own)) as u32)
        }
    }
}

/// Returns the processor time of this process in seconds, where the system reports it. Other
/// programs do not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

fn time(name: &str, bytes: &[u8], analyses: &mut [&mut dyn Analysis]) -> Result<(), PredictError> {
    let (start, processor) = (Instant::now(), processor_seconds());
    let events = run(&mut BinaryReader::new(Cursor::new(bytes)), analyses, |_| {})?;
    let wall = start.elapsed().as_secs_f64();
    let seconds = processor_seconds().zip(processor).map_or(wall, |(now, then)| now - then);
    let rate = events as f64 / seconds / 1e6;
    print!("{name:24} {events} events {seconds:.3} s ({wall:.3} s wall) {rate:7.1} M/s");
    for analysis in analyses {
        let memory = analysis.memory_bytes() / 1024;
        let counts = analysis.finish().counts;
        print!(
            "  {memory} KiB racy {} non-racy {} ordered {}",
            counts.racy, counts.non_racy, counts.ordered
        );
        print!(" lost {}", counts.candidates_lost);
    }
    println!();
    Ok(())
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> Result<(), PredictError> {
    let shape = Shape {
        events: number("EVENTS", 10_000_000),
        threads: number("THREADS", 8),
        locks: number("LOCKS", 16),
        variables: number("VARIABLES", 20_000),
        free: number("FREE", 0) == 1,
    };
    let bytes = generate(shape);
    println!("{:.2} bytes an event", bytes.len() as f64 / shape.events as f64);
    let mut reader = BinaryReader::new(Cursor::new(&bytes));
    let start = Instant::now();
    let mut block = Block::default();
    while reader.next_block(&mut block)? {}
    println!("reading alone: {:.1} M/s", shape.events as f64 / start.elapsed().as_secs_f64() / 1e6);
    let options = CandidateOptions::default();
    let plain = CandidateOptions { candidates: Candidates::Off, ..options };
    let only = std::env::var("ONLY").ok();
    let wants = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wants("wdc") {
        time("wdc", &bytes, &mut [&mut EdcAnalysis::new(MemoryOnly, plain)])?;
    }
    if wants("edc") {
        time("edc with candidates", &bytes, &mut [&mut EdcAnalysis::new(MemoryOnly, options)])?;
    }
    if wants("hb") {
        time("hb", &bytes, &mut [&mut HbAnalysis::new(MemoryOnly, options)])?;
    }
    Ok(())
}
