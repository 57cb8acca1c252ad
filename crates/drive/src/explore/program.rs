//! What a front end gives of a program whose runs are sequences of tasks: a task system, and its
//! words.

use super::rerun::{Rerun, rerun};
use crate::schedules::Shows;
use crate::{Failure, Message, Reported};
use anyorder_common::text::escape;
use anyorder_finding::Site;
use anyorder_finding::run::Run;
use anyorder_system::{Choice, RunError, SystemFactory, TaskName, TaskSystem};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The part of an observation that says how a run ended that should not end so: its text is
/// `deadlock` or `final`.
pub(crate) const END: &str = "end";

/// A program as tasks, with its words. Only two methods must be written; [`Started`] makes one of
/// any [`SystemFactory`].
pub trait TaskProgram: Sync {
    /// The task system.
    type System: TaskSystem;

    /// Returns what messages begin with: a path, a command.
    fn name(&self) -> &str;

    /// Starts the program. Where input events can happen any number of times, `repeats` bounds how
    /// often each does.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn start(&self, repeats: Option<&Repeats>) -> Result<Self::System, RunError>;

    /// Returns whether its input events can happen any number of times.
    fn has_endless_events(&self) -> bool {
        false
    }

    /// Returns the run of choices for people; nothing where it cannot be made again.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn shown(&self, choices: &[Choice]) -> Result<Option<ShownRun>, Failure> {
        let mut system = self.start(None).map_err(|error| cannot_start(self.name(), &error))?;
        let Ok(Rerun { run, tasks, .. }) = rerun(&mut system, choices) else { return Ok(None) };
        let sites = vec![Site::default(); tasks.len()];
        Ok(Some(ShownRun { run, tasks, sites, others: Vec::new() }))
    }

    /// Returns the finding of a run that shows something wrong, where the program has better words
    /// than its failure itself.
    fn reported(&self, _choices: &[Choice], _shows: &Shows) -> Option<Reported> {
        None
    }

    /// Returns what is good to know of an exploration of this program.
    fn remark(&self) -> Option<Message> {
        None
    }
}

/// A run for people, and the tasks of its steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownRun {
    /// The run.
    pub run: Run,
    /// The task of each step.
    pub tasks: Vec<TaskName>,
    /// Where each task begins, where that is known.
    pub sites: Vec<Site>,
    /// Tasks of the run before that do not run in this one: their lanes, and where they begin.
    pub(crate) others: Vec<(TaskName, String, Site)>,
}

impl ShownRun {
    /// Puts a run and its tasks together.
    #[must_use]
    pub fn new(run: Run, tasks: Vec<TaskName>, sites: Vec<Site>) -> ShownRun {
        ShownRun { run, tasks, sites, others: Vec::new() }
    }
}

/// How often an input event may happen in a run.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// The most times.
    pub most: u32,
    reached: Arc<AtomicBool>,
}

impl Repeats {
    /// Makes a bound.
    #[must_use]
    pub fn at_most(most: u32) -> Repeats {
        Repeats { most, reached: Arc::default() }
    }

    /// Notes that an event could have happened more often.
    pub fn reach(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// Returns whether an event could have happened more often.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// A program that a factory starts, with no words of its own.
#[derive(Clone, Debug)]
pub struct Started<F> {
    /// What messages begin with.
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
pub(super) fn cannot_start(name: &str, error: &RunError) -> Failure {
    let failure = Failure::new(format!("{}: {}", escape(name), escape(&error.to_string())));
    failure.with_hint("a program must speak the pipe protocol: see docs/pipe-protocol.md")
}
