//! A whole trace in memory, with the facts that every engine needs: the spans and handlers of
//! tasks.

use crate::columns::{Block, Columns};
use crate::error::{Place, Problem, Problems, ReadError};
use crate::event::{Event, EventKind};
use crate::ids::{EventId, HandlerId, LocationId, NameId, TaskId};
use crate::stream::{TraceSink, TraceSource};
use crate::tables::{LabelScheme, Tables, TaskKind};
use std::io;

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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    tables: Tables,
    columns: Columns,
    spans: Vec<TaskSpan>,
}

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
        Trace { tables, columns, spans }
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

    /// Returns the name of a handler, `?` for `NONE`.
    #[must_use]
    pub fn handler_name(&self, handler: HandlerId) -> &str {
        match handler.some() {
            Some(handler) => self.tables.name(self.tables.handlers[handler.index()].name),
            None => "?",
        }
    }

    /// Returns the input's own number or name of an event.
    #[must_use]
    pub fn label(&self, event: EventId) -> String {
        let number = self.columns.numbers.get(event.index()).copied();
        match (self.tables.meta.labels, number) {
            (LabelScheme::Name, Some(name)) => self.tables.name(NameId(name)).to_owned(),
            (LabelScheme::Line | LabelScheme::AccessOrOperation, Some(number)) => {
                number.to_string()
            }
            _ => (event.0 + 1).to_string(),
        }
    }

    /// Returns a unique name of an event: its label, with the name of its numbering if accesses and
    /// operations have separate numbers.
    #[must_use]
    pub fn unique_label(&self, event: EventId) -> String {
        let label = self.label(event);
        match self.tables.meta.labels {
            LabelScheme::AccessOrOperation if self.event(event).kind().is_access() => {
                format!("access:{label}")
            }
            LabelScheme::AccessOrOperation => format!("op:{label}"),
            _ => label,
        }
    }

    /// Finds the event with a label. In traces with two numberings, a bare number means the access
    /// of that number if it exists, otherwise the operation. `op:N` and `access:N` (or `rwId:N`)
    /// select one.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<EventId> {
        let (prefix, rest) = label.split_once(':').unwrap_or(("", label));
        let wanted = match prefix {
            "" => None,
            "op" => Some(false),
            "access" | "rwId" => Some(true),
            _ => return self.find_where(|event| self.label(event) == label),
        };
        let access = |event: EventId| self.event(event).kind().is_access();
        match wanted {
            Some(wanted) => self.find_where(|e| access(e) == wanted && self.label(e) == rest),
            None if self.tables.meta.labels == LabelScheme::AccessOrOperation => self
                .find_where(|e| access(e) && self.label(e) == rest)
                .or_else(|| self.find_where(|e| self.label(e) == rest)),
            None => self.find_where(|e| self.label(e) == rest),
        }
    }

    fn find_where(&self, test: impl Fn(EventId) -> bool) -> Option<EventId> {
        (0..self.len() as u32).map(EventId).find(|event| test(*event))
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
