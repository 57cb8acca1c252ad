//! What no input can give.

use super::Hint;
use anyorder_common::text::{escape, escape_lines};
use thiserror::Error;

/// Why no input can give what was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Request {
    /// A quote in a command is not closed.
    #[error("`{}`: a quote is not closed", escape(command))]
    UnclosedQuote {
        /// The command.
        command: String,
    },
    /// A command has no word.
    #[error("expected a command that starts the program")]
    NoCommand,
    /// The type of an object is not declared as `NAME=TYPE`.
    #[error("{}: expected NAME=TYPE", escape(declared))]
    NoType {
        /// The declaration.
        declared: String,
    },
    /// An object has a type that no specification is for.
    #[error("{}: unknown type `{}`", escape(declared), escape(type_name))]
    UnknownType {
        /// The declaration.
        declared: String,
        /// The type in it.
        type_name: String,
        /// The types that are built in.
        built_in: Vec<&'static str>,
    },
    /// The specifications contradict each other.
    #[error("the specifications cannot be used: {}", escape_lines(.0))]
    Specifications(String),
    /// What a schedule shows is no property of one run.
    #[error("{0}: it cannot be shrunk")]
    NotShrinkable(NotShrinkable),
    /// A schedule shows a difference to a run that it does not name.
    #[error("the schedule does not say which run it differs from")]
    NoReference,
}

/// Why what a schedule shows is no property of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NotShrinkable {
    /// A missing response.
    #[error("only an infinite run shows a missing response")]
    Response,
    /// A livelock.
    #[error("a livelock is a verdict on all runs from a state, not on one run")]
    Livelock,
    /// An end that no serial run has.
    #[error("that no serial run ends so is a verdict on all runs, not on one")]
    Serial,
}

impl Request {
    pub(super) fn hint(&self) -> Option<Hint> {
        match self {
            Request::NoCommand => Some(Hint::SuchCommand),
            Request::NoType { .. } => Some(Hint::SuchObject),
            Request::UnknownType { built_in, .. } => Some(Hint::KnownTypes(built_in.clone())),
            Request::UnclosedQuote { .. }
            | Request::Specifications(_)
            | Request::NotShrinkable(_)
            | Request::NoReference => None,
        }
    }
}
