//! Full search, random walks and the graph of the states.

use super::check::{CheckOptions, Searched, Watcher, starts};
use super::checkpoint::Checkpoint;
use super::program::StateProgram;
use super::report::{certify_findings, publish, report};
use crate::failure::{Failure, Unusable};
use crate::limits;
use crate::remark::Remark;
use crate::{JobControl, JobResult};
use anyorder_finding::{Stats, option, stat};
use anyorder_search::{
    Exported, GraphFormat, Pause, Search, SearchError, SearchOptions, Stop, Storage, WalkOptions,
    export, walk_watched,
};
use anyorder_system::{Control, StateSystem};

/// The outcome of a full search, with remarks about its checkpoint.
pub(super) type WithRemarks<S> = (Searched<S, ()>, Vec<Remark>);

/// Called with the limit on states that has cut a search. Returns a higher one to go on with, or
/// `None` to let it end.
pub(super) type NextLimit<'a> = dyn FnMut(u64) -> Result<Option<u64>, Failure> + 'a;

/// So few findings are published one by one.
const FOUND_FEW: usize = 16;

/// Searches all states of a program that the options allow.
pub(super) fn full<P: StateProgram>(
    program: &P,
    check_options: &CheckOptions,
    control: &JobControl<'_>,
    (watcher, next_limit): (&mut dyn Watcher, &mut NextLimit<'_>),
) -> Result<WithRemarks<P::System>, Failure> {
    let system = program.system();
    let options = options(system, check_options);
    let identity = format!("{}", program.program().hash.unwrap_or_default());
    let checkpoint =
        check_options.checkpoint.as_deref().map(|file| Checkpoint::new(file, &identity));
    let mut checkpoint = checkpoint.transpose()?;
    let mut search = match &check_options.resume {
        None => Search::new(system, &options).map_err(|error| failure(program, error))?,
        Some(file) => Checkpoint::resume((system, control), &options, file, &identity)?,
    };
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.begin(&search)?;
    }
    watcher.saved();
    // The first gauge describes the initial state.
    watcher.pause(&search.gauge());
    let mut control = control.clone();
    control.limits.executions = None;
    let mut published = 0;
    let mut at_pause = |search: &Search<'_, P::System>, pause| {
        // A program has few properties, so this happens a few times. Of many findings, it happens
        // when they have grown by half.
        let count = search.found_count();
        if count > published && (count < FOUND_FEW || count > published + published / 2) {
            published = count;
            publish(program, &search.found()?, &control);
        }
        let due = watcher.pause(&search.gauge());
        if let Some(checkpoint) = &mut checkpoint
            && (due || pause == Pause::Cut)
        {
            checkpoint.save(search);
            watcher.saved();
        }
        Ok(())
    };
    let mut failed = None;
    let mut raise = |limit| {
        next_limit(limit).unwrap_or_else(|why| {
            failed = Some(why);
            None
        })
    };
    let outcome = search.run_raising(&control, &mut at_pause, &mut raise);
    if let Some(failed) = failed {
        return Err(failed);
    }
    let outcome = outcome.map_err(|error| failure(program, error))?;
    let cut = !outcome.limits.is_empty();
    let remarks = checkpoint.and_then(|checkpoint| checkpoint.end(cut)).into_iter().collect();
    let counts = &outcome.stats;
    let mut stats = Stats::new();
    stats
        .set(stat::ALGORITHM, "full")
        .set(stat::STATES, counts.states)
        .set(stat::TRANSITIONS, counts.transitions)
        .set(stat::EXECUTIONS, counts.executions)
        .set(stat::INFERRED, 0_u64)
        .set(stat::MAX_DEPTH, counts.max_depth)
        .set(stat::FRONTIER_PEAK, counts.frontier_peak)
        .set(stat::BYTES_PER_STATE, counts.bytes_per_state);
    Ok(((outcome, stats), remarks))
}

fn options<S: StateSystem>(system: &S, check_options: &CheckOptions) -> SearchOptions {
    let bits = matches!(check_options.storage, Storage::Bitstate { .. });
    let responses = !system.properties().responses.is_empty() && !bits;
    // Responses name particular components, which symmetry permutes.
    let symmetry = check_options.symmetry && !responses;
    SearchOptions {
        order: check_options.order,
        storage: check_options.storage,
        stop: if check_options.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: check_options.threads,
        symmetry,
        // The same holds for update conflicts. Besides, a checkpoint does not store the updates of
        // transitions.
        updates: !symmetry
            && !bits
            && check_options.checkpoint.is_none()
            && check_options.resume.is_none(),
        // Likewise, a checkpoint does not store which ends are deadlocks.
        livelocks: !bits && check_options.checkpoint.is_none() && check_options.resume.is_none(),
        responses,
        states_max: check_options.states_max,
        depth_max: check_options.depth_max,
        ..SearchOptions::default()
    }
}

