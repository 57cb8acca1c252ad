//! Why a command could not do its work, and how that is said.

use crate::escape::escape;
use crate::output::shown;
use crate::units::more;
use anstyle::{AnsiColor, Style};
use anyorder_finding::exit;
use anyorder_trace::{Problem, Problems, ReadError, Severity};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The number of problems of one file that are printed; the rest is counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Why a command could not do its work: bad input or usage, exit status 2, or a reader of our output that
/// went away, exit status 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    messages: Vec<Message>,
    hint: Option<String>,
    /// Who read our output went away.
    pub(crate) broken_pipe: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Message {
    warning: bool,
    line: String,
    text: Option<String>,
    /// Whether the line is a whole text as it is, with colours.
    rendered: bool,
}

impl Failure {
    /// Makes a failure of one message, already escaped.
    pub(crate) fn new(line: impl Into<String>) -> Failure {
        let message = Message { warning: false, line: line.into(), text: None, rendered: false };
        Failure { messages: vec![message], hint: None, broken_pipe: false }
    }

    /// Makes a failure of texts that are already as they are to be printed, each ending in a line feed.
    pub(crate) fn rendered(texts: Vec<String>) -> Failure {
        let message = |line| Message { warning: false, line, text: None, rendered: true };
        Failure {
            messages: texts.into_iter().map(message).collect(),
            hint: None,
            broken_pipe: false,
        }
    }

    /// Says that there are so many errors more.
    pub(crate) fn and_more(mut self, path: &Path, number: u64) -> Failure {
        let line = format!("{}: and {}", shown(path), more(number, "error"));
        self.messages.push(Message { warning: false, line, text: None, rendered: false });
        self
    }

    /// Adds what the user can do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Makes the failure of writing to `path`.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Failure {
        let failure = Failure::new(format!("cannot write {}: {}", shown(path), reason(error)));
        Failure { broken_pipe: error.kind() == io::ErrorKind::BrokenPipe, ..failure }
    }

    /// Makes the failure of reading `path`.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Failure {
        let failure = Failure::new(format!("cannot read {}: {}", shown(path), reason(error)));
        match error.kind() {
            io::ErrorKind::IsADirectory => failure.with_hint("give the files in it one by one"),
            io::ErrorKind::NotFound => failure.with_hint("check the spelling of the path"),
            _ => failure,
        }
    }

    /// Makes the failure of an input that could not be read as a trace.
    pub(crate) fn input(path: &Path, error: &ReadError) -> Failure {
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
            ReadError::Full(full) => Failure::new(format!("{}: {full}", shown(path))),
        }
    }

    /// Makes the failure of an input with problems; the first are listed, the others counted.
    pub(crate) fn problems(path: &Path, problems: &Problems) -> Failure {
        let errors = || problems.list.iter().filter(|p| p.severity == Severity::Error);
        let mut messages: Vec<Message> =
            errors().take(PROBLEMS_SHOWN_MAX).map(|p| Message::problem(path, p)).collect();
        let rest = problems.errors_total.saturating_sub(messages.len() as u64);
        if rest > 0 {
            let line = format!("{}: and {}", shown(path), more(rest, "error"));
            messages.push(Message { warning: false, line, text: None, rendered: false });
        }
        Failure { messages, hint: None, broken_pipe: false }
    }

    /// Puts the failures of several inputs together; the last hint stays.
    pub(crate) fn join(failures: Vec<Failure>) -> Option<Failure> {
        failures.into_iter().reduce(|mut all, next| {
            all.messages.extend(next.messages);
            all.hint = next.hint.or(all.hint);
            all.broken_pipe |= next.broken_pipe;
            all
        })
    }

    /// Prints the failure on stderr, unless nobody listens to us any more; returns the exit status.
    pub(crate) fn print(&self) -> ExitCode {
        if self.broken_pipe {
            return ExitCode::from(exit::CLEAN);
        }
        // Nothing can be done about a stderr that cannot be written.
        let _ = self.write(&mut anstream::stderr().lock());
        ExitCode::from(exit::USAGE)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for message in &self.messages {
            message.write(out)?;
        }
        if let Some(hint) = &self.hint {
            writeln!(out, "{HINT}hint:{HINT:#} {hint}")?;
        }
        Ok(())
    }
}

impl Message {
    fn problem(path: &Path, problem: &Problem) -> Message {
        let place = problem.place.to_string();
        let separator = if place.is_empty() { "" } else { ": " };
        let line = format!("{}: {place}{separator}{}", shown(path), escape(&problem.message));
        let text = problem.text.as_ref().map(|text| match problem.place.line {
            Some(number) => format!("{number:>6} | {}", escape(text)),
            None => format!("       | {}", escape(text)),
        });
        Message { warning: problem.severity == Severity::Warning, line, text, rendered: false }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rendered {
            return out.write_all(self.line.as_bytes());
        }
        let (style, word) = if self.warning { (WARNING, "warning") } else { (ERROR, "error") };
        writeln!(out, "{style}{word}:{style:#} {}", self.line)?;
        if let Some(text) = &self.text {
            writeln!(out, "{text}")?;
        }
        Ok(())
    }
}

/// Prints the warnings about an input: the first ones, then their number.
pub(crate) fn print_warnings(path: &Path, problems: &Problems) {
    const WARNINGS_SHOWN_MAX: usize = 5;
    let warnings = problems.list.iter().filter(|p| p.severity == Severity::Warning);
    let mut err = anstream::stderr().lock();
    for problem in warnings.take(WARNINGS_SHOWN_MAX) {
        let _ = Message::problem(path, problem).write(&mut err);
    }
    let rest = problems.warnings_total.saturating_sub(WARNINGS_SHOWN_MAX as u64);
    if rest > 0 {
        warn_on(&mut err, &format!("{}: and {}", shown(path), more(rest, "warning")));
    }
}

/// Prints a warning of our own.
pub(crate) fn warn(line: &str) {
    warn_on(&mut anstream::stderr().lock(), line);
}

/// Prints something that is good to know, and no reason to worry.
pub(crate) fn note(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "note: {line}");
}

fn warn_on(err: &mut dyn Write, line: &str) {
    let _ = writeln!(err, "{WARNING}warning:{WARNING:#} {line}");
}

/// Returns the system's reason in our style: lower case, without its error number.
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

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::Place;

    fn text(failure: &Failure) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        failure.write(&mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn problems_name_the_place_and_show_the_text() {
        let mut problems = Problems::default();
        let place = Place::line_column(3, 7);
        problems.push(Problem::error(place, "expected 3 fields, found 2").with_text(b"T1|\x1b[2J"));
        let failure = Failure::problems(Path::new("a\u{1b}.std"), &problems);
        let expected = "error: a\\u{1b}.std: line 3, column 7: expected 3 fields, found 2\n     3 | T1|\\u{1b}[2J\n";
        assert_eq!(text(&failure), expected);
    }

    #[test]
    fn problems_past_the_first_are_counted() {
        let mut problems = Problems::default();
        for line in 1..=150 {
            problems.push(Problem::error(Place::line(line), "bad"));
        }
        let text = text(&Failure::problems(Path::new("x"), &problems));
        assert_eq!(text.lines().count(), PROBLEMS_SHOWN_MAX + 1);
        assert!(text.ends_with("error: x: and 130 more errors\n"), "{text}");
    }

    #[test]
    fn reasons_are_in_our_style() {
        let error = io::Error::from_raw_os_error(2);
        let failure = Failure::reading(Path::new("x"), &error);
        let expected = "error: cannot read x: no such file or directory\nhint: check the spelling of the path\n";
        assert_eq!(text(&failure), expected);
    }
}
