//! Advice, as data.

use super::event::KnownEvents;
use crate::ISSUES;
use anyorder_common::text::{escape, escape_lines};
use anyorder_formats::detect::Format;
use std::fmt;

/// Advice for whoever gets a failure or a refused certificate.
///
/// `Display` gives words for a caller in Rust. A front end has its own for the advice that names
/// something of it: an option, a command, a button.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// A folder was given: its files can be read.
    FilesOneByOne,
    /// There is no such file.
    Spelling,
    /// This file is meant.
    File(String),
    /// The whole blocks before the damage can be read.
    Salvage,
    /// The input was read as this format; it can be read as another one.
    OtherFormat(&'static str),
    /// The input can be read as any of the formats.
    AnyFormat,
    /// This tool's output is no trace: advice on recording one.
    Record(&'static str),
    /// How a model begins.
    BeginningOfModel,
    /// The input is a model, which can be run.
    RunModel,
    /// The input is a trace, which other jobs read.
    ReadTrace {
        /// Whether a model was meant: how it begins.
        or_begin: bool,
    },
    /// The input is a partial trace, which other jobs read.
    PartialTrace,
    /// Races need a recorded run; other jobs read partial traces.
    RacesOfRecording,
    /// An order of writes can be looked for.
    InferCoherence,
    /// The solver decides all traces.
    Solver,
    /// More events can be held in memory; a weaker analysis needs no memory.
    HoldMore,
    /// The names of the events of the trace.
    KnownEvents(KnownEvents),
    /// Several events have the name.
    WhichEvent {
        /// The first ones: the name that is theirs alone, and what they are.
        first: Vec<(String, String)>,
        /// The number of the others.
        more: u64,
    },
    /// The program can be given without steps of its own.
    ByAccess,
    /// All states can be searched.
    AllStates,
    /// Symmetry can be left out; that it is broken is a bug.
    NoSymmetry,
    /// A checkpoint needs a file of its own.
    OtherCheckpoint,
    /// An example of a command.
    SuchCommand,
    /// An example of an object with its type.
    SuchObject,
    /// The types that are built in; specifications add others.
    KnownTypes(Vec<&'static str>),
    /// How a program must answer.
    PipeProtocol,
    /// A bug of ours should be reported.
    ReportBug,
    /// The certificate is about a trace.
    CertifyTrace,
    /// The certificate is about a model or a program.
    CertifySchedule,
    /// The schedule can be run on the model as it is.
    RunOnModel,
    /// The schedule can be run on the program as it is.
    RunOnProgram,
    /// The mailbox rule of the check, which may not be that of the certificate.
    MailboxRule(&'static str),
    /// All steps of a witness can be written to a file.
    WholeWitness,
    /// Where certificates come from.
    Certificates,
    /// The result is about other inputs.
    OwnInput,
    /// The certificate is in another file.
    OwnFile,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Hint::FilesOneByOne => "give the files in it one by one",
            Hint::Spelling => "check the spelling of the path",
            Hint::File(path) => return write!(f, "give that file: {}", escape(path)),
            Hint::Salvage => "the whole blocks before the damage can be read",
            Hint::OtherFormat(format) => {
                return write!(f, "the input was read as {format}; it may have another format");
            }
            Hint::AnyFormat => {
                let words = Format::ALL.map(Format::word).join(", ");
                return write!(f, "it can be read as one of {words}");
            }
            Hint::Record(advice) => advice,
            Hint::BeginningOfModel => "a model begins with the word `model` and its name",
            Hint::RunModel => "models are checked and simulated",
            Hint::ReadTrace { or_begin: true } => {
                "traces are checked and predicted from; a model begins with `model NAME`"
            }
            Hint::ReadTrace { or_begin: false } => "traces are checked and predicted from",
            Hint::PartialTrace => "the consistency of a partial trace can be decided",
            Hint::RacesOfRecording => {
                "races need a recorded run; the consistency of a partial trace can be decided"
            }
            Hint::InferCoherence => "an order can be looked for: `infer_coherence`",
            Hint::Solver => "`Procedure::Solver` handles all traces",
            Hint::HoldMore => {
                "more events can be held in memory; `Analysis::Edc` keeps tasks in their order"
            }
            Hint::KnownEvents(known) => return known.fmt(f),
            Hint::WhichEvent { first, more } => return which(first, *more, f),
            Hint::ByAccess => "`robust_model` takes any model and makes it so",
            Hint::AllStates => "ask for a search of all states",
            Hint::NoSymmetry => {
                "the values of an index type behave differently, which is a bug of anyorder; \
                 search without symmetry"
            }
            Hint::OtherCheckpoint => "give a new file, or an earlier checkpoint",
            Hint::SuchCommand => "such as `node app.js`",
            Hint::SuchObject => "such as `cart=set`",
            Hint::KnownTypes(known) => {
                let known = known.join(", ");
                return write!(f, "the built-in types are {known}; specifications add others");
            }
            Hint::PipeProtocol => {
                "a program must speak the pipe protocol: see docs/pipe-protocol.md"
            }
            Hint::ReportBug => {
                let what = "with this line, the command and the input";
                return write!(f, "please report it at {ISSUES} {what}");
            }
            Hint::CertifyTrace => "`TraceCertifier` checks it",
            Hint::CertifySchedule => "`certify_model` and `certify_program` check it",
            Hint::RunOnModel => "`replay_model` runs it on this one",
            Hint::RunOnProgram => "`replay_program` runs it on this one",
            Hint::MailboxRule(rule) => {
                let what = "the certificate may be for another";
                return write!(f, "checked with mailbox rule `{rule}`; {what}");
            }
            Hint::WholeWitness => "`Reordering::write` writes all of it",
            Hint::Certificates => {
                "predictions, checks of models and explorations put them into results; a verdict \
                 on consistency and an explanation of an order write them as files"
            }
            Hint::OwnInput => "give the input that they name, by the same path",
            Hint::OwnFile => "give that file itself",
        };
        f.write_str(words)
    }
}

impl fmt::Display for KnownEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnownEvents::None => f.write_str("the trace has no events"),
            KnownEvents::Range(first, last) => {
                write!(f, "the events range from `{}` to `{}`", escape(first), escape(last))
            }
            KnownEvents::AccessOrOperation => {
                f.write_str("accesses and operations have separate numbers: `access:N` or `op:N`")
            }
        }
    }
}

fn which(first: &[(String, String)], more: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut names: Vec<String> =
        first.iter().map(|(label, what)| format!("`{label}` ({what})")).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let words = format!("say which one: {}", names.join(", "));
    f.write_str(&escape_lines(&words))
}
