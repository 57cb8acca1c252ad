//! Gathers the events of all lines, and finds problems of messages and reads.

use super::coherence::CoherenceLines;
use super::line::{INITIAL_MESSAGE, INITIAL_VALUE, Operation, Statement, Word};
use crate::fault::Fault;
use anyorder_trace::{
    Columns, EventKind, Handler, HandlerId, Interner, Location, LocationId, Mailbox, NameId, Place,
    Problem, Problems, SiteId, TableFull, TaskDef, TaskId, TaskKind,
};
use std::borrow::Cow;

/// Marks absent entries in tables by id.
const NONE: u32 = u32::MAX;

/// The information about a message so far. A line number is 0 where no line gave it.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    post_line: u64,
    get_line: u64,
    first_line: u64,
    name: NameId,
}

/// A read whose write is not found yet.
#[derive(Clone, Copy, Debug)]
struct PendingRead {
    row: u32,
    from: NameId,
    line: u64,
    offset: u32,
}

/// Everything read so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) interner: Interner,
    pub(super) columns: Columns,
    pub(super) problems: Problems,
    /// By name: the event of this id.
    event_of: Vec<u32>,
    /// By name: the task of this message.
    task_of: Vec<u32>,
    /// By name: the handler.
    handler_of: Vec<u32>,
    /// By handler: its initial task.
    initial_of: Vec<TaskId>,
    /// By task. Initial tasks have entries too, but they are unused.
    messages: Vec<Message>,
    reads: Vec<PendingRead>,
    coherence: CoherenceLines,
}

/// A line of the file: its number and its text.
#[derive(Clone, Copy)]
pub(super) struct Line<'l> {
    pub(super) number: u64,
    pub(super) text: &'l [u8],
}

impl Gathered {
    /// Adds the content of a line.
    ///
    /// # Errors
    ///
    /// Fails when a table is full. Faults of the line go to the problems.
    pub(super) fn line(
        &mut self,
        statement: &Statement<'_>,
        at: Line<'_>,
    ) -> Result<(), TableFull> {
        match statement {
            Statement::Nothing => Ok(()),
            Statement::Coherence { variable, writes } => {
                if writes.is_empty() {
                    let offset = variable.offset + variable.text.len();
                    self.wrong(at, offset, "expected the writes of the variable");
                    return Ok(());
                }
                let name = self.interner.name(variable.text)?;
                let location = self.interner.location(Location::Named(name))?;
                let mut names = Vec::with_capacity(writes.len());
                for write in writes {
                    names.push((self.interner.name(write.text)?, offset_of(write)));
                }
                let added = self.coherence.add(location, names, at.number);
                if let Err(message) = added {
                    let shown = format!("variable `{}` {message}", variable.text);
                    self.wrong(at, variable.offset, shown);
                }
                Ok(())
            }
            Statement::Event { id, handler, message, operation } => {
                self.event(id, handler, *message, *operation, at)
            }
        }
    }

