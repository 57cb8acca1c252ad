//! The result so far, and how to print it: what the job publishes while it works.

use super::{Cause, HURRIED_FINDINGS_MAX};
use crate::args::{LimitArgs, OutputArgs};
use crate::commands::{AcceptedFindings, set_elapsed};
use anyorder_common::numbers::plural;
use anyorder_drive::{Collected, JobResult, robust_verdict};
use anyorder_finding::run::Runs;
use anyorder_finding::{Finding, Input, Outcome, Policy, Verdict, Warning, WarningKind};
use anyorder_system::{Schedule, StopReason};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the guard waits for a job that is changing the result.
const PATIENCE: Duration = Duration::from_millis(150);

/// How long the guard compares findings with suppressions.
const COMPARING: Duration = Duration::from_millis(60);

/// How the result of a command is judged and printed.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The name of the command.
    pub(crate) command: &'static str,
    /// Where the result goes, and in which form.
    pub(crate) out: OutputArgs,
    /// The maximum number of findings in a text.
    pub(crate) max_findings: usize,
    /// Which findings count.
    pub(crate) policy: Policy,
    /// What the answer is without findings.
    pub(crate) kind: Kind,
}

/// The kind of answer of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Findings decide.
    Search,
    /// Yes or no; a command that was cut does not know.
    Decision,
    /// Any finding is a no; a command that was cut without one does not know.
    Robustness,
}

/// The result so far. The job fills it, and the guard prints it if the job does not.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    head: OnceLock<Head>,
    state: Mutex<State>,
}

/// The part of a result that does not change.
#[derive(Debug)]
struct Head {
    document: Document,
    limits: LimitArgs,
    started: Instant,
}

#[derive(Debug, Default)]
struct State {
    accepted: Option<Arc<AcceptedFindings>>,
    /// The results of finished inputs; taken by the command at its end.
    all: Option<Collected>,
    /// The inputs of the running job, and what it has found so far.
    inputs: Vec<Input>,
    current: Option<JobResult>,
    /// What the last job had published, until its result is in its place.
    published: Option<(Vec<Input>, JobResult)>,
    /// The judged result.
    done: Option<Arc<Done>>,
    /// For a command without a result document.
    last_words: Option<LastWords>,
    /// The best schedule so far of a command that looks for one.
    schedule: Option<Schedule>,
}

/// What a command without a result document prints if it is cut: what it has decided before.
pub(crate) struct LastWords {
    /// The file; standard output without one.
    pub(crate) file: Option<PathBuf>,
    /// Makes the output and the status of the command, given the best schedule so far; `None` if
    /// there is nothing to print.
    pub(crate) make: Box<MakeLastWords>,
}

type MakeLastWords = dyn Fn(StopReason, Option<&Schedule>) -> Option<(Vec<u8>, u8)> + Send;

impl fmt::Debug for LastWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastWords").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The output of a command that was cut, and its status.
pub(super) struct Said {
    pub(super) file: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) status: u8,
}

/// A judged result, and the runs of its findings.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    pub(crate) runs: Runs,
}

/// What the guard prints.
pub(crate) struct Cut {
    pub(crate) document: Document,
    pub(crate) outcome: Outcome,
    pub(crate) runs: Runs,
}

impl Draft {
    /// Begins the document of a command.
    pub(crate) fn begin(&self, document: Document, limits: &LimitArgs, started: Instant) {
        self.state().all = Some(Collected::new(document.command, env!("CARGO_PKG_VERSION")));
        // A process runs one command.
        let _ = self.head.set(Head { document, limits: limits.clone(), started });
    }

    /// Sets the findings that do not count.
    pub(crate) fn accept(&self, accepted: &Arc<AcceptedFindings>) {
        self.state().accepted = Some(Arc::clone(accepted));
    }

    /// Names the inputs of the job that begins.
    pub(crate) fn working_on(&self, inputs: &[Input]) {
        let mut state = self.state();
        state.locate(inputs);
        state.inputs = inputs.to_vec();
        state.current = None;
    }

    /// Takes what the running job has found so far.
    pub(crate) fn publish(&self, result: JobResult) {
        self.state().current = Some(result);
    }

    /// Sets what the command prints if it is cut.
    pub(crate) fn say_at_last(&self, words: LastWords) {
        self.state().last_words = Some(words);
    }

    /// Takes the best schedule so far.
    pub(crate) fn publish_schedule(&self, schedule: Schedule) {
        self.state().schedule = Some(schedule);
    }

    /// Returns what a command without a result document prints when it is cut.
    pub(super) fn last_words(&self, cause: Cause) -> Option<Said> {
        let mut state = self.locked_soon()?;
        let LastWords { file, make } = state.last_words.take()?;
        let reason = match cause {
            Cause::Stop(reason) => reason,
            Cause::OutOfMemory => StopReason::MemoryLimit,
        };
        let (bytes, status) = make(reason, state.schedule.as_ref())?;
        Some(Said { file, bytes, status })
    }

