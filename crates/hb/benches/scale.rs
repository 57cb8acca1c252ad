//! How the time of a check grows with events, tasks and chains, on generated traces.
//!
//! `cargo bench -p anyorder-hb --bench scale` prints a table; with `-- --quick` only its smaller
//! rows.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_hb::{HappensBefore, RaceOptions, RuleSet, check};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::greatest_antichain;
use anyorder_testkit::synthetic::{EventDriven, Fixpoint, event_driven, fixpoint};
use anyorder_trace::{TaskId, Trace, TraceSink};
use std::io;
use std::time::Instant;

/// How many tasks the width is measured on.
const SAMPLE_TASKS: usize = 2_000;

fn main() -> io::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    println!(
        "{:<26} {:>10} {:>8} {:>7} {:>6} {:>11} {:>8} {:>8}",
        "trace", "events", "tasks", "chains", "rounds", "race pairs", "read s", "check s"
    );
    let driven = |events: u64, tasks: u32, sessions: u32| EventDriven {
        events,
        tasks,
        handlers: 20,
        sessions,
        seed: 1,
    };
    let mut rows = vec![
        ("events", driven(1_000_000, 20_000, 64)),
        ("events", driven(2_000_000, 20_000, 64)),
        ("events", driven(4_000_000, 20_000, 64)),
        ("tasks", driven(4_000_000, 50_000, 64)),
        ("tasks", driven(4_000_000, 100_000, 64)),
        ("chains", driven(4_000_000, 50_000, 16)),
        ("chains", driven(4_000_000, 50_000, 256)),
    ];
    if !quick {
        rows.push(("large", driven(10_000_000, 100_000, 256)));
    }
    for (name, config) in rows {
        row(&format!("{name}, {} sessions", config.sessions), |sink| event_driven(&config, sink))?;
    }
    for rungs in [4, 8, 16] {
        let config = Fixpoint { events: 250_000, rungs, lanes: 4, accesses: 8, seed: 1 };
        row(&format!("fixpoint, {rungs} rungs"), |sink| fixpoint(&config, sink))?;
    }
    if !quick {
        let config = Fixpoint { events: 1_000_000, rungs: 16, lanes: 4, accesses: 8, seed: 1 };
        row("fixpoint, large", |sink| fixpoint(&config, sink))?;
    }
    width(&driven(1_000_000, 40_000, 256))
}

/// Generates a trace into memory, in the binary format.
fn generate(make: impl FnOnce(&mut dyn TraceSink) -> io::Result<u64>) -> io::Result<(Trace, f64)> {
    let mut bytes = Vec::new();
    make(&mut BinaryWriter::new(&mut bytes)?)?;
    let start = Instant::now();
    let trace = Trace::read(&mut BinaryReader::new(&bytes[..])).map_err(io::Error::other)?;
    Ok((trace, start.elapsed().as_secs_f64()))
}

fn row(name: &str, make: impl FnOnce(&mut dyn TraceSink) -> io::Result<u64>) -> io::Result<()> {
    let (trace, read) = generate(make)?;
    let start = Instant::now();
    let checked = check(&trace, &RaceOptions::new(RuleSet::Mailbox), &Control::default());
    let seconds = start.elapsed().as_secs_f64();
    let s = &checked.statistics;
    println!(
        "{name:<26} {:>10} {:>8} {:>7} {:>6} {:>11} {read:>8.2} {seconds:>8.2}",
        s.events, s.tasks, s.chains, s.rounds, s.race_pairs
    );
    Ok(())
}

/// Prints the greatest antichain of a sample of consecutive tasks: how many are pairwise unordered.
fn width(config: &EventDriven) -> io::Result<()> {
    let (trace, _) = generate(|sink| event_driven(config, sink))?;
    let cancel = Cancel::new();
    let hb = HappensBefore::new(&trace, RuleSet::Mailbox, &cancel).map_err(io::Error::other)?;
    let mut ran: Vec<TaskId> = trace.task_ids().filter(|t| trace.ran_from_mailbox(*t)).collect();
    ran.sort_by_key(|task| trace.span(*task).first);
    let start = ran.len() / 2;
    let sample = &ran[start..ran.len().min(start + SAMPLE_TASKS)];
    let before = |a: u32, b: u32| {
        let (a, b) = (trace.span(sample[a as usize]), trace.span(sample[b as usize]));
        hb.happens_before(a.last, b.first)
    };
    let antichain = greatest_antichain(sample.len() as u32, before);
    println!(
        "greatest antichain of {} consecutive tasks ({} events, {} sessions): {} tasks",
        sample.len(),
        trace.len(),
        config.sessions,
        antichain.len()
    );
    Ok(())
}