    fn event(
        &mut self,
        id: &str,
        handler: &str,
        message: Word<'_>,
        operation: Operation<'_>,
        at: Line<'_>,
    ) -> Result<(), TableFull> {
        let row = self.columns.len() as u32;
        if row >= u32::MAX - 1 {
            return Err(TableFull("events"));
        }
        let name = self.interner.name(id)?;
        let known = slot(&mut self.event_of, name);
        if *known == NONE {
            *known = row;
        } else {
            self.wrong(at, 0, format!("there is an event `{id}` already"));
        }
        let handler_id = self.handler(handler)?;
        let is_get = operation == Operation::Get;
        let task = if message.text == INITIAL_MESSAGE {
            if is_get {
                self.wrong(at, message.offset, "an initial message has no `get`");
            }
            self.initial_of[handler_id.index()]
        } else {
            let task = self.task(message.text)?;
            self.in_message(task, handler_id, is_get, message, at);
            task
        };
        let (kind, operand) = match operation {
            Operation::Read { variable, from } => {
                let location = self.variable(variable)?;
                let from_name = self.interner.name(from.text)?;
                let offset = offset_of(&from);
                self.reads.push(PendingRead { row, from: from_name, line: at.number, offset });
                (EventKind::Read, location.0)
            }
            Operation::Write { variable } => {
                let location = self.variable(variable)?;
                self.coherence.write(location, at.number);
                (EventKind::Write, location.0)
            }
            Operation::Post { message: posted } => {
                let task = self.task(posted)?;
                let before = &mut self.messages[task.index()].post_line;
                if *before == 0 {
                    *before = at.number;
                } else {
                    let message =
                        format!("message `{posted}` is posted again, after line {before}");
                    self.wrong(at, 0, message);
                }
                (EventKind::Post, task.0)
            }
            Operation::Get => (EventKind::Get, handler_id.0),
        };
        self.columns.push(kind.into(), task, operand, SiteId::UNKNOWN);
        self.columns.numbers.push(name.0);
        Ok(())
    }

    /// Checks an event of a posted message against those before it.
    fn in_message(
        &mut self,
        task: TaskId,
        handler: HandlerId,
        is_get: bool,
        message: Word<'_>,
        at: Line<'_>,
    ) {
        let entry = &mut self.messages[task.index()];
        let Message { get_line, first_line, .. } = *entry;
        let first = first_line == 0;
        if first {
            entry.first_line = at.number;
        }
        if is_get && get_line == 0 {
            entry.get_line = at.number;
        }
        let handler_known = &mut self.interner.tables.tasks[task.index()].handler;
        if first {
            *handler_known = handler;
            self.interner.tables.handlers[handler.index()].mailbox = Mailbox::Fifo;
        } else if *handler_known != handler {
            let shown = format!(
                "message `{}` is on another handler than in line {first_line}",
                message.text
            );
            self.wrong(at, message.offset, shown);
        }
        if is_get && !first {
            let shown = if get_line == 0 {
                format!("`get` must be the first event of message `{}`", message.text)
            } else {
                format!("message `{}` has a `get` already, in line {get_line}", message.text)
            };
            self.wrong(at, message.offset, shown);
        }
    }

    /// Finds the writes of reads and the orders of writes. Lists what is missing at the end.
    pub(super) fn finish(&mut self, infer_coherence: bool) {
        self.resolve_reads();
        self.check_messages();
        let events = EventsByName { event_of: &self.event_of, columns: &self.columns };
        let tables = &mut self.interner.tables;
        self.coherence.finish(tables, &events, infer_coherence, &mut self.problems);
        // Several passes found the problems; people read them line by line.
        self.problems.list.sort_by_key(|problem| problem.place);
    }

    fn resolve_reads(&mut self) {
        let names = &self.interner.tables.names;
        for read in &self.reads {
            let from = names.get(read.from);
            if from == INITIAL_VALUE {
                self.columns.refers.push(read.row, Columns::INITIAL);
                continue;
            }
            let location = self.columns.operands[read.row as usize];
            let message = match self.event_of.get(read.from.index()).filter(|row| **row != NONE) {
                None => format!("there is no event `{from}` to read from"),
                Some(row) => {
                    let at = *row as usize;
                    if self.columns.ops[at].kind() != EventKind::Write {
                        format!("event `{from}` is no write, so nothing can be read from it")
                    } else if self.columns.operands[at] != location {
                        format!("event `{from}` writes another variable than the one that is read")
                    } else {
                        self.columns.refers.push(read.row, u64::from(*row));
                        continue;
                    }
                }
            };
            let place = Place::line_column(read.line, read.offset + 1);
            self.problems.push(Problem::error(place, message).with_text(from.as_bytes()));
        }
    }