    /// Adds the result of a job that has ended.
    pub(crate) fn add(&self, inputs: Vec<Input>, result: JobResult) {
        let mut state = self.state();
        state.locate(&inputs);
        state.inputs = Vec::new();
        state.published = state.current.take().map(|published| (inputs.clone(), published));
        let Some(mut all) = state.all.take() else { return };
        drop(state);
        all.add(inputs, result);
        self.state().all = Some(all);
    }

    /// Changes the part of the result that belongs to no input.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Outcome)) {
        if let Some(all) = &mut self.state().all {
            change(&mut all.outcome);
        }
    }

    /// Takes the results of all jobs, to judge them. The guard keeps as many of the findings as it
    /// would print.
    pub(crate) fn take(&self, command: &str) -> Collected {
        let Some(mut all) = self.state().all.take() else {
            return Collected::new(command, env!("CARGO_PKG_VERSION"));
        };
        // Without the lock: an allocation that is refused does not return. Until this is done, the
        // guard has what the last job had published.
        let first = all.first(HURRIED_FINDINGS_MAX);
        let mut state = self.state();
        state.all = Some(first);
        state.published = None;
        all
    }

    /// Publishes the judged result, and shares it with the job.
    pub(crate) fn finish(&self, outcome: Outcome, runs: Runs) -> Arc<Done> {
        let done = Arc::new(Done { outcome, runs });
        self.state().done = Some(Arc::clone(&done));
        done
    }

    /// Returns what to print when the process ends for a cause; `None` for a command without a
    /// result document. `why` becomes a warning. If the job holds the result for too long, the
    /// findings are missing.
    pub(super) fn cut(&self, cause: Cause, why: String) -> Option<Cut> {
        let head = self.head.get()?;
        let document = head.document.clone();
        let (mut outcome, runs) = match self.locked_soon() {
            None => State::default().collected(head),
            Some(mut state) => match state.done.take() {
                // To copy all of a large result could take as long as to write it.
                Some(done) => hurried(&done.outcome, &done.runs, cause.hurried_max()),
                None => {
                    let (outcome, runs) = state.collected(head);
                    match outcome.findings.len() > cause.hurried_max() {
                        true => hurried(&outcome, &runs, cause.hurried_max()),
                        false => (outcome, runs),
                    }
                }
            },
        };
        outcome.cut_by(cause.name());
        outcome.warnings.push(Warning {
            kind: WarningKind::Stopped,
            input: None,
            text: why,
            count: 1,
            places: Vec::new(),
        });
        match document.kind {
            Kind::Search => outcome.judge(&document.policy),
            Kind::Decision if outcome.verdict == Verdict::Ok => outcome.verdict = Verdict::Unknown,
            Kind::Decision => {}
            Kind::Robustness => outcome.verdict = robust_verdict(&outcome, &document.policy),
        }
        Some(Cut { document, outcome, runs })
    }

    /// Returns the state, unless a thread of the job holds it for too long.
    fn locked_soon(&self) -> Option<MutexGuard<'_, State>> {
        let start = Instant::now();
        loop {
            match self.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what of a result can be written in a hurry: its first findings.
pub(crate) fn hurried(outcome: &Outcome, runs: &Runs, most: usize) -> (Outcome, Runs) {
    let mut first = outcome.with_first(most);
    let left_out = outcome.findings.len() - first.findings.len();
    if left_out > 0 {
        first.warnings.push(Warning {
            kind: WarningKind::Stopped,
            input: None,
            text: format!("{} left out, to end in time", plural(left_out as u64, "finding")),
            count: 1,
            places: Vec::new(),
        });
    }
    let run = |finding: &Finding| Some((finding.id.clone(), runs.get(&finding.id)?.clone()));
    let runs = first.findings.iter().filter_map(run).collect();
    (first, runs)
}

impl State {
    /// Finds the real paths of inputs; that of a pipe or a program is as it was given.
    fn locate(&mut self, inputs: &[Input]) {
        let Some(all) = &mut self.all else { return };
        for Input { path, .. } in inputs {
            if let Ok(real) = std::fs::canonicalize(path) {
                all.locate(path, &real.to_string_lossy());
            }
        }
    }

    /// Returns the results of the finished jobs and of the running one.
    fn collected(&mut self, head: &Head) -> (Outcome, Runs) {
        let fresh = || Collected::new(head.document.command, env!("CARGO_PKG_VERSION"));
        let mut all = self.all.take().unwrap_or_else(|| {
            let mut all = fresh();
            if let Some((inputs, result)) = self.published.take() {
                all.add(inputs, result);
            }
            all
        });
        let current = self.current.take();
        if current.is_some() || !self.inputs.is_empty() {
            all.add(std::mem::take(&mut self.inputs), current.unwrap_or_default());
        }
        let (mut outcome, runs) = all.finish();
        head.limits.set(&mut outcome.options);
        if let Some(accepted) = &self.accepted {
            let start = Instant::now();
            accepted.apply(&mut outcome, &|| start.elapsed() > COMPARING);
        }
        outcome.findings.sort_by(Finding::rank);
        set_elapsed(&mut outcome, head.started);
        (outcome, runs)
    }
}
