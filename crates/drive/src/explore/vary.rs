//! Varies a run by reversing one conflict at a time, and reports the effects.

use super::findings::{Findings, Reporter};
use super::program::{Repeats, TaskProgram, by_names, cannot_start};
use super::rounds;
use super::so_far::SoFar;
use super::sums::Sums;
use crate::failure::Unusable;
use crate::kept::keep_true;
use crate::limits;
use crate::limits::stopped_by;
use crate::remark::{Remark, Remarked};
use crate::{Failure, JobControl, JobResult};
use anyorder_common::numbers::plural;
use anyorder_explore::r4::{self, Limit};
use anyorder_finding::{Stats, Warning, WarningKind, option};
use anyorder_system::{Cancel, RunError};
use std::sync::atomic::AtomicU64;

/// The options of an exploration of a run. The [`Control`](anyorder_system::Control) has the limits
/// on runs and their lengths.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The options of the reversals.
    pub reversals: r4::ReversalOptions,
    /// The maximum number of occurrences of each input event, if events can happen any number of
    /// times. The recording may have more.
    pub repeats: u32,
    /// Whether to go on beyond the bounds given here. `None`: they are the question.
    pub deepen: Option<Deepening>,
}

/// How far to go beyond one reversal. The job goes on in rounds, each with ten times the runs of
/// the one before: with more reversals, in all orders, with input events in other orders, and with
/// more occurrences of them. It ends when nothing is left; after the first round that began with
/// something found; or when it has to.
#[derive(Clone, Debug)]
pub struct Deepening {
    /// The caller stops it when the time for going on is over. The job reads no clock.
    pub budget: Cancel,
    /// The most runs of one exploration.
    pub executions_max: u64,
    /// The most occurrences of each input event.
    pub repeats_max: u32,
    /// Whether to try input events in other orders.
    pub other_inputs: bool,
}

impl Deepening {
    /// Goes on until the token is stopped, with the default numbers.
    #[must_use]
    pub fn within(budget: Cancel) -> Deepening {
        Deepening { budget, executions_max: 100_000, repeats_max: 3, other_inputs: true }
    }
}

impl Default for ExploreOptions {
    fn default() -> ExploreOptions {
        ExploreOptions { reversals: r4::ReversalOptions::default(), repeats: 1, deepen: None }
    }
}

/// Runs a program, reverses the conflicts of the run one at a time, and reports harmful reversals.
///
/// # Errors
///
/// Fails when the program cannot be started or explored.
///
/// ```
/// use anyorder_drive::JobControl;
/// use anyorder_drive::explore::{ExploreOptions, explore};
/// use anyorder_drive::model::Model;
///
/// let text = "
///     model late
///     var script = false;
///     once event loaded { script = true; }
///     once event click { assert script, \"not loaded\"; }";
/// let model = Model::compile("late.any", text)?;
/// let found = explore(&model, &ExploreOptions::default(), &JobControl::default())?;
/// assert_eq!(found.findings[0].finding.title, "an assertion fails: not loaded");
/// # Ok::<(), anyorder_drive::Failure>(())
/// ```
pub fn explore<P: TaskProgram>(
    program: &P,
    options: &ExploreOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    control.progress.phase("runs");
    let mut job = Job::new(program, options, control);
    if let Some(first) = job.first()? {
        match &options.deepen {
            Some(deepening) => {
                for number in 0..program.other_recordings() {
                    // What the budget leaves out is not part of the question.
                    let budget = (number > 0).then(|| deepening.budget.clone());
                    job.other(number, budget)?;
                }
                rounds::deepen(&mut job, &first, deepening)?;
            }
            None => job.bounds(&first),
        }
    }
    Ok(job.finish())
}

/// A job in progress.
pub(super) struct Job<'a, P> {
    pub(super) program: &'a P,
    pub(super) options: &'a ExploreOptions,
    pub(super) control: &'a JobControl<'a>,
    pub(super) result: JobResult,
    pub(super) findings: Findings,
    pub(super) sums: Sums,
    /// The program reports no accesses.
    blind: bool,
}

/// One exploration: what it may vary, and how far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// `None`: all orders.
    pub(super) bound: Option<u32>,
    pub(super) user_events: r4::UserEvents,
    /// The most occurrences of each input event.
    pub(super) repeats: u32,
    /// The most tasks of a run, if it is less than the job's own limit.
    pub(super) steps: Option<u64>,
}

/// What an exploration covered.
pub(super) struct Covered {
    pub(super) limits: Vec<Limit>,
    /// A higher bound gives nothing more.
    pub(super) exhausted: bool,
    pub(super) complete: bool,
    pub(super) depth: u32,
    /// The number of recorded input events.
    pub(super) inputs: usize,
    /// The recording was cut.
    pub(super) cut: bool,
    /// The bound on occurrences prevented an event.
    pub(super) repeats: bool,
    /// How often the program ran.
    pub(super) runs: u64,
}

