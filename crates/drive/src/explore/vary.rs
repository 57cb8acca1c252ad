//! Varies a run by reversing one conflict at a time, and reports the effects.

use super::findings::Reporter;
use super::program::{Repeats, TaskProgram, cannot_start};
use crate::certify::keep_true;
use crate::{Failure, FailureMessage, JobResult, Level};
use anyorder_common::numbers::plural;
use anyorder_common::text::escape;
use anyorder_explore::r4::{self, Limit, Verdict};
use anyorder_finding::{Ordered, Stats};
use anyorder_system::{Control, RunError};

/// The options of an exploration of a run. The [`Control`] has the limits on runs and their
/// lengths.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The options of the reversals.
    pub reversals: r4::ReversalOptions,
    /// The maximum number of occurrences of each input event, if events can happen any number of
    /// times. The recording may have more.
    pub repeats: u32,
}

impl Default for ExploreOptions {
    fn default() -> ExploreOptions {
        ExploreOptions { reversals: r4::ReversalOptions::default(), repeats: 1 }
    }
}

/// Runs a program, reverses the conflicts of the run one at a time, and reports harmful reversals.
///
/// # Errors
///
/// Fails when the program cannot be started or explored.
///
/// ```
/// use anyorder_drive::explore::{ExploreOptions, explore};
/// use anyorder_drive::model::Model;
/// use anyorder_system::Control;
///
/// let text = "
///     model late
///     var script = false;
///     once event loaded { script = true; }
///     once event click { assert script, \"not loaded\"; }";
/// let model = Model::compile("late.any", text)?;
/// let found = explore(&model, &ExploreOptions::default(), &Control::default())?;
/// assert_eq!(found.findings[0].finding.title, "an assertion fails: not loaded");
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn explore<P: TaskProgram>(
    program: &P,
    options: &ExploreOptions,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    let reversals = &options.reversals;
    let recorded = reversals.recording.iter().flat_map(|recording| &recording.choices);
    let recorded = recorded.filter(|choice| choice.task.creator().is_none());
    let most = recorded.map(|choice| choice.task.segment().ordinal).max().unwrap_or(0);
    let repeats = Repeats::at_most(options.repeats.max(most));
    control.progress.phase("runs");
    let mut result = JobResult::default();
    result.options.set("algorithm", "r4");
    let make = || program.start(Some(&repeats));
    let explored = match r4::explore(&make, reversals, control) {
        Ok(explored) => explored,
        Err(r4::Error::Stopped(reason)) => {
            result.cut_by(reason.word());
            return Ok(result);
        }
        Err(r4::Error::Start(error)) => {
            return Err(cannot_start(program.name(), &RunError::Crashed(error)));
        }
        Err(error) => return Err(Failure::at(program.name(), escape(&error.to_string()))),
    };
    explored.limits.iter().for_each(|limit| result.cut_by(limit_word(*limit)));
    if program.has_endless_events() {
        result.options.set("repeats", u64::from(repeats.most));
        if repeats.is_reached() {
            result.bounded_by("repeats");
        }
    }
    if let Some(bound) = reversals.bound {
        result.options.set("bound", u64::from(bound));
        if !explored.exhausted && explored.complete {
            result.bounded_by("bound");
        }
    }
    result.stats = stats(&explored);
    result.findings = Reporter::new(program, &explored, control).findings()?;
    result.remarks = remarks(program, &explored);
    result.model = program.model_name().map(str::to_owned);
    keep_true(&mut result, program.name(), control, |_, schedule, control| {
        program.certify_run(schedule, control)
    });
    Ok(result)
}

/// Warns about problems with the program.
fn remarks<P: TaskProgram>(program: &P, explored: &r4::Outcome) -> Vec<FailureMessage> {
    let mut remarks = Vec::new();
    let mut warn =
        |text: &str| remarks.push(FailureMessage::at(Level::Warning, program.name(), text));
    let counts = &explored.counts;
    if counts.retries > 0 {
        let what = plural(counts.retries, "attempt");
        warn(&format!("{what} at a run failed and had to be repeated"));
    }
    if counts.lost > 0 {
        let what = plural(counts.lost, "planned run");
        warn(&format!("{what} given up, because all attempts failed"));
    }
    if explored.limits.contains(&Limit::Waiting) {
        warn("the program does not report what its tasks wait for, so it may allow further orders");
    }
    if explored.runs.first().is_some_and(|run| run.cut) {
        warn(
            "the recorded run was cut at the step limit; set `--max-steps`, or give a run that ends with `--recording`",
        );
    }
    remarks.extend(program.remark());
    remarks
}

const fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Executions => "max-executions",
        Limit::Steps => "max-steps",
        Limit::Memory => "memory-limit",
        Limit::Lost => "attempts",
        Limit::Alternatives => "alternatives",
        Limit::Waiting => "waiting",
        Limit::Stopped(reason) => reason.word(),
    }
}

/// Returns the counts under their names in results.
fn stats(explored: &r4::Outcome) -> Stats {
    let counts = &explored.counts;
    let mut classes: Ordered<u64> = Ordered::new();
    for verdict in [
        Verdict::Equivalent,
        Verdict::Bookkeeping,
        Verdict::Timers,
        Verdict::LateRegistration,
        Verdict::CutByFailure,
        Verdict::Alternative,
        Verdict::Different,
        Verdict::Unstable,
    ] {
        let same = |run: &&r4::RunInfo| {
            run.comparison.as_ref().is_some_and(|comparison| comparison.verdict == verdict)
        };
        let count = explored.runs.iter().filter(same).count() as u64;
        let seldom = matches!(verdict, Verdict::CutByFailure | Verdict::Alternative);
        if count > 0 || !seldom {
            classes.set(verdict.word(), count);
        }
    }
    let depth = explored.runs.iter().map(|run| run.depth).max().unwrap_or(0);
    let tasks = explored.runs.first().map_or(0, |run| run.length as u64);
    let mut stats = Stats::new();
    stats
        .set("algorithm", "r4")
        .set("recorded_tasks", tasks)
        .set("sequences", explored.runs.len() as u64)
        .set("executions", counts.executions)
        .set("reversals", classes)
        .set("max_reversals", depth)
        .set("plans", counts.plans)
        .set("slept", counts.slept)
        .set("repeated", counts.repeated)
        .set("duplicates", counts.duplicates)
        .set("sleep_blocked", counts.sleep_blocked)
        .set("confirmations", counts.confirmations)
        .set("retries", counts.retries)
        .set("lost", counts.lost)
        .set("unstable", counts.unstable)
        .set("cut", counts.cut)
        .set("restarts", counts.restarts)
        .set("executed_tasks", counts.tasks);
    stats
}
