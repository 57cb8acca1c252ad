//! Jobs on models: check, with a warning about models that grow without bound, replay, and those of
//! all programs.
//!
//! The jobs of all programs are generic in the program, and so are the engines below them. Whoever
//! calls one compiles it, with its engines, anew. So models have functions of their own here, which
//! are compiled once.

use super::program::Model;
use crate::explore::{ExploreOptions, ShrinkOptions, Shrunk, explore, replay_run, shrink};
use crate::schedules::Shows;
use crate::states::{
    CheckOptions, CheckResult, Compared, Exported, GraphOptions, Replayed, SimulateOptions,
    Watcher, check_states_watched, compare, export_graph, replay_path, simulate,
};
use crate::{Failure, JobControl, JobResult};
use anyorder_finding::option;
use anyorder_system::{Control, Progress, Schedule};
use anyorder_vm::Machine;
use std::sync::Mutex;

/// Searches the states of a model, and reports violated properties with the shortest runs.
///
/// # Errors
///
/// Fails when the options do not fit the model, and when a checkpoint cannot be read or written.
///
/// ```
/// use anyorder_drive::JobControl;
/// use anyorder_drive::model::{Model, check_model};
/// use anyorder_drive::states::CheckOptions;
///
/// let text = "
///     model lost
///     var x = 0;
///     var done = 0;
///     thread adds[i in 0..2] { let old = x; x = old + 1; done += 1; }
///     invariant none_lost: done < 2 || x == 2;";
/// let model = Model::compile("lost.any", text)?;
/// let found = check_model(&model, &CheckOptions::default(), &JobControl::default())?.result;
/// assert_eq!(found.findings[0].finding.title, "invariant `none_lost` does not hold");
/// assert!(found.findings[0].run.as_ref().is_some_and(|run| !run.steps.is_empty()));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn check_model(
    model: &Model,
    options: &CheckOptions,
    control: &JobControl<'_>,
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
    control: &JobControl<'_>,
    watcher: &mut dyn Watcher,
) -> Result<CheckResult, Failure> {
    let growth = Growth::new(control.progress, &model.machine);
    let watched = Control { progress: &growth, ..control.control.clone() };
    let control = JobControl::new(watched, control.found);
    check_states_watched(model, options, &control, watcher)
}

/// Replays a schedule of a model, and reports whether its finding occurs again.
///
/// # Errors
///
/// Fails when the model is not deterministic.
///
/// ```
/// use anyorder_drive::model::{Model, check_model, replay_model};
/// use anyorder_drive::states::{CheckOptions, ReplayVerdict};
/// use anyorder_drive::{JobControl, schedule_of};
///
/// let text = "model late\nvar script = false;\nevent click { assert script; }";
/// let model = Model::compile("late.any", text)?;
/// let found = check_model(&model, &CheckOptions::default(), &JobControl::default())?.result;
/// let schedule = schedule_of(&found.findings[0].finding).expect("a schedule");
/// assert_eq!(replay_model(&model, &schedule)?.verdict, ReplayVerdict::Reproduced);
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn replay_model(model: &Model, schedule: &Schedule) -> Result<Replayed, Failure> {
    let other = model.with_steps_of(schedule)?;
    let model = other.as_ref().unwrap_or(model);
    match Shows::of(schedule) {
        // The comparison needs both runs.
        Some(Shows::Difference(_)) => replay_run(model, schedule),
        _ => replay_path(model, schedule),
    }
}

/// Explores the runs of a model: [`explore`].
///
/// # Errors
///
/// Like [`explore`].
#[inline(never)]
pub fn explore_model(
    model: &Model,
    options: &ExploreOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    explore(model, options, control)
}

/// Shrinks a run of a model: [`shrink`].
///
/// # Errors
///
/// Like [`shrink`].
#[inline(never)]
pub fn shrink_model(
    model: &Model,
    failing: &Schedule,
    options: &ShrinkOptions,
    control: &JobControl<'_, Schedule>,
) -> Result<Option<Shrunk>, Failure> {
    shrink(model, failing, options, control)
}

/// Runs a model at random: [`simulate`].
///
/// # Errors
///
/// Like [`simulate`].
#[inline(never)]
pub fn simulate_model(
    model: &Model,
    options: &SimulateOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    simulate(model, options, control)
}

/// Draws the states of a model as a graph: [`export_graph`].
///
/// # Errors
///
/// Like [`export_graph`].
#[inline(never)]
pub fn model_graph(
    model: &Model,
    options: &GraphOptions,
    control: &Control<'_>,
) -> Result<Exported, Failure> {
    export_graph(model, options, control)
}

/// Compares two runs of a model: [`compare`].
///
/// # Errors
///
/// Like [`compare`].
#[inline(never)]
pub fn compare_model_runs(model: &Model, a: &Schedule, b: &Schedule) -> Result<Compared, Failure> {
    compare(model, a, b)
}

/// The mailbox lengths at which to warn, ascending.
const LENGTHS: [u64; 4] = [100, 1_000, 10_000, 100_000];

/// A listener that watches the lengths of the mailboxes of a machine.
pub(super) struct Growth<'a> {
    inner: &'a dyn Progress,
    machine: &'a Machine,
    /// The number of lengths already reported.
    said: Mutex<usize>,
}

impl<'a> Growth<'a> {
    pub(super) fn new(inner: &'a dyn Progress, machine: &'a Machine) -> Growth<'a> {
        Growth { inner, machine, said: Mutex::new(0) }
    }

    fn look(&self) {
        let Some((mailbox, longest)) = self.machine.longest_mailbox() else { return };
        let Ok(mut said) = self.said.lock() else { return };
        let reached = LENGTHS.partition_point(|length| *length <= longest);
        if reached > *said {
            *said = reached;
            self.inner.note(&words(&mailbox, LENGTHS[reached - 1]));
        }
    }
}

fn words(mailbox: &str, length: u64) -> String {
    let length = match length {
        0..1_000 => length.to_string(),
        _ => format!("{},000", length / 1_000),
    };
    let depth = option::MAX_DEPTH.typed();
    format!(
        "the mailbox of `{mailbox}` has grown to {length} messages, and may grow without end; bound it with a `when` on the events that post to it, or the search with {depth}"
    )
}

impl Progress for Growth<'_> {
    fn report(&self, done: u64, total: Option<u64>) {
        self.look();
        self.inner.report(done, total);
    }

    fn phase(&self, name: &'static str) {
        self.inner.phase(name);
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }
}
