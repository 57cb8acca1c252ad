//! The interface for programs whose runs are sequences of tasks: a task system and its
//! descriptions.

use super::rerun::StepAccess;
use super::task_words::{PlainWords, TaskWords};
use crate::failure::{Missing, Unusable};
use crate::remark::Remark;
use crate::schedules::Shows;
use crate::verdict::CertificateVerdict;
use crate::{Failure, Reported};
use anyorder_finding::run::Run;
use anyorder_finding::{Site, Warning};
use anyorder_system::{
    self as system, Choice, Control, Hash128, Observation, ProgramIdentity, RunError, Schedule,
    SystemFactory, TaskName, TaskSystem,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wrong end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongEnd {
    /// Which one.
    pub shows: Shows,
    /// A hash of what tells it from other ends of this kind: of a deadlock, the places where
    /// something waits.
    pub content: Hash128,
}

/// The answer to whether a run without some optional steps could end wrongly.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WrongRest {
    /// The choices of such a run.
    pub found: Option<Vec<Choice>>,
    /// The number of runs that were made.
    pub runs: u64,
    /// Whether there were more to make.
    pub cut: bool,
}

/// A program as tasks, with its descriptions. Only two methods are required; [`Started`] implements
/// them for any [`SystemFactory`].
pub trait TaskProgram: Sync {
    /// The task system.
    type System: TaskSystem;

    /// Returns the name of the program in messages: a path or a command.
    fn name(&self) -> &str;

    /// Returns the name that the program gives itself, if it is a model.
    fn model_name(&self) -> Option<&str> {
        None
    }

    /// Returns how the program calls its tasks and the parts of its outcomes.
    fn words(&self) -> &dyn TaskWords {
        &PlainWords
    }

    /// Starts the program. If input events can happen any number of times, `repeats` bounds them.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn start(&self, repeats: Option<&Repeats>) -> Result<Self::System, RunError>;

    /// Returns whether its input events can happen any number of times.
    fn has_endless_events(&self) -> bool {
        false
    }

    /// Returns the identity of the program's text, if schedules are bound to it.
    fn identity(&self) -> Option<&ProgramIdentity> {
        None
    }

    /// Returns whether its reports of accesses are known to be complete.
    fn is_trusted(&self) -> bool {
        false
    }

    /// Returns whether the program states what a right outcome is: an invariant, an assertion, a
    /// condition at the end. Then a difference that violates none of it does no harm.
    fn has_properties(&self) -> bool {
        false
    }

    /// Returns whether nothing can happen after the choices. False if only the bound on input
    /// events ends the run: then its end is no outcome.
    fn is_end(&self, _choices: &[Choice]) -> bool {
        true
    }

    /// Returns the wrong end that an observation of a run reports. Only programs that check their
    /// own ends report any, so no part of an observation has this meaning by its name.
    fn wrong_end(&self, _observation: &Observation) -> Option<WrongEnd> {
        None
    }

    /// Looks for a run of some of the choices to a state in which only optional steps are left, and
    /// in which the program must not end. Also returns how many runs that took.
    fn wrong_rest(&self, _choices: &[Choice], _runs_max: u64) -> WrongRest {
        WrongRest::default()
    }

    /// Returns whether [`shown`](Self::shown) draws the runs, as of a program whose text says all.
    /// Otherwise explorations keep the steps that they execute, and draw these.
    fn draws_runs(&self) -> bool {
        false
    }

    /// Returns the run of the choices for display; `None` if it cannot be drawn.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn shown(&self, _choices: &[Choice]) -> Result<Option<ShownRun>, Failure> {
        Ok(None)
    }

    /// Returns the finding of a run that violates a property, if the program describes it better
    /// than the failure text does.
    fn reported(&self, _choices: &[Choice], _shows: &Shows) -> Option<Reported> {
        None
    }

    /// Checks the schedule of a finding before it is written, as `certify` does; `None` if nothing
    /// but another run of the program can check it.
    fn certify_run(
        &self,
        _schedule: &serde_json::Value,
        _control: &Control<'_>,
    ) -> Option<CertificateVerdict> {
        None
    }

    /// Returns the number of other runs that may be worth varying besides that of the default
    /// order; 0 by default.
    fn other_recordings(&self) -> usize {
        0
    }

    /// Runs the program once, and returns the choices of such a run, by its number; `None` if it is
    /// not worth varying.
    ///
    /// # Errors
    ///
    /// Fails when the run does.
    fn other_recording(&self, _number: usize) -> Result<Option<Schedule>, RunError> {
        Ok(None)
    }

    /// Returns a warning if the recorded run, which ended so, did not do all that it should: then
    /// not much was checked. `None` by default.
    fn unfinished(&self, _end: &Observation) -> Option<Warning> {
        None
    }

    /// Returns what explorations of this program ignore.
    fn ignored(&self) -> Option<Warning> {
        None
    }

    /// Returns warnings about what the runs so far met. They do not limit the result. None by
    /// default.
    fn met(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Returns a note about explorations of this program.
    fn remark(&self) -> Option<Remark> {
        None
    }
}

