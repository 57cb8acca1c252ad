//! Messages on stderr.

use super::words;
use crate::args::Global;
use crate::streams::stderr;
use anstyle::{AnsiColor, Style};
use anyorder_common::numbers::more;
use anyorder_common::text::{escape, escape_lines, shown};
use anyorder_drive::{Malformed, ModelWarning, Remark};
use anyorder_trace::{Problem, Problems, Severity};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The level of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    Note,
    Warning,
    Error,
    /// The text has its level in it, and its colours.
    Rendered,
}

/// One message for a person, escaped for a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    level: Level,
    /// The message in one line.
    pub(crate) line: String,
    /// The text of the input at the place of the message.
    text: Option<String>,
}

impl Message {
    /// Makes a message of one line. Names in it should be escaped already, so that none of them
    /// ends the line; whatever else is hostile is escaped here.
    fn new(level: Level, line: impl Into<String>) -> Message {
        Message { level, line: harmless(line.into()), text: None }
    }

    /// Makes an error of one line.
    pub(crate) fn error(line: impl Into<String>) -> Message {
        Message::new(Level::Error, line)
    }

    /// Makes a warning of one line.
    pub(crate) fn warning(line: impl Into<String>) -> Message {
        Message::new(Level::Warning, line)
    }

    /// Makes a warning about an input: `name: what`. `what` is escaped already.
    pub(crate) fn warning_at(name: impl AsRef<Path>, what: impl fmt::Display) -> Message {
        Message::warning(format!("{}: {what}", shown(name.as_ref())))
    }

    /// Makes a message of a text that has its level in it, and ends in a line feed.
    pub(super) fn rendered(line: String) -> Message {
        Message { level: Level::Rendered, line, text: None }
    }

    /// Makes the message of a problem of an input.
    pub(crate) fn problem(path: &Path, problem: &Problem) -> Message {
        let text = problem.text.as_ref().map(|text| match problem.place.line {
            Some(number) => format!("{number:>6} | {}", escape(text)),
            None => format!("       | {}", escape(text)),
        });
        let level = match problem.severity {
            Severity::Warning => Level::Warning,
            Severity::Error => Level::Error,
        };
        Message { text, ..Message::new(level, Malformed::line(path, problem)) }
    }

    fn warned(warning: &ModelWarning) -> Message {
        match warning {
            ModelWarning::Compiler(mistake) => Message::rendered(mistake.coloured.clone()),
            ModelWarning::Words(words) => Message::warning(words.as_str()),
        }
    }

    fn remark(remark: &Remark) -> Message {
        let level = match remark.level() {
            anyorder_drive::Level::Note => Level::Note,
            anyorder_drive::Level::Warning => Level::Warning,
        };
        Message::new(level, words::remark(remark))
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.level {
            Level::Rendered => return out.write_all(self.line.as_bytes()),
            Level::Note => writeln!(out, "note: {}", self.line)?,
            Level::Warning => writeln!(out, "{WARNING}warning:{WARNING:#} {}", self.line)?,
            Level::Error => writeln!(out, "{ERROR}error:{ERROR:#} {}", self.line)?,
        }
        match &self.text {
            Some(text) => writeln!(out, "{text}"),
            None => Ok(()),
        }
    }
}

impl Global {
    /// Prints messages, unless the user wants results and errors only.
    pub(crate) fn print(&self, messages: &[Message]) {
        if !self.quiet {
            print_messages(messages);
        }
    }

    /// Prints the remarks of a job, unless the user wants results and errors only.
    pub(crate) fn remark(&self, remarks: &[Remark]) {
        self.print(&remarks.iter().map(Message::remark).collect::<Vec<_>>());
    }

    /// Prints the warnings about a model, unless the user wants results and errors only.
    pub(crate) fn warn_of(&self, warnings: &[ModelWarning]) {
        self.print(&warnings.iter().map(Message::warned).collect::<Vec<_>>());
    }

    /// Prints the first warnings about an input, then the number of the others, unless the user
    /// wants results and errors only.
    pub(crate) fn print_warnings(&self, path: &Path, problems: &Problems) {
        const WARNINGS_SHOWN_MAX: usize = 5;
        let warnings = problems.list.iter().filter(|p| p.severity == Severity::Warning);
        let shown = warnings.take(WARNINGS_SHOWN_MAX).map(|p| Message::problem(path, p));
        let rest = problems.warnings_total.saturating_sub(WARNINGS_SHOWN_MAX as u64);
        let rest = (rest > 0).then(|| format!("and {}", more(rest, "warning")));
        let rest = rest.map(|what| Message::warning_at(path, what));
        self.print(&shown.chain(rest).collect::<Vec<_>>());
    }
}

/// Prints messages.
pub(crate) fn print_messages(messages: &[Message]) {
    let mut err = stderr();
    for message in messages {
        // A failed write to stderr cannot be reported.
        let _ = message.write(&mut err);
    }
}

/// Prints a warning.
pub(crate) fn warn(line: &str) {
    print_messages(&[Message::warning(line)]);
}

/// Prints a note.
pub(crate) fn note(line: &str) {
    print_messages(&[Message::new(Level::Note, line)]);
}

/// Returns a text without hostile characters but line feeds. An escaped text stays as it is.
pub(super) fn harmless(text: String) -> String {
    match escape_lines(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped,
    }
}
