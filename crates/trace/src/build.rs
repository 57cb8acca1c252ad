//! Builds small traces by hand, for tests, generators and adapters.

use crate::columns::Columns;
use crate::event::{EventKind, Mode, Op};
use crate::ids::{EventId, HandlerId, InputId, LocationId, SiteId, TaskId};
use crate::interner::{Interner, TableFull};
use crate::tables::{Handler, Input, Location, Mailbox, Site, TaskDef, TaskKind};
use crate::trace::Trace;

/// Builds a trace event by event. Equal names give equal ids.
///
/// ```
/// use anyorder_trace::{EventKind, Mailbox, TraceBuilder};
///
/// let mut b = TraceBuilder::new();
/// let main = b.handler("main", Mailbox::Fifo)?;
/// let io = b.handler("io", Mailbox::None)?;
/// let load = b.task("load", main)?;
/// b.post(b.initial(io), load)?;
/// b.get(load)?;
/// b.write(load, "cache")?;
/// b.end(load)?;
/// let trace = b.finish();
/// assert_eq!(trace.len(), 4);
/// assert_eq!(trace.event(trace.span(load).get).kind(), EventKind::Get);
/// # Ok::<(), anyorder_trace::TableFull>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TraceBuilder {
    /// The tables. Fill them directly where no method exists.
    pub interner: Interner,
    /// The events so far.
    pub columns: Columns,
    initial: Vec<TaskId>,
}

impl TraceBuilder {
    /// Starts an empty trace, whose events are labelled by position.
    #[must_use]
    pub fn new() -> TraceBuilder {
        TraceBuilder::default()
    }

    /// Adds a handler and its initial task.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn handler(&mut self, name: &str, mailbox: Mailbox) -> Result<HandlerId, TableFull> {
        let name = self.interner.name(name)?;
        let handler = self.interner.push_handler(Handler { name, mailbox, untracked: false })?;
        let task = TaskDef { name, handler, ..TaskDef::default() };
        let initial = self.interner.push_task(task)?;
        self.initial.push(initial);
        Ok(handler)
    }

    /// Returns the initial task of a handler that [`handler`](Self::handler) created.
    ///
    /// # Panics
    ///
    /// Panics when the handler was not made here.
    #[must_use]
    pub fn initial(&self, handler: HandlerId) -> TaskId {
        self.initial[handler.index()]
    }

    /// Adds a task that can be posted to `handler`, without delay.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn task(&mut self, name: &str, handler: HandlerId) -> Result<TaskId, TableFull> {
        self.delayed_task(name, handler, 0)
    }

    /// Adds a task that can be posted to `handler` with a delay.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn delayed_task(
        &mut self,
        name: &str,
        handler: HandlerId,
        delay: u64,
    ) -> Result<TaskId, TableFull> {
        let name = self.interner.name(name)?;
        let kind = TaskKind::Posted;
        self.interner.push_task(TaskDef { name, kind, handler, delay, ..TaskDef::default() })
    }

    /// Returns the location of a named variable.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn variable(&mut self, name: &str) -> Result<LocationId, TableFull> {
        let name = self.interner.name(name)?;
        self.interner.location(Location::Named(name))
    }

    /// Returns a plain input event.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn input(&mut self, name: &str) -> Result<InputId, TableFull> {
        let name = self.interner.name(name)?;
        self.interner.input(Input { name, ..Input::default() })
    }

    /// Appends an event with a raw operand.
    pub fn push(&mut self, task: TaskId, op: Op, operand: u32) -> EventId {
        let id = EventId::from_index(self.columns.len());
        self.columns.push(op, task, operand, SiteId::UNKNOWN);
        id
    }

    /// Sets the source position of the last event.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn at(&mut self, file: &str, line: u32) -> Result<&mut TraceBuilder, TableFull> {
        let file = self.interner.name(file)?;
        let site = self.interner.site(Site { file, line, ..Site::default() })?;
        if let Some(last) = self.columns.sites.last_mut() {
            *last = site;
        }
        Ok(self)
    }

    /// Appends a post of `posted` by `task`.
    ///
    /// # Errors
    ///
    /// Never fails; the result keeps building uniform.
    pub fn post(&mut self, task: TaskId, posted: TaskId) -> Result<EventId, TableFull> {
        Ok(self.push(task, EventKind::Post.into(), posted.0))
    }

    /// Appends the get of `task` on its handler.
    ///
    /// # Errors
    ///
    /// Never fails; the result keeps building uniform.
    pub fn get(&mut self, task: TaskId) -> Result<EventId, TableFull> {
        let handler = self.interner.tables.tasks[task.index()].handler;
        Ok(self.push(task, EventKind::Get.into(), handler.0))
    }

    /// Appends the end of `task`.
    ///
    /// # Errors
    ///
    /// Never fails; the result keeps building uniform.
    pub fn end(&mut self, task: TaskId) -> Result<EventId, TableFull> {
        Ok(self.push(task, EventKind::End.into(), 0))
    }

    /// Appends a plain read of a named variable.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn read(&mut self, task: TaskId, variable: &str) -> Result<EventId, TableFull> {
        self.access(task, EventKind::Read, variable)
    }

    /// Appends a plain write of a named variable.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn write(&mut self, task: TaskId, variable: &str) -> Result<EventId, TableFull> {
        self.access(task, EventKind::Write, variable)
    }

    fn access(
        &mut self,
        task: TaskId,
        kind: EventKind,
        variable: &str,
    ) -> Result<EventId, TableFull> {
        let location = self.variable(variable)?;
        Ok(self.push(task, kind.into(), location.0))
    }

    /// Appends an acquire of the named lock.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn acquire(&mut self, task: TaskId, lock: &str, mode: Mode) -> Result<EventId, TableFull> {
        self.on_lock(task, Op::new(EventKind::Acquire, mode), lock)
    }

    /// Appends a release of the named lock.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn release(&mut self, task: TaskId, lock: &str, mode: Mode) -> Result<EventId, TableFull> {
        self.on_lock(task, Op::new(EventKind::Release, mode), lock)
    }

    fn on_lock(&mut self, task: TaskId, op: Op, lock: &str) -> Result<EventId, TableFull> {
        let name = self.interner.name(lock)?;
        let lock = self.interner.lock(name)?;
        Ok(self.push(task, op, lock.0))
    }

    /// Appends a fork, join, begin, exit, attach or loop: kinds whose operand is a handler or
    /// nothing.
    pub fn on_handler(&mut self, task: TaskId, kind: EventKind, handler: HandlerId) -> EventId {
        self.push(task, kind.into(), handler.0)
    }

    /// Appends a signal, broadcast, wait, wake or barrier on the named condition.
    ///
    /// # Errors
    ///
    /// Fails when a table is full.
    pub fn on_condition(
        &mut self,
        task: TaskId,
        kind: EventKind,
        condition: &str,
    ) -> Result<EventId, TableFull> {
        let name = self.interner.name(condition)?;
        let condition = self.interner.condition(name)?;
        Ok(self.push(task, kind.into(), condition.0))
    }

    /// Ends the trace.
    #[must_use]
    pub fn finish(self) -> Trace {
        Trace::new(self.interner.tables, self.columns)
    }
}
