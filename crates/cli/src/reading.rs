//! What the command reads besides traces, how large it may be, and how reading ends when the job
//! is stopped.

use anyorder_common::files::{self, FileError, FileKind};
use anyorder_drive::home::APP_BYTES_MAX;
use anyorder_drive::model::MODEL_BYTES_MAX;
use anyorder_drive::{Failure, Missing, Unusable};
use anyorder_system::{Cancel, Control, EnteredWatch, JobWatch, Stopped};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The maximum size of a schedule or a result, in bytes.
pub(crate) const SCHEDULE_BYTES_MAX: u64 = 1 << 30;

/// The text of a model.
pub(crate) const MODEL: FileKind = FileKind { name: "a model", bytes_max: MODEL_BYTES_MAX as u64 };

/// The types of objects.
pub(crate) const SPECIFICATION: FileKind =
    FileKind { name: "a specification", bytes_max: 16 << 20 };

/// The findings that were there before.
pub(crate) const BASELINE: FileKind = FileKind { name: "a baseline", bytes_max: 64 << 20 };

/// The findings that are accepted, with reasons.
pub(crate) const SUPPRESSIONS: FileKind =
    FileKind { name: "a file of suppressions", bytes_max: 1 << 20 };

/// The table of sites of an STD trace.
pub(crate) const SITES: FileKind = FileKind { name: "a table of sites", bytes_max: 256 << 20 };

/// The code that a recorded program had mapped.
pub(crate) const MAPS: FileKind = FileKind { name: "a list of mapped files", bytes_max: 256 << 20 };

/// A file of source.
pub(crate) const SOURCE: FileKind = FileKind { name: "a file of source", bytes_max: 16 << 20 };

/// A plan of a second run, a result that has one, or a program.
pub(crate) const PLAN: FileKind = FileKind { name: "a plan", bytes_max: SCHEDULE_BYTES_MAX };

/// What a program printed in a run that is one of many.
pub(crate) const OUTPUT: FileKind = FileKind { name: "an output", bytes_max: 256 << 20 };

/// The steps of a user on a page.
pub(crate) const ACTIONS: FileKind = FileKind { name: "a list of steps", bytes_max: 16 << 20 };

/// What a browser has before a page is loaded.
pub(crate) const STORED: FileKind = FileKind { name: "a storage state", bytes_max: 64 << 20 };

/// A smart-home app.
pub(crate) const APP: FileKind = FileKind { name: "an app", bytes_max: APP_BYTES_MAX };

/// The archive of a browser (HAR).
pub(crate) const ARCHIVE: FileKind = FileKind { name: "a HAR archive", bytes_max: 1 << 30 };

/// The token of the job of this process.
static JOB: OnceLock<Cancel> = OnceLock::new();

/// Sets the token that ends reading. A process has one job.
pub(crate) fn stop_with(cancel: &Cancel) {
    let _ = JOB.set(cancel.clone());
}

/// Fails once the job was asked to stop.
pub(crate) fn ask() -> io::Result<()> {
    stopped().map_err(io::Error::other)
}

/// Fails once the job was asked to stop, with the reason.
pub(crate) fn stopped() -> Result<(), Stopped> {
    JOB.get().map_or(Ok(()), Cancel::check)
}

/// Makes the token of the job known to what works on this thread, until the returned value is
/// dropped: a replay or a parser then ends early.
pub(crate) fn watched() -> EnteredWatch {
    let cancel = JOB.get().cloned().unwrap_or_default();
    JobWatch::of(&Control { cancel, ..Control::default() }).enter()
}

/// Makes the failure of a file that was not read.
pub(crate) fn failed(path: &Path, kind: FileKind, error: FileError) -> Failure {
    match error {
        FileError::Io(error) => failed_to_read(path, error),
        FileError::NotUtf8 { line } => {
            Failure::input(path, Unusable::NotUtf8 { line: Some(line), expected: kind.name })
        }
        FileError::TooLarge(_) | FileError::NotRegular => {
            Failure::input(path, Unusable::File(error))
        }
    }
}

/// Makes the failure of an input that was not read: the error, or the limit that ended the wait.
pub(crate) fn failed_to_read(path: &Path, error: io::Error) -> Failure {
    match JOB.get().and_then(Cancel::reason) {
        Some(reason) if path == Path::new("-") => Failure::stopped(reason, Missing::StandardInput),
        Some(reason) => Failure::stopped(reason, Missing::Input(path.to_owned())),
        None => Failure::reading(path, error),
    }
}

/// Reads the text of a file that the user named; `-` is no name for standard input here.
pub(crate) fn text(path: &Path, kind: FileKind) -> Result<String, Failure> {
    let text = files::read(path, kind, ask).and_then(files::text_of);
    text.map_err(|error| failed(path, kind, error))
}

/// Reads the text of a file in its usual place, if there is one.
pub(crate) fn found_text(path: &Path, kind: FileKind) -> Result<Option<String>, Failure> {
    let found = files::read_found(path, kind, ask);
    let text = found.and_then(|bytes| bytes.map(files::text_of).transpose());
    text.map_err(|error| failed(path, kind, error))
}
