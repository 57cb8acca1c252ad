//! The machine as a program of pending tasks.

use super::accesses::AccessTranslator;
use super::awaited::awaited;
use super::names::StateNames;
use super::observe::observe;
use super::reduced::Write;
use super::shadows::{TakenStep, shadows};
use super::words;
use crate::machine::{Elements, INIT_FLAG, Machine};
use crate::state::{State, StepId};
use crate::step::{Log, LoggedAccess, LoggedPlace};
use crate::transitions::{Action, Executed, Outcome, StepExecutor, candidates, initial, unstarted};
use crate::value::Value;
use anyorder_system::{
    AccessDetail, AccessKind, Accesses, Awaited, Capabilities, Choice, Divergence, EnabledDetail,
    EnabledTask, Failure, Hash128, JobWatch, Observation, Posted, ProgramIdentity, RunError,
    SnapshotId, Snapshots, Step, SystemFactory, TaskName, TaskSystem,
};
use anyorder_trace::{Interner, Tables};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The position of a run.
#[derive(Clone, Debug)]
struct Position {
    state: State,
    names: StateNames,
    /// The failure, if there was one. Then nothing more can run.
    failure: Option<Failure>,
    choices: usize,
}

impl Position {
    /// Returns the start of a run. If `init` has run already, the objects and tasks that it made
    /// get their names.
    fn first(machine: &Machine, objects: &mut FxHashMap<(TaskName, u32), u64>) -> Position {
        let (state, mut names) = (initial(machine), StateNames::default());
        if machine.program.init.is_some() && !state.flag(INIT_FLAG) {
            // `init` has run in the only way it can. Another run gives its log.
            let before = unstarted(machine);
            let init = Action { step: StepId::Init, alternative: 0 };
            let ran = StepExecutor::logging(machine, &before).run_one(&init);
            let log = ran.map(|ran| ran.log).unwrap_or_default();
            let moved = (&before, StepId::Init, &state);
            names.advance(machine, moved, &TaskName::root("init"), &log, objects);
        }
        Position { state, names, failure: None, choices: 0 }
    }
}

/// A running program: a [`TaskSystem`] with snapshots. Machines are shared, runs are not; make one
/// for each worker.
///
/// The name of a task says what created it: the second click is `click#2`, its first post is
/// `click#2/load`. Steps of a thread are `t@1#1`, `t@1#2`; of a task that takes several,
/// `click#2/load/step#1` and so on after the one that begins it.
#[derive(Debug)]
pub struct MachineRun {
    machine: Arc<Machine>,
    program: ProgramIdentity,
    interner: Interner,
    elements: Elements,
    /// Numbers of objects, by the step that made them and their order in it.
    objects: FxHashMap<(TaskName, u32), u64>,
    start: Position,
    at: Position,
    saved: FxHashMap<u64, Position>,
    next_snapshot: u64,
    /// The updates of the last step.
    writes: Vec<Write>,
}

/// Makes runs of one machine.
#[derive(Clone, Debug)]
pub struct MachineFactory(pub Arc<Machine>);

impl SystemFactory for MachineFactory {
    type System = MachineRun;

    fn make(&self) -> Result<MachineRun, RunError> {
        Ok(MachineRun::new(self.0.clone()))
    }
}

impl MachineRun {
    /// Starts a run.
    #[must_use]
    pub fn new(machine: Arc<Machine>) -> MachineRun {
        let mut objects = FxHashMap::default();
        let start = Position::first(&machine, &mut objects);
        MachineRun {
            program: ProgramIdentity::new(&machine.program.name),
            interner: Interner::default(),
            elements: Elements::of(machine.program()),
            objects,
            machine,
            at: start.clone(),
            start,
            saved: FxHashMap::default(),
            next_snapshot: 0,
            writes: Vec::new(),
        }
    }

    /// Sets which program this is, for schedules.
    #[must_use]
    pub fn with_program(self, program: ProgramIdentity) -> MachineRun {
        MachineRun { program, ..self }
    }

