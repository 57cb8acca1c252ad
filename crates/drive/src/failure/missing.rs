//! What a job that was ended did not do.

use anyorder_common::numbers::plural;
use anyorder_common::text::{escape, shown};
use std::path::PathBuf;
use thiserror::Error;

/// What a job that was ended before it had anything to give did not do.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Missing {
    /// An input was not read to its end.
    #[error("{} was not read", shown(.0))]
    Input(PathBuf),
    /// Standard input was not read to its end.
    #[error("standard input was not read")]
    StandardInput,
    /// A program was not run to the end.
    #[error("{} was not run to the end", escape(.0))]
    Run(String),
    /// A schedule was not run to its end.
    #[error("the schedule was not run to its end")]
    Schedule,
    /// A smaller schedule was found, and not checked.
    #[error("the smaller schedule was not checked")]
    SmallerSchedule,
    /// No certificate was checked.
    #[error("nothing was checked")]
    Check,
    /// Nothing was decided.
    #[error("no answer")]
    Answer,
    /// Two runs were not compared.
    #[error("the runs were not compared")]
    Comparison,
    /// No output was written.
    #[error("nothing was written")]
    Output,
    /// A part of the output was written.
    #[error("the output was cut")]
    RestOfOutput,
    /// Only the first schedules were replayed.
    #[error("{} replayed", plural(*.0, "schedule"))]
    Replays(u64),
    /// Only the first files were formatted.
    #[error("{done} of {} formatted", plural(*all, "file"))]
    Files {
        /// The number of files formatted.
        done: u64,
        /// The number of all files.
        all: u64,
    },
}
