//! Checks a program given as states: searches them, and reports violations as findings.

use super::conflicts::Conflict;
use super::full::full;
use super::program::StateProgram;
use super::reduced::reduced;
use super::report::{report, report_conflicts};
use crate::Failure;
use crate::{JobResult, Level, Message};
use anyorder_common::text::shown;
use anyorder_search::{Gauge, Order, ResponseVerdict, Storage};
use anyorder_system::{Control, Reducible, StateSystem};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The search algorithms for states.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// Skips states that differ only in the order of independent steps.
    /// The findings are the same, but a run may be longer than necessary.
    Stateful,
    /// The published stateful algorithm, for comparison.
    Paper,
    /// All states. The runs that it shows are the shortest.
    Full,
}

/// The options of a check of states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// The algorithm. `None` means [`Algorithm::Stateful`], unless the program or another option
    /// needs [`Algorithm::Full`].
    /// An invariant that does not say what it watches is an error unless this asks for
    /// [`Algorithm::Full`]: see [`invariant_of`](anyorder_system::Properties::invariant_of).
    pub algorithm: Option<Algorithm>,
    /// The number of threads; it does not change the result.
    pub threads: NonZeroUsize,
    /// Stop at the first finding.
    pub first: bool,
    /// Two writes of one value do not conflict.
    pub values: bool,
    /// The maximum number of states.
    pub states_max: Option<u64>,
    /// Full search: the search order.
    pub order: Order,
    /// Full search: the storage of states.
    pub storage: Storage,
    /// Full search: visit one of the states that differ only by a permutation of an index type.
    pub symmetry: bool,
    /// Full search: the maximum number of steps of a run.
    pub depth_max: Option<u32>,
    /// Full search: save the search to this file, at pauses that a [`Watcher`] chooses and when a
    /// limit ends it.
    pub checkpoint: Option<PathBuf>,
    /// Full search: resume the search saved in this file.
    pub resume: Option<PathBuf>,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            algorithm: None,
            threads: NonZeroUsize::MIN,
            first: false,
            values: true,
            states_max: None,
            order: Order::default(),
            storage: Storage::default(),
            symmetry: false,
            depth_max: None,
            checkpoint: None,
            resume: None,
        }
    }
}

impl CheckOptions {
    /// Returns the algorithm for a program, and notes to print before the search.
    pub fn plan<P: StateProgram>(&self, program: &P) -> (Algorithm, Vec<Message>) {
        let (system, mut remarks) = (program.system(), Vec::new());
        let name = shown(Path::new(&program.program().name));
        let reason = self.needs_full(system);
        let algorithm = match (self.algorithm, reason) {
            (Some(algorithm), _) => algorithm,
            (None, None) => Algorithm::Stateful,
            (None, Some(reason)) => {
                let text = format!("{name}: full search, without reduction: {reason}");
                remarks.push(Message::new(Level::Note, text));
                Algorithm::Full
            }
        };
        let bits = matches!(self.storage, Storage::Bitstate { .. });
        let has_responses = !system.properties().responses.is_empty();
        let mut warn =
            |text: &str| remarks.push(Message::new(Level::Warning, format!("{name}: {text}")));
        if has_responses && algorithm != Algorithm::Full {
            warn("responses are not checked; `--algorithm full` checks them");
        }
        if has_responses && algorithm == Algorithm::Full && bits {
            warn("responses are not checked with `--storage bitstate`");
        }
        if algorithm == Algorithm::Paper && !system.components().is_empty() {
            warn("`--algorithm paper` does not check update conflicts");
        }
        (algorithm, remarks)
    }

    /// Returns the reason for which full search is needed, if any.
    fn needs_full<S: StateSystem>(&self, system: &S) -> Option<&'static str> {
        let reasons = [
            (self.resume.is_some(), "`--resume` continues a full search"),
            (self.checkpoint.is_some(), "`--checkpoint` saves a full search"),
            (self.symmetry, "`--symmetry` needs full search"),
            (self.storage != Storage::Fingerprints, "`--storage` needs full search"),
            (self.order != Order::Breadth, "`--order` needs full search"),
            (
                self.depth_max.is_some(),
                "`--max-depth` cuts runs, and reduction needs complete runs",
            ),
            (!system.properties().responses.is_empty(), "response properties need full search"),
        ];
        reasons.iter().find(|(applies, _)| *applies).map(|(_, reason)| *reason)
    }
}

