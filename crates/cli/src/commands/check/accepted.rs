//! The findings that a team has accepted: the baseline and the suppressions.

use crate::args::CountingArgs;
use crate::failure::{Failure, warn};
use crate::output::to_file;
use anyorder_common::numbers::plural;
use anyorder_common::text::{escape, shown};
use anyorder_finding::{Baseline, Finding, Outcome, Policy, Suppressions};
use std::fs;
use std::path::{Path, PathBuf};

/// The default suppression file.
const CONFIG_DEFAULT: &str = "anyorder.toml";

/// The accepted findings, and where to write a new baseline.
pub(crate) struct AcceptedFindings {
    baseline: Option<(PathBuf, Baseline)>,
    write_baseline: Option<PathBuf>,
    suppressions: Option<(PathBuf, Suppressions)>,
}

impl AcceptedFindings {
    /// Reads both files, before any long work.
    pub(crate) fn read(counting: &CountingArgs) -> Result<AcceptedFindings, Failure> {
        let baseline = match counting.baseline.as_deref() {
            None => None,
            Some(path) => {
                let baseline = Baseline::parse(&text(path)?);
                let baseline = baseline.map_err(|error| wrong(path, &error.to_string()))?;
                Some((path.to_owned(), baseline))
            }
        };
        let default = Path::new(CONFIG_DEFAULT);
        let config = match counting.config.as_deref() {
            Some(path) => Some(path),
            None => Some(default).filter(|path| path.is_file()),
        };
        let suppressions = match config {
            None => None,
            Some(path) => {
                let suppressions = Suppressions::parse(&text(path)?);
                let suppressions = suppressions.map_err(|error| wrong(path, &error.to_string()))?;
                Some((path.to_owned(), suppressions))
            }
        };
        Ok(AcceptedFindings {
            baseline,
            write_baseline: counting.write_baseline.clone(),
            suppressions,
        })
    }

    /// Marks the accepted findings, then sorts and judges all findings. Warns about entries that
    /// match no finding.
    pub(crate) fn judge(&self, outcome: &mut Outcome, policy: &Policy, quiet: bool) {
        self.apply(&mut outcome.findings, quiet);
        outcome.findings.sort_by(Finding::rank);
        outcome.judge(policy);
    }

    fn apply(&self, findings: &mut [Finding], quiet: bool) {
        if let Some((path, suppressions)) = &self.suppressions {
            for unused in suppressions.apply(findings) {
                if !quiet {
                    warn(&format!(
                        "{}: line {}: this suppression matches nothing",
                        shown(path),
                        unused.line
                    ));
                }
            }
        }
        if let Some((path, baseline)) = &self.baseline {
            let gone = baseline.apply(findings).len() as u64;
            if gone > 0 && !quiet {
                let what = plural(gone, "known finding");
                warn(&format!(
                    "{}: {what} did not occur; write the baseline again with `--write-baseline`",
                    shown(path)
                ));
            }
        }
    }

    /// Writes the new baseline if the user asked for one.
    pub(crate) fn write(&self, findings: &[Finding]) -> Result<(), Failure> {
        let Some(path) = &self.write_baseline else { return Ok(()) };
        let text = Baseline::of(findings).to_text();
        to_file(path, |out| {
            out.write_all(text.as_bytes()).map_err(|error| Failure::writing(path, &error))
        })
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))
}

fn wrong(path: &Path, what: &str) -> Failure {
    Failure::new(format!("{}: {}", shown(path), escape(what)))
}
