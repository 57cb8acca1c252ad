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
    /// [default: auto]
    #[arg(long, value_parser = choice(RULES), help_heading = "Traces")]
    pub(crate) rules: Option<Rules>,

    /// Ignore conflicts on locations that match this pattern, such as a cancellation flag; `*` is
    /// any text, `?` any character. Can be given several times
    #[arg(long, value_name = "LOCATION", help_heading = "Traces")]
    pub(crate) ignore: Vec<String>,

    /// Do not count conflicts that every run has in the same order
    #[arg(long, help_heading = "Traces")]
    pub(crate) ignore_forced: bool,

    /// Maximum number of event pairs listed for each finding; all are counted [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Traces")]
    pub(crate) max_pairs: Option<usize>,

    /// Maximum number of cycles of events that are reported [default: 100]
    #[arg(long, value_name = "N", help_heading = "Traces")]
    pub(crate) max_cycles: Option<usize>,

    /// Of traces with more tasks, do not say which conflicts every run has in the same order
    /// [default: 20000]
    #[arg(long, value_name = "N", help_heading = "Traces")]
    pub(crate) max_classed_tasks: Option<u64>,

    /// How many tasks may stop half-way besides the one whose access closes a cycle, in the search
    /// of pivots [default: 1]
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) stops: Option<u32>,

    /// How often an event may happen that is not declared `once`, from 1 to 60 [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60), help_heading = "Models")]
    pub(crate) repeat: Option<u32>,

    /// Maximum number of states in each search [default: 1000000]
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) max_states: Option<usize>,

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
        let usual = RobustModelOptions::default();
        RobustModelOptions {
            stops: self.stops.unwrap_or(usual.stops),
            repeat: self.repeat.unwrap_or(usual.repeat),
            max_states: self.max_states.unwrap_or(usual.max_states),
        }
    }

    /// Returns the options of the job on a trace.
    pub(crate) fn options(&self) -> RobustTraceOptions {
        let usual = RobustTraceOptions::default();
        RobustTraceOptions {
            rules: self.rules.unwrap_or(usual.rules),
            ignore: self.ignore.clone(),
            ignore_forced: self.ignore_forced,
            max_pairs: self.max_pairs.unwrap_or(1000),
            max_cycles: self.max_cycles.unwrap_or(100),
            max_classed_tasks: self.max_classed_tasks.unwrap_or(20_000),
        }
    }

    /// Returns the given options that only traces have.
    pub(crate) fn of_traces(&self) -> Vec<&'static str> {
        given(&[
            ("--rules", self.rules.is_some()),
            ("--ignore", !self.ignore.is_empty()),
            ("--ignore-forced", self.ignore_forced),
            ("--max-pairs", self.max_pairs.is_some()),
            ("--max-cycles", self.max_cycles.is_some()),
            ("--max-classed-tasks", self.max_classed_tasks.is_some()),
        ])
    }

    /// Returns the given options that only models have.
    pub(crate) fn of_models(&self) -> Vec<&'static str> {
        given(&[
            ("--stops", self.stops.is_some()),
            ("--repeat", self.repeat.is_some()),
            ("--max-states", self.max_states.is_some()),
        ])
    }
}

fn given(options: &[(&'static str, bool)]) -> Vec<&'static str> {
    options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect()
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
