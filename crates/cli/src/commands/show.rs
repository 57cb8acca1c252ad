//! How `anyorder info` shows its counts: as text and as JSON.

use crate::args::InfoArgs;
use crate::input::Opened;
use crate::lanes::ascii_locale;
use crate::output::width;
use crate::tally::{Tally, greatest};
use anstyle::Style;
use anyorder_common::numbers::{bytes, count, plural};
use anyorder_common::text::shown;
use anyorder_common::text::{shorten, shorten_middle};
use anyorder_drive::warnings_of_stream;
use anyorder_trace::{EventKind, HandlerId, LabelScheme, LocationId, Tables, TraceOrder};
use serde_json::{Value, json};
use std::io::{self, Write};

const BOLD: Style = Style::new().bold();

/// The columns of names in tables with five further columns.
const NAME_WIDTH: usize = 36;

/// Returns the columns of names in tables with two further columns.
fn wide() -> usize {
    width().saturating_sub(2 + 28).clamp(NAME_WIDTH, 100)
}

/// What there is to show.
pub(crate) struct Info<'a> {
    pub(crate) args: &'a InfoArgs,
    pub(crate) opened: &'a Opened,
    pub(crate) tally: &'a Tally,
    pub(crate) complete: bool,
}

impl Info<'_> {
    fn tables(&self) -> &Tables {
        self.opened.source.tables()
    }

    fn disk_bytes_per_event(&self) -> Option<f64> {
        let size = self.opened.size.filter(|_| self.complete && self.tally.events > 0)?;
        Some(size as f64 / self.tally.events as f64)
    }

    fn handler_name(&self, handler: usize) -> String {
        let table = self.tables();
        table.name(table.handlers[handler].name).to_owned()
    }

    fn hot_locations(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.locations.iter().map(|[r, w]| r + w), self.args.top)
    }

    fn hot_locks(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.locks.iter().copied(), self.args.top)
    }

    fn busy_handlers(&self) -> Vec<(usize, u64)> {
        greatest(self.tally.handlers.iter().map(|h| h.events), self.args.top)
    }
}

/// Writes the counts for people.
pub(crate) fn text(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    head(info, out)?;
    kinds(info, out)?;
    handlers(info, out)?;
    locations(info, out)?;
    locks(info, out)?;
    if info.tally.events > 0 {
        writeln!(out, "\n{BOLD}handlers over time{BOLD:#}")?;
        let names: Vec<String> =
            (0..info.tables().handlers.len().min(256)).map(|h| info.handler_name(h)).collect();
        let ascii = info.args.ascii || ascii_locale();
        info.tally.lanes.draw(&names, width(), ascii, out)?;
    }
    Ok(())
}

