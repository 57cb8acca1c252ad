//! The findings that a team has accepted: the baseline and the suppressions.

use crate::args::{CountingArgs, Global};
use crate::failure::{Failure, Message, Usage};
use crate::output::to_file;
use crate::reading::{self, BASELINE, SUPPRESSIONS, stopped};
use anyorder_common::numbers::plural;
use anyorder_drive::stopped_by;
use anyorder_finding::{
    Baseline, Finding, Ordered, Outcome, Policy, Suppressions, TsanSuppressions, Warning,
    WarningKind, stat,
};
use std::path::{Path, PathBuf};

/// The default suppression file.
const CONFIG_DEFAULT: &str = "anyorder.toml";

/// The accepted findings, and where to write a new baseline.
#[derive(Debug)]
pub(crate) struct AcceptedFindings {
    baseline: Option<(PathBuf, Baseline)>,
    write_baseline: Option<PathBuf>,
    suppressions: Option<(PathBuf, Suppressions)>,
    /// Those in the syntax of ThreadSanitizer, file by file.
    tsan: Vec<TsanSuppressions>,
}

impl AcceptedFindings {
    /// Reads both files, before any long work.
    pub(crate) fn read(counting: &CountingArgs) -> Result<AcceptedFindings, Failure> {
        let default = Path::new(CONFIG_DEFAULT);
        let config = match &counting.config {
            Some(path) => Some((path.as_path(), reading::text(path, SUPPRESSIONS)?)),
            None => reading::found_text(default, SUPPRESSIONS)?.map(|text| (default, text)),
        };
        let baseline = match &counting.baseline {
            Some(path) => Some((path.as_path(), reading::text(path, BASELINE)?)),
            None => None,
        };
        Ok(AcceptedFindings {
            baseline: parsed(baseline, Baseline::parse)?,
            write_baseline: counting.write_baseline.clone(),
            suppressions: parsed(config, Suppressions::parse)?,
            tsan: Vec::new(),
        })
    }

    /// Adds suppressions in the syntax of ThreadSanitizer.
    pub(crate) fn with_tsan(mut self, files: &[PathBuf]) -> Result<AcceptedFindings, Failure> {
        for path in files {
            let text = reading::text(path, SUPPRESSIONS)?;
            let parsed = TsanSuppressions::parse(&path.to_string_lossy(), &text);
            self.tsan.push(
                parsed.map_err(|error| Usage::Accepted {
                    path: path.clone(),
                    why: error.to_string(),
                })?,
            );
        }
        Ok(self)
    }

    /// Marks the accepted findings, then sorts and judges all findings. Warns about entries that
    /// match no finding.
    pub(crate) fn judge(&self, outcome: &mut Outcome, policy: &Policy, global: &Global) {
        let messages = self.apply(outcome, &|| stopped().is_err());
        if let Err(stopped) = stopped()
            && outcome.warnings.iter().any(|warning| warning.kind == WarningKind::Stopped)
        {
            outcome.cut_by(stopped_by(stopped.0));
        }
        global.print(&messages);
        outcome.findings.sort_by(Finding::rank);
        outcome.judge(policy);
    }

    /// Marks the accepted findings, until `stop` returns true: the findings that were not decided
    /// then are left out, because some of them may not count. Returns warnings about entries that
    /// match none.
    pub(crate) fn apply(&self, outcome: &mut Outcome, stop: &dyn Fn() -> bool) -> Vec<Message> {
        let mut warnings = Vec::new();
        let mut is_whole = true;
        if let Some((path, suppressions)) = &self.suppressions {
            let applied = suppressions.apply_until(&mut outcome.findings, stop);
            warnings.extend(applied.unused.iter().map(|unused| {
                let what = format!("line {}: this suppression matches nothing", unused.line);
                Message::warning_at(path, what)
            }));
            is_whole = keep_decided(outcome, applied.decided);
        }
        if !self.tsan.is_empty() {
            is_whole &= self.apply_tsan(outcome, stop);
        }
        if let Some((path, baseline)) = &self.baseline {
            let gone = baseline.apply(&mut outcome.findings).len() as u64;
            if gone > 0 && is_whole {
                let what = plural(gone, "known finding");
                let what = format!(
                    "{what} did not occur; write the baseline again with `--write-baseline`"
                );
                warnings.push(Message::warning_at(path, what));
            }
        }
        warnings
    }

    /// Marks what suppressions of ThreadSanitizer match, and counts it by their lines. Returns
    /// whether all findings were decided.
    fn apply_tsan(&self, outcome: &mut Outcome, stop: &dyn Fn() -> bool) -> bool {
        if self.suppressions.is_none() {
            outcome.findings.iter_mut().for_each(|finding| finding.suppressed = None);
        }
        let (mut by_line, mut is_whole) = (Ordered::<u64>::new(), true);
        for file in &self.tsan {
            let (counts, decided) = file.apply(&mut outcome.findings, stop);
            is_whole &= keep_decided(outcome, decided);
            for (entry, count) in file.entries.iter().zip(counts) {
                by_line.set(format!("{}:{}", file.file, entry.line), count);
            }
        }
        outcome.stats.set(stat::SUPPRESSED_BY, by_line);
        is_whole
    }

    /// Writes the new baseline if the user asked for one.
    pub(crate) fn write(&self, findings: &[Finding]) -> Result<(), Failure> {
        let Some(path) = &self.write_baseline else { return Ok(()) };
        let text = Baseline::of(findings).to_text();
        to_file(path, |out| out.write_all(text.as_bytes()))
    }
}

/// Leaves out the findings after those that were decided, and says so. Returns whether all were.
fn keep_decided(outcome: &mut Outcome, decided: usize) -> bool {
    let left_out = outcome.findings.len() - decided;
    if left_out > 0 {
        outcome.findings.truncate(decided);
        let what = plural(left_out as u64, "finding");
        outcome.warnings.push(Warning {
            kind: WarningKind::Stopped,
            input: None,
            text: format!("{what} left out: the suppressions were not compared in time"),
            count: left_out as u64,
            places: Vec::new(),
        });
    }
    left_out == 0
}

/// Parses a file, if there is one.
fn parsed<T, E: ToString>(
    file: Option<(&Path, String)>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<(PathBuf, T)>, Failure> {
    let Some((path, text)) = file else { return Ok(None) };
    let value = parse(&text)
        .map_err(|error| Usage::Accepted { path: path.to_owned(), why: error.to_string() })?;
    Ok(Some((path.to_owned(), value)))
}
