//! Names of events and tasks: readable ones for errors, and unambiguous ones for the text of a
//! proof.

use super::proof::{Fact, Link, Why};
use anyorder_trace::{EventId, LabelScheme, TaskId, Trace};
use std::collections::HashMap;

/// Names for errors, which may be ambiguous. Ids outside the trace are allowed.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'t> {
    pub(super) trace: &'t Trace,
}

impl Renderer<'_> {
    /// The most facts of a clause in an error.
    const FACTS_MAX: usize = 8;

    pub(super) fn event(self, event: EventId) -> String {
        if event.index() < self.trace.len() {
            event_name(self.trace, event)
        } else {
            by_number(event.0)
        }
    }

    pub(super) fn facts(self, facts: &[Fact]) -> String {
        let mut shown: Vec<String> =
            facts.iter().take(Renderer::FACTS_MAX).map(|&fact| self.fact(fact)).collect();
        match facts.len().saturating_sub(Renderer::FACTS_MAX) {
            0 if facts.is_empty() => shown.push("the empty clause".to_owned()),
            0 => {}
            more => shown.push(format!("{more} more")),
        }
        shown.join(", ")
    }
}

/// Facts and links as text.
pub(super) trait Naming {
    /// Returns an event as it stands in a fact.
    fn event_text(&self, event: EventId) -> String;

    /// Returns a task as it stands in a fact.
    fn task_text(&self, task: TaskId) -> String;

    /// Returns a fact.
    fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::Runs { first, second } => {
                format!("runs {} {}", self.task_text(first), self.task_text(second))
            }
            Fact::Before { first, second } => {
                format!("before {} {}", self.event_text(first), self.event_text(second))
            }
        }
    }

    /// Returns a link of a cycle.
    fn link(&self, link: &Link) -> String {
        let why = match link.why {
            Why::Decided(fact) => self.fact(fact),
            given => given.word().to_owned(),
        };
        format!("{} {} {why}", self.event_text(link.from), self.event_text(link.to))
    }
}

impl Naming for Renderer<'_> {
    fn event_text(&self, event: EventId) -> String {
        self.event(event).escape_debug().to_string()
    }

    fn task_text(&self, task: TaskId) -> String {
        if task.index() < self.trace.tasks_count() {
            self.trace.task_name(task).escape_debug().to_string()
        } else {
            by_number(task.0)
        }
    }
}

/// The label of an event; with two numberings, it includes which one.
fn event_name(trace: &Trace, event: EventId) -> String {
    let label = trace.label(event);
    if trace.tables().meta.labels != LabelScheme::AccessOrOperation {
        return label;
    }
    let numbering = if trace.event(event).kind().is_access() { "rwId" } else { "op" };
    format!("{numbering}:{label}")
}

/// The name of something without a name of its own: its number from 0.
fn by_number(number: u32) -> String {
    format!("@{number}")
}

/// Unambiguous names: an event or task is named by its number if its name is not fit for the text,
/// or not unique.
pub(super) struct Names<'t> {
    trace: &'t Trace,
    events: Table,
    tasks: Table,
}

/// The map from names to ids.
struct Table {
    /// `None` for a name of several.
    by_name: HashMap<String, Option<u32>>,
    len: usize,
}

impl Naming for Names<'_> {
    fn event_text(&self, event: EventId) -> String {
        self.events.name(event.0, || event_name(self.trace, event))
    }

    fn task_text(&self, task: TaskId) -> String {
        self.tasks.name(task.0, || self.trace.task_name(task).to_owned())
    }
}

impl<'t> Names<'t> {
    /// Reads all names of a trace.
    pub(super) fn new(trace: &'t Trace) -> Names<'t> {
        let event = |row| event_name(trace, EventId(row));
        let task = |row| trace.task_name(TaskId(row)).to_owned();
        let events = Table::new(trace.len(), event);
        Names { trace, events, tasks: Table::new(trace.tasks_count(), task) }
    }

    pub(super) fn find_event(&self, name: &str) -> Option<EventId> {
        self.events.find(name).map(EventId)
    }

    pub(super) fn find_task(&self, name: &str) -> Option<TaskId> {
        self.tasks.find(name).map(TaskId)
    }
}

impl Table {
    fn new(len: usize, name: impl Fn(u32) -> String) -> Table {
        let mut by_name = HashMap::new();
        // Ids have 32 bits.
        for row in 0..len as u32 {
            let name = name(row);
            if is_fit(&name) {
                by_name.entry(name).and_modify(|named| *named = None).or_insert(Some(row));
            }
        }
        Table { by_name, len }
    }

    fn name(&self, row: u32, name: impl FnOnce() -> String) -> String {
        let name = ((row as usize) < self.len).then(name);
        let is_unique = |name: &String| matches!(self.by_name.get(name), Some(Some(_)));
        name.filter(is_unique).unwrap_or_else(|| by_number(row))
    }

    fn find(&self, name: &str) -> Option<u32> {
        if let Some(number) = name.strip_prefix('@') {
            let plain = number.bytes().all(|byte| byte.is_ascii_digit());
            let row = number.parse::<u32>().ok().filter(|_| plain);
            return row.filter(|&row| (row as usize) < self.len);
        }
        self.by_name.get(name).copied().flatten()
    }
}

/// Whether a name can be in the text: no blanks, no control characters, and neither a comment nor a
/// number.
fn is_fit(name: &str) -> bool {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.starts_with(['#', '@']) && !name.contains(bad)
}
