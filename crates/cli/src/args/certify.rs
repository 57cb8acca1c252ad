//! The options of `anyorder certify`.

use crate::args::SpecificationArgs;
use crate::args::choice::choice;
use crate::args::consistency::MAILBOXES;
use crate::args::output::AnswerFormat;
use anyorder_drive::MailboxRule;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `anyorder certify`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CertifyArgs {
    /// The trace or model that the certificates are about; `-` reads standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,

    /// The certificates: files of any kind, also whole JSON results; `-` reads standard input
    #[arg(required_unless_present = "program", value_name = "CERTIFICATE", value_hint = ValueHint::FilePath)]
    pub(crate) certificates: Vec<PathBuf>,

    /// Start a program with this command, and run the schedules on it; then all paths are
    /// certificates
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["spec", "object"], help_heading = "Input")]
    pub(crate) program: Option<String>,

    /// The order that mailboxes guarantee, for certificates of consistency [default: as recorded
    /// in the trace]
    #[arg(long, value_parser = choice(MAILBOXES), value_name = "RULE", conflicts_with = "program", help_heading = "Analysis")]
    pub(crate) mailbox: Option<MailboxRule>,

    #[command(flatten)]
    pub(crate) types: SpecificationArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, help_heading = "Output")]
    pub(crate) format: AnswerFormat,
}

impl CertifyArgs {
    /// Returns the arguments with the program as the input, and all paths as certificates.
    pub(crate) fn of_program(&self, command: &str) -> CertifyArgs {
        let certificates = [std::slice::from_ref(&self.input), &self.certificates].concat();
        CertifyArgs { input: command.into(), certificates, ..self.clone() }
    }
}

const EXAMPLES: &str = "\
Examples:
  anyorder why app.trace 12 57 --certificate order.proof
  anyorder certify app.trace order.proof
  anyorder consistency log.edt --certificate no-run.proof --witness run.txt
  anyorder certify log.edt no-run.proof
  anyorder predict app.std --schedules runs
  anyorder certify app.std runs/*.json
  anyorder check lock.any --format json | anyorder certify lock.any -
  anyorder certify --program 'node app.js' runs/*.json

No engine takes part: separate code checks each certificate against the input, and states what it
verified in words computed from the input. What a file says beyond that is refused when it is wrong,
or not repeated.

The exit status is 0 when all certificates hold, 1 when one does not hold, else 2 when one is no
certificate about the input, else 3 when a limit left one unchecked.";
