//! The options of `anyorder generate`.

use crate::args::choice::{Word, choice};
use anyorder_generate::{Family, RunMailbox};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder generate`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArgs {
    /// The family of the trace
    #[arg(value_name = "FAMILY", value_parser = family_parser())]
    pub(crate) family: Family,

    /// The size; its unit depends on the family
    #[arg(long, value_name = "N")]
    pub(crate) size: u64,

    /// The random seed; equal seeds give equal traces
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The mailbox rule of the recorded run; a `bag` trace may be inconsistent under `fifo`
    #[arg(long, value_parser = choice(MAILBOXES), value_name = "RULE", default_value = "fifo")]
    pub(crate) mailbox: RunMailbox,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "edtrace", value_parser = crate::args::format::writable_parser())]
    pub(crate) to: anyorder_formats::detect::Format,

    /// Write the recorded run to this file, one event per line; only for families that record a run
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<PathBuf>,

    /// Write the events in the order of the recorded run; in a format other than edtrace, the trace
    /// is then one for `check`, `predict` and `robust`
    #[arg(long)]
    pub(crate) ordered: bool,

    /// Clauses per variable, for sat3 [default: 4.26] and bi3sat [default: 1.3]
    #[arg(long, value_name = "X", help_heading = "For some families")]
    pub(crate) ratio: Option<f64>,

    /// Messages, for android [default: one per 100 events]
    #[arg(long, value_name = "N", help_heading = "For some families")]
    pub(crate) messages: Option<u64>,

    /// Handlers, for android [default: 4 to 16]
    #[arg(long, value_name = "N", help_heading = "For some families")]
    pub(crate) handlers: Option<u64>,

    /// The fraction of accesses that go to shared variables, for android [default: 0.02]
    #[arg(long, value_name = "X", help_heading = "For some families")]
    pub(crate) share: Option<f64>,

    /// Parts that share nothing but the looper, for android [default: 2]
    #[arg(long, value_name = "N", help_heading = "For some families")]
    pub(crate) groups: Option<u64>,

    /// Pairs in a ring, for knot [default: 3 to 8]
    #[arg(long, value_name = "N", help_heading = "For some families")]
    pub(crate) ring: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  anyorder generate messageloop --size 8 -o loop.edt
  anyorder generate counting --size 4 --mailbox bag --seed 7 | anyorder consistency -
  anyorder generate sat3 --size 200 --ratio 4.2 -o hard.edt
  anyorder generate android --size 1000000 --messages 10000 -o large.edt";

/// How mailboxes work in the run that is recorded.
const MAILBOXES: &[Word<RunMailbox>] = &[
    ("fifo", "In the order of the posts", RunMailbox::Fifo),
    ("bag", "In random order", RunMailbox::Bag),
];

/// Parses the name of a family; help lists them all.
fn family_parser() -> impl TypedValueParser<Value = Family> {
    let value = |family: Family| PossibleValue::new(family.name()).help(family.describe());
    // The first parser accepts only known names.
    PossibleValuesParser::new(Family::ALL.map(value))
        .map(|name| Family::from_name(&name).unwrap_or(Family::Buyers))
}
