//! The steps of a user: what `actions.json` says.

mod parse;
mod step;
mod write;

pub use parse::{ActionsError, parse_actions};
pub use step::{Actions, Target, TargetKind, UserStep, UserStepKind};
pub use write::write_actions;
