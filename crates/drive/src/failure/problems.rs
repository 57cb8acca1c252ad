//! Problems of a trace.

use super::Hint;
use anyorder_common::numbers::more;
use anyorder_common::text::{escape, shown};
use anyorder_trace::{Problem, Problems, Severity};
use std::fmt;
use std::path::{Path, PathBuf};

/// The maximum number of problems listed for one file; the rest is counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// How a malformed input was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadAs {
    /// Whole: its blocks have check sums, so those before the damage can be read.
    Blocks,
    /// As this format.
    Format(&'static str),
}

/// The errors of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The path of the trace as given.
    pub path: PathBuf,
    /// The first errors.
    pub errors: Vec<Problem>,
    /// The number of errors that are not listed.
    pub more: u64,
    /// How the input was read; `None` for a trace that follows its format and is not well-formed.
    pub read_as: Option<ReadAs>,
}

impl Malformed {
    pub(super) fn new(path: &Path, problems: &Problems, format: Option<&'static str>) -> Malformed {
        let errors = problems.list.iter().filter(|problem| problem.severity == Severity::Error);
        let errors: Vec<Problem> = errors.take(PROBLEMS_SHOWN_MAX).cloned().collect();
        let more = problems.errors_total.saturating_sub(errors.len() as u64);
        let is_binary = problems.list.iter().any(|problem| problem.place.block.is_some());
        let read_as = |format| if is_binary { ReadAs::Blocks } else { ReadAs::Format(format) };
        Malformed { path: path.to_owned(), errors, more, read_as: format.map(read_as) }
    }

    pub(super) fn hint(&self) -> Option<Hint> {
        self.read_as.map(|read_as| match read_as {
            ReadAs::Blocks => Hint::Salvage,
            ReadAs::Format(format) => Hint::OtherFormat(format),
        })
    }

    /// Returns the message of a problem of an input, in one line.
    #[must_use]
    pub fn line(path: &Path, problem: &Problem) -> String {
        let place = problem.place.to_string();
        let separator = if place.is_empty() { "" } else { ": " };
        format!("{}: {place}{separator}{}", shown(path), escape(&problem.message))
    }

    /// Returns the message that counts the errors that are not listed, if there are any.
    #[must_use]
    pub fn rest(&self) -> Option<String> {
        rest(&self.path, self.more)
    }
}

/// Counts the errors of an input that are not listed.
pub(super) fn rest(path: &Path, number: u64) -> Option<String> {
    (number > 0).then(|| format!("{}: and {}", shown(path), more(number, "error")))
}

/// The first errors, a line each, and the number of the others.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.errors.iter().map(|problem| Malformed::line(&self.path, problem));
        let lines: Vec<String> = lines.chain(self.rest()).collect();
        f.write_str(&lines.join("\n"))
    }
}
