//! Names of events and tasks: for errors as they are, for the text of a proof so that they can be
//! found again.

use super::proof::{Fact, Link, Why};
use anyorder_trace::{EventId, LabelScheme, TaskId, Trace};
use std::collections::HashMap;

/// Names for errors, which may be ambiguous. Ids that are not of the trace are fine.
#[derive(Clone, Copy)]
pub(super) struct Shown<'t> {
    pub(super) trace: &'t Trace,
}

impl Shown<'_> {
    /// The number of facts of a clause that are shown.
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
            facts.iter().take(Shown::FACTS_MAX).map(|&fact| self.fact(fact)).collect();
        match facts.len().saturating_sub(Shown::FACTS_MAX) {
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

/// The label of an event; of two numberings it says which.
fn event_name(trace: &Trace, event: EventId) -> String {
    let label = trace.label(event);
    if trace.tables().meta.labels != LabelScheme::AccessOrOperation {
        return label;
    }
    let numbering = if trace.event(event).kind().is_access() { "rwId" } else { "op" };
    format!("{numbering}:{label}")
}

/// What stands for something that has no name, or none of its own: its number from 0.
fn by_number(number: u32) -> String {
    format!("@{number}")
}

/// Names that can be found again: an event or task whose name is not fit for the text, or which
/// shares it with another, goes by its number.
pub(super) struct Names {
    events: Table,
    tasks: Table,
}

/// Which names mean what.
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

/// Whether a name can stand in the text: no blanks, no control characters, and neither a comment
/// nor a number.
fn is_fit(name: &str) -> bool {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.starts_with(['#', '@']) && !name.contains(bad)
}
