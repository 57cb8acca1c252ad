//! Models: recognition, compilation and descriptions.
//!
//! [`Model`] is a front end: it implements [`StateProgram`](crate::states::StateProgram) and
//! [`TaskProgram`](crate::explore::TaskProgram), with descriptions for each.

pub use detect::is_model;
pub use jobs::{
    check_model, check_model_watched, compare_model_runs, explore_model, model_graph, replay_model,
    shrink_model, simulate_model,
};
pub(crate) use load::GRANULARITY;
pub use load::{MODEL_BYTES_MAX, Model, format_model, model_text};

// From a text to a compiled model.
mod detect;
mod load;

// Jobs for models only.
mod jobs;

// The front end: states, tasks and their descriptions.
mod checked;
mod descriptions;
mod rests;
mod schedule;
mod states;
mod tasks;
