//! Models: how they are recognised, made ready, and described.
//!
//! [`Model`] is a front end like any other: it gives states
//! ([`StateProgram`](crate::states::StateProgram)) and tasks
//! ([`TaskProgram`](crate::explore::TaskProgram)), each with its words.

pub use check::{check_model, check_model_watched};
pub use detect::is_model;
pub use load::{MODEL_BYTES_MAX, Model, format_model, model_text};
pub use replay::replay_model;

// From a text to a program that runs.
mod detect;
mod load;

// Jobs that need more of a model than of other programs.
mod check;
mod growth;
mod replay;

// The front end: states, tasks, and their words.
mod checked;
mod schedule;
mod states;
mod tasks;
mod words;
