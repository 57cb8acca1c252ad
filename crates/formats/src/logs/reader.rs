//! The reader that all logs share.

use crate::fault::LineError;
use crate::std::{Assembler, Target};
use crate::text_input::{LineOf, TextInput};
use anyorder_trace::{
    Block, EventKind, LabelScheme, Mode, Op, Place, Problem, Problems, ReadError, Severity, SiteId,
    Tables, TaskId, TraceSource, Unknown,
};
use std::collections::VecDeque;
use std::io::Read;

/// How the lines of a format become events.
pub trait Dialect {
    /// The word of the format.
    const FORMAT: &'static str;

    /// Reads a line that is not empty, without white space around it.
    fn line(&mut self, line: &[u8], out: &mut Out<'_>) -> Result<(), LineError>;
}

/// A part of a line, and its column from 0.
pub(crate) type Part<'l> = (&'l [u8], usize);

/// A part that a format does not have.
pub(crate) const NOTHING: Part<'static> = (b"", 0);

/// An event that has no place in a block yet.
#[derive(Debug)]
struct Row {
    event: (Op, u32),
    task: TaskId,
    site: SiteId,
    number: u64,
    refers: Option<u64>,
}

/// The state of a reader besides its input.
#[derive(Debug)]
struct State<D> {
    trace: Assembler,
    dialect: D,
    /// The further events of a line that has several.
    queue: VecDeque<Row>,
}

/// Where the events of a line go.
#[derive(Debug)]
pub struct Out<'o> {
    trace: &'o mut Assembler,
    queue: &'o mut VecDeque<Row>,
    block: &'o mut Block,
    problems: &'o mut Problems,
    line: &'o [u8],
    number: u64,
}

impl Out<'_> {
    /// Appends an event. Returns its number.
    pub(crate) fn event(
        &mut self,
        thread: Part<'_>,
        (op, target): (Op, Target),
        text: Part<'_>,
        site: Part<'_>,
    ) -> Result<u64, LineError> {
        let operand = self.trace.operand(target, text.0, text.1)?;
        self.row(thread, (op, operand), site, None)
    }

    /// Appends the end of a wait, which refers to the event that woke it.
    pub(crate) fn wake(
        &mut self,
        thread: Part<'_>,
        condition: Part<'_>,
        site: Part<'_>,
        by: Option<u64>,
    ) -> Result<u64, LineError> {
        let operand = self.trace.operand(Target::Condition, condition.0, condition.1)?;
        self.row(thread, (EventKind::Wake.into(), operand), site, by)
    }

    /// Appends an event that orders nothing and accesses nothing, without a warning: the operation
    /// has no effect.
    pub(crate) fn note(
        &mut self,
        thread: Part<'_>,
        text: Part<'_>,
        site: Part<'_>,
    ) -> Result<(), LineError> {
        let operand = self.trace.other(text.0, text.1)?;
        self.row(thread, (Op::new(EventKind::Other, Mode::PLAIN), operand), site, None)?;
        Ok(())
    }

    /// Appends an operation that the format does not have, with a warning.
    pub(crate) fn unknown(
        &mut self,
        thread: Part<'_>,
        text: Part<'_>,
        site: Part<'_>,
    ) -> Result<(), LineError> {
        self.note(thread, text, site)?;
        let event = self.next_event().saturating_sub(1);
        let (number, line) = (self.number, self.line);
        self.problems.push_with(Severity::Warning, || {
            let place = Place { event: Some(event), ..Place::line_column(number, 1) };
            let message = "unknown operation, kept as an event that orders nothing";
            Problem::warning(place, message).with_text(line).treated_as(Some(Unknown::Kept))
        });
        Ok(())
    }

    /// Returns the number of the event that is appended next.
    fn next_event(&self) -> u64 {
        self.block.first + (self.block.columns.len() + self.queue.len()) as u64
    }

    fn row(
        &mut self,
        thread: Part<'_>,
        event: (Op, u32),
        site: Part<'_>,
        refers: Option<u64>,
    ) -> Result<u64, LineError> {
        let (task, site) = (self.trace.task(thread.0, thread.1)?, self.trace.site(site.0, site.1)?);
        let number = self.next_event();
        let row = Row { event, task, site, number: self.number, refers };
        match self.queue.is_empty() && self.block.columns.len() < Block::EVENTS {
            true => row.push(self.block),
            false => self.queue.push_back(row),
        }
        Ok(number)
    }
}

impl Row {
    fn push(self, block: &mut Block) {
        if let Some(refers) = self.refers {
            block.columns.refers.push(block.columns.len() as u32, refers);
        }
        Assembler::push(block, self.event, self.task, self.site, self.number);
    }
}

/// Reads a log, as a stream. The input needs no buffer of its own.
///
/// Each thread is a handler without mailbox. Events are labelled by line. The reader lists wrong
/// lines; one of them makes the reading fail at the end. Memory depends on the distinct threads,
/// names and sites, not on the number of lines.
#[derive(Debug)]
pub struct LogReader<R, D> {
    input: TextInput<R>,
    state: State<D>,
}

impl<R: Read, D: Dialect + Default> LogReader<R, D> {
    /// Starts to read.
    pub fn new(input: R) -> LogReader<R, D> {
        let state = State {
            trace: Assembler::new(D::FORMAT, LabelScheme::Line),
            dialect: D::default(),
            queue: VecDeque::new(),
        };
        LogReader { input: TextInput::new(input), state }
    }
}

impl<R: Read, D: Dialect> TraceSource for LogReader<R, D> {
    fn tables(&self) -> &Tables {
        self.state.trace.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let pending = |state: &mut State<D>, block: &mut Block| {
            let row = state.queue.pop_front();
            row.map(|row| row.push(block)).is_some()
        };
        self.input.next_block_of(D::FORMAT, block, &mut self.state, pending, |state, line, of| {
            let LineOf { number, block, problems } = of;
            let line = line.text()?;
            let trimmed = line.trim_ascii();
            if !trimmed.is_empty() {
                let State { trace, dialect, queue } = state;
                let mut out = Out { trace, queue, block, problems, line, number };
                dialect.line(line, &mut out)?;
            }
            Ok(true)
        })
    }

    fn problems(&self) -> &Problems {
        &self.input.problems
    }

    fn take_tables(&mut self) -> Tables {
        self.state.trace.take_tables()
    }
}

/// Splits a line at each `separator`, with the columns of the parts.
pub(crate) fn split(line: &[u8], separator: u8) -> impl Iterator<Item = Part<'_>> {
    let mut column = 0;
    line.split(move |byte| *byte == separator).map(move |part| {
        let at = column;
        column += part.len() + 1;
        (part, at)
    })
}

/// Removes white space around a part.
pub(crate) fn trimmed((text, column): Part<'_>) -> Part<'_> {
    let start = text.trim_ascii_start();
    (start.trim_ascii_end(), column + text.len() - start.len())
}