    /// Returns the state the run is in.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.at.state
    }

    /// Returns the updates of the last step, in order; none if the program has no components.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Returns the task of an action of this state, with its first alternative; `None` if the
    /// action is none of this state. The numbers of alternatives may differ: those of a run follow
    /// names, those of [`Machine`] follow its states.
    #[must_use]
    pub fn choice_of(&self, action: &Action) -> Option<Choice> {
        let (machine, state) = (&*self.machine, &self.at.state);
        let mut is_there = false;
        if self.at.failure.is_none() {
            candidates(machine, state, false, |step| is_there |= step == action.step);
        }
        let task = is_there.then(|| self.at.names.next(machine, state, action.step))?;
        Some(Choice { handler: self.handler(action.step), ..Choice::of(task) })
    }

    /// Returns the first action of this state that takes the step of a task: of equal messages of a
    /// bag, [`Machine`] takes the first one only. `None` if the task cannot run here.
    #[must_use]
    pub fn action_of(&self, task: &TaskName) -> Option<Action> {
        let (machine, state) = (&*self.machine, &self.at.state);
        let (mut merged, mut found) = (None, None);
        if self.at.failure.is_some() {
            return None;
        }
        candidates(machine, state, false, |step| {
            // Equal messages stand together.
            merged = merged.filter(|before: &StepId| before.is_equal(step, state)).or(Some(step));
            if found.is_none() && self.at.names.next(machine, state, step) == *task {
                found = merged;
            }
        });
        Some(Action { step: found?, alternative: 0 })
    }

    /// Returns the candidates with their names and their numbers of alternatives.
    fn candidates(&self) -> Vec<(StepId, TaskName, u32)> {
        if self.at.failure.is_some() {
            return Vec::new();
        }
        let (machine, state) = (&*self.machine, &self.at.state);
        let mut executor = StepExecutor::new(machine, state);
        let mut found = Vec::new();
        candidates(machine, state, false, |step| {
            let mut count = 0;
            if executor.is_certain(step) {
                count = 1;
            } else {
                executor.run(step, |_, _, _| count += 1);
            }
            if count > 0 {
                found.push((step, self.at.names.next(machine, state, step), count));
            }
        });
        found
    }

    fn handler(&self, step: StepId) -> String {
        words::lane(&self.machine, step).unwrap_or_else(|| {
            let name = self.at.names.next(&self.machine, &self.at.state, step);
            name.creator().map_or_else(String::new, TaskName::to_string)
        })
    }
}

impl TaskSystem for MachineRun {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: true,
            enabled: EnabledDetail::Exact,
            deterministic: true,
            values: true,
            accesses: AccessDetail::List,
            awaits: true,
        }
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.at = self.start.clone();
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let tasks = self.candidates().into_iter().map(|(step, task, alternatives)| {
            let handler = self.handler(step);
            EnabledTask { task, handler, alternatives }
        });
        let tasks = tasks.collect();
        not_stopped()?;
        Ok(tasks)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let machine = self.machine.clone();
        let state = self.at.state.clone();
        let mut found = None;
        if self.at.failure.is_none() {
            candidates(&machine, &state, false, |step| {
                if found.is_none() && self.at.names.next(&machine, &state, step) == choice.task {
                    found = Some(step);
                }
            });
        }
        let mut stopped = false;
        let executed = found.and_then(|step| {
            let mut executor = StepExecutor::logging(&machine, &state);
            executor.interpreter.notify_order = self.at.names.in_order(&state);
            let action = Action { step, alternative: choice.alternative };
            let executed = executor.run_one(&action);
            stopped = executor.interpreter.poll.is_stopped();
            let mut executed = executed?;
            add_deciding_reads(&mut executed.log, std::mem::take(&mut executor.deciding));
            Some((step, executed))
        });
        if stopped {
            not_stopped()?;
        }
        let Some((step, Executed { outcome, log, updates })) = executed else {
            let enabled = self.candidates().into_iter().map(|(_, name, _)| name).collect();
            let (wanted, choice) = (choice.task.clone(), self.at.choices);
            return Err(RunError::Diverged(Divergence { choice, wanted, enabled }));
        };
        self.writes = machine.writes_of(updates);
        self.take(choice, (&state, step), outcome, &log)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        if self.at.failure.is_some() {
            return Ok(Vec::new());
        }
        let (machine, none) = (self.machine.clone(), FxHashMap::default());
        let waiting = awaited(&machine, &self.at.state, &self.at.names);
        not_stopped()?;
        let mut translate = AccessTranslator {
            machine: &machine,
            interner: &mut self.interner,
            elements: &self.elements,
            names: &self.at.names,
            before: &self.at.names,
            state: &self.at.state,
            allocated: &[],
            created: &none,
        };
        let mut tasks = Vec::with_capacity(waiting.len());
        for (task, touches) in waiting {
            let accesses =
                translate.all(&touches).map_err(|full| RunError::Crashed(full.to_string()))?;
            let locations = accesses.into_iter().map(|access| access.location).collect();
            tasks.push(Awaited { task, locations });
        }
        Ok(tasks)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        Ok(observe(&self.machine, &self.at.state, self.at.failure.as_ref()))
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        Some(self)
    }
}

