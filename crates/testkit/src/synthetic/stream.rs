//! Events on their way into a sink.

use anyorder_trace::{
    Block, EventKind, Handler, HandlerId, Input, InputId, Interner, Mailbox, NameId, Op, Position,
    Site, SiteId, TableFull, TaskDef, TaskId, TaskKind, TraceSink,
};
use std::io;

/// Collects events into blocks and hands them to a sink.
pub(super) struct Stream<'s> {
    pub(super) interner: Interner,
    block: Block,
    sink: &'s mut dyn TraceSink,
    /// The first failure of the sink, which then receives nothing more.
    failure: Option<io::Error>,
    pub(super) events: u64,
}

impl<'s> Stream<'s> {
    pub(super) fn new(sink: &'s mut dyn TraceSink) -> Stream<'s> {
        Stream {
            interner: Interner::default(),
            block: Block::default(),
            sink,
            failure: None,
            events: 0,
        }
    }

    #[inline]
    pub(super) fn emit(&mut self, task: TaskId, op: impl Into<Op>, operand: u32, site: SiteId) {
        self.block.columns.push(op.into(), task, operand, site);
        self.events += 1;
        if self.block.columns.len() == Block::EVENTS {
            self.flush();
        }
    }

    /// Appends an event without a known position that refers to the event of a number.
    pub(super) fn emit_referring(&mut self, task: TaskId, kind: EventKind, operand: u32, to: u64) {
        let row = self.block.columns.len() as u32;
        self.block.columns.refers.push(row, to);
        self.emit(task, kind, operand, SiteId::UNKNOWN);
    }

    /// Appends an event without a known position.
    pub(super) fn plain(&mut self, task: TaskId, kind: EventKind, operand: u32) {
        self.emit(task, kind, operand, SiteId::UNKNOWN);
    }

    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.sink.block(&self.interner.tables, &self.block).err();
        }
        self.block.columns.clear();
        self.block.first = self.events;
    }

    /// Hands over the last block and completes the output; returns the number of events.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        if !self.block.columns.is_empty() {
            self.flush();
        }
        match self.failure {
            Some(error) => Err(error),
            None => self.sink.finish(&self.interner.tables).map(|()| self.events),
        }
    }

    /// Adds a handler with its initial task.
    pub(super) fn handler(
        &mut self,
        name: &str,
        mailbox: Mailbox,
        untracked: bool,
    ) -> Result<(HandlerId, TaskId), TableFull> {
        let name = self.interner.name(name)?;
        let handler = self.interner.push_handler(Handler { name, mailbox, untracked })?;
        let initial = self.task(name, handler, TaskKind::Initial, 0)?;
        Ok((handler, initial))
    }

    pub(super) fn task(
        &mut self,
        name: NameId,
        handler: HandlerId,
        kind: TaskKind,
        delay: u64,
    ) -> Result<TaskId, TableFull> {
        let position = Position::Back;
        self.interner.push_task(TaskDef { name, kind, handler, delay, position })
    }

    pub(super) fn input(&mut self, name: &str) -> Result<InputId, TableFull> {
        let name = self.interner.name(name)?;
        self.interner.input(Input { name, ..Input::default() })
    }

    /// Adds consecutive lines of a file; returns their positions.
    pub(super) fn sites(&mut self, file: &str, lines: u32) -> Result<Vec<SiteId>, TableFull> {
        let file = self.interner.name(file)?;
        (1..=lines).map(|line| self.interner.site(Site { file, line, ..Site::default() })).collect()
    }
}
