//! The contents of a trace, counted while it is streamed: as text and as JSON.

mod json;
mod lanes;
mod tally;

pub use json::json;
pub use tally::Tally;

use anstyle::Style;
use anyorder_common::numbers::{bytes, count, plural};
use anyorder_common::text::{escape, shorten, shorten_middle};
use anyorder_finding::Warning;
use anyorder_trace::{EventKind, LabelScheme, LocationId, Tables, TraceOrder};
use std::io::{self, Write};
use tally::greatest;

const BOLD: Style = Style::new().bold();

/// The width of names in tables with five other columns.
const NAME_WIDTH: usize = 36;

/// The facts about a trace to show.
#[derive(Clone, Debug)]
pub struct Info<'a> {
    /// Its path, `-` for standard input.
    pub path: &'a str,
    /// The word of its format, and the format's name for people.
    pub format: (&'a str, &'a str),
    /// The size of the file, if it is one.
    pub size: Option<u64>,
    /// Its tables.
    pub tables: &'a Tables,
    /// The warnings of its reader.
    pub warnings: Vec<Warning>,
    /// Its counts.
    pub tally: &'a Tally,
    /// Whether it was read completely.
    pub complete: bool,
    /// The number of locations, handlers and locks to list.
    pub top: usize,
}

impl Info<'_> {
    fn disk_bytes_per_event(&self) -> Option<f64> {
        let size = self.size.filter(|_| self.complete && self.tally.events > 0)?;
        Some(size as f64 / self.tally.events as f64)
    }

    fn handler_name(&self, handler: usize) -> String {
        self.tables.name(self.tables.handlers[handler].name).to_owned()
    }

    fn hot_locations(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.locations.iter().map(|[r, w]| r + w), self.top)
    }

    fn hot_locks(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.locks.iter().copied(), self.top)
    }

    fn busy_handlers(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.handlers.iter().map(|h| h.events), self.top)
    }
}

/// Writes the counts for people, `width` columns wide. `ascii` restricts the picture to ASCII.
///
/// # Errors
///
/// Fails when `out` does.
pub fn text(info: &Info<'_>, width: usize, ascii: bool, out: &mut dyn Write) -> io::Result<()> {
    head(info, out)?;
    kinds(info, out)?;
    handlers(info, out)?;
    let wide = width.saturating_sub(2 + 28).clamp(NAME_WIDTH, 100);
    locations(info, wide, out)?;
    locks(info, wide, out)?;
    if info.tally.events > 0 {
        writeln!(out, "\n{BOLD}handlers over time{BOLD:#}")?;
        let names: Vec<String> =
            (0..info.tables.handlers.len().min(256)).map(|h| info.handler_name(h)).collect();
        info.tally.lanes.draw(&names, width, ascii, out)?;
    }
    Ok(())
}

fn head(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (tables, tally) = (info.tables, info.tally);
    let (word, title) = info.format;
    let mut line = format!("{}: {title}", escape(info.path));
    if let Some(size) = info.size {
        line.push_str(&format!(", {}", bytes(size)));
    }
    if !tables.meta.origin.is_empty() && tables.meta.origin != word {
        line.push_str(&format!(", first read from {}", shorten(&tables.meta.origin, 40)));
    }
    if !info.complete {
        line.push_str(" (interrupted: what was read so far)");
    }
    writeln!(out, "{BOLD}{line}{BOLD:#}")?;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:<12}{value}");
    let memory = tally.memory_bytes_per_event(tables.meta.labels);
    let mut event_line = format!("{} ({memory:.1} bytes each in memory", count(tally.events));
    if let Some(disk) = info.disk_bytes_per_event() {
        event_line.push_str(&format!(", {disk:.1} on disk"));
    }
    row("events", event_line + ")")?;
    row("labels", labels(tables).to_owned())?;
    let [initial, posted, bursts] = Tally::tasks_by_kind(tables);
    let mut tasks = format!(
        "{} posted ({} ran), {} initial",
        count(posted),
        count(tally.tasks_ran),
        count(initial)
    );
    if bursts > 0 {
        tasks.push_str(&format!(", {}", plural(bursts, "burst")));
    }
    row("tasks", tasks)?;
    row("handlers", count(tables.handlers.len() as u64))?;
    row("locations", count(tables.locations.len() as u64))?;
    row("locks", count(tables.locks.len() as u64))?;
    if !tables.inputs.is_empty() {
        row("inputs", count(tables.inputs.len() as u64))?;
    }
    row("sites", count(tables.sites.len().saturating_sub(1) as u64))?;
    if let Some((low, high)) = tally.times {
        row("time", format!("{} to {} (virtual)", count(low), count(high)))?;
    }
    Ok(())
}

