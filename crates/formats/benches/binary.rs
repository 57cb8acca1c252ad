//! The speed of reading and writing the native binary format on one core, and its size.
//!
//! Run with `cargo bench -p anyorder-formats --bench binary`. Real traces are in `data`.
#![allow(clippy::print_stdout, reason = "a bench prints its numbers")]

use anyorder_common::random::{Random, Rng};
use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_formats::std::StdReader;
use anyorder_trace::{
    Block, EventKind, LabelScheme, Location, Mailbox, Site, SiteId, Trace, TraceBuilder,
    TraceSource,
};
use std::path::Path;
use std::time::{Duration, Instant};

/// The least number of events for each measurement.
const EVENTS: usize = 2_000_000;

/// The best of this many measurements counts.
const ROUNDS: usize = 15;

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native");
    println!(
        "{:24} {:>9} {:>9} {:>12} {:>12}",
        "trace", "events", "B/event", "decode M/s", "encode M/s"
    );
    for name in ["memcached", "pbzip2"] {
        match std::fs::read(data.join(name).join("trace.std")) {
            Ok(text) => {
                let trace =
                    Trace::read(&mut StdReader::new(&text[..])).expect("the trace is well-formed");
                measure(name, &trace);
                measure(&format!("{name} repeated"), &repeated(&trace, EVENTS));
            }
            Err(_) => println!("{name:24} skipped: not there"),
        }
    }
    measure("event-driven", &event_driven(EVENTS, 4));
    measure("event-driven, fine", &event_driven(EVENTS, 1));
    measure("array walks", &array_walks(EVENTS));
    measure("random", &random(EVENTS));
}

fn measure(name: &str, trace: &Trace) {
    let mut bytes = Vec::new();
    let encode = best(|| {
        let mut out = Vec::with_capacity(bytes.len() + 1024);
        trace
            .write(&mut BinaryWriter::new(&mut out).expect("memory takes it"))
            .expect("memory takes it");
        bytes = out;
    });
    let mut block = Block::default();
    let mut events = 0;
    let decode = best(|| {
        events = 0;
        let mut reader = BinaryReader::new(&bytes[..]);
        while reader.next_block(&mut block).expect("it was just written") {
            events += block.columns.len();
        }
    });
    assert_eq!(events, trace.len(), "every event comes back");
    println!(
        "{name:24} {events:>9} {:>9.3} {:>12.1} {:>12.1}",
        bytes.len() as f64 / events as f64,
        events as f64 / decode.as_secs_f64() / 1e6,
        events as f64 / encode.as_secs_f64() / 1e6,
    );
}

fn best(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

/// The events of a trace, repeated.
fn repeated(trace: &Trace, events: usize) -> Trace {
    let mut columns = trace.columns().clone();
    while columns.len() < events {
        columns.append(trace.columns());
        let next = *columns.numbers.last().unwrap_or(&0);
        let from = columns.len() - trace.len();
        for (i, number) in columns.numbers.iter_mut().skip(from).enumerate() {
            *number = next + i as u32;
        }
    }
    Trace::new(trace.tables().clone(), columns)
}

/// Tasks of about 100 events on 20 handlers, which read and write fields of objects and post
/// further tasks. The handlers take turns of about `turn` events.
fn event_driven(events: usize, turn: u64) -> Trace {
    const HANDLERS: usize = 20;
    let mut random = Rng::new(1);
    let mut b = TraceBuilder::new();
    b.interner.tables.meta.labels = LabelScheme::AccessOrOperation;
    let handlers: Vec<_> = (0..HANDLERS)
        .map(|i| b.handler(&format!("handler {i}"), Mailbox::Fifo).expect("few"))
        .collect();
    let sites: Vec<SiteId> = (0..2_000)
        .map(|line| b.interner.site(Site { line, ..Site::default() }).expect("few"))
        .collect();
    let class = b.interner.name("com.example.Model").expect("few");
    let fields: Vec<_> =
        (0..20).map(|i| b.interner.name(&format!("field{i}")).expect("few")).collect();
    let mut running = vec![(b.initial(handlers[0]), 0u64, 0u64); HANDLERS];
    let (mut accesses, mut operations) = (0, 0);
    while b.columns.len() < events {
        let h = random.below(HANDLERS as u64) as usize;
        for _ in 0..1 + random.below(2 * turn) {
            let (task, left, object) = running[h];
            let (kind, operand, site, task) = if left == 0 {
                let next = b.task(&format!("task on {h}"), handlers[h]).expect("few");
                let object = random.below(5_000);
                running[h] = (next, 20 + random.below(160), object);
                (EventKind::Get, h as u32, 0, next)
            } else {
                running[h].1 -= 1;
                let field = random.below(20) as usize;
                let location = Location::Field { object, class, field: fields[field] };
                let location = b.interner.location(location).expect("few");
                let kind = if random.below(3) == 0 { EventKind::Write } else { EventKind::Read };
                (kind, location.0, 1 + field * 40 + h, task)
            };
            let number = if kind.is_access() { &mut accesses } else { &mut operations };
            *number += 1;
            let number = *number;
            b.columns.push(kind.into(), task, operand, sites[site]);
            b.columns.numbers.push(number);
        }
    }
    b.finish()
}

/// Four threads walk arrays, where each element is a location of its own: as many distinct
/// operations as events.
fn array_walks(events: usize) -> Trace {
    let mut random = Rng::new(2);
    let mut b = TraceBuilder::new();
    let threads: Vec<_> =
        (0..4).map(|i| b.handler(&format!("T{i}"), Mailbox::None).expect("few")).collect();
    for i in 0..1_000_000 {
        let range = Location::Range { address: 0x7f00_0000_0000 + 8 * i, size: 8, generation: 0 };
        b.interner.location(range).expect("a million");
    }
    let mut at = [0u32, 250_000, 500_000, 750_000];
    while b.columns.len() < events {
        let t = random.below(4) as usize;
        let task = b.initial(threads[t]);
        b.push(task, EventKind::Write.into(), at[t]);
        at[t] = (at[t] + 1) % 1_000_000;
    }
    b.finish()
}

/// Reads and writes of random locations by random threads: nothing for the packer to find.
fn random(events: usize) -> Trace {
    let mut random = Rng::new(3);
    let mut b = TraceBuilder::new();
    let threads: Vec<_> =
        (0..40).map(|i| b.handler(&format!("T{i}"), Mailbox::None).expect("few")).collect();
    for i in 0..100_000 {
        b.variable(&format!("x{i}")).expect("few");
    }
    while b.columns.len() < events {
        let task = b.initial(threads[random.below(40) as usize]);
        let kind = if random.below(2) == 0 { EventKind::Write } else { EventKind::Read };
        b.push(task, kind.into(), random.below(100_000) as u32);
    }
    b.finish()
}