/// Makes the failure of a search.
pub(super) fn failure<P: StateProgram>(program: &P, error: SearchError) -> Failure {
    Failure::input(&program.program().name, Unusable::Search(error))
}

/// The options of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulateOptions {
    /// The number of random runs.
    pub runs: u64,
    /// Equal seeds give equal runs.
    pub seed: u64,
    /// The maximum number of steps of a run.
    pub steps_max: u32,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        SimulateOptions { runs: 1_000, seed: 1, steps_max: 1_000 }
    }
}

/// Runs a program at random, many times, and reports violations.
///
/// # Errors
///
/// Fails when the program is not deterministic.
///
/// ```
/// use anyorder_drive::model::Model;
/// use anyorder_drive::JobControl;
/// use anyorder_drive::states::{SimulateOptions, simulate};
///
/// let text = "model early\nvar script = false;\nevent click { assert script; }";
/// let model = Model::compile("early.any", text)?;
/// let options = SimulateOptions { runs: 10, ..SimulateOptions::default() };
/// let found = simulate(&model, &options, &JobControl::default())?;
/// assert_eq!(found.findings[0].finding.title, "an assertion fails: script");
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn simulate<P: StateProgram>(
    program: &P,
    options: &SimulateOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    control.progress.phase("runs");
    let mut result = JobResult::default();
    if !starts(program.system(), control, &mut result) {
        return Ok(result);
    }
    let SimulateOptions { runs, seed, steps_max } = *options;
    let options = WalkOptions { seed, walks: runs, steps_max, deadlocks: true };
    let mut so_far = JobResult::default();
    let mut on_found = |found| {
        let findings = report(program, &[found]);
        let mut new = JobResult { findings, ..JobResult::default() };
        certify_findings(program, &mut new, control);
        so_far.findings.extend(new.findings);
        so_far.warnings.extend(new.warnings);
        so_far.model = new.model;
        control.publish(so_far.clone());
    };
    let walked = walk_watched(program.system(), &options, control, &mut on_found);
    let walked = walked.map_err(|error| failure(program, error))?;
    let mut stats = Stats::new();
    stats
        .set(stat::EXECUTIONS, walked.stats.executions)
        .set(stat::STATES, walked.stats.states)
        .set(stat::TRANSITIONS, walked.stats.transitions)
        .set(stat::MAX_DEPTH, walked.stats.max_depth)
        .set(stat::CUT, walked.cut);
    let limits = walked.limits.iter().map(|limit| limits::searched(*limit));
    // A run that was cut could have violated something later.
    let limits = limits.chain((walked.cut > 0).then_some(option::MAX_STEPS)).collect();
    let findings = report(program, &walked.violations);
    let mut result = JobResult { findings, stats, limits, ..JobResult::default() };
    certify_findings(program, &mut result, control);
    Ok(result)
}

/// The options of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphOptions {
    /// The output format of the graph.
    pub format: GraphFormat,
    /// The maximum number of states.
    pub states_max: Option<u64>,
    /// The maximum number of steps from an initial state.
    pub depth_max: Option<u32>,
}

impl Default for GraphOptions {
    fn default() -> GraphOptions {
        GraphOptions { format: GraphFormat::Dot, states_max: Some(1_000), depth_max: None }
    }
}

/// Returns the states of a program and the steps between them as a graph.
///
/// # Errors
///
/// Fails when the program cannot be searched.
///
/// ```
/// use anyorder_drive::model::Model;
/// use anyorder_drive::states::{GraphOptions, export_graph};
/// use anyorder_system::Control;
///
/// let text = "model flip\nvar on = false;\nevent press { on = !on; }";
/// let model = Model::compile("flip.any", text)?;
/// let graph = export_graph(&model, &GraphOptions::default(), &Control::default())?;
/// assert!(graph.complete && graph.text.starts_with("digraph"));
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn export_graph<P: StateProgram>(
    program: &P,
    options: &GraphOptions,
    control: &Control<'_>,
) -> Result<Exported, Failure> {
    let GraphOptions { format, states_max, depth_max } = *options;
    let options =
        SearchOptions { states_max, depth_max, responses: false, ..SearchOptions::default() };
    export(program.system(), format, &options, control).map_err(|error| failure(program, error))
}
