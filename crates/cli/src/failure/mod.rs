//! Failures of commands: those of jobs, and those of what was typed. How they are printed.

mod message;
mod usage;
mod words;

pub(crate) use anyorder_drive::Failure as JobFailure;
pub(crate) use message::{Message, note, warn};
pub(crate) use usage::Usage;
pub(crate) use words::hint;

use crate::phase::claim;
use crate::streams::stderr;
use anstyle::{AnsiColor, Style};
use anyorder_finding::exit;
use std::io::{self, Write};
use std::process::ExitCode;

const HINT: Style = AnsiColor::Cyan.on_default();

/// Why a command gave nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Its job failed.
    Job(JobFailure),
    /// What was typed cannot be done.
    Usage(Usage),
    /// The failures of several inputs, in their order.
    Several(Vec<Failure>),
}

impl From<JobFailure> for Failure {
    fn from(failure: JobFailure) -> Failure {
        Failure::Job(failure)
    }
}

impl From<Usage> for Failure {
    fn from(usage: Usage) -> Failure {
        Failure::Usage(usage)
    }
}

impl Failure {
    /// Joins the failures of several inputs; `None` without any.
    pub(crate) fn join(mut failures: Vec<Failure>) -> Option<Failure> {
        match failures.len() {
            0 | 1 => failures.pop(),
            _ => Some(Failure::Several(failures)),
        }
    }

    /// Returns whether something is true of a job that failed, one of several at least.
    fn any(&self, is_so: &dyn Fn(&JobFailure) -> bool) -> bool {
        match self {
            Failure::Job(failure) => is_so(failure),
            Failure::Usage(_) => false,
            Failure::Several(all) => all.iter().any(|one| one.any(is_so)),
        }
    }

    /// Returns whether a limit or the user ended the command.
    pub(crate) fn is_stop(&self) -> bool {
        self.any(&JobFailure::is_stop)
    }

    /// Returns whether nobody reads the output any more.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.any(&JobFailure::is_broken_pipe)
    }

    /// Returns the messages, at least one.
    pub(crate) fn messages(&self) -> Vec<Message> {
        match self {
            Failure::Job(failure) => words::messages(failure),
            Failure::Usage(usage) => vec![Message::error(usage.to_string())],
            Failure::Several(all) => all.iter().flat_map(Failure::messages).collect(),
        }
    }

    /// Returns the first message in one line.
    pub(crate) fn line(&self) -> String {
        self.messages().into_iter().next().map(|message| message.line).unwrap_or_default()
    }

    fn hint(&self) -> Option<String> {
        match self {
            Failure::Job(failure) => failure.hint().map(|advice| hint(&advice)),
            Failure::Usage(usage) => usage.hint(),
            // The last one: it stands under the last message.
            Failure::Several(all) => all.iter().rev().find_map(Failure::hint),
        }
    }

    /// Returns the exit status: 2, 3 if a limit was hit, 70 for a bug of ours.
    fn status(&self) -> u8 {
        match (self.any(&JobFailure::is_bug), self.is_stop()) {
            (true, _) => exit::BUG,
            (false, true) => exit::LIMIT,
            (false, false) => exit::USAGE,
        }
    }
}

/// Prints a failure to stderr and returns its exit status. If the reader of our output closed the
/// pipe, prints nothing and returns 0.
pub(crate) fn print(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe() {
        return ExitCode::from(exit::CLEAN);
    }
    claim();
    // A failed write to stderr cannot be reported.
    let _ = write(failure, &mut stderr());
    ExitCode::from(failure.status())
}

fn write(failure: &Failure, out: &mut dyn Write) -> io::Result<()> {
    failure.messages().iter().try_for_each(|message| message.write(out))?;
    match failure.hint() {
        Some(hint) => writeln!(out, "{HINT}hint:{HINT:#} {}", message::harmless(hint)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_drive::Hint;
    use anyorder_trace::{Place, Problem, Problems};
    use std::path::Path;

    fn text(failure: JobFailure) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        write(&failure.into(), &mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn problems_name_the_place_and_show_the_text() {
        let mut problems = Problems::default();
        let place = Place::line_column(3, 7);
        problems.push(Problem::error(place, "expected 3 fields, found 2").with_text(b"T1|\x1b[2J"));
        let failure = JobFailure::problems(Path::new("a\u{1b}.std"), &problems);
        let expected = "error: a\\u{1b}.std: line 3, column 7: expected 3 fields, found 2\n     3 | T1|\\u{1b}[2J\n";
        assert_eq!(text(failure), expected);
    }

    #[test]
    fn problems_past_the_first_are_counted() {
        let mut problems = Problems::default();
        for line in 1..=150 {
            problems.push(Problem::error(Place::line(line), "bad"));
        }
        let text = text(JobFailure::problems(Path::new("x"), &problems));
        assert_eq!(text.lines().count(), 21);
        assert!(text.ends_with("error: x: and 130 more errors\n"), "{text}");
    }

    #[test]
    fn reasons_are_in_our_style() {
        let failure = JobFailure::reading("x", io::Error::from_raw_os_error(2));
        let expected = "error: cannot read x: no such file or directory\nhint: check the spelling of the path\n";
        assert_eq!(text(failure), expected);
    }

    #[test]
    fn advice_names_options_here_and_not_in_the_job() {
        let format = Hint::OtherFormat("STD");
        assert_eq!(
            hint(&format),
            "the file was read as STD; `--input-format` reads it as another format"
        );
        assert!(!format.to_string().contains("--"));
    }
}
