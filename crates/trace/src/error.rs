//! Problems of an input, and their places.

use crate::interner::TableFull;
use std::fmt;
use std::io;

/// A place in an input. Absent parts are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column in bytes, from 1.
    pub column: Option<u32>,
    /// The block of a binary file, from 0.
    pub block: Option<u64>,
    /// The byte offset, from 0.
    pub offset: Option<u64>,
    /// The number of the event, from 0.
    pub event: Option<u64>,
}

impl Place {
    /// A place in a line of text.
    #[must_use]
    pub const fn line(line: u64) -> Place {
        Place { line: Some(line), column: None, block: None, offset: None, event: None }
    }

    /// A place in a line of text, with its column.
    #[must_use]
    pub const fn line_column(line: u64, column: u32) -> Place {
        Place { line: Some(line), column: Some(column), block: None, offset: None, event: None }
    }

    /// A place in a binary file.
    #[must_use]
    pub const fn block_offset(block: u64, offset: u64) -> Place {
        Place { line: None, column: None, block: Some(block), offset: Some(offset), event: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let parts = [
            ("line", self.line),
            ("column", self.column.map(u64::from)),
            ("block", self.block),
            ("byte", self.offset),
            ("event", self.event),
        ];
        for (word, number) in parts {
            if let Some(number) = number {
                write!(f, "{separator}{word} {number}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// The trace can be used; something in it is odd.
    Warning,
    /// The trace cannot be trusted; commands stop with exit status 2.
    Error,
}

/// One thing that is wrong with an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// The fault and the expected input: a lower-case fragment without a full stop.
    pub message: String,
    /// The text at the place, shortened. Control characters are not escaped.
    pub text: Option<String>,
    /// For an operation that the reader does not know or cannot place: how the reader treated it.
    pub unknown: Option<Unknown>,
}

/// How a reader treated an operation that it does not know or cannot place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It became an event of kind `other`; `Ignored` of `anyorder-formats` lists all of them.
    Kept,
    /// It is not in the trace.
    LeftOut,
}

impl Problem {
    /// Makes an error.
    #[must_use]
    pub fn error(place: Place, message: impl Into<String>) -> Problem {
        Problem {
            severity: Severity::Error,
            place,
            message: message.into(),
            text: None,
            unknown: None,
        }
    }

    /// Makes a warning.
    #[must_use]
    pub fn warning(place: Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(place, message) }
    }

    /// Adds the text at the place, cut after 120 bytes.
    #[must_use]
    pub fn with_text(mut self, text: &[u8]) -> Problem {
        const TEXT_BYTES_MAX: usize = 120;
        let mut shown =
            String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES_MAX)]).into_owned();
        if text.len() > TEXT_BYTES_MAX {
            shown.push('…');
        }
        self.text = Some(shown);
        self
    }

    /// Records how the reader treated an operation that it does not know.
    #[must_use]
    pub fn treated_as(self, unknown: Option<Unknown>) -> Problem {
        Problem { unknown, ..self }
    }
}

/// Problems found while reading or checking. Beyond a limit they are only counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problems {
    /// The first problems, in the order of the input.
    pub list: Vec<Problem>,
    /// The number of errors found, listed or not.
    pub errors_total: u64,
    /// The number of warnings found, listed or not.
    pub warnings_total: u64,
}

impl Problems {
    /// The number of problems of each severity that are listed; later ones are only counted.
    pub const LISTED_MAX: u64 = 100;

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.push_with(problem.severity, || problem);
    }

    /// Adds a problem. `make` is not called where the problem is only counted.
    pub fn push_with(&mut self, severity: Severity, make: impl FnOnce() -> Problem) {
        let total = match severity {
            Severity::Error => &mut self.errors_total,
            Severity::Warning => &mut self.warnings_total,
        };
        *total += 1;
        if *total <= Problems::LISTED_MAX {
            self.list.push(make());
        }
    }

    /// Returns whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors_total == 0 && self.warnings_total == 0
    }
}

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system or pipe failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The input breaks its format; at least one problem is an error.
    #[error("malformed {format}: {} error{}", problems.errors_total, if problems.errors_total == 1 { "" } else { "s" })]
    Malformed {
        /// The name of the format.
        format: &'static str,
        /// The problems of the input.
        problems: Problems,
    },
    /// A table or the trace itself is larger than can be addressed.
    #[error(transparent)]
    Full(#[from] TableFull),
}

impl ReadError {
    /// Makes the error of a single problem.
    #[must_use]
    pub fn one(format: &'static str, problem: Problem) -> ReadError {
        let mut problems = Problems::default();
        problems.push(problem);
        ReadError::Malformed { format, problems }
    }
}
