//! What several commands have: where a result goes and in which form, and what makes a finding
//! count.

use crate::args::choice::{Word, choice};
use anyorder_finding::{Policy, Severity};
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};

/// In which form a result is written, and where to.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutputArgs {
    /// The form of the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, help_heading = "Output")]
    pub(crate) format: OutputFormat,

    /// Write a self-contained HTML report into this folder; its path is printed last
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Write the result to this file instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns the file that holds the result as JSON, if one does.
    pub(crate) fn json_file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| self.format == OutputFormat::Json)
    }
}

/// How much a text shows.
#[derive(Args, Debug, Clone)]
pub(crate) struct ListArgs {
    /// How many findings the terminal shows; other formats hold all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub(crate) max_findings: usize,
}

/// Where schedules go.
#[derive(Args, Debug, Clone)]
pub(crate) struct ScheduleArgs {
    /// Write the schedule of each finding into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) schedules: Option<PathBuf>,
}

/// What makes a finding count.
#[derive(Args, Debug, Clone)]
pub(crate) struct CountingArgs {
    /// Findings that are known already, by id: they do not count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to this file, as a baseline for later runs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Suppressions [default: `anyorder.toml` in the current folder, where there is one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) config: Option<PathBuf>,

    /// The least severity that gives exit status 1
    #[arg(long, value_parser = choice(SEVERITIES), value_name = "SEVERITY", default_value = "note", help_heading = "What counts")]
    pub(crate) fail_on: Severity,

    /// Let harmless, covered and unconfirmed findings give exit status 1, too
    #[arg(long, help_heading = "What counts")]
    pub(crate) strict: bool,
}

impl CountingArgs {
    /// Returns what makes a finding count, findings with one of `filters` left out.
    pub(crate) fn policy(&self, filters: Vec<String>) -> Policy {
        Policy { fail_on: self.fail_on, strict: self.strict, filters }
    }
}

/// The form of a result.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// One object, as `anyorder schema` describes it
    Json,
    /// One finding a line
    Jsonl,
    /// SARIF 2.1.0, for code review services
    Sarif,
    /// JUnit XML, for build services
    Junit,
}

/// Severities.
const SEVERITIES: &[Word<Severity>] = &[
    ("note", "Everything that counts", Severity::Note),
    ("warning", "Warnings and errors", Severity::Warning),
    ("error", "Errors only", Severity::Error),
];