/// Follows a full search at its pauses. A job reads no clock, so its watcher decides when a
/// checkpoint is due.
pub trait Watcher {
    /// Receives the progress of the search. Returns whether to write a checkpoint now.
    fn pause(&mut self, _gauge: &Gauge) -> bool {
        false
    }

    /// Called after an attempt to write a checkpoint.
    fn saved(&mut self) {}
}

/// Watches nothing.
impl Watcher for () {}

/// The result of a check of states.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckResult {
    /// Findings, counts, limits.
    pub result: JobResult,
    /// The parts of the program that never run, as text; empty if the search was cut.
    pub never_run: Vec<String>,
}

/// Searches the states of a program, and reports violated properties. The number of states is the
/// count `states` of the result. See [`check_model`](crate::model::check_model) for a model, and
/// `examples/rust/src/bin/protocol.rs` for a state system of your own.
///
/// The system must be [`Reducible`], also for [`Algorithm::Full`]. A plain [`StateSystem`] goes to
/// [`simulate`](super::simulate()), or to `anyorder_search` itself.
///
/// # Errors
///
/// Fails when the options do not fit the program, and when a checkpoint cannot be read or written.
pub fn check_states<P>(
    program: &P,
    options: &CheckOptions,
    control: &Control<'_>,
) -> Result<CheckResult, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    check_states_watched(program, options, control, &mut ())
}

/// Like [`check_states`], with a watcher of full search.
///
/// # Errors
///
/// Like [`check_states`].
pub fn check_states_watched<P>(
    program: &P,
    options: &CheckOptions,
    control: &Control<'_>,
    watcher: &mut dyn Watcher,
) -> Result<CheckResult, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let (algorithm, _) = options.plan(program);
    let (result, never_run) = match algorithm {
        Algorithm::Full => all_states(program, options, control, watcher)?,
        _ => reduced_states(program, algorithm, options, control)?,
    };
    let parts = program.system().parts();
    let words = |part: usize| Some(program.never_runs(part, parts.names.get(part)?));
    let never_run = never_run.into_iter().flatten().filter_map(words).collect();
    Ok(CheckResult { result, never_run })
}

type Found = (JobResult, Option<Vec<usize>>);

/// Searches all states. Returns the result, and the parts that never run, if known.
fn all_states<P>(
    program: &P,
    options: &CheckOptions,
    control: &Control<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Found, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let (searched, remarks) = full(program, options, control, watcher)?;
    let mut found = JobResult { remarks, ..JobResult::default() };
    // A violation of a response is an infinite run, so no depth covers it.
    let open = searched.responses.contains(&ResponseVerdict::Unknown);
    for limit in &searched.limits {
        let list = if limit.is_bound() && !open { &mut found.bounds } else { &mut found.limits };
        list.push(super::full::limit_word(*limit).to_owned());
    }
    if !searched.complete && searched.limits.is_empty() {
        found.cut_by("first");
    }
    found.stats = super::full::stats(&searched.stats);
    found.findings = report(program, &searched.violations);
    if let Some(conflicts) = searched.conflicts {
        let conflicts = conflicts.into_iter().map(|one| Conflict::of(program, one));
        let conflicts: Vec<_> = conflicts.collect();
        found.findings.extend(report_conflicts(program, &conflicts));
    } else if !program.system().components().is_empty() {
        let other = reduced(program, Algorithm::Stateful, options, control)?;
        found.limits.extend(other.limits());
        found.findings.extend(report_conflicts(program, &other.conflicts));
    }
    Ok((found, searched.never_run))
}

/// Searches with reduction. Returns the same data as full search.
fn reduced_states<P>(
    program: &P,
    algorithm: Algorithm,
    options: &CheckOptions,
    control: &Control<'_>,
) -> Result<Found, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let system = program.system();
    let found = reduced(program, algorithm, options, control)?;
    let mut findings = report(program, &found.violations);
    findings.extend(report_conflicts(program, &found.conflicts));
    let mut limits = found.limits();
    let no_conflicts = algorithm == Algorithm::Paper && !system.components().is_empty();
    if !system.properties().responses.is_empty() || no_conflicts {
        limits.push("algorithm".to_owned());
    }
    let report = JobResult { findings, stats: found.stats, limits, ..JobResult::default() };
    Ok((report, found.never_run))
}