impl<'a, P: TaskProgram> Job<'a, P> {
    fn new(program: &'a P, options: &'a ExploreOptions, control: &'a JobControl<'a>) -> Job<'a, P> {
        let mut result = JobResult::default();
        result.options.set(option::ALGORITHM, "r4");
        let (findings, sums) = Default::default();
        Job { program, options, control, result, findings, sums, blind: false }
    }

    /// The exploration with the options as they were given.
    pub(super) fn part(&self) -> Part {
        let reversals = &self.options.reversals;
        let recorded = reversals.recording.iter().flat_map(|recording| &recording.choices);
        let recorded = recorded.filter(|choice| choice.task.creator().is_none());
        let most = recorded.map(|choice| choice.task.segment().ordinal).max().unwrap_or(0);
        Part {
            bound: reversals.bound,
            user_events: reversals.user_events.clone(),
            repeats: self.options.repeats.max(most),
            steps: None,
        }
    }

    /// Makes the first exploration, which no budget cuts. `None` if the job was stopped.
    fn first(&mut self) -> Result<Option<Covered>, Failure> {
        let part = self.part();
        let reversals = r4::ReversalOptions { blind: self.blind, ..self.options.reversals.clone() };
        let Some((mut explored, mut repeats)) = self.explored(&part, &reversals, u64::MAX)? else {
            return Ok(None);
        };
        let tasks = explored.runs.first().map_or(0, |run| run.length);
        if !self.program.is_trusted() && tasks > 1 && !explored.reports_data() {
            self.sums.add(&explored);
            self.blind = true;
            let blind = r4::ReversalOptions { blind: true, ..reversals };
            match self.explored(&part, &blind, u64::MAX)? {
                Some(again) => (explored, repeats) = again,
                None => return Ok(None),
            }
        }
        if explored.is_blind() {
            self.warn("the program reports no access of its tasks, so every two of them count as conflicting");
        }
        explored.limits.iter().for_each(|limit| self.result.cut_by(limits::explored(*limit)));
        self.result.remarks = remarks(self.program, &explored);
        if let Some(ignored) = self.program.ignored() {
            self.result.warnings.push(ignored);
            self.result.bounded_by(option::ALGORITHM);
        }
        self.result.warnings.extend(self.program.met());
        let end = explored.runs.first().map(|run| &run.observation);
        if let Some(unfinished) = end.and_then(|end| self.program.unfinished(end)) {
            self.result.warnings.push(unfinished);
            self.result.bounded_by(option::USER_EVENTS);
        }
        let end = explored.runs.first().map(|run| run.observation.clone());
        self.findings.expected = end;
        self.report(&explored)?;
        let unreported = self.findings.unreported();
        if unreported > 0 {
            let pairs = plural(unreported, "pair");
            self.warn(&format!("the program does not report all that its tasks share ({pairs} of tasks), so further orders may matter"));
        }
        Ok(Some(covered(&explored, &repeats)))
    }

    /// Varies another recording of the program, if it has one of this number, within a budget. A
    /// program that fails to make it is varied without: what was tried is said all the same.
    fn other(&mut self, number: usize, budget: Option<Cancel>) -> Result<(), Failure> {
        let given = &self.options.reversals;
        let is_over = budget.as_ref().is_some_and(|budget| budget.check().is_err());
        if is_over || given.recording.is_some() || self.left() == Some(0) {
            return Ok(());
        }
        if self.control.check().is_err() {
            return Ok(());
        }
        let mut recording = Ok(None);
        for _ in 0..given.attempts.max(1) {
            recording = self.program.other_recording(number);
            self.findings.runs += u64::from(!matches!(recording, Ok(None)));
            if recording.is_ok() {
                break;
            }
        }
        let Ok(Some(recording)) = recording else { return Ok(()) };
        let reversals = r4::ReversalOptions {
            recording: Some(recording),
            swaps: r4::Swaps::default(),
            blind: self.blind,
            budget,
            ..given.clone()
        };
        let Some((explored, _)) = self.explored(&self.part(), &reversals, u64::MAX)? else {
            return Ok(());
        };
        for limit in &explored.limits {
            match limit {
                Limit::Budget => self.result.bounded_by(option::BUDGET),
                limit => self.result.cut_by(limits::explored(*limit)),
            }
        }
        self.report(&explored)
    }

    /// Makes a further exploration of at most so many runs. `None` if the job was stopped.
    pub(super) fn further(
        &mut self,
        part: &Part,
        most: u64,
        budget: &Cancel,
    ) -> Result<Option<Covered>, Failure> {
        let reversals = r4::ReversalOptions {
            bound: part.bound,
            user_events: part.user_events.clone(),
            swaps: r4::Swaps::default(),
            blind: self.blind,
            budget: Some(budget.clone()),
            ..self.options.reversals.clone()
        };
        let Some((explored, repeats)) = self.explored(part, &reversals, most)? else {
            return Ok(None);
        };
        self.report(&explored)?;
        Ok(Some(covered(&explored, &repeats)))
    }

    /// Explores. `None` if the job was stopped before the first run.
    fn explored(
        &mut self,
        part: &Part,
        reversals: &r4::ReversalOptions,
        most: u64,
    ) -> Result<Option<(r4::Outcome, Repeats)>, Failure> {
        let repeats = Repeats::at_most(part.repeats);
        let mut reversals = reversals.clone();
        if let Some(recording) = reversals.recording.take() {
            reversals.recording = Some(by_names(self.program, recording));
        }
        // What draws its runs itself does so from its text.
        reversals.keep = !self.program.draws_runs();
        let reversals = &reversals;
        let mut control = self.control.clone();
        let limits = &mut control.limits;
        limits.executions = match self.left() {
            None if most == u64::MAX => None,
            left => Some(most.min(left.unwrap_or(u64::MAX))),
        };
        limits.steps = limits.steps.into_iter().chain(part.steps).min();
        let so_far = SoFar {
            control: self.control,
            before: self.so_far(),
            runs: self.sums.runs() + self.findings.runs,
            most: AtomicU64::new(0),
        };
        control.control.progress = &so_far;
        let make = || self.program.start(Some(&repeats));
        match r4::explore(&make, reversals, &control) {
            Ok(explored) => Ok(Some((explored, repeats))),
            Err(r4::Error::Stopped(reason)) => {
                self.result.cut_by(stopped_by(reason));
                Ok(None)
            }
            Err(r4::Error::Start(error)) => {
                Err(cannot_start(self.program.name(), RunError::Crashed(error)))
            }
            Err(error) => Err(Failure::input(self.program.name(), Unusable::Reversals(error))),
        }
    }

    /// The runs that the limit leaves; `None` without a limit.
    pub(super) fn left(&self) -> Option<u64> {
        let used = self.sums.runs() + self.findings.runs;
        self.control.limits.executions.map(|most| most.saturating_sub(used))
    }

    /// Adds the counts and the findings of an exploration.
    fn report(&mut self, explored: &r4::Outcome) -> Result<(), Failure> {
        self.sums.add(explored);
        let left = self.left().unwrap_or(u64::MAX);
        let reporter = Reporter::new(self.program, explored, self.control, left);
        reporter.findings(&mut self.findings)?;
        self.control.publish(self.so_far());
        Ok(())
    }

    /// What was found so far, with its counts.
    fn so_far(&self) -> JobResult {
        let findings = self.findings.so_far();
        let stats = match self.sums.runs() {
            0 => Stats::new(),
            _ => self.sums.stats(self.findings.runs),
        };
        JobResult { findings, stats, ..self.result.clone() }
    }

    fn warn(&mut self, text: &str) {
        let warning = Warning::new(WarningKind::Unreported, self.program.name(), text, 1);
        self.result.warnings.push(warning);
    }

    /// Names what the given options leave out.
    fn bounds(&mut self, covered: &Covered) {
        let (part, result) = (self.part(), &mut self.result);
        if self.program.has_endless_events() {
            result.options.set(option::REPEATS, u64::from(part.repeats));
            if covered.repeats {
                result.bounded_by(option::REPEATS);
            }
        }
        if let Some(bound) = part.bound {
            result.options.set(option::BOUND, u64::from(bound));
            if !covered.exhausted && covered.complete {
                result.bounded_by(option::BOUND);
            }
        }
        if part.user_events == r4::UserEvents::Declared && covered.inputs > 1 {
            result.bounded_by(option::USER_EVENTS);
        }
    }

    fn finish(self) -> JobResult {
        let Job { program, control, mut result, findings, sums, .. } = self;
        result.stats = sums.stats(findings.runs);
        if findings.rests_cut {
            result.open_within(option::OPTIONAL_ENDS);
        }
        result.findings = findings.finish();
        result.model = program.model_name().map(str::to_owned);
        keep_true(&mut result, program.name(), control, |_, schedule, control| {
            program.certify_run(schedule, control)
        });
        result
    }
}

fn covered(explored: &r4::Outcome, repeats: &Repeats) -> Covered {
    Covered {
        limits: explored.limits.clone(),
        exhausted: explored.exhausted,
        complete: explored.complete,
        depth: explored.depth_complete,
        inputs: explored.inputs,
        cut: explored.runs.first().is_some_and(|run| run.cut),
        repeats: repeats.is_reached(),
        runs: explored.counts.runs(),
    }
}

/// Warns about problems with the program.
fn remarks<P: TaskProgram>(program: &P, explored: &r4::Outcome) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut warn = |what| remarks.push(Remark::on(program.name(), what));
    let counts = &explored.counts;
    if counts.retries > 0 {
        warn(Remarked::Retries(counts.retries));
    }
    if counts.lost > 0 {
        warn(Remarked::LostRuns(counts.lost));
    }
    if explored.limits.contains(&Limit::Waiting) {
        warn(Remarked::NoWaiting);
    }
    if explored.runs.first().is_some_and(|run| run.cut) {
        warn(Remarked::CutRecording);
    }
    remarks.extend(program.remark());
    remarks
}
