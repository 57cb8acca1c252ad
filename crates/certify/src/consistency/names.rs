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

    fn task(self, task: TaskId) -> String {
        if task.index() < self.trace.tasks_count() {
            self.trace.task_name(task).to_owned()
        } else {
            by_number(task.0)
        }
    }

    pub(super) fn fact(self, fact: Fact) -> String {
        let (word, first, second) = match fact {
            Fact::Runs { first, second } => ("runs", self.task(first), self.task(second)),
            Fact::Before { first, second } => ("before", self.event(first), self.event(second)),
        };
        format!("{word} {} {}", first.escape_debug(), second.escape_debug())
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

    pub(super) fn link(self, link: &Link) -> String {
        let (from, to) = (self.event(link.from), self.event(link.to));
        let why = match link.why {
            Why::Decided(fact) => self.fact(fact),
            given => given.word().to_owned(),
        };
        format!("{} {} {why}", from.escape_debug(), to.escape_debug())
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
pub(super) struct Names {
    events: Table,
    tasks: Table,
}

/// The map from names to ids.
struct Table {
    by_name: HashMap<String, Named>,
    len: usize,
}

#[derive(Clone, Copy)]
enum Named {
    One(u32),
    Several,
}

impl Names {
    /// Reads all names of a trace.
    pub(super) fn new(trace: &Trace) -> Names {
        let event = |row| event_name(trace, EventId(row));
        let task = |row| trace.task_name(TaskId(row)).to_owned();
        Names {
            events: Table::new(trace.len(), event),
            tasks: Table::new(trace.tasks_count(), task),
        }
    }

    pub(super) fn event(&self, trace: &Trace, event: EventId) -> String {
        let named = (event.index() < trace.len()).then(|| event_name(trace, event));
        self.events.name(event.0, named)
    }

    pub(super) fn task(&self, trace: &Trace, task: TaskId) -> String {
        let named = (task.index() < trace.tasks_count()).then(|| trace.task_name(task).to_owned());
        self.tasks.name(task.0, named)
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
                let named = by_name.entry(name);
                named.and_modify(|named| *named = Named::Several).or_insert(Named::One(row));
            }
        }
        Table { by_name, len }
    }

    fn name(&self, row: u32, name: Option<String>) -> String {
        match name {
            Some(name) if matches!(self.by_name.get(&name), Some(Named::One(_))) => name,
            _ => by_number(row),
        }
    }

    fn find(&self, name: &str) -> Option<u32> {
        if let Some(number) = name.strip_prefix('@') {
            let plain = number.bytes().all(|byte| byte.is_ascii_digit());
            let row = number.parse::<u32>().ok().filter(|_| plain);
            return row.filter(|&row| (row as usize) < self.len);
        }
        match self.by_name.get(name) {
            Some(Named::One(row)) => Some(*row),
            _ => None,
        }
    }
}

/// Whether a name can be in the text: no blanks, no control characters, and neither a comment nor a
/// number.
fn is_fit(name: &str) -> bool {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.starts_with(['#', '@']) && !name.contains(bad)
}
