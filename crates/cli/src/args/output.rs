//! Options of several commands: the place and format of the output, and the findings that count.

use crate::args::choice::{Word, choice};
use anyorder_finding::{Policy, Severity};
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};

/// The output format and the output files.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutputArgs {
    /// The output format
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

/// The length of the text output.
#[derive(Args, Debug, Clone)]
pub(crate) struct ListArgs {
    /// Maximum number of findings printed as text; other formats hold all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub(crate) max_findings: usize,
}

/// Where to write schedules.
#[derive(Args, Debug, Clone)]
pub(crate) struct ScheduleArgs {
    /// Write the schedule of each finding into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) schedules: Option<PathBuf>,
}

/// Which findings count for the exit status.
#[derive(Args, Debug, Clone)]
pub(crate) struct CountingArgs {
    /// Baseline: the findings in this file do not count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to this file, as a baseline for later runs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// The file with suppressions [default: `anyorder.toml` in the current folder, if present]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) config: Option<PathBuf>,

    /// Minimum severity for exit status 1
    #[arg(long, value_parser = choice(SEVERITIES), value_name = "SEVERITY", default_value = "note", help_heading = "What counts")]
    pub(crate) fail_on: Severity,

    /// Exit with status 1 for harmless, covered and unconfirmed findings, too
    #[arg(long, help_heading = "What counts")]
    pub(crate) strict: bool,
}

impl CountingArgs {
    /// Returns the policy that decides which findings count. Findings with one of `filters` do not
    /// count.
    pub(crate) fn policy(&self, filters: Vec<String>) -> Policy {
        Policy { fail_on: self.fail_on, strict: self.strict, filters }
    }
}

/// The output format of a result.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// One object, as `anyorder schema` describes it
    Json,
    /// One finding per line
    Jsonl,
    /// SARIF 2.1.0, for code review services
    Sarif,
    /// JUnit XML, for build services
    Junit,
}

/// The output format of an answer that is no list of findings.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerFormat {
    /// For people
    Text,
    /// One object
    Json,
}

/// Severities.
const SEVERITIES: &[Word<Severity>] = &[
    ("note", "All findings", Severity::Note),
    ("warning", "Warnings and errors", Severity::Warning),
    ("error", "Errors only", Severity::Error),
];
