//! A run of a model with checks. Besides failures, it reports broken invariants, update conflicts
//! and wrong ends.

use super::rests::is_unfair;
use crate::explore::{Repeats, WrongEnd};
use crate::schedules::Shows;
use anyorder_system::{
    Awaited, BrokenProperty, Capabilities, Choice, Divergence, EnabledTask, Failure, Hash128,
    Level, Observation, PartPath, Place, ProgramIdentity, RunError, SnapshotId, Snapshots,
    StateSystem, Step, TaskName, TaskSystem,
};
use anyorder_trace::Tables;
use anyorder_vm::{Machine, MachineRun};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of an observation that reports a wrong end of a run. Its text is the end.
const END: &str = "end";

/// The ends that are wrong.
const WRONG_ENDS: [Shows; 2] = [Shows::Deadlock, Shows::Final];

/// Returns the wrong end that an observation of a checked run reports.
pub(super) fn wrong_end_of(observation: &Observation) -> Option<WrongEnd> {
    let part = observation.part(&PartPath::new([END]))?;
    let is_it = |shows: &Shows| part.text.as_deref() == Some(shows.to_string().as_str());
    Some(WrongEnd { shows: WRONG_ENDS.into_iter().find(is_it)?, content: part.hash })
}

/// The data about a run that is not part of its state.
#[derive(Clone, Debug)]
struct CheckState {
    /// For each invariant, whether it was broken.
    broken: Vec<bool>,
    /// Whether it could have ended wrongly before an optional step.
    rested: bool,
    /// For each attribute, the component that updated it last, if any.
    writers: BTreeMap<Place, Option<u32>>,
}

/// A run that is checked after each step.
pub struct Checked {
    run: MachineRun,
    machine: Arc<Machine>,
    invariants: Vec<String>,
    known: CheckState,
    saved: BTreeMap<u64, CheckState>,
    repeats: Option<Repeats>,
}

impl Checked {
    pub(super) fn new(
        machine: &Arc<Machine>,
        program: &ProgramIdentity,
        repeats: Option<Repeats>,
    ) -> Checked {
        let invariants = machine.invariants();
        let broken = vec![false; invariants.len()];
        let known = CheckState { broken, rested: false, writers: BTreeMap::new() };
        let run = MachineRun::new(Arc::clone(machine)).with_program(program.clone());
        let machine = Arc::clone(machine);
        Checked { run, machine, invariants, known, saved: BTreeMap::new(), repeats }
    }

    /// Returns whether a task is an event that has reached its bound.
    fn is_spent(&self, task: &TaskName) -> bool {
        let Some(repeats) = &self.repeats else { return false };
        let segment = task.segment();
        let is_event =
            || self.machine.program().events.iter().any(|event| event.declared().0 == segment.kind);
        let spent = task.creator().is_none() && segment.ordinal > repeats.most && is_event();
        if spent {
            repeats.reach();
        }
        spent
    }

    /// Returns the invariants that this state is the first to break.
    fn broken(&mut self) -> Vec<BrokenProperty> {
        let mut failures = Vec::new();
        for (index, name) in self.invariants.iter().enumerate() {
            if !self.known.broken[index] && !self.machine.holds(index, self.run.state()) {
                self.known.broken[index] = true;
                failures.push(BrokenProperty::Invariant(name.clone()));
            }
        }
        failures
    }

    /// Returns whether this is the first state in which nothing more need happen, and in which the
    /// program may not end.
    fn rests(&mut self) -> bool {
        let first = !self.known.rested
            && self.machine.has_rests()
            && self.machine.rests_wrongly(self.run.state());
        self.known.rested |= first;
        first
    }

    /// Returns the word of a wrong end, and what tells it from others: of a deadlock, the places
    /// where something waits.
    fn wrong_end(&mut self) -> Result<Option<(Shows, String)>, RunError> {
        if self.machine.has_rests() && self.machine.rests_wrongly(self.run.state()) {
            return Ok(Some((Shows::Final, String::new())));
        }
        if !self.run.enabled()?.is_empty() || self.machine.is_final(self.run.state()) {
            return Ok(None);
        }
        let state = self.run.state();
        Ok(Some(match self.machine.is_stuck(state) {
            true => (Shows::Deadlock, self.machine.places_text(state)),
            false => (Shows::Final, String::new()),
        }))
    }

    /// Returns the update conflicts of a step, and records its updates.
    fn overwritten(&mut self) -> Vec<BrokenProperty> {
        let writes = self.run.writes();
        if writes.is_empty() {
            return Vec::new();
        }
        let names = self.machine.components();
        let name = |at: u32| names.get(at as usize).cloned().unwrap_or_default();
        let mut failures = Vec::new();
        for write in writes {
            let before = self.known.writers.insert(write.place, write.by).flatten();
            if let (Some(a), Some(b)) = (before, write.by)
                && a != b
            {
                let components = [name(a.min(b)), name(a.max(b))];
                let attribute = write.attribute.clone();
                let failure = BrokenProperty::UpdateConflict { attribute, components };
                if !failures.contains(&failure) {
                    failures.push(failure);
                }
            }
        }
        failures
    }
}

impl TaskSystem for Checked {
    fn capabilities(&self) -> Capabilities {
        self.run.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.run.program()
    }

    fn tables(&self) -> &Tables {
        self.run.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.known.broken.fill(false);
        self.known.rested = false;
        self.known.writers.clear();
        self.run.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let mut enabled = self.run.enabled()?;
        enabled.retain(|task| !self.is_spent(&task.task));
        // What is optional comes as late as it can: runs pass the states in which nothing else is
        // left.
        if self.machine.has_rests() {
            let program = self.machine.program();
            enabled.sort_by_key(|task| is_unfair(program, &task.task));
        }
        Ok(enabled)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        if self.is_spent(&choice.task) {
            let enabled = self.enabled()?.into_iter().map(|task| task.task).collect();
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        }
        // A run may rest before its first step.
        let rested = self.rests();
        let mut step = self.run.execute(choice)?;
        if step.failures.is_empty() {
            let broken = self.broken();
            step.failures.extend(broken.into_iter().map(Failure::from));
            let overwritten = self.overwritten();
            step.failures.extend(overwritten.into_iter().map(Failure::from));
            if rested || self.rests() {
                step.failures.push(Failure::from(BrokenProperty::Final));
            }
        }
        Ok(step)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.run.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let mut observation = self.run.observe()?;
        let failed = observation.part(&PartPath::new(["failure"])).is_some();
        if !failed && let Some((shows, places)) = self.wrong_end()? {
            let path = PartPath::new([END]);
            let content = format!("{shows}\n{places}");
            observation.set(path.clone(), Level::Failure, content.as_bytes());
            observation.keep_text(&path, &shows.to_string());
        }
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        Some(self)
    }
}

impl Snapshots for Checked {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        let id = self.run.save()?;
        self.saved.insert(id.0, self.known.clone());
        Ok(id)
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        self.run.restore(snapshot)?;
        if let Some(known) = self.saved.get(&snapshot.0) {
            self.known = known.clone();
        }
        Ok(())
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.run.forget(snapshot);
        self.saved.remove(&snapshot.0);
    }

    fn fingerprint(&mut self) -> Hash128 {
        self.run.fingerprint()
    }
}
