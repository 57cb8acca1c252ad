//! The options of `anyorder predict`.

use crate::args::choice::{Word, choice};
use crate::args::{CountingArgs, ListArgs, OutputArgs};
use anyorder_common::text::quote;
use anyorder_drive::{Analysis, Pairs, PredictOptions, Specifications, WitnessOptions};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder predict`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: PathBuf,

    #[command(flatten)]
    pub(crate) types: SpecificationArgs,

    /// The partial order that yields the candidates [default: `event-driven` if tasks are posted,
    /// otherwise `edc`]
    #[arg(long, value_parser = choice(ANALYSES), value_name = "ORDER", help_heading = "Analysis")]
    pub(crate) analysis: Option<Analysis>,

    /// The pairs to search witnesses for; `auto` means all pairs if there are at most 20,000,
    /// otherwise the candidates
    #[arg(long, value_parser = choice(PAIRS), value_name = "WHICH", default_value = "auto", help_heading = "Analysis")]
    pub(crate) pairs: Pairs,

    /// List the candidates, and do not search for witnesses
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_confirm: bool,

    /// Maximum number of event pairs listed for each finding; all are counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Analysis")]
    pub(crate) max_pairs: usize,

    #[command(flatten)]
    pub(crate) search: WitnessArgs,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    /// Write the full witness of each finding into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) schedules: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

impl PredictArgs {
    /// Returns the options of the job, with these specifications.
    pub(crate) fn options(&self, specifications: Specifications) -> PredictOptions {
        PredictOptions {
            specifications: Some(specifications),
            analysis: self.analysis,
            pairs: self.pairs,
            confirm: !self.no_confirm,
            max_pairs: self.max_pairs,
            search: self.search.options(self.counting.strict),
        }
    }
}

/// The specifications of the objects in a trace.
#[derive(Args, Debug, Clone)]
pub(crate) struct SpecificationArgs {
    /// Commutativity specifications of the types in the trace; a type given here replaces the
    /// built-in one of its name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Analysis")]
    pub(crate) spec: Option<PathBuf>,

    /// The type of an object, if its name and methods do not determine it; may be repeated
    #[arg(long, value_name = "NAME=TYPE", help_heading = "Analysis")]
    pub(crate) object: Vec<String>,
}

impl SpecificationArgs {
    /// Returns whether any is given: else those of the built-in types hold.
    pub(crate) fn is_given(&self) -> bool {
        self.spec.is_some() || !self.object.is_empty()
    }

    /// Returns the options as they are typed, each behind a blank: for a command that needs them,
    /// too.
    pub(crate) fn words(&self) -> String {
        let spec =
            self.spec.iter().map(|spec| format!(" --spec {}", quote(&spec.to_string_lossy())));
        let objects = self.object.iter().map(|object| format!(" --object {}", quote(object)));
        spec.chain(objects).collect()
    }
}

/// The limits of the search for witnesses.
#[derive(Args, Debug, Clone)]
pub(crate) struct WitnessArgs {
    /// Maximum number of events before a pair that the search may reorder; 0 means no bound
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.window, help_heading = "Witnesses")]
    pub(crate) window: u64,

    /// Maximum number of solver conflicts for one pair
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.max_conflicts, help_heading = "Witnesses")]
    pub(crate) max_conflicts: u64,

    /// Maximum number of pairs to search witnesses for
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.max_tries, help_heading = "Witnesses")]
    pub(crate) max_tries: u64,

    /// Maximum number of events that all searches together may visit
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.max_work, help_heading = "Witnesses")]
    pub(crate) max_work: u64,

    /// Maximum number of racy candidates kept, and of others; all are counted
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.max_candidates, help_heading = "Witnesses")]
    pub(crate) max_candidates: usize,

    /// Maximum number of events held in memory; candidates of longer traces stay unconfirmed
    #[arg(long, value_name = "N", default_value_t = WitnessOptions::DEFAULT.max_events, help_heading = "Witnesses")]
    pub(crate) max_events: u64,
}

impl WitnessArgs {
    /// Returns the options of the search. With `strict`, harmless notes count.
    pub(crate) const fn options(&self, strict: bool) -> WitnessOptions {
        WitnessOptions {
            window: self.window,
            max_conflicts: self.max_conflicts,
            max_tries: self.max_tries,
            max_work: self.max_work,
            max_candidates: self.max_candidates,
            max_events: self.max_events,
            strict,
        }
    }
}

/// The relations that give the candidates.
const ANALYSES: &[Word<Analysis>] = &[
    ("hb", "Happens-before: locks and signals keep their recorded order", Analysis::Hb),
    (
        "wdc",
        "Critical sections are ordered only where their memory accesses conflict",
        Analysis::Wdc,
    ),
    ("edc", "Like `wdc`, for all actions that a specification covers", Analysis::Edc),
    ("event-driven", "Like `edc`, with the rules of mailboxes", Analysis::EventDriven),
];

/// Which pairs are tried.
pub(crate) const PAIRS: &[Word<Pairs>] = &[
    ("auto", "All pairs if there are few enough, otherwise the candidates", Pairs::Auto),
    ("candidates", "The candidates of the analysis", Pairs::Candidates),
    ("all", "All pairs of actions that do not commute", Pairs::All),
];

const EXAMPLES: &str = "\
Examples:
  anyorder predict app.std                         predict conflicts in other orders of the run
  anyorder predict app.std --report report         and write report/index.html
  anyorder predict app.std --spec types.spec       with the commutativity of your own types
  anyorder predict app.trace --analysis hb         candidates that happens-before leaves open
  anyorder predict huge.bin --no-confirm           candidates only, in one pass and little memory
  anyorder predict app.std --schedules runs        write the witness of each finding
  anyorder replay app.std runs/0123456789abcdef.json

A candidate is confirmed by a witness: an order of the recorded events that reverses the pair. It is dropped
if no witness exists. It stays unconfirmed if a limit was hit.

The exit status is 1 when there are confirmed findings, 3 when there are none and a limit left some unconfirmed.";
