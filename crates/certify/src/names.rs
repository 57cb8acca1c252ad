//! Names of events and tasks in the text of certificates.

use crate::text::is_plain_number;
use anyorder_trace::{EventId, LabelScheme, TaskId, Trace};
use std::collections::HashMap;

/// The label of an event; with two numberings, it includes which one.
pub(crate) fn event_name(trace: &Trace, event: EventId) -> String {
    let label = trace.label(event);
    if trace.tables().meta.labels != LabelScheme::AccessOrOperation {
        return label;
    }
    let numbering = if trace.event(event).kind().is_access() { "rwId" } else { "op" };
    format!("{numbering}:{label}")
}

/// The name of something without a name of its own: its number from 0.
pub(crate) fn by_number(number: u32) -> String {
    format!("@{number}")
}

/// The names of events and tasks in the text of certificates. An event or task is named by its
/// number, `@N` from 0, if its name does not fit into a text of words, or is not unique.
///
/// O(events) memory, but for traces whose events are labelled by position, or by lines that ascend,
/// which need no table.
#[derive(Debug)]
pub struct Names<'t> {
    trace: &'t Trace,
    /// `None` if the labels are the positions, or numbers that ascend.
    events: Option<Table>,
    tasks: Table,
}

/// The names of events in certificates that an engine writes: the labels that reports show, and
/// `@N` for one that several events have or that a text cannot hold.
///
/// O(events) memory for traces whose events are named in the trace, else none.
#[derive(Debug)]
pub struct WrittenNames<'t> {
    trace: &'t Trace,
    /// `None` if labels are numbers that the reader makes, which are unique.
    names: Option<Names<'t>>,
}

impl<'t> WrittenNames<'t> {
    /// Reads the names of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace) -> WrittenNames<'t> {
        let named = trace.tables().meta.labels == LabelScheme::Name;
        WrittenNames { trace, names: named.then(|| Names::new(trace)) }
    }

    /// Returns the name of an event.
    #[must_use]
    pub fn event(&self, event: EventId) -> String {
        match &self.names {
            Some(names) => names.event(event),
            None => self.trace.unique_label(event),
        }
    }
}

/// The map from names to ids.
#[derive(Debug)]
struct Table {
    /// `None` for a name of several.
    by_name: HashMap<String, Option<u32>>,
    len: usize,
}

impl<'t> Names<'t> {
    /// Reads all names of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace) -> Names<'t> {
        let event = |row| event_name(trace, EventId(row));
        let task = |row| trace.task_name(TaskId(row)).to_owned();
        let needs_none = match trace.tables().meta.labels {
            LabelScheme::Position => true,
            LabelScheme::Line => ascends(trace),
            LabelScheme::Name | LabelScheme::AccessOrOperation => false,
        };
        let events = (!needs_none).then(|| Table::new(trace.len(), event));
        Names { trace, events, tasks: Table::new(trace.tasks_count(), task) }
    }

    /// Finds an event by its label or its `@N`. With two numberings, labels are `op:N` and
    /// `access:N` or `rwId:N`. `None` if no event has the name, or if several have it.
    #[must_use]
    pub fn find_event(&self, name: &str) -> Option<EventId> {
        if name.starts_with('@') {
            return by_its_number(name, self.trace.len()).map(EventId);
        }
        match &self.events {
            None => {
                let number: u32 = name.parse().ok().filter(|n: &u32| n.to_string() == name)?;
                let row = match self.trace.tables().meta.labels {
                    LabelScheme::Line => {
                        self.trace.columns().numbers.binary_search(&number).ok()? as u32
                    }
                    _ => number.checked_sub(1)?,
                };
                Some(EventId(row)).filter(|event| event.index() < self.trace.len())
            }
            Some(events) => match name.strip_prefix("access:") {
                Some(number) if self.has_two_numberings() => events.find(&format!("rwId:{number}")),
                _ => events.find(name),
            }
            .map(EventId),
        }
    }

    /// Finds a task by its name or its `@N`.
    #[must_use]
    pub fn find_task(&self, name: &str) -> Option<TaskId> {
        if name.starts_with('@') {
            return by_its_number(name, self.tasks.len).map(TaskId);
        }
        self.tasks.find(name).map(TaskId)
    }

    /// Returns the name of an event in a text.
    #[must_use]
    pub fn event(&self, event: EventId) -> String {
        let is_known = event.index() < self.trace.len();
        match &self.events {
            Some(events) => events.name(event.0, || event_name(self.trace, event)),
            None if is_known => event_name(self.trace, event),
            None => by_number(event.0),
        }
    }

    /// Returns the name of a task in a text.
    #[must_use]
    pub fn task(&self, task: TaskId) -> String {
        self.tasks.name(task.0, || self.trace.task_name(task).to_owned())
    }

    fn has_two_numberings(&self) -> bool {
        self.trace.tables().meta.labels == LabelScheme::AccessOrOperation
    }
}

impl Table {
    fn new(len: usize, name: impl Fn(u32) -> String) -> Table {
        let mut by_name = HashMap::new();
        // Ids have 32 bits.
        for row in 0..len as u32 {
            by_name.entry(name(row)).and_modify(|named| *named = None).or_insert(Some(row));
        }
        Table { by_name, len }
    }

    fn name(&self, row: u32, name: impl FnOnce() -> String) -> String {
        let name = ((row as usize) < self.len).then(name).filter(|name| is_fit(name));
        let is_unique = |name: &String| matches!(self.by_name.get(name), Some(Some(_)));
        name.filter(is_unique).unwrap_or_else(|| by_number(row))
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied().flatten()
    }
}

/// Whether each event has a greater number than the one before it.
fn ascends(trace: &Trace) -> bool {
    let numbers = &trace.columns().numbers;
    numbers.len() == trace.len() && numbers.is_sorted_by(|one, next| one < next)
}

/// The number of `@N`, if it is below a bound.
fn by_its_number(name: &str, below: usize) -> Option<u32> {
    let number = name.strip_prefix('@')?;
    let row = number.parse::<u32>().ok().filter(|_| is_plain_number(number));
    row.filter(|&row| (row as usize) < below)
}

/// Whether a name can be a word of a text: no blanks, no control characters, and neither a comment
/// nor a number.
fn is_fit(name: &str) -> bool {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.starts_with(['#', '@']) && !name.contains(bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_formats::std::StdReader;

    /// Returns the names of the events of an STD trace, and what a search by name finds.
    fn names(text: &str, wanted: &[&str]) -> (Vec<String>, Vec<Option<u32>>) {
        let trace = Trace::read(&mut StdReader::new(text.as_bytes())).expect("a trace");
        let names = Names::new(&trace);
        let events = (0..trace.len() as u32).map(|row| names.event(EventId(row)));
        let found = wanted.iter().map(|name| names.find_event(name).map(|event| event.0));
        (events.collect(), found.collect())
    }

    #[test]
    fn events_are_named_by_lines_that_need_no_table() {
        let text = "T1|w(x)|7\n\nT2|w(x)|8\n# a word\nT1|r(x)|9\n";
        let wanted = ["1", "2", "3", "5", "6", "05", "0", "@1", "@3", "x", "-1", "4294967296"];
        let (events, found) = names(text, &wanted);
        assert_eq!(events, ["1", "3", "5"]);
        let expected = [Some(0), None, Some(1), Some(2), None, None, None, Some(1)];
        assert_eq!(found[..8], expected);
        assert_eq!(found[8..], [None; 4]);
    }
}
