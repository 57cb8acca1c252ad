//! Puts the page together and into its folder.

use super::page;
use super::timeline::{Budget, TimelineData};
use crate::json::{Audience, write_value};
use anyorder_finding::run::Runs;
use anyorder_finding::{Outcome, Policy};
use anyorder_trace::Trace;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How much of a result goes onto the page. What does not is counted there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The most findings.
    pub findings_max: usize,
    /// The most pairs listed of one finding.
    pub pairs_max: usize,
    /// The bounds of the timeline.
    pub budget: Budget,
}

impl Default for Options {
    fn default() -> Options {
        Options { findings_max: 500, pairs_max: 50, budget: Budget::default() }
    }
}

/// Writes the page; with a trace it has a timeline.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_with_runs(outcome, policy, trace, &Runs::new(), options, out)
}

/// As [`write()`]; a finding that has a run shows it as a sequence diagram.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write_with_runs(
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    runs: &Runs,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = &outcome.findings[..options.findings_max.min(outcome.findings.len())];
    let timeline = trace.map(|trace| TimelineData::from_trace(trace, shown, &options.budget));
    let mut data = Vec::new();
    write_value(&timeline, Audience::Html, &mut data)?;
    let data = String::from_utf8(data).map_err(io::Error::other)?;
    let page = page::page(outcome, policy, timeline.as_ref(), runs, &data, options);
    out.write_all(page.into_string().as_bytes())
}

/// Writes the page as `index.html` in a folder, which is made if it is not there; returns the path
/// of the page. It is written under another name first, so that a half-written page never has that
/// name. Nothing in the result or the trace decides a path.
///
/// # Errors
///
/// Fails when the folder cannot be made or written.
pub fn write_report(
    folder: &Path,
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    options: &Options,
) -> io::Result<PathBuf> {
    write_report_with_runs(folder, outcome, policy, trace, &Runs::new(), options)
}

/// As [`write_report`]; a finding that has a run shows it as a sequence diagram.
///
/// # Errors
///
/// Fails when the folder cannot be made or written.
pub fn write_report_with_runs(
    folder: &Path,
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    runs: &Runs,
    options: &Options,
) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    {
        let mut out = io::BufWriter::new(file.as_file_mut());
        write_with_runs(outcome, policy, trace, runs, options, &mut out)?;
        out.flush()?;
    }
    make_readable(file.as_file())?;
    let path = folder.join("index.html");
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

/// Gives a temporary file, which only its owner may read, the rights of an ordinary one.
#[cfg(unix)]
fn make_readable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Other systems inherit the rights of the folder.
#[cfg(not(unix))]
fn make_readable(_file: &fs::File) -> io::Result<()> {
    Ok(())
}
