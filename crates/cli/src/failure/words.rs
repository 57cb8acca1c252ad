//! The words of failures, advice and remarks of jobs that name options and commands.

use super::{JobFailure, Message};
use anyorder_common::text::shown;
use anyorder_drive::{
    FullReason, Hint, Malformed, ModelMistakes, Remark, Remarked, Request, Unusable, WrongWitness,
};
use anyorder_formats::detect::{DetectError, Format};

/// Returns the messages of the failure of a job, at least one.
pub(super) fn messages(failure: &JobFailure) -> Vec<Message> {
    match failure {
        JobFailure::Malformed(malformed) => {
            let Malformed { path, errors, .. } = malformed;
            let errors = errors.iter().map(|problem| Message::problem(path, problem));
            errors.chain(malformed.rest().map(Message::error)).collect()
        }
        JobFailure::Model(mistakes) => of_model(mistakes),
        JobFailure::Specification(mistakes) => {
            mistakes.texts().into_iter().map(Message::rendered).collect()
        }
        other => vec![Message::error(line(other))],
    }
}

fn of_model(mistakes: &ModelMistakes) -> Vec<Message> {
    let texts = mistakes.list.iter().map(|mistake| Message::rendered(mistake.coloured.clone()));
    texts.chain(mistakes.rest().map(Message::error)).collect()
}

/// Returns the message of a failure in one line. Where the words belong to an option, it is named.
fn line(failure: &JobFailure) -> String {
    match failure {
        JobFailure::Request(Request::UnclosedQuote { .. }) => format!("--program {failure}"),
        JobFailure::Request(Request::NoCommand) => format!("--program: {failure}"),
        JobFailure::Request(Request::NoType { .. } | Request::UnknownType { .. }) => {
            format!("--object {failure}")
        }
        JobFailure::Input { why: Unusable::Format(DetectError::Ambiguous { .. }), .. } => {
            format!("{failure}; name it with `--input-format`")
        }
        JobFailure::Input { why: Unusable::Witness(WrongWitness::LeftOut), .. } => {
            format!("{failure}; {}", hint(&Hint::WholeWitness))
        }
        _ => failure.to_string(),
    }
}

/// Returns advice in the words of the command line.
pub(crate) fn hint(hint: &Hint) -> String {
    let words = match hint {
        Hint::Salvage => "`--salvage` reads the whole blocks before the damage",
        Hint::OtherFormat(format) => {
            return format!(
                "the file was read as {format}; `--input-format` reads it as another format"
            );
        }
        Hint::AnyFormat => {
            let words = Format::ALL.map(Format::word).join(", ");
            return format!("`--input-format` reads it as one of {words}");
        }
        Hint::RunModel => "`anyorder check` and `anyorder simulate` run models",
        Hint::ReadTrace { or_begin: true } => {
            "`anyorder check`, `predict` and `info` read traces; a model begins with `model NAME`"
        }
        Hint::ReadTrace { or_begin: false } => {
            "`anyorder check` and `anyorder predict` read traces"
        }
        Hint::PartialTrace => "`anyorder consistency` reads partial traces",
        Hint::RacesOfRecording => {
            "races need a recorded run; `anyorder consistency` and `info` read partial traces"
        }
        Hint::InferCoherence => "`--infer-co` looks for an order",
        Hint::Solver => "`--procedure solver` handles all traces",
        Hint::HoldMore => {
            "`--max-events` lets it hold more; `--analysis edc` keeps tasks in their order"
        }
        Hint::NoSymmetry => {
            "the values of an index type behave differently, which is a bug of anyorder; run without `--symmetry`"
        }
        Hint::OtherCheckpoint => "give `--checkpoint` a new file, or an earlier checkpoint",
        Hint::SuchCommand => "such as `--program 'node app.js'`",
        Hint::SuchObject => "such as `--object cart=set`",
        Hint::KnownTypes(known) => {
            return format!("the built-in types are {}; `--spec` adds others", known.join(", "));
        }
        Hint::CertifyTrace => "`anyorder certify TRACE CERTIFICATE` checks it",
        Hint::CertifySchedule => "`anyorder certify MODEL SCHEDULE` checks it",
        Hint::RunOnModel => "`anyorder replay MODEL SCHEDULE` runs it on this one",
        Hint::RunOnProgram => "`anyorder replay --program COMMAND SCHEDULE` runs it on this one",
        Hint::MailboxRule(rule) => {
            let what = "the certificate may be for another";
            return format!("checked with `--mailbox {rule}`; {what}");
        }
        Hint::WholeWitness => "`anyorder predict TRACE --schedules DIR` writes all of it",
        Hint::Certificates => {
            "`anyorder predict`, `check` of a model and `explore` put them into results; \
             `anyorder consistency --witness` and `--certificate`, and `anyorder why \
             --certificate`, write them as files"
        }
        other => return other.to_string(),
    };
    words.to_owned()
}

/// Returns a remark in the words of the command line, in one line.
pub(super) fn remark(remark: &Remark) -> String {
    let words = match &remark.what {
        Remarked::FullSearch(reason) => {
            format!("full search, without reduction: {}", full(*reason))
        }
        Remarked::NoResponses => {
            "responses are not checked; `--algorithm full` checks them".to_owned()
        }
        Remarked::NoResponsesInBits => {
            "responses are not checked with `--storage bitstate`".to_owned()
        }
        Remarked::NoConflicts => {
            "`--algorithm paper` does not check update conflicts".to_owned()
        }
        Remarked::Saved(file) => format!("{}; `--resume {}` continues it", remark.what, shown(file)),
        Remarked::Unspecified { .. } => format!("{}: see `--spec` and `--object`", remark.what),
        Remarked::CutRecording => "the recorded run was cut at the step limit; set `--max-steps`, or give a run that ends with `--recording`".to_owned(),
        Remarked::InvariantsOfRuns => "invariants were checked only in the runs that were made; `--algorithm stateful` checks all states".to_owned(),
        other => other.to_string(),
    };
    match &remark.input {
        Some(input) => format!("{}: {words}", shown(input.as_ref())),
        None => words,
    }
}

/// Says why all states are searched.
fn full(reason: FullReason) -> &'static str {
    match reason {
        FullReason::Resume => "`--resume` continues a full search",
        FullReason::Checkpoint => "`--checkpoint` saves a full search",
        FullReason::Symmetry => "`--symmetry` needs full search",
        FullReason::Storage => "`--storage` needs full search",
        FullReason::Order => "`--order` needs full search",
        FullReason::Depth => "`--max-depth` cuts runs, and reduction needs complete runs",
        FullReason::Responses => "response properties need full search",
    }
}
