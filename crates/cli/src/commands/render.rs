//! Writes a result in the chosen format to standard output or a file, and as an HTML report.

use crate::args::{OutputArgs, OutputFormat};
use crate::bugs;
use crate::failure::{Failure, JobFailure, Usage};
use crate::guard::{Cut, Document, hurried, hurried_max, is_late, set_status};
use crate::output::{fit, to, to_file, to_stdout, width};
use crate::reading::stopped;
use anyorder_common::text::{Harmless, shown};
use anyorder_drive::stopped_by;
use anyorder_finding::run::Runs;
use anyorder_finding::{Outcome, Policy, exit_code, stat};
use anyorder_report::{html, json, junit, sarif, terminal};
use anyorder_system::StopReason;
use anyorder_trace::Trace;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// How and where to write a result.
pub(super) struct Form<'a> {
    /// The output format and the output files.
    pub(super) out: &'a OutputArgs,
    /// The maximum number of findings in a text.
    pub(super) max_findings: usize,
    /// The text after the verdict, escaped.
    pub(super) remarks: &'a str,
    /// The runs that show findings, by id.
    pub(super) runs: &'a Runs,
}

/// Sets how long the command took.
pub(crate) fn set_elapsed(outcome: &mut Outcome, started: Instant) {
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.stats.set(stat::ELAPSED_MS, elapsed_ms);
}

/// Writes all requested outputs, and returns the exit status of the result.
pub(super) fn finish(
    args: &Form<'_>,
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
) -> Result<ExitCode, Failure> {
    bugs::none_in(outcome);
    let status = exit_code(outcome, policy);
    set_status(status);
    match all(args, outcome, policy, trace) {
        // The reader closed the pipe, which does not change the result.
        Err(failure) if !failure.is_broken_pipe() => Err(failure),
        _ => Ok(ExitCode::from(status)),
    }
}

fn all(
    args: &Form<'_>,
    outcome: &Outcome,
    policy: &Policy,
    trace: Option<&Trace>,
) -> Result<(), Failure> {
    // Write the report first, so that standard output stays empty if the folder cannot be written.
    let page = match &args.out.report {
        None => None,
        Some(folder) => {
            let options = html::HtmlOptions::default();
            let page = html::write_report(folder, outcome, policy, trace, args.runs, &options);
            Some(page.map_err(|error| JobFailure::writing(folder, error))?)
        }
    };
    // Format the whole result before writing any of it, so that a bug in a report leaves no partial
    // result.
    let colour = args.out.output.is_none() && wants_colour();
    let result = formatted(args, outcome, policy, colour)?;
    to(args.out.output.as_deref(), |out| out.write_all(&result))?;
    let Some(page) = page else { return Ok(()) };
    // The last line of a text names the report. Other formats use the whole of standard output.
    if args.out.format == OutputFormat::Text && args.out.output.is_none() {
        to_stdout(|out| writeln!(out, "{}", shown(&page)))
    } else {
        let _ = writeln!(io::stderr(), "{}", shown(&page));
        Ok(())
    }
}

/// Formats a result. When a limit ends the command meanwhile, or has ended it, a result that is too
/// large to be formatted in time loses its last findings, and says so.
fn formatted(
    args: &Form<'_>,
    outcome: &Outcome,
    policy: &Policy,
    colour: bool,
) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure::from(Usage::CannotMake { what: "the result", error });
    let mut hurry = Hurry { made: Vec::new(), looked_at: 0 };
    let error = match result_in(args, outcome, policy, colour, &mut hurry) {
        Ok(()) => return Ok(hurry.made),
        Err(error) => error,
    };
    let Err(stopped) = stopped() else { return Err(failed(error)) };
    drop(hurry);
    let (mut outcome, runs) = hurried(outcome, args.runs, hurried_max(stopped.0));
    outcome.cut_by(stopped_by(stopped.0));
    let mut result = Vec::new();
    let args = Form { runs: &runs, ..*args };
    result_in(&args, &outcome, policy, colour, &mut result).map_err(failed)?;
    Ok(result)
}

/// A result that is formatted in a hurry once the job was asked to stop.
struct Hurry {
    made: Vec<u8>,
    /// How long the result was at the last look.
    looked_at: usize,
}

impl Hurry {
    /// Bytes between two looks.
    const LOOK: usize = 1 << 16;
    /// The bytes of a result when memory is short.
    const SHORT: usize = 8 << 20;

    fn is_over(&self) -> bool {
        let Err(stopped) = stopped() else { return false };
        is_late() || stopped.0 == StopReason::MemoryLimit && self.made.len() > Self::SHORT
    }
}

impl Write for Hurry {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.made.len() - self.looked_at > Self::LOOK {
            self.looked_at = self.made.len();
            if self.is_over() {
                return Err(io::Error::other("too late"));
            }
        }
        self.made.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the HTML report of a result that was cut. It has no timeline, which needs the trace.
pub(crate) fn write_page(cut: &Cut, folder: &Path) -> Result<PathBuf, Failure> {
    let options = html::HtmlOptions::default();
    let Cut { document, outcome, runs } = cut;
    html::write_report(folder, outcome, &document.policy, None, runs, &options)
        .map_err(|error| JobFailure::writing(folder, error).into())
}

/// Writes a result that the guard cut, in place of the job. `stdout` bypasses the locks that the
/// job may hold. The HTML report is another matter: see [`write_page`].
pub(crate) fn render_cut(
    document: &Document,
    outcome: &Outcome,
    runs: &Runs,
    stdout: Option<&mut dyn Write>,
) -> Result<(), Failure> {
    let Document { out, max_findings, .. } = document;
    let form = Form { out, max_findings: *max_findings, remarks: "", runs };
    let colour = out.output.is_none() && wants_colour();
    let mut result = Vec::new();
    result_in(&form, outcome, &document.policy, colour, &mut result)
        .map_err(|error| Usage::CannotMake { what: "the result", error })?;
    let written = match (&out.output, stdout) {
        (Some(path), _) => return to_file(path, |out| out.write_all(&result)),
        (None, Some(stdout)) => stdout.write_all(&result),
        (None, None) => io::stdout().write_all(&result),
    };
    Ok(written.map_err(|error| JobFailure::writing("stdout", error))?)
}

fn result_in(
    args: &Form<'_>,
    outcome: &Outcome,
    policy: &Policy,
    colour: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match args.out.format {
        OutputFormat::Json => json::write(outcome, out),
        OutputFormat::Jsonl => json::write_lines(&outcome.findings, out),
        OutputFormat::Sarif => sarif::write(outcome, out),
        OutputFormat::Junit => junit::write(outcome, policy, out),
        OutputFormat::Text => {
            let style = if colour { terminal::Style::Colour } else { terminal::Style::Plain };
            let options = terminal::TextOptions {
                style,
                width: width(),
                findings_max: args.max_findings,
                // Nothing is cut in a file.
                full_names: fit().full_names || args.out.output.is_some(),
                ..terminal::TextOptions::default()
            };
            let mut out = Harmless::new(out);
            terminal::write(outcome, policy, args.runs, &options, &mut out)?;
            out.write_all(args.remarks.as_bytes())
        }
    }
}

/// Returns whether standard output supports colours, by `--color`, the terminal and `NO_COLOR`.
fn wants_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
