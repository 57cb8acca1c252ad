//! Checks a program given as states: searches them, and reports violations as findings.

use super::by_threads::{Lead, add_hint, as_asked, lead};
use super::conflicts::Conflict;
use super::full::{WithRemarks, full};
use super::program::StateProgram;
use super::reduction::Checked;
use super::report::{certify_findings, report, report_conflict};
use crate::failure::{Failure, Unusable};
use crate::limits;
use crate::limits::stopped_by;
use crate::remark::{FullReason, Remark, Remarked};
use crate::{JobControl, JobResult};
use anyorder_finding::{Stats, Warning, WarningKind, option, stat};
use anyorder_search::{
    Gauge, Order, Outcome, ResponseVerdict, Storage, fewest_switches, sort_conflicts,
    sort_violations,
};
use anyorder_system::{Control, JobWatch, StateSystem, Stopped};
use std::num::NonZeroUsize;
use std::path::PathBuf;

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
    /// What each thread can see, for programs of threads alone. Executions that differ only in what
    /// no thread sees are one.
    Threads,
}

/// The options of a check of states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// The algorithm. `None` means [`Algorithm::Stateful`], unless the program or another option
    /// needs [`Algorithm::Full`]. A program without a [`reduction`](StateProgram::reduction) needs
    /// it. Before it, a program that [prefers](StateProgram::prefers_threads) it is searched by
    /// [`Algorithm::Threads`] for a while, which answers if it covers all.
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
    pub fn plan<P: StateProgram>(&self, program: &P) -> (Algorithm, Vec<Remark>) {
        let (system, mut remarks) = (program.system(), Vec::new());
        let name = &program.program().name;
        let reason = self.needs_full(system);
        let algorithm = match (self.algorithm, reason) {
            (Some(algorithm), _) => algorithm,
            (None, _) if program.reduction().is_none() => Algorithm::Full,
            (None, None) => Algorithm::Stateful,
            (None, Some(reason)) => {
                remarks.push(Remark::on(name, Remarked::FullSearch(reason)));
                Algorithm::Full
            }
        };
        let bits = matches!(self.storage, Storage::Bitstate { .. });
        let has_responses = !system.properties().responses.is_empty();
        let mut warn = |what| remarks.push(Remark::on(name, what));
        if has_responses && algorithm != Algorithm::Full {
            warn(Remarked::NoResponses);
        }
        if has_responses && algorithm == Algorithm::Full && bits {
            warn(Remarked::NoResponsesInBits);
        }
        if algorithm == Algorithm::Paper && !system.components().is_empty() {
            warn(Remarked::NoConflicts);
        }
        (algorithm, remarks)
    }

    /// Returns the reason for which full search is needed, if any.
    fn needs_full<S: StateSystem>(&self, system: &S) -> Option<FullReason> {
        let reasons = [
            (self.resume.is_some(), FullReason::Resume),
            (self.checkpoint.is_some(), FullReason::Checkpoint),
            (self.symmetry, FullReason::Symmetry),
            (self.storage != Storage::Fingerprints, FullReason::Storage),
            (self.order != Order::Breadth, FullReason::Order),
            (self.depth_max.is_some(), FullReason::Depth),
            (!system.properties().responses.is_empty(), FullReason::Responses),
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
/// Any [`StateSystem`] goes: see [`Named`](super::Named). Only a program with a
/// [`reduction`](StateProgram::reduction) is searched without some orders of independent steps.
///
/// # Errors
///
/// Fails when the options do not fit the program, and when a checkpoint cannot be read or written.
pub fn check_states<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Result<CheckResult, Failure> {
    check_states_watched(program, options, control, &mut ())
}

/// Like [`check_states`], with a watcher of full search.
///
/// # Errors
///
/// Like [`check_states`].
pub fn check_states_watched<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
    watcher: &mut dyn Watcher,
) -> Result<CheckResult, Failure> {
    let (algorithm, _) = options.plan(program);
    let system = program.system();
    let reduction = match (algorithm, program.reduction()) {
        (Algorithm::Full | Algorithm::Threads, _) => None,
        (_, Some(reduction)) => Some(reduction),
        (_, None) => return Err(no_reduction(program)),
    };
    let mut result = JobResult::default();
    if !starts(system, control, &mut result) {
        return Ok(CheckResult { result, ..CheckResult::default() });
    }
    let (mut result, never_run) = match reduction {
        None if algorithm == Algorithm::Threads => as_asked(program, options, control)?,
        None => all_states(program, options, control, watcher)?,
        Some(reduction) => match lead(program, options, control) {
            None => (reduction.search)(program, algorithm, options, control)?,
            Some(Lead::Answer(found)) => found,
            Some(Lead::Hint(hint)) => {
                let mut found = (reduction.search)(program, algorithm, options, control)?;
                add_hint(&mut found.0, hint);
                found
            }
        },
    };
    certify_findings(program, &mut result, control);
    let no_responses = algorithm != Algorithm::Full && !system.properties().responses.is_empty();
    let no_conflicts = algorithm == Algorithm::Paper && !system.components().is_empty();
    if no_responses || no_conflicts {
        result.cut_by(option::ALGORITHM);
    }
    let parts = system.parts();
    let words = |part: usize| Some(program.never_runs(part, parts.names.get(part)?));
    let never_run: Vec<String> = never_run.into_iter().flatten().filter_map(words).collect();
    let name = &program.program().name;
    let warn = |text: &String| Warning::new(WarningKind::Odd, name, text.as_str(), 1);
    result.warnings.extend(never_run.iter().map(warn));
    Ok(CheckResult { result, never_run })
}

/// Makes the failure of a program that only full search can check.
fn no_reduction<P: StateProgram>(program: &P) -> Failure {
    Failure::input(&program.program().name, Unusable::NoReduction)
}

/// Makes the initial states once, where the job can be stopped: `init` may run for long. Returns
/// false, and marks the result, if it was. The engines, which need the initial states whole, then
/// know that they come soon.
pub(super) fn starts<S: StateSystem>(
    system: &S,
    control: &Control<'_>,
    result: &mut JobResult,
) -> bool {
    let watched = JobWatch::of(control).enter();
    drop(system.initial());
    drop(watched);
    match control.check() {
        Ok(()) => true,
        Err(stopped) => {
            result.cut_by(stopped_by(stopped.0));
            false
        }
    }
}

/// The outcome of an engine, and its counts under their names in results.
pub(super) type Searched<S, D> = (Outcome<S, D>, Stats);

/// A result, and the parts that never run, if known.
pub(super) type Found = (JobResult, Option<Vec<usize>>);

/// Searches all states. If that search cannot find update conflicts, another one does.
fn all_states<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Found, Failure> {
    let searched = full(program, options, control, (watcher, &mut |_| Ok(None)))?;
    with_missing(program, options, searched, control)
}

/// Builds the result of a full search, with what it could not check.
pub(super) fn with_missing<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    (mut searched, remarks): WithRemarks<P::System>,
    control: &JobControl<'_>,
) -> Result<Found, Failure> {
    // The ends before a resumption are not known: nothing is said about them.
    searched.0.ended |= options.resume.is_some();
    let has_conflicts = searched.0.conflicts.is_some();
    let livelocks_checked = searched.0.livelocks_checked;
    // Where no run ends, there is no livelock. A search that is resumed does not know.
    let stopped = options.first && !searched.0.violations.is_empty();
    let open = searched.0.complete && !stopped && searched.0.ended;
    let no_livelocks = open && !livelocks_checked && program.system().actors().is_some();
    let (mut result, never_run) = assemble(program, searched, control);
    result.remarks = remarks;
    let no_conflicts = !has_conflicts && !program.system().components().is_empty();
    if !no_conflicts && !no_livelocks {
        return Ok((result, never_run));
    }
    if let Some(reduction) = program.reduction() {
        let checked = Checked { conflicts: has_conflicts, livelocks: livelocks_checked };
        let mut other = (reduction.missing)(program, options, checked, control)?;
        other.limits.retain(|limit| !result.limits.contains(limit));
        result.limits.extend(other.limits);
        result.findings.extend(other.findings);
    } else {
        result.cut_by(option::ALGORITHM);
    }
    Ok((result, never_run))
}

