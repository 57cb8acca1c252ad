//! Replays a schedule of a model.

use super::load::Model;
use crate::Failure;
use crate::explore::replay_run;
use crate::schedules::Shows;
use crate::states::{Replayed, replay_path};
use anyorder_system::Schedule;

/// Runs a schedule of a model again, and says whether it shows what it says that it shows.
///
/// # Errors
///
/// Fails when the model does not do the same again.
pub fn replay_model(model: &Model, schedule: &Schedule) -> Result<Replayed, Failure> {
    match Shows::of(schedule) {
        // Only running both runs can tell.
        Some(Shows::Difference(_)) => replay_run(model, schedule),
        _ => replay_path(model, schedule),
    }
}
