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
    let kinds = greatest(info.tally.kinds.iter().copied(), EventKind::ALL.len());
    let row = |(kind, n): (usize, u64)| {
        let share = n as f64 * 100.0 / info.tally.events as f64;
        format!("{:<12}{:>14} {share:>6.1} %", EventKind::ALL[kind].word(), count(n))
    };
    table(format!("{BOLD}events by kind{BOLD:#}"), kinds.into_iter().map(row), out)
}

fn handlers(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let busy = info.busy_handlers();
    let title = title("handlers", busy.len(), info.tables.handlers.len());
    let head = format!(
        "{BOLD}{title:<w$}{BOLD:#} {:<9}{:>9}{:>9}{:>10}{:>13}",
        "mailbox",
        "tasks",
        "posts in",
        "posts out",
        "events",
        w = NAME_WIDTH + 2
    );
    let row = |(handler, events): (usize, u64)| {
        let tally = info.tally.handlers[handler];
        format!(
            "{:<NAME_WIDTH$} {:<9}{:>9}{:>9}{:>10}{:>13}",
            shorten(&info.handler_name(handler), NAME_WIDTH),
            info.tables.handlers[handler].mailbox.word(),
            count(tally.tasks),
            count(tally.posts_in),
            count(tally.posts_out),
            count(events),
        )
    };
    table(head, busy.into_iter().map(row), out)
}

fn locations(info: &Info<'_>, w: usize, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locations();
    let title = title("hottest locations", hot.len(), info.tables.locations.len());
    let head = format!("{BOLD}{title:<t$}{BOLD:#} {:>13}{:>13}", "reads", "writes", t = w + 2);
    let row = |(location, _): (usize, u64)| {
        let [reads, writes] = info.tally.locations[location].map(count);
        let name = info.tables.location_text(LocationId::from_index(location));
        format!("{:<w$} {reads:>13}{writes:>13}", shorten_middle(&name, w))
    };
    table(head, hot.into_iter().map(row), out)
}

fn locks(info: &Info<'_>, w: usize, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locks();
    let title = title("locks", hot.len(), info.tables.locks.len());
    let head = format!("{BOLD}{title:<t$}{BOLD:#} {:>13}", "acquires", t = w + 2);
    let row = |(lock, acquires): (usize, u64)| {
        let name = info.tables.name(info.tables.locks[lock]);
        format!("{:<w$} {:>13}", shorten_middle(name, w), count(acquires))
    };
    table(head, hot.into_iter().map(row), out)
}

/// Writes a heading and rows; nothing if there are no rows.
fn table(
    head: String,
    rows: impl ExactSizeIterator<Item = String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.len() == 0 {
        return Ok(());
    }
    writeln!(out, "\n{head}")?;
    rows.into_iter().try_for_each(|row| writeln!(out, "  {row}"))
}

fn title(what: &str, shown: usize, all: usize) -> String {
    if shown < all { format!("{what} ({shown} of {})", count(all as u64)) } else { what.to_owned() }
}