/// Describes the properties that no run could violate, after a complete search.
fn says_nothing<P: StateProgram, D>(program: &P, outcome: &Outcome<P::System, D>) -> Vec<String> {
    let responses = program.system().properties().responses;
    let named = |index: &usize| responses.get(*index).map(|one| one.name.as_str());
    let untriggered = outcome.untriggered.iter().filter_map(named);
    let untriggered =
        untriggered.map(|name| format!("response `{name}` says nothing: its trigger never holds"));
    let unended = program.has_final() && !outcome.ended;
    let unended =
        unended.then(|| "`final` says nothing: no run ends where it is checked".to_owned());
    untriggered.chain(unended).collect()
}

/// How many conflicts a job that was stopped still describes.
const CONFLICTS_AFTER_STOP: usize = 16;

/// The most states visited for runs with few switches.
const SWITCH_STATES: u64 = 200_000;

/// Replaces the runs of an outcome by equally short ones with the fewest switches.
fn with_few_switches<S: StateSystem, D>(
    system: &S,
    (mut outcome, mut stats): Searched<S, D>,
    control: &Control<'_>,
) -> (Searched<S, D>, Option<Stopped>) {
    let mut none = Vec::new();
    let conflicts = outcome.conflicts.as_mut().unwrap_or(&mut none);
    let violations = &mut outcome.violations;
    if violations.is_empty() && conflicts.is_empty() {
        return ((outcome, stats), None);
    }
    control.progress.phase("fewer switches");
    let passes = fewest_switches(system, violations, conflicts, SWITCH_STATES, control);
    sort_violations(violations);
    sort_conflicts(conflicts);
    if passes.states > 0 {
        stats.set(stat::SWITCH_STATES, passes.states);
    }
    ((outcome, stats), passes.stopped)
}

