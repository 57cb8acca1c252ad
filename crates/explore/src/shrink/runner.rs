//! Follows a plan as far as possible, until the run shows the symptom.

use super::options::{ShrinkOptions, Symptom};
use crate::location_name::LocationName;
use anyorder_system::{
    AccessKind, Accesses, Choice, Control, EnabledDetail, RunError, Step, StopReason, TaskSystem,
};
use rustc_hash::FxHashMap;

/// The accesses of a task: numbers of location texts, and whether it wrote.
pub(super) type Footprint = Vec<(u32, bool)>;

/// An executed run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// The executed choices. They end at the symptom if that is a failure.
    pub(super) choices: Vec<Choice>,
    /// The accesses of each task; `None` if the system does not report them.
    pub(super) footprints: Vec<Option<Footprint>>,
    pub(super) shows: bool,
}

/// Why no run was made.
pub(super) enum NoRun {
    /// The limit on runs was reached, or the job was stopped.
    Stopped(Option<StopReason>),
    /// All attempts failed.
    Lost(RunError),
}

/// Executes runs, and counts them.
pub(super) struct Runner<'a> {
    pub(super) system: Box<dyn TaskSystem + 'a>,
    symptom: Symptom<'a>,
    options: &'a ShrinkOptions,
    pub(super) control: &'a Control<'a>,
    on_better: &'a mut dyn FnMut(&[Choice]),
    locations: FxHashMap<LocationName, u32>,
    pub(super) executions: u64,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        system: Box<dyn TaskSystem + 'a>,
        symptom: Symptom<'a>,
        (options, control): (&'a ShrinkOptions, &'a Control<'a>),
        on_better: &'a mut dyn FnMut(&[Choice]),
    ) -> Runner<'a> {
        let locations = FxHashMap::default();
        Runner { system, symptom, options, control, on_better, locations, executions: 0 }
    }

    /// Runs a plan. If the symptom is at the end of a run, or `run_tail` is set, the default
    /// scheduler runs until no task is left.
    pub(super) fn run(&mut self, plan: &[Choice], run_tail: bool) -> Result<Ran, NoRun> {
        self.control.check().map_err(|stopped| NoRun::Stopped(Some(stopped.0)))?;
        if self.executions >= self.options.executions_max {
            return Err(NoRun::Stopped(None));
        }
        let mut attempt = 1;
        loop {
            self.executions += 1;
            match self.once(plan, run_tail || self.symptom.end.is_some()) {
                Ok(ran) => return Ok(ran),
                Err(RunError::Stopped(reason)) => return Err(NoRun::Stopped(Some(reason))),
                Err(error) if attempt >= self.options.attempts => return Err(NoRun::Lost(error)),
                Err(_) => attempt += 1,
            }
        }
    }

    /// Gives the choices of the best run so far to the caller, in case the job has to be ended.
    pub(super) fn improved(&mut self, best: &Ran) {
        (self.on_better)(&best.choices);
    }

    /// Runs a plan; `None` if the system loses the run, which then shows nothing.
    pub(super) fn attempt(&mut self, plan: &[Choice]) -> Result<Option<Ran>, NoRun> {
        match self.run(plan, false) {
            Ok(ran) => Ok(Some(ran)),
            Err(NoRun::Lost(_)) => Ok(None),
            Err(stopped) => Err(stopped),
        }
    }

    fn once(&mut self, plan: &[Choice], run_tail: bool) -> Result<Ran, RunError> {
        self.system.reset()?;
        let mut ran = Ran { choices: Vec::new(), footprints: Vec::new(), shows: false };
        for choice in plan {
            if self.step(choice, &mut ran)? && ran.shows {
                return Ok(ran);
            }
        }
        if run_tail {
            self.tail(&mut ran)?;
        }
        if let Some(end) = self.symptom.end.filter(|_| !ran.shows) {
            ran.shows = end(&self.system.observe()?);
        }
        Ok(ran)
    }

    /// Runs the default scheduler until no task is left, the symptom occurs, or the tail limit is
    /// reached.
    fn tail(&mut self, ran: &mut Ran) -> Result<(), RunError> {
        if self.system.capabilities().enabled == EnabledDetail::Unknown {
            return Ok(());
        }
        for _ in 0..self.options.tail_max {
            let mut moved = false;
            for task in self.system.enabled()? {
                let choice = Choice { handler: task.handler, ..Choice::of(task.task) };
                if self.step(&choice, ran)? {
                    moved = true;
                    break;
                }
            }
            if !moved || ran.shows {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Runs one task if it can run. Returns whether it ran.
    fn step(&mut self, choice: &Choice, ran: &mut Ran) -> Result<bool, RunError> {
        let step = match self.system.execute(choice) {
            Ok(step) => step,
            Err(RunError::Diverged(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        ran.choices.push(choice.clone());
        ran.shows |= step.failures.iter().any(self.symptom.failure);
        let footprint = self.footprint(&step);
        ran.footprints.push(footprint);
        Ok(true)
    }

    fn footprint(&mut self, step: &Step) -> Option<Footprint> {
        if matches!(step.accesses, Accesses::Unknown) {
            return None;
        }
        let mut footprint: Footprint = Vec::new();
        for access in step.accesses.as_slice() {
            let name = LocationName::of(self.system.tables(), access.location);
            let next = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
            let location = *self.locations.entry(name).or_insert(next);
            footprint.push((location, access.kind != AccessKind::Read));
        }
        footprint.sort_unstable();
        footprint.dedup();
        Some(footprint)
    }
}
