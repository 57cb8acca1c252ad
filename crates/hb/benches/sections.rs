//! The cost of event-driven EDC relative to happens-before, on generated traces with locks.
//!
//! `cargo bench -p anyorder-hb --bench sections` prints a table; `EVENTS=4000000` sets the length
//! of the traces.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_hb::{
    CandidateLimits, HappensBefore, Locks, Points, RaceOptions, RuleSet, check, order_candidates,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::synthetic::{Locked, locked};
use anyorder_trace::Trace;
use std::io;
use std::time::Instant;

fn main() -> io::Result<()> {
    let events = std::env::var("EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000_000);
    println!("million events a second of processor time; reading not included");
    println!(
        "{:<48} {:>6} {:>6} {:>6} {:>8} {:>13} {:>8} {:>9}",
        "trace", "HB", "EDC", "check", "EDC all", "chains", "racy", "non-racy"
    );
    let base = Locked { events, ..Locked::default() };
    let rows = [
        base,
        Locked { sessions: 8, ..base },
        Locked { handlers: 64, ..base },
        Locked { locks: 1, ..base },
        Locked { locks: 256, ..base },
        Locked { variables: 500, ..base },
    ];
    rows.iter().try_for_each(row)
}

fn row(config: &Locked) -> io::Result<()> {
    let mut bytes = Vec::new();
    locked(config, &mut BinaryWriter::new(&mut bytes)?)?;
    let trace = Trace::read(&mut BinaryReader::new(&bytes[..])).map_err(io::Error::other)?;
    drop(bytes);
    let (rules, points, cancel) = (RuleSet::Mailbox, Points::default(), Cancel::new());
    let relation = |locks| {
        let (speed, relation) =
            timed(&trace, || HappensBefore::with_locks(&trace, rules, locks, &points, &cancel));
        relation.map(|relation| (speed, relation.chains_count())).map_err(io::Error::other)
    };
    let (hb, hb_chains) = relation(Locks::HandOver)?;
    let (edc, edc_chains) = relation(Locks::Sections)?;
    let (checked, _) =
        timed(&trace, || check(&trace, &RaceOptions::new(rules), &Control::default()));
    let limits = CandidateLimits::default();
    let (all, found) =
        timed(&trace, || order_candidates(&trace, rules, &points, limits, &Control::default()));
    let found = found.map_err(io::Error::other)?;
    let Locked { handlers, sessions, locks, variables, .. } = config;
    let name =
        format!("{handlers} loops, {sessions} sessions, {locks} locks, {variables} variables");
    println!(
        "{name:<48} {hb:>6.2} {edc:>6.2} {checked:>6.2} {all:>8.2} {:>13} {:>8} {:>9}",
        format!("{hb_chains}, {edc_chains}"),
        found.racy_total,
        found.non_racy_total
    );
    Ok(())
}

/// Returns how many million events of a trace a function processes in a second of processor time.
fn timed<R>(trace: &Trace, run: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let before = processor_seconds(start);
    let result = run();
    let seconds = processor_seconds(start) - before;
    (trace.len() as f64 / seconds / 1e6, result)
}

/// The processor time of this thread in seconds, or wall time where the system does not report it.
fn processor_seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok());
    first.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds as f64 / 1e9)
}