/// Converts the outcome of an engine into a result.
pub(super) fn assemble<P: StateProgram, D>(
    program: &P,
    searched: Searched<P::System, D>,
    control: &Control<'_>,
) -> Found {
    let ((outcome, stats), stopped) = with_few_switches(program.system(), searched, control);
    let mut result = JobResult { stats, ..JobResult::default() };
    // A violation of a response is an infinite run, so no depth covers it.
    let open = outcome.responses.contains(&ResponseVerdict::Unknown);
    for limit in &outcome.limits {
        let list = if limit.is_bound() && !open { &mut result.bounds } else { &mut result.limits };
        list.push(limits::searched(*limit));
    }
    if !outcome.complete && outcome.limits.is_empty() {
        result.cut_by(option::FIRST);
    }
    let stopped = stopped.map(|stopped| stopped_by(stopped.0));
    if let Some(name) = stopped.filter(|name| !result.limits.contains(name)) {
        result.cut_by(name);
    }
    result.findings = report(program, &outcome.violations);
    if outcome.complete {
        let warn = |text| Warning::new(WarningKind::Odd, &program.program().name, text, 1);
        result.warnings.extend(says_nothing(program, &outcome).into_iter().map(warn));
    }
    for (conflict, before) in outcome.conflicts.into_iter().flatten().zip(0..) {
        // To describe one takes as long as to run its path.
        if let Err(stopped) = control.check()
            && before >= CONFLICTS_AFTER_STOP
        {
            result.cut_by(stopped_by(stopped.0));
            break;
        }
        result.findings.push(report_conflict(program, &Conflict::of(program, conflict)));
    }
    (result, outcome.never_run)
}