fn labels(tables: &Tables) -> &'static str {
    match (tables.meta.labels, tables.meta.order) {
        (_, TraceOrder::Partial) => "names; only the events of one task stand in order",
        (LabelScheme::Position, _) => "events are numbered by position, from 1",
        (LabelScheme::Line, _) => "events are numbered by line",
        (LabelScheme::Name, _) => "events have names",
        (LabelScheme::AccessOrOperation, _) => "accesses and operations are numbered apart",
    }
}

fn kinds(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    if info.tally.events == 0 {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}events by kind{BOLD:#}")?;
    for (kind, n) in greatest(info.tally.kinds.iter().copied(), EventKind::ALL.len()) {
        let share = n as f64 * 100.0 / info.tally.events as f64;
        writeln!(out, "  {:<12}{:>14} {share:>6.1} %", EventKind::ALL[kind].word(), count(n))?;
    }
    Ok(())
}

fn handlers(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let busy = info.busy_handlers();
    if busy.is_empty() {
        return Ok(());
    }
    let title = title("handlers", busy.len(), info.tables.handlers.len());
    let columns = format!(
        "{:<9}{:>9}{:>9}{:>10}{:>13}",
        "mailbox", "tasks", "posts in", "posts out", "events"
    );
    writeln!(out, "\n{BOLD}{title:<w$}{BOLD:#} {columns}", w = NAME_WIDTH + 2)?;
    for (handler, events) in busy {
        let tally = info.tally.handlers[handler];
        let mailbox = info.tables.handlers[handler].mailbox.word();
        writeln!(
            out,
            "  {:<NAME_WIDTH$} {mailbox:<9}{:>9}{:>9}{:>10}{:>13}",
            shorten(&info.handler_name(handler), NAME_WIDTH),
            count(tally.tasks),
            count(tally.posts_in),
            count(tally.posts_out),
            count(events),
        )?;
    }
    Ok(())
}

fn locations(info: &Info<'_>, w: usize, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locations();
    if hot.is_empty() {
        return Ok(());
    }
    let title = title("hottest locations", hot.len(), info.tables.locations.len());
    writeln!(out, "\n{BOLD}{title:<t$}{BOLD:#} {:>13}{:>13}", "reads", "writes", t = w + 2)?;
    for (location, _) in hot {
        let [reads, writes] = info.tally.locations[location];
        let name = info.tables.location_text(LocationId::from_index(location));
        let (reads, writes) = (count(reads), count(writes));
        writeln!(out, "  {:<w$} {reads:>13}{writes:>13}", shorten_middle(&name, w))?;
    }
    Ok(())
}

fn locks(info: &Info<'_>, w: usize, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locks();
    if hot.is_empty() {
        return Ok(());
    }
    let title = title("locks", hot.len(), info.tables.locks.len());
    writeln!(out, "\n{BOLD}{title:<t$}{BOLD:#} {:>13}", "acquires", t = w + 2)?;
    for (lock, acquires) in hot {
        let name = info.tables.name(info.tables.locks[lock]);
        writeln!(out, "  {:<w$} {:>13}", shorten_middle(name, w), count(acquires))?;
    }
    Ok(())
}

fn title(what: &str, shown: usize, all: usize) -> String {
    if shown < all { format!("{what} ({shown} of {})", count(all as u64)) } else { what.to_owned() }
}
