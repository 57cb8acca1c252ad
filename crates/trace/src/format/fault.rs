//! A fault in a line of text, before it becomes a problem of the list.

use crate::error::{Place, Problem, Problems, Severity};
use crate::tables::TableFull;
use std::borrow::Cow;

/// A fault in a line, and its byte from 0.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) column: usize,
    pub(super) message: Cow<'static, str>,
}

impl Fault {
    pub(super) fn new(column: usize, message: impl Into<Cow<'static, str>>) -> Fault {
        Fault { column, message: message.into() }
    }

    /// Adds the fault of a line to a list.
    #[cold]
    pub(super) fn report(&self, problems: &mut Problems, number: u64, line: &[u8]) {
        add(problems, Severity::Error, || {
            let column = u32::try_from(self.column + 1).unwrap_or(u32::MAX);
            let place = Place::line_column(number, column);
            let problem = Problem::error(place, self.message.clone());
            match line.get(self.column..) {
                Some(rest) if !rest.is_empty() => problem.with_text(rest),
                _ => problem.with_text(line),
            }
        });
    }
}

/// The reason for rejecting a line.
#[derive(Debug)]
pub(super) enum LineError {
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

/// Adds a problem. `make` is not called where the problem would only be counted.
pub(super) fn add(problems: &mut Problems, severity: Severity, make: impl FnOnce() -> Problem) {
    let total = match severity {
        Severity::Error => &mut problems.errors_total,
        Severity::Warning => &mut problems.warnings_total,
    };
    if *total >= Problems::LISTED_MAX {
        *total += 1;
    } else {
        problems.push(make());
    }
}