    fn check_messages(&mut self) {
        let tables = &self.interner.tables;
        for (task, message) in tables.tasks.iter().zip(&self.messages) {
            if task.kind != TaskKind::Posted {
                continue;
            }
            let name = tables.name(message.name);
            let (line, shown) = match (message.post_line, message.get_line, message.first_line) {
                (post, 0, 0) => (post, format!("message `{name}` is posted but never begun")),
                (0, 0, first) => {
                    (first, format!("message `{name}` has neither a `post` nor a `get`"))
                }
                (_, 0, first) => (first, format!("message `{name}` has no `get`")),
                (0, get, _) => (get, format!("message `{name}` is begun but never posted")),
                _ => continue,
            };
            self.problems.push(Problem::error(Place::line(line), shown).with_text(name.as_bytes()));
        }
    }

    fn wrong(&mut self, at: Line<'_>, offset: usize, message: impl Into<Cow<'static, str>>) {
        self.problems.push(Fault::new(offset, message).problem(at.number, at.text));
    }

    fn variable(&mut self, name: &str) -> Result<LocationId, TableFull> {
        let name = self.interner.name(name)?;
        self.interner.location(Location::Named(name))
    }

    fn handler(&mut self, text: &str) -> Result<HandlerId, TableFull> {
        let name = self.interner.name(text)?;
        let known = *slot(&mut self.handler_of, name);
        if known != NONE {
            return Ok(HandlerId(known));
        }
        let handler = self.interner.push_handler(Handler { name, ..Handler::default() })?;
        *slot(&mut self.handler_of, name) = handler.0;
        let initial = self.push_task(name, TaskKind::Initial, handler)?;
        self.initial_of.push(initial);
        Ok(handler)
    }

    fn task(&mut self, text: &str) -> Result<TaskId, TableFull> {
        let name = self.interner.name(text)?;
        let known = *slot(&mut self.task_of, name);
        if known != NONE {
            return Ok(TaskId(known));
        }
        let task = self.push_task(name, TaskKind::Posted, HandlerId::NONE)?;
        *slot(&mut self.task_of, name) = task.0;
        Ok(task)
    }

    fn push_task(
        &mut self,
        name: NameId,
        kind: TaskKind,
        handler: HandlerId,
    ) -> Result<TaskId, TableFull> {
        let task = TaskDef { name, kind, handler, ..TaskDef::default() };
        let task = self.interner.push_task(task)?;
        self.messages.push(Message { name, ..Message::default() });
        Ok(task)
    }
}

/// Finds events by the name of their id.
pub(super) struct EventsByName<'a> {
    event_of: &'a [u32],
    columns: &'a Columns,
}

impl EventsByName<'_> {
    /// Returns the number of the write of `location` that has this name.
    pub(super) fn write_of(&self, name: NameId, location: LocationId) -> Option<u32> {
        let row = *self.event_of.get(name.index())?;
        let op = self.columns.ops.get(row as usize)?;
        let same = self.columns.operands[row as usize] == location.0;
        (op.kind() == EventKind::Write && same).then_some(row)
    }

    /// Returns the first write of `location`, in the order of the file, for which `test` holds.
    pub(super) fn find_write(
        &self,
        location: LocationId,
        test: impl Fn(u32) -> bool,
    ) -> Option<NameId> {
        let columns = self.columns;
        let row = (0..columns.len()).find(|row| {
            columns.ops[*row].kind() == EventKind::Write
                && columns.operands[*row] == location.0
                && test(*row as u32)
        })?;
        Some(NameId(columns.numbers[row]))
    }
}

fn offset_of(word: &Word<'_>) -> u32 {
    u32::try_from(word.offset).unwrap_or(u32::MAX - 1)
}

/// Returns the entry of a name, extending the table as needed.
fn slot(table: &mut Vec<u32>, name: NameId) -> &mut u32 {
    if table.len() <= name.index() {
        table.resize(name.index() + 1, NONE);
    }
    &mut table[name.index()]
}
