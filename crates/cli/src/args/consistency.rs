//! The options of `anyorder consistency`.

use crate::args::choice::{Word, choice};
use crate::args::{Global, LimitArgs, OutputArgs};
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

    /// What mailboxes promise [default: what the trace records]
    #[arg(long, value_parser = choice(MAILBOXES), value_name = "RULE", help_heading = "Analysis")]
    pub(crate) mailbox: Option<MailboxRule>,

    /// How the answer is looked for
    #[arg(long, value_parser = choice(PROCEDURES), value_name = "HOW", default_value = "auto", help_heading = "Analysis")]
    pub(crate) procedure: Procedure,

    /// Give up after this many conflicts of the search; procedures that enumerate count tries
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_conflicts: Option<u64>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Write a run to this file, an event a line; only when the trace is consistent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) witness: Option<PathBuf>,

    /// Write the proof to this file; only when the trace is inconsistent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) certificate: Option<PathBuf>,

    /// How many reasons of an inconsistency are told; the certificate holds all
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
  anyorder consistency trace.edt                      can these messages have run in any order?
  anyorder consistency trace.edt --witness run.txt    and in which?
  anyorder consistency trace.edt --certificate proof  or why not?
  anyorder consistency log.txt --mailbox fifo         without the delays that were logged
  anyorder generate sat3 --size 100 | anyorder consistency - --time-limit 60s

A trace is consistent when some order of its messages explains what every read read. Both answers are
checked again, independently, before they are printed. The exit status is 0 for `consistent`, 1 for
`inconsistent`, 3 for `unknown`.";

/// What mailboxes promise.
const MAILBOXES: &[Word<MailboxRule>] = &[
    ("fifo", "Messages run in the order of their posts", MailboxRule::Fifo),
    ("bag", "Messages run in any order", MailboxRule::Bag),
    (
        "delayed",
        "In the order of their posts, unless a delay, a post to the front or idle work says otherwise",
        MailboxRule::Delayed,
    ),
];

/// How an answer is looked for.
const PROCEDURES: &[Word<Procedure>] = &[
    ("auto", "The one that is best for all traces: `solver`", Procedure::Solver),
    (
        "solver",
        "Saturation, then a search modulo orders, with a proof of either answer",
        Procedure::Solver,
    ),
    (
        "enumerate",
        "Enumeration of message orders with saturation, with a proof of either answer; for comparison",
        Procedure::Enumerate,
    ),
    (
        "flat",
        "A search over the orders of posts, where no posted message posts; for comparison, mostly without a proof that there is no order",
        Procedure::Flat,
    ),
];
