//! Robustness of a model, with its certificates checked.

use super::model::{self, RobustModelOptions};
use crate::certify::keep_true;
use crate::model::Model;
use crate::states::StateProgram as _;
use crate::{Failure, JobResult};
use anyorder_system::Control;

/// Decides whether a model is robust against concurrency. Searches violations by their pivots, and
/// for each a run to a global state that no serial run reaches.
///
/// # Errors
///
/// Fails for a model with threads, and for one that cannot begin.
pub fn robust_model(
    model: &Model,
    options: &RobustModelOptions,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    let mut result = model::robust_model(model, options, control)?;
    result.model = model.own_name().map(str::to_owned);
    keep_true(&mut result, &model.program().name, control, |_, schedule, control| {
        model.certify_schedule(schedule, control)
    });
    Ok(result)
}
