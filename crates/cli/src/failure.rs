//! How failures, warnings and notes are printed.

use crate::args::Global;
use crate::guard::claim;
use crate::output::stderr;
use anstyle::{AnsiColor, Style};
use anyorder_common::numbers::more;
pub(crate) use anyorder_drive::Failure;
use anyorder_drive::{FailureMessage, Level};
use anyorder_finding::exit;
use anyorder_trace::{Problems, Severity};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints a failure to stderr and returns exit status 2, or 3 if a limit was hit. If the reader of
/// our output closed the pipe, prints nothing and returns 0.
pub(crate) fn print(failure: &Failure) -> ExitCode {
    if failure.broken_pipe {
        return ExitCode::from(exit::CLEAN);
    }
    claim();
    // A failed write to stderr cannot be reported.
    let _ = write(failure, &mut stderr());
    ExitCode::from(match (failure.bug, failure.stopped) {
        (true, _) => exit::BUG,
        (false, true) => exit::LIMIT,
        (false, false) => exit::USAGE,
    })
}

fn write(failure: &Failure, out: &mut dyn Write) -> io::Result<()> {
    for message in &failure.messages {
        write_message(message, out)?;
    }
    if let Some(hint) = &failure.hint {
        writeln!(out, "{HINT}hint:{HINT:#} {hint}")?;
    }
    Ok(())
}

fn write_message(message: &FailureMessage, out: &mut dyn Write) -> io::Result<()> {
    if message.rendered {
        return out.write_all(message.line.as_bytes());
    }
    match message.level {
        Level::Note => writeln!(out, "note: {}", message.line)?,
        Level::Warning => writeln!(out, "{WARNING}warning:{WARNING:#} {}", message.line)?,
        Level::Error => writeln!(out, "{ERROR}error:{ERROR:#} {}", message.line)?,
    }
    if let Some(text) = &message.text {
        writeln!(out, "{text}")?;
    }
    Ok(())
}

impl Global {
    /// Prints messages, unless the user wants results and errors only.
    pub(crate) fn print(&self, messages: &[FailureMessage]) {
        if !self.quiet {
            print_messages(messages);
        }
    }

    /// Prints the first warnings about an input, then the number of the others, unless the user
    /// wants results and errors only.
    pub(crate) fn print_warnings(&self, path: &Path, problems: &Problems) {
        const WARNINGS_SHOWN_MAX: usize = 5;
        let warnings = problems.list.iter().filter(|p| p.severity == Severity::Warning);
        let shown = warnings.take(WARNINGS_SHOWN_MAX).map(|p| FailureMessage::problem(path, p));
        let rest = problems.warnings_total.saturating_sub(WARNINGS_SHOWN_MAX as u64);
        let rest = (rest > 0).then(|| format!("and {}", more(rest, "warning")));
        let rest = rest.map(|what| FailureMessage::at(Level::Warning, path, what));
        self.print(&shown.chain(rest).collect::<Vec<_>>());
    }
}

/// Prints messages.
fn print_messages(messages: &[FailureMessage]) {
    let mut err = stderr();
    for message in messages {
        let _ = write_message(message, &mut err);
    }
}

/// Prints a warning.
pub(crate) fn warn(line: &str) {
    print_messages(&[FailureMessage::new(Level::Warning, line)]);
}

/// Prints a note.
pub(crate) fn note(line: &str) {
    print_messages(&[FailureMessage::new(Level::Note, line)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Place, Problem};

    fn text(failure: &Failure) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        write(failure, &mut out).unwrap();
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
        assert_eq!(text.lines().count(), 21);
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
