//! Runs along a plan as far as it goes, until they show the symptom.

use super::options::{Options, Symptom};
use anyorder_system::{
    AccessKind, Accesses, Choice, Control, EnabledDetail, RunError, Step, StopReason, TaskName,
    TaskSystem,
};
use rustc_hash::FxHashMap;

/// What a task touched: location texts as numbers, and whether it wrote.
pub(super) type Footprint = Vec<(u32, bool)>;

/// A run that was made.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// What ran, up to the symptom where that is a failure.
    pub(super) choices: Vec<Choice>,
    /// What each touched; `None` where the system does not tell.
    pub(super) footprints: Vec<Option<Footprint>>,
    pub(super) shows: bool,
}

/// Why there is no run.
pub(super) enum NoRun {
    /// The number of runs is used up, or the job was stopped.
    Stopped(Option<StopReason>),
    /// All attempts failed.
    Lost(RunError),
}

/// Makes runs, and counts them.
pub(super) struct Runner<'a, S> {
    system: S,
    symptom: Symptom<'a>,
    options: &'a Options,
    control: &'a Control<'a>,
    locations: FxHashMap<String, u32>,
    pub(super) executions: u64,
}

impl<'a, S: TaskSystem> Runner<'a, S> {
    pub(super) fn new(
        system: S,
        symptom: Symptom<'a>,
        options: &'a Options,
        control: &'a Control<'a>,
    ) -> Runner<'a, S> {
        Runner { system, symptom, options, control, locations: FxHashMap::default(), executions: 0 }
    }

    pub(super) fn system(&self) -> &S {
        &self.system
    }

    /// Runs a plan. Where the symptom is at the end, or `go_on` says so, the default scheduler goes
    /// on until nothing is left to do.
    pub(super) fn run(&mut self, plan: &[Choice], go_on: bool) -> Result<Ran, NoRun> {
        self.control.check().map_err(|stopped| NoRun::Stopped(Some(stopped.0)))?;
        if self.executions >= self.options.executions_max {
            return Err(NoRun::Stopped(None));
        }
        let mut attempt = 1;
        loop {
            self.executions += 1;
            match self.once(plan, go_on || self.symptom.end.is_some()) {
                Ok(ran) => return Ok(ran),
                Err(error) if attempt >= self.options.attempts => return Err(NoRun::Lost(error)),
                Err(_) => attempt += 1,
            }
        }
    }

    fn once(&mut self, plan: &[Choice], go_on: bool) -> Result<Ran, RunError> {
        self.system.reset()?;
        let mut ran = Ran { choices: Vec::new(), footprints: Vec::new(), shows: false };
        for choice in plan {
            if self.step(choice, &mut ran)? && ran.shows {
                return Ok(ran);
            }
        }
        if go_on {
            self.tail(&mut ran)?;
        }
        if let Some(end) = self.symptom.end.filter(|_| !ran.shows) {
            ran.shows = end(&self.system.observe()?);
        }
        Ok(ran)
    }

    /// Runs what the default scheduler would, until nothing is left, the symptom shows, or it was
    /// enough.
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

    /// Runs one task if it can run; says whether it did.
    fn step(&mut self, choice: &Choice, ran: &mut Ran) -> Result<bool, RunError> {
        let step = match self.system.execute(choice) {
            Ok(step) => step,
            Err(RunError::Diverged(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        ran.choices.push(choice.clone());
        ran.shows |= step.failures.iter().any(|text| (self.symptom.failure)(text));
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
            let text = self.system.tables().location_text(access.location);
            let next = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
            let location = *self.locations.entry(text).or_insert(next);
            footprint.push((location, access.kind != AccessKind::Read));
        }
        footprint.sort_unstable();
        footprint.dedup();
        Some(footprint)
    }
}

/// Returns the place of each task in a run.
pub(super) fn places(choices: &[Choice]) -> FxHashMap<&TaskName, usize> {
    choices.iter().enumerate().map(|(place, choice)| (&choice.task, place)).collect()
}
