//! Checks a model.

use super::growth::Growth;
use super::load::Model;
use crate::Failure;
use crate::states::{CheckOptions, CheckResult, Watcher, check_states_watched};
use anyorder_system::Control;

/// Searches the states of a model, and reports violated properties with the shortest runs.
///
/// # Errors
///
/// Fails when the options do not fit the model, and when a checkpoint cannot be read or written.
///
/// ```
/// use anyorder_drive::model::{Model, check_model};
/// use anyorder_drive::states::CheckOptions;
/// use anyorder_system::Control;
///
/// let text = "
///     model lost
///     var x = 0;
///     var done = 0;
///     thread adds[i in 0..2] { let old = x; x = old + 1; done += 1; }
///     invariant none_lost: done < 2 || x == 2;";
/// let model = Model::compile("lost.any", text)?;
/// let found = check_model(&model, &CheckOptions::default(), &Control::default())?.result;
/// assert_eq!(found.findings[0].finding.title, "invariant `none_lost` does not hold");
/// assert!(found.findings[0].run.as_ref().is_some_and(|run| !run.steps.is_empty()));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn check_model(
    model: &Model,
    options: &CheckOptions,
    control: &Control<'_>,
) -> Result<CheckResult, Failure> {
    check_model_watched(model, options, control, &mut ())
}

/// Like [`check_model`], with a watcher of full search.
///
/// # Errors
///
/// Like [`check_model`].
pub fn check_model_watched(
    model: &Model,
    options: &CheckOptions,
    control: &Control<'_>,
    watcher: &mut dyn Watcher,
) -> Result<CheckResult, Failure> {
    let growth = Growth::new(control.progress, &model.machine);
    let control = Control { progress: &growth, ..control.clone() };
    check_states_watched(model, options, &control, watcher)
}
