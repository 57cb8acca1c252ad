//! The options of the smaller commands.

use crate::args::check::{RULES, Rules};
use crate::args::choice::choice;
use crate::args::output::{AnswerFormat, OutputArgs};
use crate::args::predict::SpecificationArgs;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `anyorder info`.
#[derive(Args, Debug, Clone)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: PathBuf,

    /// Maximum number of locations, handlers and locks listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,

    /// The output format
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, help_heading = "Output")]
    pub(crate) format: AnswerFormat,

    /// Draw the timeline in ASCII [default: by the locale]
    #[arg(long, help_heading = "Output")]
    pub(crate) ascii: bool,
}

const INFO_EXAMPLES: &str = "\
Examples:
  anyorder info app.trace
  anyorder info app.trace --top 30
  anyorder info app.trace --format json";

/// `anyorder why`.
#[derive(Args, Debug, Clone)]
#[command(after_help = WHY_EXAMPLES)]
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
    pub(crate) types: SpecificationArgs,

    /// If the two are ordered, write the proof to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) certificate: Option<PathBuf>,

    /// The output format
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, help_heading = "Output")]
    pub(crate) format: AnswerFormat,
}

const WHY_EXAMPLES: &str = "\
Examples:
  anyorder why app.trace 12 57
  anyorder why app.trace 12 57 --certificate order.proof
  anyorder certify app.trace order.proof       check the proof again
  anyorder why ledger.rec 12 57 --spec ledger.spec   calls order events, too
  anyorder why log.txt access:103 op:4511      if accesses and operations have separate numbers

Name events as reports do: by their number or name in the trace, or by line in formats without
numbers. The exit status is 0 whether or not the two are ordered.";

/// `anyorder convert`.
#[derive(Args, Debug, Clone)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,

    /// The file to write; `-` writes standard output
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = crate::args::format::writable_parser())]
    pub(crate) to: anyorder_formats::detect::Format,

    /// Write even if the format cannot hold everything, and list the losses
    #[arg(long)]
    pub(crate) lossy: bool,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  anyorder convert app.trace app.bin --to binary     small and fast to read
  anyorder convert app.bin - --to text               print it as text
  anyorder convert app.trace app.std --to std --lossy

The output appears under its name only when it is complete.";

/// `anyorder explain`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A kind, category or word of the reports; without it, list all topics
    #[arg(value_name = "KIND")]
    pub(crate) topic: Option<String>,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  anyorder explain                 list all topics
  anyorder explain race
  anyorder explain cross_posted";

/// `anyorder completions`.
#[derive(Args, Debug, Clone)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  anyorder completions bash > ~/.local/share/bash-completion/completions/anyorder
  anyorder completions zsh > ~/.zfunc/_anyorder
  anyorder completions fish > ~/.config/fish/completions/anyorder.fish";

/// `anyorder man`.
#[derive(Args, Debug, Clone)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write one page per command into this folder, instead of the main page to standard output
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  anyorder man | man -l -
  anyorder man --dir ~/.local/share/man/man1";

/// `anyorder bug`, which is hidden.
#[derive(Args, Debug, Clone)]
pub(crate) struct BugArgs {
    /// What to do
    #[arg(value_enum, default_value_t = BugKind::Panic)]
    pub(crate) kind: BugKind,

    /// Report these many findings first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) findings: u64,

    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

/// A way to misbehave.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BugKind {
    /// Panic
    Panic,
    /// Never end, and poll nothing
    Spin,
    /// Allocate a little, again and again, and poll nothing
    Grow,
    /// Allocate more than any machine has, at once
    Huge,
    /// Allocate and fill more than a limit allows, at once
    Large,
    /// Take zeroed memory, and fill it later
    Fill,
    /// Never end while the result is being changed
    Hold,
    /// Print something, and never end
    Linger,
    /// Never end with a half-written file beside the output
    Write,
}
