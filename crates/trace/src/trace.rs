//! A whole trace in memory, with the facts that every engine needs: the spans and handlers of
//! tasks.

use crate::columns::{Block, Columns};
use crate::error::{Place, Problem, Problems, ReadError};
use crate::event::{Event, EventKind};
use crate::ids::{EventId, HandlerId, LocationId, NameId, TaskId};
use crate::labels::Repeated;
use crate::stream::{TraceSink, TraceSource};
use crate::tables::{LabelScheme, Tables, TaskKind};
use std::io;
use std::sync::OnceLock;

/// The life of one task, as positions in the trace. Absent events are `NONE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskSpan {
    /// The handler that ran it, or that it was posted to; `NONE` when neither is known.
    pub handler: HandlerId,
    /// Its post.
    pub post: EventId,
    /// Its get: for posted tasks the first event.
    pub get: EventId,
    /// Its end.
    pub end: EventId,
    /// The first event that belongs to it; `NONE` for a task that never ran.
    pub first: EventId,
    /// The last event that belongs to it.
    pub last: EventId,
}

/// A whole trace: tables, columns, and the spans of its tasks.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    tables: Tables,
    columns: Columns,
    spans: Vec<TaskSpan>,
    /// The labels that several events have, once they were asked for.
    repeated: OnceLock<Repeated>,
    /// Whether there are branches, once that was asked for.
    has_branches: OnceLock<bool>,
}

impl PartialEq for Trace {
    fn eq(&self, other: &Trace) -> bool {
        self.tables == other.tables && self.columns == other.columns
    }
}

impl Eq for Trace {}

impl Trace {
    /// Reads a source to its end.
    ///
    /// # Errors
    ///
    /// Fails when the source fails, and when it holds more events than 32-bit ids can name.
    pub fn read(source: &mut dyn TraceSource) -> Result<Trace, ReadError> {
        let mut block = Block::default();
        let mut columns = Columns::default();
        while source.next_block(&mut block)? {
            if columns.len() + block.columns.len() >= u32::MAX as usize {
                return Err(ReadError::one(
                    "trace",
                    Problem::error(
                        Place { event: Some(block.first), ..Place::default() },
                        "more events than fit into memory: 4,294,967,294 at the most",
                    ),
                ));
            }
            columns.append(&block.columns);
        }
        Ok(Trace::new(source.take_tables(), columns))
    }

    /// Makes a trace of tables and columns. The caller guarantees that operands are in the range of
    /// their tables.
    ///
    /// # Panics
    ///
    /// Panics when there are more events than 32-bit ids can name.
    #[must_use]
    pub fn new(tables: Tables, columns: Columns) -> Trace {
        assert!(columns.len() < u32::MAX as usize, "a trace in memory has 32-bit event ids");
        let mut spans: Vec<TaskSpan> = tables
            .tasks
            .iter()
            .map(|task| TaskSpan { handler: task.handler, ..TaskSpan::default() })
            .collect();
        for row in 0..columns.len() {
            let id = EventId(row as u32);
            let task = columns.tasks[row];
            if let Some(span) = spans.get_mut(task.index()) {
                if span.first.is_none() {
                    span.first = id;
                }
                span.last = id;
                match columns.ops[row].kind() {
                    EventKind::Get => {
                        span.get = id;
                        span.handler = HandlerId(columns.operands[row]);
                    }
                    EventKind::End => span.end = id,
                    _ => {}
                }
            }
            if columns.ops[row].kind() == EventKind::Post
                && let Some(span) = spans.get_mut(columns.operands[row] as usize)
                && span.post.is_none()
            {
                span.post = id;
            }
        }
        Trace { tables, columns, spans, repeated: OnceLock::new(), has_branches: OnceLock::new() }
    }

    /// Returns the tables.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the columns.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns an event.
    ///
    /// # Panics
    ///
    /// Panics when the id is not one of this trace.
    #[inline]
    #[must_use]
    pub fn event(&self, id: EventId) -> Event {
        let row = id.index();
        Event {
            id,
            op: self.columns.ops[row],
            task: self.columns.tasks[row],
            operand: self.columns.operands[row],
            site: self.columns.sites[row],
        }
    }

