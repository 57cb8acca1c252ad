//! The options of `anyorder robust`.

use crate::args::check::{RULES, Rules};
use crate::args::choice::choice;
use crate::args::{CountingArgs, ListArgs, OutputArgs};
use anyorder_drive::RobustTraceOptions;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder robust`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RobustArgs {
    /// Recorded traces; `-` reads standard input
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The rules by which every run has an order; `auto` chooses them by the contents of the trace
    #[arg(long, value_parser = choice(RULES), default_value = "auto", help_heading = "Analysis")]
    pub(crate) rules: Rules,

    /// Ignore conflicts on locations that match this pattern, such as a cancellation flag; `*` is
    /// any text, `?` any character. Can be given several times
    #[arg(long, value_name = "LOCATION", help_heading = "Analysis")]
    pub(crate) ignore: Vec<String>,

    /// Do not count conflicts that every run has in the same order
    #[arg(long, help_heading = "Analysis")]
    pub(crate) ignore_forced: bool,

    /// Maximum number of event pairs listed for each finding; all are counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Analysis")]
    pub(crate) max_pairs: usize,

    /// Maximum number of cycles of events that are reported
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Analysis")]
    pub(crate) max_cycles: usize,

    /// Of traces with more tasks, do not say which conflicts every run has in the same order
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Analysis")]
    pub(crate) max_classed_tasks: u64,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

impl RobustArgs {
    /// Returns the options of the job.
    pub(crate) fn options(&self) -> RobustTraceOptions {
        RobustTraceOptions {
            rules: self.rules,
            ignore: self.ignore.clone(),
            ignore_forced: self.ignore_forced,
            max_pairs: self.max_pairs,
            max_cycles: self.max_cycles,
            max_classed_tasks: self.max_classed_tasks,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  anyorder robust app.trace                           does concurrency show in this run?
  anyorder robust app.trace --ignore '*.cancelled'    without the conflicts on a cancellation flag
  anyorder robust app.trace --ignore-forced           only what can come in another order
  anyorder robust *.trace --baseline known.json       fail on what is new

A run is robust when handling its input events one after another, each with all its tasks on one thread,
has the same conflicts in the same order. The exit status is 0 for `robust`, 1 for `not_robust`, 3 for
`unknown`.";
