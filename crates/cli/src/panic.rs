//! Handles panics: a panic is a bug, so it exits with status 70 and a request to report it.

use crate::phase::claim;
use anyorder_drive::ISSUES;
use anyorder_finding::exit;
use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;

/// Runs `body`. A panic, in any thread, ends the process with an explanation on stderr and exit
/// status 70. So a binary that cannot unwind, which is smaller, ends in the same way.
pub(crate) fn guard(body: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        explain(info);
        // If the guard is ending the process, let it: it has another status.
        claim();
        std::process::exit(i32::from(exit::BUG));
    }));
    let status = body();
    claim();
    status
}

/// Prints the panic. It must not panic itself, so it ignores write errors.
fn explain(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let mut err = anyorder_common::text::Harmless::new(std::io::stderr().lock());
    let _ =
        writeln!(err, "error: this is a bug in anyorder: {}", anyorder_common::text::escape(what));
    let _ = writeln!(err, "  at {place}, version {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(
        err,
        "hint: please report it at {ISSUES} with these lines, the command and the input"
    );
}