    /// Returns all events in trace order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> + DoubleEndedIterator + '_ {
        (0..self.len()).map(|row| self.event(EventId(row as u32)))
    }

    /// Returns the number of tasks, including initial ones and those that never ran.
    #[must_use]
    pub fn tasks_count(&self) -> usize {
        self.spans.len()
    }

    /// Returns the life of a task.
    ///
    /// # Panics
    ///
    /// Panics when the id is not one of this trace.
    #[inline]
    #[must_use]
    pub fn span(&self, task: TaskId) -> TaskSpan {
        self.spans[task.index()]
    }

    /// Returns all tasks in the order of their table.
    pub fn task_ids(&self) -> impl ExactSizeIterator<Item = TaskId> + use<> {
        (0..self.spans.len() as u32).map(TaskId)
    }

    /// Returns whether the task was posted and has begun.
    #[must_use]
    pub fn ran_from_mailbox(&self, task: TaskId) -> bool {
        self.tables.tasks[task.index()].kind == TaskKind::Posted && !self.span(task).get.is_none()
    }

    /// Returns the handler that runs an event; `NONE` only in traces that are not well-formed.
    #[inline]
    #[must_use]
    pub fn handler_of(&self, event: EventId) -> HandlerId {
        self.spans[self.columns.tasks[event.index()].index()].handler
    }

    /// Returns the name of a task.
    #[must_use]
    pub fn task_name(&self, task: TaskId) -> &str {
        self.tables.name(self.tables.tasks[task.index()].name)
    }

    /// Returns whether an event says that its thread tested what it had read: an
    /// [`Other`](EventKind::Other) named `branch`.
    #[must_use]
    pub fn is_branch(&self, event: Event) -> bool {
        event.kind() == EventKind::Other && self.tables.is_branch(NameId(event.operand))
    }

    /// Returns whether the trace records where threads test what they have read. The first call is
    /// linear.
    #[must_use]
    pub fn has_branches(&self) -> bool {
        *self.has_branches.get_or_init(|| self.events().any(|event| self.is_branch(event)))
    }

    /// Returns the name of a handler, `?` for `NONE`.
    #[must_use]
    pub fn handler_name(&self, handler: HandlerId) -> &str {
        match handler.some() {
            Some(handler) => self.tables.name(self.tables.handlers[handler.index()].name),
            None => "?",
        }
    }

    /// Returns the name of an event in reports: the input's own number or name. If several events
    /// of its numbering have that, or if it could be taken for a number, it is `@N`, the number of
    /// the event from 0.
    ///
    /// The first call reads the labels of the whole trace, unless they are positions.
    #[must_use]
    pub fn label(&self, event: EventId) -> String {
        let number = self.columns.numbers.get(event.index()).copied();
        let Some(number) = number.filter(|_| self.tables.meta.labels != LabelScheme::Position)
        else {
            return (event.0 + 1).to_string();
        };
        let repeated = self.repeated.get_or_init(|| Repeated::of(&self.tables, &self.columns));
        let is_access = self.columns.ops[event.index()].kind().is_access();
        if repeated.has(self.tables.meta.labels, is_access, number) {
            return by_number(event);
        }
        match self.tables.meta.labels {
            LabelScheme::Name => match self.tables.name(NameId(number)) {
                name if name.is_empty() || name.starts_with('@') => by_number(event),
                name => name.to_owned(),
            },
            _ => number.to_string(),
        }
    }

    /// Returns a unique name of an event: its label, with the name of its numbering if accesses and
    /// operations have separate numbers.
    #[must_use]
    pub fn unique_label(&self, event: EventId) -> String {
        let label = self.label(event);
        match self.tables.meta.labels {
            _ if label.starts_with('@') => label,
            LabelScheme::AccessOrOperation if self.event(event).kind().is_access() => {
                format!("access:{label}")
            }
            LabelScheme::AccessOrOperation => format!("op:{label}"),
            _ => label,
        }
    }

    /// Returns the shortest name by which [`find`](Self::find) finds an event: its label, with the
    /// name of the numbering if that is not the numbering of accesses.
    #[must_use]
    pub fn event_name(&self, event: EventId) -> String {
        match self.event(event).kind().is_access() {
            true => self.label(event),
            false => self.unique_label(event),
        }
    }

    /// Finds the event with a name: its label, or `@N`, its number from 0. In traces with two
    /// numberings, a bare number means the access of that number if it exists, otherwise the
    /// operation. `op:N` and `access:N` (or `rwId:N`) select one.
    ///
    /// Returns `None` if no event has the name, or if several have it:
    /// [`all_named`](Self::all_named).
    #[must_use]
    pub fn find(&self, name: &str) -> Option<EventId> {
        match self.all_named(name)[..] {
            [event] => Some(event),
            _ => None,
        }
    }

    /// Returns the events with a name, as [`find`](Self::find) takes it: more than one if the
    /// trace gives it to several. Time: linear in the events.
    #[must_use]
    pub fn all_named(&self, name: &str) -> Vec<EventId> {
        if let Some(number) = name.strip_prefix('@') {
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let row = number.parse::<usize>().ok().filter(|row| digits && *row < self.len());
            return row.map(EventId::from_index).into_iter().collect();
        }
        let columns = &self.columns;
        let numbered = |number: u32, access: Option<bool>| {
            let is_wanted = |row: &usize| {
                let is_access = columns.ops[*row].kind().is_access();
                columns.numbers.get(*row) == Some(&number)
                    && access.is_none_or(|access| is_access == access)
            };
            (0..self.len()).filter(is_wanted).map(EventId::from_index).collect::<Vec<_>>()
        };
        match self.tables.meta.labels {
            labels if columns.numbers.is_empty() || labels == LabelScheme::Position => {
                let row = decimal(name).and_then(|number| number.checked_sub(1));
                let row = row.filter(|row| (*row as usize) < self.len());
                row.map(EventId).into_iter().collect()
            }
            LabelScheme::Name => {
                let is_named = |row: &usize| {
                    let id = columns.numbers.get(*row);
                    id.is_some_and(|id| self.tables.name(NameId(*id)) == name)
                };
                (0..self.len()).filter(is_named).map(EventId::from_index).collect()
            }
            LabelScheme::AccessOrOperation => {
                let (prefix, rest) = name.split_once(':').unwrap_or(("", name));
                let Some(number) = decimal(rest) else { return Vec::new() };
                match prefix {
                    "op" => numbered(number, Some(false)),
                    "access" | "rwId" => numbered(number, Some(true)),
                    "" => match numbered(number, Some(true)) {
                        none if none.is_empty() => numbered(number, Some(false)),
                        accesses => accesses,
                    },
                    _ => Vec::new(),
                }
            }
            _ => decimal(name).map_or_else(Vec::new, |number| numbered(number, None)),
        }
    }

    /// Returns the text of the location an event accesses.
    #[must_use]
    pub fn location_text(&self, location: LocationId) -> String {
        self.tables.location_text(location)
    }

    /// Writes the trace into a sink, in blocks.
    ///
    /// # Errors
    ///
    /// Fails when the sink fails.
    pub fn write(&self, sink: &mut dyn TraceSink) -> io::Result<()> {
        let mut source = TraceBlocks::new(self);
        let mut block = Block::default();
        while source.next_block(&mut block).map_err(io::Error::other)? {
            sink.block(&self.tables, &block)?;
        }
        sink.finish(&self.tables)
    }

    /// Returns the bytes held in memory; the part of the tables is approximate.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.columns.memory_bytes()
            + self.spans.capacity() * size_of::<TaskSpan>()
            + self.tables.names.memory_bytes()
            + self.tables.locations.capacity() * size_of::<crate::tables::Location>()
            + self.tables.tasks.capacity() * size_of::<crate::tables::TaskDef>()
    }
}

/// Returns the number of an event as a name.
fn by_number(event: EventId) -> String {
    format!("@{}", event.0)
}

/// Returns the number that a text is in the form in which labels show it.
fn decimal(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// The blocks of a trace in memory, as a source.
#[derive(Debug)]
pub struct TraceBlocks<'t> {
    trace: &'t Trace,
    next: usize,
    problems: Problems,
}

impl<'t> TraceBlocks<'t> {
    /// Starts at the first event.
    #[must_use]
    pub fn new(trace: &'t Trace) -> TraceBlocks<'t> {
        TraceBlocks { trace, next: 0, problems: Problems::default() }
    }
}

impl TraceSource for TraceBlocks<'_> {
    fn tables(&self) -> &Tables {
        &self.trace.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.next as u64;
        let columns = &self.trace.columns;
        let end = columns.len().min(self.next + Block::EVENTS);
        if self.next == end {
            return Ok(false);
        }
        block.columns.append_rows(columns, self.next..end);
        self.next = end;
        Ok(true)
    }

    fn problems(&self) -> &Problems {
        &self.problems
    }

    fn take_tables(&mut self) -> Tables {
        self.trace.tables.clone()
    }
}
