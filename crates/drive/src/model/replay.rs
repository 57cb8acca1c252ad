//! Replays a schedule of a model.

use super::load::Model;
use crate::Failure;
use crate::explore::replay_run;
use crate::schedules::Shows;
use crate::states::{Replayed, replay_path};
use anyorder_system::Schedule;

/// Replays a schedule of a model, and reports whether its finding occurs again.
///
/// # Errors
///
/// Fails when the model is not deterministic.
///
/// ```
/// use anyorder_drive::model::{Model, check_model, replay_model};
/// use anyorder_drive::schedule_of;
/// use anyorder_drive::states::{CheckOptions, ReplayVerdict};
/// use anyorder_system::Control;
///
/// let text = "model late\nvar script = false;\nevent click { assert script; }";
/// let model = Model::compile("late.any", text)?;
/// let found = check_model(&model, &CheckOptions::default(), &Control::default())?.result;
/// let schedule = schedule_of(&found.findings[0].finding).expect("a schedule");
/// assert_eq!(replay_model(&model, &schedule)?.verdict, ReplayVerdict::Reproduced);
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn replay_model(model: &Model, schedule: &Schedule) -> Result<Replayed, Failure> {
    match Shows::of(schedule) {
        // The comparison needs both runs.
        Some(Shows::Difference(_)) => replay_run(model, schedule),
        _ => replay_path(model, schedule),
    }
}
