//! Bugs that anyorder finds in itself: a certificate of its own that does not hold. It is never
//! written. Users get the rest of the answer with a warning; tests get status 70.

use crate::failure::{Failure, warn};
use crate::output::to_file;
use anyorder_common::text::{escape, shown};
use anyorder_drive::{CertifyOptions, CheckedText, ISSUES, TraceInput, certificate_text};
use anyorder_finding::{Outcome, WarningKind};
use anyorder_system::Control;
use std::io::{self, Write};
use std::path::Path;

/// The variable that says what becomes of such a bug: `fatal` or `warn`. Without it, debug builds
/// take it as fatal.
const VARIABLE: &str = "ANYORDER_BUGS";

/// Panics if a result has a bug and bugs are fatal. Call this before the result is written.
pub(crate) fn none_in(outcome: &Outcome) {
    for warning in outcome.warnings.iter().filter(|one| one.kind == WarningKind::Bug) {
        assert!(!are_fatal(), "{}", warning.text);
    }
}

/// Reports a bug that is not part of a result.
pub(crate) fn found(what: &str) {
    assert!(!are_fatal(), "{what}");
    warn(&format!("{}: this is a bug in anyorder, please report it at {ISSUES}", escape(what)));
}

fn are_fatal() -> bool {
    match std::env::var_os(VARIABLE) {
        Some(word) => word == "fatal",
        None => cfg!(debug_assertions),
    }
}

/// Writes a certificate about a trace to a file, if it holds.
pub(crate) fn write_checked(
    path: &Path,
    input: &TraceInput,
    options: CertifyOptions,
    control: &Control<'_>,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match certificate_text(input, options, control, write)? {
        CheckedText::Holds(bytes) => to_file(path, |out| out.write_all(&bytes)),
        CheckedText::Wrong(reason) => {
            let path = shown(path);
            found(&format!("{path} was not written, because the certificate is wrong: {reason}"));
            Ok(())
        }
        CheckedText::Stopped(reason) => {
            warn(&format!("{} was not written: {reason}", shown(path)));
            Ok(())
        }
    }
}
