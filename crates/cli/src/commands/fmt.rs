//! `anyorder fmt`: writes models in their canonical form.

use crate::args::FmtArgs;
use crate::failure::{Failure, JobFailure};
use crate::input::read_model;
use crate::output::{bytes_to, to_file};
use crate::reading::stopped;
use anyorder_common::text::shown;
use anyorder_drive::Missing;
use anyorder_drive::model::format_model;
use anyorder_finding::exit;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Formats all files, or lists the unformatted ones. A file with syntax errors is not changed.
pub(crate) fn run(args: &FmtArgs) -> Result<ExitCode, Failure> {
    let mut failures = Vec::new();
    let mut changed = Vec::new();
    for (done, path) in args.files.iter().enumerate() {
        if let Err(stopped) = stopped() {
            let missing = Missing::Files { done: done as u64, all: args.files.len() as u64 };
            failures.push(JobFailure::stopped(stopped.0, missing).into());
            break;
        }
        match one(path, args.check) {
            Ok(true) => changed.push(path),
            Ok(false) => {}
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(failure) = Failure::join(failures) {
        return Err(failure);
    }
    if !args.check || changed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    crate::output::to_stdout(|out| {
        changed.iter().try_for_each(|path| writeln!(out, "{}", shown(path)))
    })?;
    Ok(ExitCode::from(exit::FINDINGS))
}

/// Formats one file. Returns whether it was unformatted.
fn one(path: &Path, check: bool) -> Result<bool, Failure> {
    let text = read_model(path)?;
    let formatted = format_model(&path.to_string_lossy(), &text)?;
    let changed = formatted != text;
    if check {
        return Ok(changed);
    }
    let bytes = formatted.as_bytes();
    if path == Path::new("-") {
        let failed = |error: io::Error| JobFailure::writing("stdout", error);
        bytes_to(None, |out| Ok(out.write_all(bytes).map_err(failed)?))?;
    } else if changed {
        to_file(path, |out| out.write_all(bytes))?;
    }
    Ok(changed)
}