fn head(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (tables, tally) = (info.tables(), info.tally);
    let mut line =
        format!("{}: {}", shown(&info.args.trace), crate::input::title(info.opened.format));
    if let Some(size) = info.opened.size {
        line.push_str(&format!(", {}", bytes(size)));
    }
    if !tables.meta.origin.is_empty() && tables.meta.origin != info.opened.format.word() {
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
    let title = title("handlers", busy.len(), info.tables().handlers.len());
    let columns = format!(
        "{:<9}{:>9}{:>9}{:>10}{:>13}",
        "mailbox", "tasks", "posts in", "posts out", "events"
    );
    writeln!(out, "\n{BOLD}{title:<w$}{BOLD:#} {columns}", w = NAME_WIDTH + 2)?;
    for (handler, events) in busy {
        let tally = info.tally.handlers[handler];
        let mailbox = info.tables().handlers[handler].mailbox.word();
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

fn locations(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locations();
    if hot.is_empty() {
        return Ok(());
    }
    let (title, w) = (title("hottest locations", hot.len(), info.tables().locations.len()), wide());
    writeln!(out, "\n{BOLD}{title:<t$}{BOLD:#} {:>13}{:>13}", "reads", "writes", t = w + 2)?;
    for (location, _) in hot {
        let [reads, writes] = info.tally.locations[location];
        let name = info.tables().location_text(LocationId::from_index(location));
        let (reads, writes) = (count(reads), count(writes));
        writeln!(out, "  {:<w$} {reads:>13}{writes:>13}", shorten_middle(&name, w))?;
    }
    Ok(())
}

fn locks(info: &Info<'_>, out: &mut dyn Write) -> io::Result<()> {
    let hot = info.hot_locks();
    if hot.is_empty() {
        return Ok(());
    }
    let (title, w) = (title("locks", hot.len(), info.tables().locks.len()), wide());
    writeln!(out, "\n{BOLD}{title:<t$}{BOLD:#} {:>13}", "acquires", t = w + 2)?;
    for (lock, acquires) in hot {
        let name = info.tables().name(info.tables().locks[lock]);
        writeln!(out, "  {:<w$} {:>13}", shorten_middle(name, w), count(acquires))?;
    }
    Ok(())
}

fn title(what: &str, shown: usize, all: usize) -> String {
    if shown < all { format!("{what} ({shown} of {})", count(all as u64)) } else { what.to_owned() }
}

/// Returns the counts as one JSON object.
pub(crate) fn json(info: &Info<'_>) -> Value {
    let (tables, tally) = (info.tables(), info.tally);
    let kinds: serde_json::Map<String, Value> = EventKind::ALL
        .iter()
        .filter(|kind| tally.kinds[**kind as usize] > 0)
        .map(|kind| (kind.word().to_owned(), json!(tally.kinds[*kind as usize])))
        .collect();
    let handlers: Vec<Value> =
        info.busy_handlers().iter().map(|(h, _)| handler_json(info, *h)).collect();
    let locations: Vec<Value> = info
        .hot_locations()
        .iter()
        .map(|(at, _)| {
            let [reads, writes] = tally.locations[*at];
            json!({"location": tables.location_text(LocationId::from_index(*at)), "reads": reads, "writes": writes})
        })
        .collect();
    let locks: Vec<Value> = info
        .hot_locks()
        .iter()
        .map(|(at, n)| json!({"lock": tables.name(tables.locks[*at]), "acquires": n}))
        .collect();
    let [initial, posted, bursts] = Tally::tasks_by_kind(tables);
    let mut stats = json!({
        "events": tally.events, "events_by_kind": kinds,
        "tasks_initial": initial, "tasks_posted": posted, "tasks_ran": tally.tasks_ran, "bursts": bursts,
        "handlers": tables.handlers.len(), "locations": tables.locations.len(),
        "locks": tables.locks.len(), "inputs": tables.inputs.len(),
        "sites": tables.sites.len().saturating_sub(1),
        "memory_bytes": (tally.memory_bytes_per_event(tables.meta.labels) * tally.events as f64) as u64,
    });
    if let Some((low, high)) = tally.times {
        stats["time_first"] = json!(low);
        stats["time_last"] = json!(high);
    }
    if let Some(size) = info.opened.size {
        stats["file_bytes"] = json!(size);
    }
    let path = info.args.trace.to_string_lossy();
    let mut value = json!({
        "schema": 1, "tool": "anyorder", "version": env!("CARGO_PKG_VERSION"), "command": "info",
        "inputs": [{"path": path, "format": info.opened.format.word()}],
        "complete": info.complete, "origin": tables.meta.origin, "stats": stats,
        "handlers": handlers, "locations": locations, "locks": locks,
    });
    let warnings = warnings_of_stream(&path, info.opened.source.problems());
    if !warnings.is_empty() {
        value["warnings"] = json!(warnings);
    }
    value
}

fn handler_json(info: &Info<'_>, handler: usize) -> Value {
    let tally = info.tally.handlers[handler];
    let mailbox = info.tables().handlers[HandlerId::from_index(handler).index()].mailbox;
    json!({
        "handler": info.handler_name(handler), "mailbox": mailbox.word(), "events": tally.events,
        "tasks": tally.tasks, "posts_in": tally.posts_in, "posts_out": tally.posts_out,
    })
}
