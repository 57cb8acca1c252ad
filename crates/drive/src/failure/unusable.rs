//! Why an input is not what a job needs.

use super::Hint;
use anyorder_common::files::FileError;
use anyorder_common::text::{escape, escape_lines};
use anyorder_consistency::{FromTraceError, Unsupported};
use anyorder_explore::{r4, stateful};
use anyorder_formats::detect::{DetectError, Format};
use anyorder_formats::foreign::Foreign;
use anyorder_native::recording::BadRecording;
use anyorder_predict::PredictError;
use anyorder_search::SearchError;
use anyorder_system::{RunError, ScheduleError, StopReason};
use anyorder_trace::TableFull;
use anyorder_vm::program::ProgramError;
use std::fmt;
use std::path::Path;
use thiserror::Error;

/// Why an input is not what a job needs. The names of events and places in it are as they were
/// read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It is too large, or no file.
    #[error("{0}")]
    File(FileError),
    /// It is not text.
    #[error("{}not UTF-8, expected {expected}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    NotUtf8 {
        /// The first line that is not text, from 1, where it is known.
        line: Option<usize>,
        /// What was expected.
        expected: &'static str,
    },
    /// It is larger than the text of a model may be.
    #[error("larger than {bytes_max} bytes")]
    TooLarge {
        /// The maximum size in bytes.
        bytes_max: usize,
    },
    /// It has more than can be addressed.
    #[error("{0}")]
    Full(TableFull),
    /// It has more events than memory holds.
    #[error("too many events to hold in memory")]
    TooManyEvents,
    /// It has no format that is known.
    #[error("{0}")]
    Format(DetectError),
    /// It is of another kind.
    #[error("{found}, expected {expected}")]
    OtherKind {
        /// What it is.
        found: Content,
        /// What the job needs.
        expected: Content,
    },
    /// It is not JSON.
    #[error("not JSON: {}", escape_lines(&.0.to_string()))]
    NotJson(#[source] serde_json::Error),
    /// It is JSON that holds neither a schedule nor a result.
    #[error("not a schedule or a result: {}", escape(&.0.to_string()))]
    NotASchedule(#[source] serde_json::Error),
    /// It is JSON with findings, and no result.
    #[error("not a result: {}", escape(&.0.to_string()))]
    NotAResult(#[source] serde_json::Error),
    /// It is JSON that holds no schedule.
    #[error("{}", escape(&.0.to_string()))]
    Schedule(#[source] ScheduleError),
    /// The schedule of a finding is in another file.
    #[error("the schedule of {} is in another file", escape(finding))]
    ScheduleElsewhere {
        /// The id of the finding.
        finding: String,
        /// The path that the result gives. It is data, and never opened.
        path: String,
    },
    /// No finding has a schedule.
    #[error("{} with a schedule was not found", finding.as_ref().map_or_else(|| "a finding".to_owned(), |id| format!("finding `{}`", escape(id))))]
    NoSchedule {
        /// The beginning of the id that was asked for.
        finding: Option<String>,
    },
    /// No finding has a witness.
    #[error("no finding with a witness was found")]
    NoWitness,
    /// It holds a witness that cannot be read.
    #[error("{0}")]
    Witness(WrongWitness),
    /// It is no recording of a native program.
    #[error("{0}")]
    Recording(#[source] BadRecording),
    /// The machine refuses its program.
    #[error("{}", escape(&.0.to_string()))]
    Program(#[source] ProgramError),
    /// It has no initial state.
    #[error("it cannot begin")]
    CannotBegin,
    /// Its program failed to run.
    #[error("{}", escape_lines(&.0.to_string()))]
    Run(#[source] RunError),
    /// Its program could not be started, or stopped answering.
    #[error("{}", escape(&.0.to_string()))]
    Start(#[source] RunError),
    /// It is a page that cannot be opened, or its user's steps cannot be read: why not.
    #[error("{}", escape_lines(.0))]
    Page(String),
    /// It is no smart-home app: why not.
    #[error("{}", escape_lines(.0))]
    App(String),
    /// It is no configuration of Home Assistant that can be read: why not.
    #[error("not a Home Assistant configuration: {}", escape_lines(.0))]
    Home(String),
    /// It has steps of its own, or components.
    #[error("robustness is decided by steps of single accesses, and for no components")]
    OwnSteps,
    /// It has more than events and their tasks.
    #[error("{}{}; robustness is about events and their tasks only", line.map(|line| format!("line {line}: ")).unwrap_or_default(), escape_lines(what))]
    MoreThanTasks {
        /// What it has.
        what: String,
        /// Where.
        line: Option<u32>,
    },
    /// Its events are not in the order in which they happened.
    #[error("the order of its events is not the order in which they happened")]
    NotObserved(Needs),
    /// A search of all states fails on it.
    #[error("{}", escape(&.0.to_string()))]
    Search(#[source] SearchError),
    /// A reduced search fails on it.
    #[error("{}", escape(&.0.to_string()))]
    Reduction(#[source] stateful::Error),
    /// A search by reversals fails on it.
    #[error("{}", escape(&.0.to_string()))]
    Reversals(#[source] r4::Error),
    /// Only a search of all states can check it.
    #[error("its tasks do not report what they touch, so no order of them can be left out")]
    NoReduction,
    /// It cannot be explored thread by thread: why.
    #[error("it cannot be explored thread by thread: {0}")]
    NotThreads(String),
    /// It would be overwritten, and is no checkpoint.
    #[error("not a checkpoint; the file was not overwritten")]
    NotACheckpoint,
    /// The trace lacks data.
    #[error("{0}")]
    LacksData(LacksData),
    /// The procedure cannot decide it.
    #[error("{}", unsupported(*.0))]
    Procedure(Unsupported),
    /// The event-driven analysis would have to read it twice at once.
    #[error("the event-driven analysis needs the whole trace in memory")]
    NotInMemory,
    /// A prediction fails on it.
    #[error("{}", escape(&.0.to_string()))]
    Prediction(#[source] PredictError),
    /// The job was ended before it was looked at.
    #[error("{0}")]
    Stopped(StopReason),
}

/// A kind of input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// A model.
    Model,
    /// A model or a schedule.
    ModelOrSchedule,
    /// A trace, of this format if it is known.
    Trace(Option<Format>),
    /// The output of another tool.
    Foreign(Foreign),
}

/// What needs a recorded run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Any analysis of what could have happened.
    Recording,
    /// The explanation of an order.
    Races,
}

/// The data that a trace lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LacksData {
    /// The kind.
    pub what: FromTraceError,
    /// The name of the event, the location or the task.
    pub of: String,
}

/// Why a witness cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WrongWitness {
    /// It lacks a field, or has a wrong one.
    #[error("not a witness: {}", escape(.0))]
    Field(String),
    /// The result has only its last steps.
    #[error("the witness has too many steps to stand in a result")]
    LeftOut,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Model => f.write_str("a model"),
            Content::ModelOrSchedule => f.write_str("a model or a schedule"),
            Content::Trace(None) => f.write_str("a trace"),
            Content::Trace(Some(format)) => write!(f, "a trace ({})", format.title()),
            Content::Foreign(foreign) => f.write_str(foreign.what),
        }
    }
}

impl fmt::Display for LacksData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = escape(&self.of);
        match self.what {
            FromTraceError::NoWrite { .. } => write!(
                f,
                "event `{of}` reads from an event that is not another write of its location"
            ),
            FromTraceError::NoSource { .. } => {
                write!(f, "event `{of}` does not name the write that it reads from")
            }
            FromTraceError::NoCoherence { .. } => {
                write!(f, "`{of}` has several writes, and the trace does not give their order")
            }
            FromTraceError::BadCoherence { .. } => {
                write!(f, "the coherence order of `{of}` does not name each write once")
            }
            FromTraceError::NoHandler { .. } => {
                write!(f, "the trace does not name the handler of task `{of}`")
            }
        }
    }
}

/// Says why a procedure cannot decide a trace.
fn unsupported(refused: Unsupported) -> &'static str {
    match refused {
        Unsupported::Nested { .. } => {
            "a posted message posts another one, which procedure `flat` cannot handle"
        }
        Unsupported::OpenCoherence => {
            "a coherence order is missing, and only procedure `solver` can search for one"
        }
        Unsupported::OpenEnds => {
            "whether an input is disabled before it is enabled or after its trigger is open, and \
             only procedure `solver` can search for that"
        }
    }
}

impl Unusable {
    /// Returns advice about the input of this name.
    pub(super) fn hint(&self, name: &str) -> Option<Hint> {
        Some(match self {
            Unusable::Format(DetectError::Foreign(foreign)) => Hint::Record(foreign.advice),
            Unusable::Format(DetectError::Unknown { .. }) => match Path::new(name).extension() {
                Some(end) if end == "any" => Hint::BeginningOfModel,
                _ => Hint::AnyFormat,
            },
            Unusable::OtherKind { found, expected } => match (found, expected) {
                (Content::Foreign(foreign), _) => Hint::Record(foreign.advice),
                (_, Content::Trace(_)) => Hint::RunModel,
                (_, Content::Model) => Hint::ReadTrace { or_begin: true },
                (_, Content::ModelOrSchedule) => Hint::ReadTrace { or_begin: false },
                (_, Content::Foreign(_)) => return None,
            },
            Unusable::ScheduleElsewhere { path, .. } => Hint::File(path.clone()),
            Unusable::Witness(WrongWitness::LeftOut) => Hint::WholeWitness,
            Unusable::Start(_) => Hint::PipeProtocol,
            Unusable::OwnSteps => Hint::ByAccess,
            Unusable::NotObserved(Needs::Recording) => Hint::PartialTrace,
            Unusable::NotObserved(Needs::Races) => Hint::RacesOfRecording,
            Unusable::Search(SearchError::Symmetry) => Hint::NoSymmetry,
            Unusable::NoReduction | Unusable::NotThreads(_) => Hint::AllStates,
            Unusable::NotACheckpoint => Hint::OtherCheckpoint,
            Unusable::LacksData(LacksData { what: FromTraceError::NoCoherence { .. }, .. }) => {
                Hint::InferCoherence
            }
            Unusable::Procedure(_) => Hint::Solver,
            Unusable::NotInMemory => Hint::HoldMore,
            _ => return None,
        })
    }
}
