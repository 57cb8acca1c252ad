//! Files from which a check goes on where an earlier one was cut by its limits.

use super::environment;
use super::explore::{Limits, explore_from};
use super::summary::Summary;
use crate::runtime::Program;
use anyorder_common::files::{AtomicFile, FileError, FileKind, never_stop, read_found, text_of};
use anyorder_threads::{Incomplete, Journal, JournalError};
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write as _};
use std::path::Path;

/// The first line. The number changes with the meaning of what follows.
const FORMAT: &str = "anyorder checkpoint 1";

const KIND: FileKind = FileKind { name: "a checkpoint", bytes_max: 1 << 34 };

/// Why a file does not continue a check.
#[derive(Debug)]
enum Refusal {
    Read(FileError),
    Version,
    Test(String),
    Wrong(JournalError),
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Read(error) => write!(f, "it cannot be read: {error}"),
            Refusal::Version => {
                let version = version();
                write!(f, "it is no checkpoint of this version of anyorder, which is {version}")
            }
            Refusal::Test(name) => write!(f, "it is of the test {name}, and not of this one"),
            Refusal::Wrong(error) => error.fmt(f),
        }
    }
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Explores a program from the file on, if it is there, and leaves one if that is cut.
pub(super) fn explore(program: &mut Program, limits: Limits, path: &Path) -> Summary {
    let test = environment::test_name().unwrap_or_else(|| "-".to_owned());
    let tell = |text: &dyn Display| {
        environment::tell(&format!("checkpoint {}: {text}", path.display()));
    };
    let resume = match read(path, &test) {
        Ok(resume) => resume,
        Err(refusal) => {
            tell(&refusal);
            let incomplete = Some(Incomplete::OtherProgram);
            return Summary { incomplete, ..Summary::default() };
        }
    };
    let was_there = resume.is_some();
    let (summary, journal) = explore_from(program, limits, Some(resume));
    let done = match journal {
        Some(journal) => write(path, &test, &journal),
        None if was_there && summary.incomplete.is_none() => std::fs::remove_file(path),
        None => Ok(()),
    };
    if let Err(error) = done {
        tell(&error);
    }
    summary
}

/// Reads a checkpoint of a test. `None` if there is no such file.
fn read(path: &Path, test: &str) -> Result<Option<Journal>, Refusal> {
    let bytes = read_found(path, KIND, never_stop).map_err(Refusal::Read)?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = text_of(bytes).map_err(Refusal::Read)?;
    let head = format!("{FORMAT} of version {}\n", version());
    let rest = text.strip_prefix(&head).ok_or(Refusal::Version)?;
    let (name, journal) = rest.split_once('\n').ok_or(Refusal::Version)?;
    if name != test {
        return Err(Refusal::Test(name.to_owned()));
    }
    journal.parse().map(Some).map_err(Refusal::Wrong)
}

/// Writes a checkpoint, whole or not at all: one that was there is there until then.
fn write(path: &Path, test: &str, journal: &Journal) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    write!(file, "{FORMAT} of version {}\n{test}\n{journal}", version())?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Mutex;
    use crate::{Builder, Summary, thread};
    use std::fs;

    /// Three threads, and a panic in some orders: 90 executions.
    fn explore(builder: Builder, limit: i32) -> Summary {
        builder.explore(move || {
            let count = Mutex::new(0);
            thread::scope(|scope| {
                for by in 1..4 {
                    let count = &count;
                    scope.spawn(move || {
                        *count.lock().unwrap() += by;
                        let mut now = count.lock().unwrap();
                        *now *= by;
                        assert!(*now < limit, "{now}");
                    });
                }
            });
        })
    }

    fn found(summary: &Summary) -> (u64, u64, Vec<String>) {
        let failures = summary.failures.iter().map(|failure| format!("{:?}", failure.kind));
        (summary.executions, summary.states, failures.collect())
    }

    #[test]
    fn checks_go_on_and_find_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("parts");
        let whole = explore(Builder::new(), 30);
        assert!(whole.incomplete.is_none() && whole.executions > 20, "{whole}");
        assert!(!whole.failures.is_empty());
        let mut parts = 0;
        let last = loop {
            let builder = Builder::new().executions_max(7).checkpoint(&file);
            let summary = explore(builder, 30);
            parts += 1;
            assert_eq!(file.exists(), summary.incomplete.is_some());
            if summary.incomplete.is_none() {
                break summary;
            }
            assert_eq!(summary.executions, 7 * parts);
        };
        assert_eq!(found(&last), found(&whole));
        assert!(parts > 3, "{parts}");
    }

    #[test]
    fn checkpoints_of_others_are_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("others");
        explore(Builder::new().executions_max(5).checkpoint(&file), 30);
        let text = fs::read_to_string(&file).unwrap();
        let go_on = |text: &str, limit| {
            fs::write(&file, text).unwrap();
            let summary = explore(Builder::new().checkpoint(&file), limit);
            assert!(fs::read_to_string(&file).is_ok_and(|now| now == text) || summary.is_ok());
            summary
        };
        for wrong in [
            text.replace(version(), "0.0.0-other"),
            text.replacen("checks_", "other_", 1).replacen("checkpoints_of", "other_of", 1),
            text.replace("\nend", ""),
            "anything".to_owned(),
        ] {
            let summary = go_on(&wrong, 30);
            assert_eq!(summary.executions, 0, "{summary}");
            assert!(summary.to_string().contains("checkpoint"), "{summary}");
        }
        let summary = go_on(&text, 2);
        assert!(summary.to_string().contains("other test"), "{summary}");
    }
}