impl MachineRun {
    /// Moves to the state after a step.
    fn take(
        &mut self,
        choice: &Choice,
        (before, step): (&State, StepId),
        outcome: Outcome,
        log: &Log,
    ) -> Result<Step, RunError> {
        let machine = self.machine.clone();
        let task = choice.task.clone();
        let mut names = self.at.names.clone();
        let moved = (before, step, &outcome.state);
        let created = names.advance(&machine, moved, &task, log, &mut self.objects);
        let made = log.created.iter().map(|created| created.uid).zip(created.iter().cloned());
        let made: FxHashMap<u64, TaskName> = made.collect();
        let cancelled = log.cancelled.iter();
        let cancelled = cancelled.filter_map(|(uid, _)| self.at.names.of(*uid).or(made.get(uid)));
        let cancelled = cancelled.cloned().collect();
        let failed = outcome.fault.is_some();
        let stepped = TakenStep { machine: &machine, before, step, after: &outcome.state, failed };
        let mut touches = shadows(&stepped, &self.at.names, log);
        touches.extend_from_slice(&log.accesses);
        // Objects that the step made and dropped need names, too.
        let mut all = names.clone();
        for (ordinal, uid) in (0..).zip(&log.allocated) {
            if let Some(number) = self.objects.get(&(task.clone(), ordinal)) {
                all.objects.insert(*uid, *number);
            }
        }
        all.objects.extend(self.at.names.objects.iter().map(|(uid, number)| (*uid, *number)));
        let mut translate = AccessTranslator {
            machine: &machine,
            interner: &mut self.interner,
            elements: &self.elements,
            names: &all,
            before: &self.at.names,
            state: before,
            allocated: &log.allocated,
            created: &made,
        };
        let accesses =
            translate.all(&touches).map_err(|full| RunError::Crashed(full.to_string()))?;
        let posted = created.into_iter().zip(&log.created).map(|(task, created)| {
            let handler = if created.fork {
                task.to_string()
            } else {
                words::queue_name(&machine, created.queue as usize).to_string()
            };
            Posted { task, handler, delay: created.delay, queue: None }
        });
        let posted = posted.collect();
        let failure = outcome.fault.map(|fault| fault.failure(&machine.program));
        self.at = Position {
            state: outcome.state,
            names,
            failure: failure.clone(),
            choices: self.at.choices + 1,
        };
        let (accesses, failures) = (Accesses::List(accesses), failure.into_iter().collect());
        Ok(Step { task, accesses, posted, cancelled, failures })
    }
}

/// Fails once the job of this thread was stopped: what a step found since may be incomplete.
pub(super) fn not_stopped() -> Result<(), RunError> {
    JobWatch::current().check().map_err(|stopped| RunError::Stopped(stopped.0))
}

/// Adds the reads of other executions of the step to its log: the numbers of the alternatives
/// depend on them.
pub(super) fn add_deciding_reads(log: &mut Log, deciding: Vec<LoggedAccess>) {
    let mut known: Vec<(LoggedPlace, Option<Value>)> =
        log.accesses.iter().map(|touch| (touch.place.clone(), touch.element.clone())).collect();
    for touch in deciding {
        let key = (touch.place.clone(), touch.element.clone());
        if !known.contains(&key) {
            known.push(key);
            log.accesses.push(LoggedAccess { kind: AccessKind::Read, ..touch });
        }
    }
}

#[cfg(test)]
impl MachineRun {
    /// Moves to another state and keeps the names of this one.
    pub(crate) fn put(&mut self, state: State) {
        self.at.state = state;
    }

    /// The number of an object in the names of locations, by that of its allocation.
    pub(crate) fn object_number(&self, uid: u64) -> Option<u64> {
        self.at.names.objects.get(&uid).copied()
    }

    /// The name of a message or thread, by the number of its creation.
    pub(crate) fn created_name(&self, uid: u64) -> Option<String> {
        self.at.names.of(uid).map(TaskName::to_string)
    }
}

impl Snapshots for MachineRun {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        let id = self.next_snapshot;
        self.next_snapshot += 1;
        self.saved.insert(id, self.at.clone());
        Ok(SnapshotId(id))
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        let missing = || RunError::Crashed(format!("no snapshot {}", snapshot.0));
        self.at = self.saved.get(&snapshot.0).ok_or_else(missing)?.clone();
        Ok(())
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.saved.remove(&snapshot.0);
    }

    fn fingerprint(&mut self) -> Hash128 {
        let hash = Hash128(self.at.state.sum);
        match &self.at.failure {
            Some(failure) => hash.part(failure.to_string().as_bytes()),
            None => hash,
        }
    }
}
