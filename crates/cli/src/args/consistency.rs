//! The options of `anyorder consistency`.

use crate::args::choice::{Word, choice};
use crate::args::{Global, OutputArgs};
use anyorder_drive::{ConsistencyOptions, MailboxRule, Procedure};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder consistency`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConsistencyArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: PathBuf,

    /// The order that mailboxes guarantee [default: as recorded in the trace]
    #[arg(long, value_parser = choice(MAILBOXES), value_name = "RULE", help_heading = "Analysis")]
    pub(crate) mailbox: Option<MailboxRule>,

    /// The decision procedure
    #[arg(long, value_parser = choice(PROCEDURES), value_name = "HOW", default_value = "auto", help_heading = "Analysis")]
    pub(crate) procedure: Procedure,

    /// Give up after this many solver conflicts; enumerating procedures count attempts
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_conflicts: Option<u64>,

    /// If the trace is consistent, write a run to this file, one event per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) witness: Option<PathBuf>,

    /// If the trace is inconsistent, write the proof to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) certificate: Option<PathBuf>,

    /// Maximum number of reasons printed for an inconsistency; the certificate holds all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub(crate) max_reasons: usize,

    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

impl ConsistencyArgs {
    /// Returns the options of the job.
    pub(crate) fn options(&self, global: &Global) -> ConsistencyOptions {
        ConsistencyOptions {
            mailbox: self.mailbox,
            procedure: self.procedure,
            infer_coherence: global.infer_co,
            max_conflicts: self.max_conflicts,
            whole_proof: self.certificate.is_some(),
            max_reasons: self.max_reasons,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  anyorder consistency trace.edt                      does some order of the messages explain it?
  anyorder consistency trace.edt --witness run.txt    write that order
  anyorder consistency trace.edt --certificate proof  write the proof if none exists
  anyorder consistency log.txt --mailbox fifo         ignore the logged delays
  anyorder generate sat3 --size 100 | anyorder consistency - --time-limit 60s

A trace is consistent when some order of its messages explains the value of every read. An independent
checker verifies the answer before it is printed. The exit status is 0 for `consistent`, 1 for
`inconsistent`, 3 for `unknown`.";

/// The order that mailboxes guarantee.
pub(crate) const MAILBOXES: &[Word<MailboxRule>] = &[
    ("fifo", "Messages run in the order of their posts", MailboxRule::Fifo),
    ("bag", "Messages run in any order", MailboxRule::Bag),
    (
        "delayed",
        "Messages run in the order of their posts, except for delays, posts to the front and idle work",
        MailboxRule::Delayed,
    ),
];

/// The decision procedures.
const PROCEDURES: &[Word<Procedure>] = &[
    ("auto", "The best procedure for all traces: `solver`", Procedure::Solver),
    (
        "solver",
        "Saturation, then satisfiability modulo orders; proves either answer",
        Procedure::Solver,
    ),
    (
        "enumerate",
        "Enumeration of message orders with saturation; proves either answer; for comparison",
        Procedure::Enumerate,
    ),
    (
        "flat",
        "A search over the orders of posts, for traces in which no posted message posts; for comparison, mostly without a proof of inconsistency",
        Procedure::Flat,
    ),
];
