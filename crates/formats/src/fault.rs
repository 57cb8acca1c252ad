//! A fault in a line of text, before it becomes a problem of the list.

use anyorder_trace::{Place, Problem, Problems, Severity, TableFull};
use std::borrow::Cow;

/// How many bytes of a line before a fault are shown with it.
const BEFORE_MAX: usize = 60;

/// A fault in a line, and its byte from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) column: usize,
    pub(super) message: Cow<'static, str>,
}

impl Fault {
    pub(super) fn new(column: usize, message: impl Into<Cow<'static, str>>) -> Fault {
        Fault { column, message: message.into() }
    }

    /// Returns the problem of a line, which it shows whole.
    pub(super) fn problem(self, number: u64, line: &[u8]) -> Problem {
        let column = u32::try_from(self.column + 1).unwrap_or(u32::MAX);
        Problem::error(Place::line_column(number, column), self.message).with_text(line)
    }

    /// Adds the fault of a line to a list, with the line, or if the fault is far behind its begin,
    /// with the text from there on.
    #[cold]
    pub(super) fn report(self, problems: &mut Problems, number: u64, line: &[u8]) {
        let is_far = self.column > BEFORE_MAX;
        let rest = line.get(self.column..).filter(|rest| is_far && !rest.is_empty());
        problems.push_with(Severity::Error, || self.problem(number, rest.unwrap_or(line)));
    }
}

/// Returns bytes at `column` of a line as text.
pub(super) fn utf8(bytes: &[u8], column: usize) -> Result<&str, Fault> {
    str::from_utf8(bytes)
        .map_err(|error| Fault::new(column + error.valid_up_to(), "expected UTF-8"))
}

/// The reason for rejecting a line.
#[derive(Debug)]
pub enum LineError {
    /// The line is wrong; reading continues after it.
    Fault(Fault),
    /// A table is full; reading cannot continue.
    Full(TableFull),
}

impl From<Fault> for LineError {
    fn from(fault: Fault) -> LineError {
        LineError::Fault(fault)
    }
}

impl From<TableFull> for LineError {
    fn from(full: TableFull) -> LineError {
        LineError::Full(full)
    }
}
