//! Robustness of a program, with its certificates checked.

use super::model::{RobustModelOptions, decide};
use super::program::RobustProgram;
use crate::kept::keep_true;
use crate::{Failure, JobControl, JobResult};
use anyorder_system::Control;

/// Decides whether a program is robust against concurrency. Searches violations by their pivots,
/// and for each a run to a global state that no serial run reaches.
///
/// # Errors
///
/// Fails for a program with anything but events and tasks, and for one that cannot begin.
pub fn robust_program<P: RobustProgram>(
    program: &P,
    options: &RobustModelOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let result = decide(program, options, control)?;
    Ok(certified(program, result, control))
}

/// Leaves out the certificates that do not hold.
pub(crate) fn certified<P: RobustProgram>(
    program: &P,
    mut result: JobResult,
    control: &Control<'_>,
) -> JobResult {
    result.model = program.own_name().map(str::to_owned);
    keep_true(&mut result, &program.program().name, control, |_, schedule, control| {
        program.certify_schedule(schedule, control)
    });
    result
}
