//! The options of `anyorder why`.

use crate::args::AnswerFormat;
use crate::args::check::{LimitArgs, RULES, Rules};
use crate::args::choice::choice;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder why`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhyArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: PathBuf,

    /// An event, by its number or name in the trace
    #[arg(value_name = "A")]
    pub(crate) a: String,

    /// The other event
    #[arg(value_name = "B")]
    pub(crate) b: String,

    /// The rules that order events; `auto` chooses them by the contents of the trace
    #[arg(long, value_parser = choice(RULES), default_value = "auto", help_heading = "Analysis")]
    pub(crate) rules: Rules,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, help_heading = "Output")]
    pub(crate) format: AnswerFormat,
}

const EXAMPLES: &str = "\
Examples:
  anyorder why app.trace 12 57
  anyorder why log.txt access:103 op:4511      if accesses and operations have separate numbers

Name events as reports do: by their number or name in the trace, or by line in formats without
numbers. The exit status is 0 whether or not the two are ordered.";
