//! Failures of jobs, as data.

use crate::ISSUES;
use anyorder_common::numbers::more;
use anyorder_common::text::{escape, escape_lines, shown};
use anyorder_system::StopReason;
use anyorder_trace::{Problem, Problems, ReadError, Severity};
use std::fmt;
use std::io;
use std::path::Path;

/// The maximum number of problems listed for one file; the rest is counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// The failure of a job: bad input or usage, a limit, or a closed output pipe.
///
/// [`anyorder_system::Failure`] is another type: the failure of a step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The error messages.
    pub messages: Vec<FailureMessage>,
    /// A hint for the user.
    pub hint: Option<String>,
    /// Whether the reader closed the output pipe.
    pub broken_pipe: bool,
    /// Whether a limit ended the job before it had anything to give.
    pub stopped: bool,
    /// Whether it is a bug in anyorder that it found itself.
    pub bug: bool,
}

/// All messages, a line each, and the hint.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.messages.iter().map(|message| message.line.trim_end());
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        let lines: Vec<String> = lines.map(str::to_owned).chain(hint).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Failure {}

/// The level of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Information.
    Note,
    /// A possible problem.
    Warning,
    /// A failure of the job.
    Error,
}

/// One message for a person, escaped for a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailureMessage {
    /// The level.
    pub level: Level,
    /// The message in one line.
    pub line: String,
    /// The text of the input at the place of the message.
    pub text: Option<String>,
    /// Whether the line is a rendered text with colours.
    pub rendered: bool,
}

impl Failure {
    /// Makes a failure of one message, already escaped.
    #[must_use]
    pub fn new(line: impl Into<String>) -> Failure {
        let message = FailureMessage::new(Level::Error, line);
        Failure {
            messages: vec![message],
            hint: None,
            broken_pipe: false,
            stopped: false,
            bug: false,
        }
    }

    /// Makes a failure about an input: `name: what`. `what` is escaped already.
    #[must_use]
    pub fn at(name: impl AsRef<Path>, what: impl fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", shown(name.as_ref())))
    }

    /// Makes a failure of rendered texts, each ending in a line feed.
    #[must_use]
    pub fn rendered(texts: Vec<String>) -> Failure {
        let message = |line| FailureMessage {
            line,
            rendered: true,
            ..FailureMessage::new(Level::Error, String::new())
        };
        let messages = texts.into_iter().map(message).collect();
        Failure { messages, hint: None, broken_pipe: false, stopped: false, bug: false }
    }

    /// Makes the failure of a job that a limit ended before it had anything to give. `what` says
    /// what is missing.
    #[must_use]
    pub fn stopped(reason: StopReason, what: &str) -> Failure {
        Failure { stopped: true, ..Failure::new(format!("{reason}: {what}")) }
    }

    /// Makes the failure of a bug in anyorder that it found itself.
    #[must_use]
    pub fn bug(what: &str) -> Failure {
        let failure = Failure::new(format!("this is a bug in anyorder: {what}"));
        let hint =
            format!("please report it at {ISSUES} with this line, the command and the input");
        Failure { bug: true, ..failure.with_hint(hint) }
    }

    /// Adds the number of further errors, if there are any.
    #[must_use]
    pub fn and_more(mut self, path: &Path, number: u64) -> Failure {
        if number > 0 {
            let line = format!("{}: and {}", shown(path), more(number, "error"));
            self.messages.push(FailureMessage::new(Level::Error, line));
        }
        self
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(harmless(hint.into()));
        self
    }

    /// Makes the failure of writing to `path`.
    #[must_use]
    pub fn writing(path: &Path, error: &io::Error) -> Failure {
        let failure = Failure::new(format!("cannot write {}: {}", shown(path), reason(error)));
        Failure { broken_pipe: error.kind() == io::ErrorKind::BrokenPipe, ..failure }
    }