/// Returns a schedule in which the names of tasks alone say what runs, for a program whose text
/// schedules are bound to: what an input calls the handlers is not passed on.
pub(super) fn by_names<P: TaskProgram + ?Sized>(program: &P, mut schedule: Schedule) -> Schedule {
    if program.identity().is_some() {
        schedule.choices.iter_mut().for_each(|choice| choice.handler.clear());
    }
    schedule
}

/// A run for display, and the tasks of its steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownRun {
    /// The run.
    pub run: Run,
    /// The task of each step.
    pub tasks: Vec<TaskName>,
    /// The source position of each task, if known.
    pub sites: Vec<Site>,
    /// The accesses of each task that have a source position, if the program reports them.
    pub(crate) accesses: Vec<Vec<StepAccess>>,
    /// The failures, each with the number of its step in the whole run.
    pub(crate) failures: Vec<(usize, system::Failure)>,
    /// Tasks of the parent run that do not run in this one: their lanes and source positions.
    pub(crate) others: Vec<(TaskName, String, Site)>,
}

impl ShownRun {
    /// Combines a run with its tasks.
    #[must_use]
    pub fn new(run: Run, tasks: Vec<TaskName>, sites: Vec<Site>) -> ShownRun {
        let (accesses, failures, others) = Default::default();
        ShownRun { run, tasks, sites, accesses, failures, others }
    }

    /// Returns the source position of the end of a step: that of its last access.
    pub(super) fn last_site(&self, at: usize) -> Site {
        let last = self.accesses.get(at).and_then(|accesses| accesses.last());
        last.map_or_else(|| self.site(at, &[]), |access| access.site.clone())
    }

    /// Returns the source position of a step: that of its first access to one of the locations, a
    /// write if there is one; else its own, or that of its first access.
    pub(super) fn site(&self, at: usize, locations: &[String]) -> Site {
        let own = self.sites.get(at).filter(|site| site.file.is_some() || site.label.is_some());
        let all = self.accesses.get(at).map_or(&[][..], Vec::as_slice);
        let wanted = |access: &&StepAccess| locations.contains(&access.location);
        let mut of_pair = all.iter().filter(wanted);
        let write = of_pair.clone().find(|access| access.writes).or_else(|| of_pair.next());
        let access = write.or_else(|| all.first().filter(|_| own.is_none()));
        access.map(|access| access.site.clone()).or(own.cloned()).unwrap_or_default()
    }
}

/// The bound on the occurrences of each input event in a run.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// The maximum number of occurrences.
    pub most: u32,
    reached: Arc<AtomicBool>,
}

impl Repeats {
    /// Makes a bound.
    #[must_use]
    pub fn at_most(most: u32) -> Repeats {
        Repeats { most, reached: Arc::default() }
    }

    /// Records that the bound prevented an event.
    pub fn reach(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// Returns whether the bound prevented an event.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// A program from a factory, without descriptions.
#[derive(Clone, Debug)]
pub struct Started<F> {
    /// The name of the program in messages.
    pub name: String,
    /// Starts it.
    pub factory: F,
}

impl<F> TaskProgram for Started<F>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    type System = F::System;

    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self, _repeats: Option<&Repeats>) -> Result<F::System, RunError> {
        self.factory.make()
    }
}

/// Makes the failure of a program that cannot be started.
pub(crate) fn cannot_start(name: &str, error: RunError) -> Failure {
    match error {
        RunError::Stopped(reason) => Failure::stopped(reason, Missing::Run(name.to_owned())),
        error => Failure::input(name, Unusable::Start(error)),
    }
}
