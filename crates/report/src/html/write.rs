//! Assembles the page and writes it to its folder.

use super::page;
use super::timeline::{Budget, TimelineData};
use crate::json::{Audience, write_value};
use anyorder_common::files::Folder;
use anyorder_finding::run::Runs;
use anyorder_finding::{Outcome, Policy};
use anyorder_trace::Trace;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The limits of a page. The page counts what it omits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtmlOptions {
    /// The most findings.
    pub findings_max: usize,
    /// The most pairs listed for one finding.
    pub pairs_max: usize,
    /// The bounds of the timeline.
    pub budget: Budget,
}

impl Default for HtmlOptions {
    fn default() -> HtmlOptions {
        HtmlOptions { findings_max: 500, pairs_max: 50, budget: Budget::default() }
    }
}

/// Writes the page. With a trace, it has a timeline. A run of a finding appears as a diagram.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    runs: &Runs,
    options: &HtmlOptions,
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

/// Writes the page as `index.html` in a folder, which it creates if needed. Returns the path of the
/// page. It writes under a temporary name first, so that a half-written page never has the final
/// name. Nothing in the result or the trace determines a path.
///
/// # Errors
///
/// Fails when the folder cannot be made or written.
pub fn write_report(
    folder: &Path,
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
    runs: &Runs,
    options: &HtmlOptions,
) -> io::Result<PathBuf> {
    let mut out = Folder::create(folder)?;
    let path =
        out.write("index.html", &mut |file| write(outcome, policy, trace, runs, options, file))?;
    out.finish()?;
    Ok(path)
}
