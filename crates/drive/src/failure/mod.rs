//! Failures of jobs, as data. A front end makes the words for its users: those of `Display` are for
//! a caller in Rust, and name nothing of a command line.

mod event;
mod hint;
mod missing;
mod mistakes;
mod problems;
mod request;
mod unusable;

pub use event::{KnownEvents, NoEvent};
pub use hint::Hint;
pub use missing::Missing;
pub use mistakes::{Mistake, ModelMistakes, ModelWarning, SpecificationMistakes};
pub use problems::{Malformed, ReadAs};
pub use request::{NotShrinkable, Request};
pub use unusable::{Content, LacksData, Needs, Unusable, WrongWitness};

use anyorder_common::text::{escape, escape_lines, shown};
use anyorder_system::StopReason;
use anyorder_trace::{Problems, ReadError};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The failure of a job: bad input, a wrong request, a limit, or an output that cannot be written.
///
/// `Display` gives the message, a line each where there are several, safe to print.
/// [`hint`](Failure::hint) gives advice.
///
/// [`anyorder_system::Failure`] is another type: the failure of a step of a program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file or a stream cannot be read.
    #[error("cannot read {}: {}", shown(path), reason(error))]
    Unreadable {
        /// Its path as given.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// A file or a stream cannot be written.
    #[error("cannot write {}: {}", shown(path), reason(error))]
    Unwritable {
        /// Its path as given.
        path: PathBuf,
        /// What the system says. [`BrokenPipe`](io::ErrorKind::BrokenPipe): nobody reads any more.
        #[source]
        error: io::Error,
    },
    /// A trace breaks its format, or is not well-formed.
    #[error("{0}")]
    Malformed(Malformed),
    /// The text of a model has mistakes.
    #[error("{0}")]
    Model(ModelMistakes),
    /// The text of commutativity specifications has mistakes.
    #[error("{0}")]
    Specification(SpecificationMistakes),
    /// An input is not what the job needs.
    #[error("{}: {why}", escape(name))]
    Input {
        /// Its name: a path as given, or a command.
        name: String,
        /// What it lacks.
        #[source]
        why: Unusable,
    },
    /// A trace has no such event, or several.
    #[error("{0}")]
    Event(#[from] NoEvent),
    /// No input could give what was asked for.
    #[error("{0}")]
    Request(#[from] Request),
    /// A limit or the user ended the job before it had anything to give.
    #[error("{reason}: {missing}")]
    Stopped {
        /// Who ended it.
        reason: StopReason,
        /// What was not done.
        missing: Missing,
    },
    /// A bug in anyorder that it found itself.
    #[error("this is a bug in anyorder: {}", escape_lines(.0))]
    Bug(String),
}

impl Failure {
    /// Makes the failure of an input that is not what the job needs.
    #[must_use]
    pub fn input(name: impl AsRef<Path>, why: impl Into<Unusable>) -> Failure {
        Failure::Input { name: name.as_ref().to_string_lossy().into_owned(), why: why.into() }
    }

    /// Makes the failure of reading `path`.
    #[must_use]
    pub fn reading(path: impl Into<PathBuf>, error: io::Error) -> Failure {
        Failure::Unreadable { path: path.into(), error }
    }

    /// Makes the failure of writing to `path`.
    #[must_use]
    pub fn writing(path: impl Into<PathBuf>, error: io::Error) -> Failure {
        Failure::Unwritable { path: path.into(), error }
    }

    /// Makes the failure of an input that could not be read as a trace.
    #[must_use]
    pub fn trace(path: &Path, error: ReadError) -> Failure {
        match error {
            ReadError::Io(error) => Failure::reading(path, error),
            ReadError::Malformed { format, problems } => {
                Failure::Malformed(Malformed::new(path, &problems, Some(format)))
            }
            ReadError::Full(full) => Failure::input(path, Unusable::Full(full)),
        }
    }

    /// Makes the failure of a trace that is not well-formed.
    #[must_use]
    pub fn problems(path: &Path, problems: &Problems) -> Failure {
        Failure::Malformed(Malformed::new(path, problems, None))
    }

    /// Makes the failure of a job that was ended before it had anything to give.
    #[must_use]
    pub fn stopped(reason: StopReason, missing: Missing) -> Failure {
        Failure::Stopped { reason, missing }
    }

    /// Returns whether a limit or the user ended the job.
    #[must_use]
    pub const fn is_stop(&self) -> bool {
        matches!(self, Failure::Stopped { .. })
    }

    /// Returns whether the reader of an output closed it: nobody waits for a message.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Unwritable { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns whether it is a bug in anyorder.
    #[must_use]
    pub const fn is_bug(&self) -> bool {
        matches!(self, Failure::Bug(_))
    }

    /// Returns advice, if there is any.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Failure::Unreadable { error, .. } => match error.kind() {
                io::ErrorKind::IsADirectory => Some(Hint::FilesOneByOne),
                io::ErrorKind::NotFound => Some(Hint::Spelling),
                _ => None,
            },
            Failure::Malformed(malformed) => malformed.hint(),
            Failure::Input { name, why } => why.hint(name),
            Failure::Event(event) => Some(event.hint()),
            Failure::Request(request) => request.hint(),
            Failure::Bug(_) => Some(Hint::ReportBug),
            Failure::Unwritable { .. }
            | Failure::Model(_)
            | Failure::Specification(_)
            | Failure::Stopped { .. } => None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Place, Problem};

    #[test]
    fn reasons_are_in_our_style() {
        let failure = Failure::reading("x", io::Error::from_raw_os_error(2));
        assert_eq!(failure.to_string(), "cannot read x: no such file or directory");
        assert_eq!(failure.hint(), Some(Hint::Spelling));
    }

    #[test]
    fn questions_are_answered_by_the_variant() {
        let asked = |one: &Failure| [one.is_stop(), one.is_broken_pipe(), one.is_bug()];
        let pipe = Failure::writing("stdout", io::ErrorKind::BrokenPipe.into());
        let full = Failure::writing("stdout", io::ErrorKind::StorageFull.into());
        let stop = Failure::stopped(StopReason::Interrupted, Missing::Answer);
        let bug = Failure::Bug("lost".to_owned());
        let input = Failure::input("m", Unusable::CannotBegin);
        assert_eq!(asked(&stop), [true, false, false]);
        assert_eq!(asked(&pipe), [false, true, false]);
        assert_eq!(asked(&bug), [false, false, true]);
        assert_eq!([asked(&full), asked(&input)], [[false; 3]; 2]);
        assert_eq!(bug.to_string(), "this is a bug in anyorder: lost");
        assert_eq!((bug.hint(), input.hint()), (Some(Hint::ReportBug), None));
    }

    #[test]
    fn problems_past_the_first_are_counted() {
        let mut problems = Problems::default();
        for line in 1..=150 {
            problems.push(Problem::error(Place::line(line), "bad"));
        }
        let text = Failure::problems(Path::new("x\u{1b}"), &problems).to_string();
        assert_eq!(text.lines().count(), 21);
        assert!(text.starts_with("x\\u{1b}: line 1: bad\n"), "{text}");
        assert!(text.ends_with("x\\u{1b}: and 130 more errors"), "{text}");
    }
}
