//! How the time of a check of robustness grows with the events of a trace.
//!
//! `cargo bench -p anyorder-robust --bench trace` doubles the events up to 10 million, and prints
//! seconds and the exponent of the growth; with `-- --quick` only up to 1 million. The first family
//! keeps the number of tasks in proportion to the events, and its tasks share variables: most
//! events interleave. The second shares only what it reads: no conflict.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_hb::RuleSet;
use anyorder_robust::trace::{TraceChecked, TraceOptions, check};
use anyorder_system::{Control, Progress};
use anyorder_testkit::synthetic::{EventDriven, event_driven};
use anyorder_trace::{Mailbox, Trace, TraceBuilder};
use std::io;
use std::sync::Mutex;
use std::time::Instant;

fn main() -> io::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let largest: u64 = if quick { 1_000_000 } else { 10_000_000 };
    println!(
        "{:<12} {:>10} {:>8} {:>9} {:>10} {:>10} {:>8} {:>8}  phases",
        "family", "events", "inputs", "edges", "components", "violations", "check s", "exponent"
    );
    let mut sizes = vec![largest];
    while sizes.len() < 5 {
        sizes.push(sizes[sizes.len() - 1] / 2);
    }
    sizes.reverse();
    let mut before = None;
    for events in &sizes {
        let tasks = (events / 100) as u32;
        let config = EventDriven { events: *events, tasks, handlers: 20, sessions: 64, seed: 1 };
        let mut bytes = Vec::new();
        event_driven(&config, &mut BinaryWriter::new(&mut bytes)?)?;
        let trace =
            Trace::read(&mut BinaryReader::new(bytes.as_slice())).map_err(io::Error::other)?;
        before = Some(row("interleaved", &trace, before));
    }
    before = None;
    for events in &sizes {
        let trace = separate(*events).map_err(io::Error::other)?;
        before = Some(row("separate", &trace, before));
    }
    Ok(())
}

/// Makes a trace of inputs that a bag's tasks handle in parallel, eight at a time, without a
/// conflict.
fn separate(events: u64) -> Result<Trace, anyorder_trace::TableFull> {
    let mut b = TraceBuilder::new();
    let ui = b.handler("ui", Mailbox::Fifo)?;
    let pools = (0..8).map(|i| b.handler(&format!("pool{i}"), Mailbox::Bag));
    let pools: Vec<_> = pools.collect::<Result<_, _>>()?;
    let user = b.handler("user", Mailbox::None)?;
    b.interner.tables.handlers[user.index()].untracked = true;
    while (b.columns.len() as u64) < events {
        let mut jobs = Vec::new();
        for pool in &pools {
            let (click, job) = (b.task("click", ui)?, b.task("job", *pool)?);
            b.post(b.initial(user), click)?;
            b.get(click)?;
            b.read(click, "settings")?;
            b.post(click, job)?;
            b.end(click)?;
            jobs.push(job);
        }
        for job in &jobs {
            b.get(*job)?;
        }
        for at in 0..20 {
            for (lane, job) in jobs.iter().enumerate() {
                b.write(*job, &format!("{lane}.{}", at % 5))?;
                b.read(*job, "settings")?;
            }
        }
        for job in &jobs {
            b.end(*job)?;
        }
    }
    Ok(b.finish())
}

/// When each phase began.
#[derive(Default)]
struct Phases(Mutex<Vec<(&'static str, Instant)>>);

impl Progress for Phases {
    fn report(&self, _done: u64, _total: Option<u64>) {}

    fn phase(&self, name: &'static str) {
        self.0.lock().expect("no phase panics").push((name, Instant::now()));
    }
}

impl Phases {
    /// Returns the seconds of each phase.
    fn text(&self) -> String {
        let mut begun = self.0.lock().expect("no phase panics").clone();
        begun.push(("", Instant::now()));
        let seconds = |pair: &[(&str, Instant)]| {
            format!("{} {:.2}", pair[0].0, (pair[1].1 - pair[0].1).as_secs_f64())
        };
        begun.windows(2).map(seconds).collect::<Vec<_>>().join(", ")
    }
}

/// Checks a trace and prints a row. Returns its events and seconds.
fn row(family: &str, trace: &Trace, before: Option<(f64, f64)>) -> (f64, f64) {
    let start = Instant::now();
    let options = TraceOptions::new(RuleSet::Mailbox);
    let phases = Phases::default();
    let control = Control { progress: &phases, ..Control::default() };
    let TraceChecked { counts, .. } = check(trace, &options, &control);
    let now = (trace.len() as f64, start.elapsed().as_secs_f64());
    let exponent = before.map_or(String::new(), |(events, seconds)| {
        format!("{:.2}", (now.1 / seconds).ln() / (now.0 / events).ln())
    });
    println!(
        "{family:<12} {:>10} {:>8} {:>9} {:>10} {:>10} {:>8.2} {exponent:>8}  {}",
        trace.len(),
        counts.events,
        counts.conflicts,
        counts.components,
        counts.violations,
        now.1,
        phases.text()
    );
    now
}
