//! What the streaming text readers share: lines in, blocks of events and lists of problems out.

use super::fault::{Fault, LineError};
use super::lines::{LINE_BYTES_MAX, Line, Lines};
use anyorder_trace::{Block, Problems, ReadError};
use std::io::Read;

/// What some editors put before the first line.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The number of a line, and where its events and its problems go.
#[derive(Debug)]
pub(super) struct LineOf<'b> {
    pub(super) number: u64,
    pub(super) block: &'b mut Block,
    pub(super) problems: &'b mut Problems,
}

/// An input of lines, and the problems found in it.
#[derive(Debug)]
pub(super) struct TextInput<R> {
    pub(super) lines: Lines<R>,
    pub(super) problems: Problems,
    /// The number of events so far.
    events: u64,
    ended: bool,
}

impl<R: Read> TextInput<R> {
    pub(super) fn new(input: R) -> TextInput<R> {
        let lines = Lines::new(input);
        TextInput { lines, problems: Problems::default(), events: 0, ended: false }
    }

    /// Replaces the contents of `block` by the events of the next lines; returns false at the end.
    /// `read` reads one line with its number, and returns false when the events end before it.
    ///
    /// Wrong lines are listed and skipped; the reading fails at its end if there are any.
    #[inline]
    pub(super) fn next_block(
        &mut self,
        format: &'static str,
        block: &mut Block,
        mut read: impl FnMut(Line<'_>, u64, &mut Block, &mut Problems) -> Result<bool, LineError>,
    ) -> Result<bool, ReadError> {
        let none = |_: &mut (), _: &mut Block| false;
        self.next_block_of(format, block, &mut (), none, |(), line, of| {
            read(line, of.number, of.block, of.problems)
        })
    }

    /// Does the same with a state. `pending` appends an event that follows from earlier lines, and
    /// returns whether there was one.
    #[inline]
    pub(super) fn next_block_of<S>(
        &mut self,
        format: &'static str,
        block: &mut Block,
        state: &mut S,
        pending: impl Fn(&mut S, &mut Block) -> bool,
        mut read: impl FnMut(&mut S, Line<'_>, LineOf<'_>) -> Result<bool, LineError>,
    ) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.events;
        while !self.ended && block.columns.len() < Block::EVENTS {
            if pending(state, block) {
                continue;
            }
            let number = self.lines.number() + 1;
            let mut line = self.lines.next()?;
            if let Line::Text(text) = &mut line
                && number == 1
            {
                *text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
            }
            let (Line::Text(text) | Line::TooLong(text)) = line else {
                self.ended = true;
                break;
            };
            let of = LineOf { number, block, problems: &mut self.problems };
            match read(state, line, of) {
                Ok(more) => self.ended = !more,
                Err(LineError::Fault(fault)) => fault.report(&mut self.problems, number, text),
                Err(LineError::Full(full)) => return Err(full.into()),
            }
            // After an error nobody gets events, but the rest is still searched for problems.
            if self.problems.errors_total > 0 && block.columns.len() >= Block::EVENTS {
                block.columns.clear();
            }
        }
        if self.problems.errors_total > 0 {
            block.columns.clear();
            return Err(ReadError::Malformed { format, problems: self.problems.clone() });
        }
        self.events += block.columns.len() as u64;
        Ok(!block.columns.is_empty())
    }
}

impl<'a> Line<'a> {
    /// Returns the text of a line that is not too long.
    #[inline]
    pub(super) fn text(self) -> Result<&'a [u8], Fault> {
        match self {
            Line::Text(text) => Ok(text),
            Line::TooLong(_) => Err(Fault::new(LINE_BYTES_MAX, too_long(LINE_BYTES_MAX))),
            Line::End => Ok(&[]),
        }
    }
}

/// Returns the message about a line of more than `bytes_max` bytes.
pub(super) fn too_long(bytes_max: usize) -> String {
    format!("expected a line of at most {bytes_max} bytes")
}
