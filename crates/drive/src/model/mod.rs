//! Models: programs of the machine, from their texts or from another front end.
//!
//! [`Model`] implements [`StateProgram`](crate::states::StateProgram) and
//! [`TaskProgram`](crate::explore::TaskProgram), with descriptions for each.
//! [`Model::compile`] makes one of a text, and only this part knows the language.
//! [`Model::from_program`] makes one of any program of the machine. So a front end that lowers to
//! the machine has all jobs of a model.

pub use compile::{MODEL_BYTES_MAX, format_model, model_text};
pub use detect::is_model;
pub use jobs::{
    check_model, check_model_watched, compare_model_runs, explore_model, model_graph, replay_model,
    shrink_model, simulate_model,
};
pub(crate) use program::GRANULARITY;
pub use program::Model;
pub use robust::robust_model;

// From a text to a program.
mod compile;
mod detect;

// A program of the machine.
mod program;

// Jobs for models only.
mod jobs;

// The front end: states, tasks and their descriptions.
mod checked;
mod descriptions;
mod rests;
mod robust;
mod schedule;
mod states;
mod tasks;
pub(crate) mod threads;
