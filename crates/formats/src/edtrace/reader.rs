//! The reader. It reads all lines before it gives out blocks.

use super::gather::{Gathered, Line as At};
use super::line::{HEADER, Statement, parse, without_comment, words};
use crate::fault::Fault;
use crate::lines::{Line, Lines};
use crate::text_input::too_long;
use anyorder_trace::{
    Block, Columns, LabelScheme, Place, Problem, Problems, ReadError, Tables, TraceOrder,
    TraceSource,
};
use std::io::Read;

/// The name of the format.
const FORMAT: &str = "edtrace";

/// The longest line, in bytes: a `co` line names all writes of a variable.
const LINE_BYTES_MAX: usize = 1 << 28;

/// What a reader accepts beyond the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdtraceOptions {
    /// Accepts variables with several writes and no `co` line. Any order of their writes is then
    /// allowed.
    pub infer_coherence: bool,
}

/// Reads `edtrace`. The whole trace is held in memory, since reads may name later writes.
#[derive(Debug)]
pub struct EdtraceReader<R> {
    lines: Lines<R>,
    options: EdtraceOptions,
    gathered: Gathered,
    done: bool,
    next: usize,
}

impl<R: Read> EdtraceReader<R> {
    /// Makes a reader; it reads nothing yet.
    pub fn new(input: R) -> EdtraceReader<R> {
        EdtraceReader::with_options(input, EdtraceOptions::default())
    }

    /// Makes a reader; it reads nothing yet.
    pub fn with_options(input: R, options: EdtraceOptions) -> EdtraceReader<R> {
        let mut gathered = Gathered::default();
        let meta = &mut gathered.interner.tables.meta;
        meta.labels = LabelScheme::Name;
        meta.order = TraceOrder::Partial;
        meta.origin = FORMAT.to_owned();
        let lines = Lines::with_bound(input, LINE_BYTES_MAX);
        EdtraceReader { lines, options, gathered, done: false, next: 0 }
    }

    fn read_all(&mut self) -> Result<(), ReadError> {
        let mut headed = false;
        loop {
            let number = self.lines.number() + 1;
            let line = match self.lines.next()? {
                Line::Text(line) => line,
                Line::TooLong(line) => {
                    let problem = Problem::error(Place::line(number), too_long(LINE_BYTES_MAX));
                    self.gathered.problems.push(problem.with_text(line));
                    continue;
                }
                Line::End => break,
            };
            let statement = without_comment(line).and_then(|text| {
                if headed {
                    return parse(text);
                }
                headed = header(text)?;
                Ok(Statement::Nothing)
            });
            match statement {
                Ok(statement) => self.gathered.line(&statement, At { number, text: line })?,
                Err(fault) => {
                    self.gathered.problems.push(fault.problem(number, line));
                    if !headed {
                        // Without the header, the rest of the file cannot be trusted.
                        return Ok(());
                    }
                }
            }
        }
        if !headed {
            let message = format!("expected `{HEADER}` as the first line, found nothing");
            self.gathered.problems.push(Problem::error(Place::line(1), message));
            return Ok(());
        }
        self.gathered.finish(self.options.infer_coherence);
        Ok(())
    }
}

/// Returns whether the line is the header. A blank line is not.
fn header(line: &str) -> Result<bool, Fault> {
    let mut parts = words(line);
    let Some(first) = parts.next() else { return Ok(false) };
    let version = parts.next();
    if first.text == FORMAT && version.is_some_and(|v| v.text == "1") && parts.next().is_none() {
        return Ok(true);
    }
    let message = match version {
        Some(version) if first.text == FORMAT && version.text != "1" => {
            format!("expected version 1 of the format, found version `{}`", version.text)
        }
        _ => format!("expected `{HEADER}` as the first line"),
    };
    Err(Fault::new(first.offset, message))
}

impl<R: Read> TraceSource for EdtraceReader<R> {
    fn tables(&self) -> &Tables {
        &self.gathered.interner.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.next as u64;
        if !self.done {
            self.done = true;
            self.read_all()?;
        }
        let problems = &self.gathered.problems;
        if problems.errors_total > 0 {
            return Err(ReadError::Malformed { format: FORMAT, problems: problems.clone() });
        }
        let all: &Columns = &self.gathered.columns;
        let rows = self.next..all.len().min(self.next + Block::EVENTS);
        block.columns.append_rows(all, rows.clone());
        self.next = rows.end;
        Ok(!rows.is_empty())
    }

    fn problems(&self) -> &Problems {
        &self.gathered.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.gathered.interner.tables)
    }
}