    /// Makes the failure of reading `path`.
    #[must_use]
    pub fn reading(path: &Path, error: &io::Error) -> Failure {
        let failure = Failure::new(format!("cannot read {}: {}", shown(path), reason(error)));
        match error.kind() {
            io::ErrorKind::IsADirectory => failure.with_hint("give the files in it one by one"),
            io::ErrorKind::NotFound => failure.with_hint("check the spelling of the path"),
            _ => failure,
        }
    }

    /// Makes the failure of an input that could not be read as a trace.
    #[must_use]
    pub fn input(path: &Path, error: &ReadError) -> Failure {
        match error {
            ReadError::Io(error) => Failure::reading(path, error),
            ReadError::Malformed { format, problems } => {
                let failure = Failure::problems(path, problems);
                let binary = problems.list.iter().any(|p| p.place.block.is_some());
                if binary {
                    failure.with_hint("`--salvage` reads the whole blocks before the damage")
                } else {
                    failure.with_hint(format!(
                        "the file was read as {format}; `--input-format` reads it as another format"
                    ))
                }
            }
            ReadError::Full(full) => Failure::at(path, full),
        }
    }

    /// Makes the failure of an input with problems. Lists the first problems and counts the others.
    #[must_use]
    pub fn problems(path: &Path, problems: &Problems) -> Failure {
        let errors = || problems.list.iter().filter(|p| p.severity == Severity::Error);
        let messages: Vec<FailureMessage> =
            errors().take(PROBLEMS_SHOWN_MAX).map(|p| FailureMessage::problem(path, p)).collect();
        let rest = problems.errors_total.saturating_sub(messages.len() as u64);
        Failure { messages, hint: None, broken_pipe: false, stopped: false, bug: false }
            .and_more(path, rest)
    }

    /// Merges the failures of several inputs. Keeps the last hint.
    #[must_use]
    pub fn join(failures: Vec<Failure>) -> Option<Failure> {
        failures.into_iter().reduce(|mut all, next| {
            all.messages.extend(next.messages);
            all.hint = next.hint.or(all.hint);
            all.broken_pipe |= next.broken_pipe;
            all.stopped |= next.stopped;
            all
        })
    }
}

impl FailureMessage {
    /// Makes a message of one line. Names in it should be escaped already, so that none of them
    /// ends the line; whatever else is hostile is escaped here.
    #[must_use]
    pub fn new(level: Level, line: impl Into<String>) -> FailureMessage {
        FailureMessage { level, line: harmless(line.into()), text: None, rendered: false }
    }

    /// Makes a message about an input: `name: what`. `what` is escaped already.
    #[must_use]
    pub fn at(level: Level, name: impl AsRef<Path>, what: impl fmt::Display) -> FailureMessage {
        FailureMessage::new(level, format!("{}: {what}", shown(name.as_ref())))
    }

    /// Makes the message of a problem of an input.
    #[must_use]
    pub fn problem(path: &Path, problem: &Problem) -> FailureMessage {
        let place = problem.place.to_string();
        let separator = if place.is_empty() { "" } else { ": " };
        let line = format!("{}: {place}{separator}{}", shown(path), escape(&problem.message));
        let text = problem.text.as_ref().map(|text| match problem.place.line {
            Some(number) => format!("{number:>6} | {}", escape(text)),
            None => format!("       | {}", escape(text)),
        });
        let level = match problem.severity {
            Severity::Warning => Level::Warning,
            _ => Level::Error,
        };
        FailureMessage { text, ..FailureMessage::new(level, line) }
    }
}

/// Returns a text without hostile characters but line feeds. An escaped text stays as it is.
fn harmless(text: String) -> String {
    match escape_lines(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(escaped) => escaped,
    }
}

/// Returns the system's error text in lower case, without its error number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = escape(text.split(" (os error").next().unwrap_or(&text)).into_owned();
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().collect::<String>() + chars.as_str()
        }
        _ => text,
    }
}
