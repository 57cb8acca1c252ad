//! The options of `anyorder robust`.

use crate::args::check::{RULES, Rules};
use crate::args::choice::choice;
use crate::args::{CountingArgs, ListArgs, OutputArgs};
use anyorder_drive::{RobustModelOptions, RobustTraceOptions};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder robust`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RobustArgs {
    /// Models and recorded traces; `-` reads standard input
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
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

    /// For models: how many tasks may stop half-way besides the one whose access closes a cycle
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Models")]
    pub(crate) stops: u32,

    /// For models: how often an event may happen that is not declared `once`
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Models")]
    pub(crate) repeat: u32,

    /// For models: maximum number of states in each search for an outcome that no serial run has
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Models")]
    pub(crate) max_states: usize,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

impl RobustArgs {
    /// Returns the options of the job on a model.
    pub(crate) fn model_options(&self) -> RobustModelOptions {
        let (stops, repeat, max_states) = (self.stops, self.repeat, self.max_states);
        RobustModelOptions { stops, repeat, max_states }
    }

    /// Returns the options of the job on a trace.
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
  anyorder robust app.any                             does concurrency add an outcome to this model?
  anyorder robust app.trace                           does concurrency show in this run?
  anyorder robust app.trace --ignore '*.cancelled'    without the conflicts on a cancellation flag
  anyorder robust app.trace --ignore-forced           only what can come in another order
  anyorder robust *.trace --baseline known.json       fail on what is new

A run is robust when handling its input events one after another, each with all its tasks on one thread,
has the same conflicts in the same order. The exit status is 0 for `robust`, 1 for `not_robust`, 3 for
`unknown`.";
