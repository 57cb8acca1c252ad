//! The reader: turns lines into tables and blocks of events.

use super::cursor::Cursor;
use super::define::definition;
use super::event::event;
use super::known::Known;
use super::words::{FORMAT, MAGIC, VERSION};
use crate::fault::{Fault, LineError};
use crate::lines::Line;
use crate::text_input::TextInput;
use anyorder_trace::{Block, Problems, ReadError, Tables, TraceSource};
use std::io::Read;

/// Reads a trace in the native text format, as a stream. The input needs no buffer of its own.
///
/// The reader checks every id, so its caller may index the tables by the contents of a block. It
/// skips and lists wrong lines; one of them makes the reading fail at the end. Memory depends on
/// the tables, not on the number of events.
#[derive(Debug)]
pub struct NativeTextReader<R> {
    input: TextInput<R>,
    known: Known,
}

impl<R: Read> NativeTextReader<R> {
    /// Starts to read.
    pub fn new(input: R) -> NativeTextReader<R> {
        NativeTextReader { input: TextInput::new(input), known: Known::default() }
    }
}

const EXPECTED_FIRST: &str = "expected `anyorder-trace 1` as the first line";

fn first_line(line: &[u8]) -> Result<(), Fault> {
    let Some(rest) = line.strip_prefix(MAGIC.as_bytes()) else {
        return Err(Fault::new(0, EXPECTED_FIRST));
    };
    let column = MAGIC.len() + 1;
    let version = rest.strip_prefix(b" ").and_then(|version| std::str::from_utf8(version).ok());
    match version.map(str::parse) {
        Some(Ok(VERSION)) => Ok(()),
        Some(Ok(_)) => {
            Err(Fault::new(column, "expected version 1, which is all this program knows"))
        }
        _ => Err(Fault::new(column.min(line.len()), EXPECTED_FIRST)),
    }
}

/// Reads a line other than the first.
#[inline]
fn any_line(known: &mut Known, line: &[u8], block: &mut Block) -> Result<(), LineError> {
    let mut cursor = Cursor::new(line);
    if cursor.peek() == b't' && cursor.peek_second().is_ascii_digit() {
        return event(known, &mut cursor, &mut block.columns);
    }
    if cursor.at_end() || cursor.peek() == b'#' {
        return Ok(());
    }
    let column = cursor.column();
    let word = cursor.word();
    if !word.is_empty() {
        cursor.end_token()?;
    }
    definition(known, word, column, &mut cursor)
}

impl<R: Read> TraceSource for NativeTextReader<R> {
    fn tables(&self) -> &Tables {
        &self.known.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let known = &mut self.known;
        let more = self.input.next_block(FORMAT, block, |line, number, block, problems| {
            if number > 1 {
                any_line(known, line.text()?, block)?;
                return Ok(true);
            }
            let (text, result) = match line {
                Line::Text(text) => (text, first_line(text)),
                Line::TooLong(text) => (text, Err(Fault::new(0, EXPECTED_FIRST))),
                Line::End => return Ok(false),
            };
            // If the first line is wrong, nothing else is read: the input has another format.
            let Err(fault) = result else { return Ok(true) };
            fault.report(problems, number, text);
            Ok(false)
        })?;
        if self.input.lines.number() == 0 {
            Fault::new(0, EXPECTED_FIRST).report(&mut self.input.problems, 1, &[]);
            let problems = self.input.problems.clone();
            return Err(ReadError::Malformed { format: FORMAT, problems });
        }
        self.known.close()?;
        Ok(more)
    }

    fn problems(&self) -> &Problems {
        &self.input.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.known.tables)
    }
}
