//! The counts of a trace as JSON.

use super::{Info, Tally};
use anyorder_trace::{EventKind, LocationId};
use serde_json::{Value, json};

/// Returns the counts as one JSON object.
#[must_use]
pub fn json(info: &Info<'_>) -> Value {
    let (tables, tally) = (info.tables, info.tally);
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
    if let Some(size) = info.size {
        stats["file_bytes"] = json!(size);
    }
    let mut value = json!({
        "schema": 1, "tool": "anyorder", "version": env!("CARGO_PKG_VERSION"), "command": "info",
        "inputs": [{"path": info.path, "format": info.format.0}],
        "complete": info.complete, "origin": tables.meta.origin, "stats": stats,
        "handlers": handlers, "locations": locations, "locks": locks,
    });
    if !info.warnings.is_empty() {
        value["warnings"] = json!(info.warnings);
    }
    value
}

fn handler_json(info: &Info<'_>, handler: usize) -> Value {
    let tally = info.tally.handlers[handler];
    let mailbox = info.tables.handlers[handler].mailbox;
    json!({
        "handler": info.handler_name(handler), "mailbox": mailbox.word(), "events": tally.events,
        "tasks": tally.tasks, "posts_in": tally.posts_in, "posts_out": tally.posts_out,
    })
}
