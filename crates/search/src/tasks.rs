//! Searching a program that is a set of tasks, on one thread.
//!
//! A [`TaskSystem`] holds its states itself, and may have no way to save them. Where it has snapshots, states are compared by their
//! fingerprints and gone back to; where it has none, each state is reached again by running its schedule from the start, and
//! nothing is compared: all schedules up to the depth bound are run.

use crate::error::SearchError;
use crate::outcome::{Limit, Stats};
use anyorder_system::{Choice, Control, Hash128, RunError, Schedule, SnapshotId, Step, TaskSystem};
use std::collections::BTreeSet;

/// Limits of [`search_tasks`]; the number of executions is that of the control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskOptions {
    /// The most tasks of a schedule. Necessary where there are no snapshots: schedules may be endless.
    pub depth_max: u32,
    /// The most states, where they are compared.
    pub states_max: Option<u64>,
}

/// A failure that a schedule leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskFailure {
    /// What failed.
    pub message: String,
    /// The schedule, its last task the one that fails.
    pub schedule: Schedule,
}

/// What a search of tasks found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskOutcome {
    /// Whether every schedule was covered.
    pub complete: bool,
    /// What cut it.
    pub limits: Vec<Limit>,
    /// For each message the first of the shortest schedules found to fail with it.
    pub failures: Vec<TaskFailure>,
    /// Numbers. `states` counts different states where they are compared, and otherwise the schedules run to some point.
    pub stats: Stats,
}

/// Runs all schedules of a program, depth-first.
///
/// # Errors
///
/// Fails as the program does.
pub fn search_tasks<T: TaskSystem>(
    system: &mut T,
    options: &TaskOptions,
    control: &Control<'_>,
) -> Result<TaskOutcome, SearchError> {
    let with_snapshots = system.capabilities().snapshot && system.snapshots().is_some();
    let mut search = TaskSearch {
        system,
        options,
        control,
        with_snapshots,
        schedule: Vec::new(),
        seen: BTreeSet::new(),
        failures: Vec::new(),
        limits: BTreeSet::new(),
        stats: Stats::default(),
    };
    search.system.reset()?;
    search.stats.executions = 1;
    search.run()?;
    let program = search.system.program().clone();
    let make = |(message, choices)| {
        let mut schedule = Schedule::new(program.clone());
        schedule.choices = choices;
        TaskFailure { message, schedule }
    };
    Ok(TaskOutcome {
        complete: search.limits.is_empty(),
        limits: search.limits.into_iter().collect(),
        failures: search.failures.into_iter().map(make).collect(),
        stats: search.stats,
    })
}

struct TaskSearch<'a, T> {
    system: &'a mut T,
    options: &'a TaskOptions,
    control: &'a Control<'a>,
    with_snapshots: bool,
    schedule: Vec<Choice>,
    seen: BTreeSet<(Hash128, u32)>,
    failures: Vec<(String, Vec<Choice>)>,
    limits: BTreeSet<Limit>,
    stats: Stats,
}

/// A state that is being gone on from.
struct Level {
    /// The choices not yet made, the next one last.
    choices: Vec<Choice>,
    snapshot: Option<SnapshotId>,
    /// Whether the program is in this state.
    here: bool,
}

impl<T: TaskSystem> TaskSearch<'_, T> {
    fn run(&mut self) -> Result<(), SearchError> {
        let mut levels = Vec::new();
        levels.extend(self.enter()?);
        while let Some(level) = levels.last_mut() {
            if let Err(stopped) = self.control.check() {
                self.limits.insert(Limit::from(stopped.0));
                break;
            }
            let Some(choice) = level.choices.pop() else {
                self.leave(level.snapshot);
                levels.pop();
                self.schedule.pop();
                continue;
            };
            if !level.here {
                let snapshot = level.snapshot;
                if !self.go_back(snapshot)? {
                    break;
                }
            }
            level.here = false;
            let step = self.system.execute(&choice)?;
            self.schedule.push(choice);
            self.stats.transitions += 1;
            self.stats.max_depth = self.stats.max_depth.max(self.schedule.len() as u64);
            let failed = self.note(step);
            let next = if failed { None } else { self.enter()? };
            match next {
                Some(level) => levels.push(level),
                None => {
                    self.schedule.pop();
                }
            }
        }
        for level in levels {
            self.leave(level.snapshot);
        }
        Ok(())
    }

    /// Prepares to go on from the state that the program is in; `None` if it is known or too deep.
    fn enter(&mut self) -> Result<Option<Level>, SearchError> {
        let enabled = self.system.enabled()?;
        let depth = self.schedule.len() as u32;
        let too_deep = depth >= self.options.depth_max;
        let mut snapshot = None;
        if let Some(snapshots) = self.system.snapshots().filter(|_| self.with_snapshots) {
            let fingerprint = snapshots.fingerprint();
            // A state met again nearer to the start has more depth left: only one met as near as this is known.
            let earlier = self.seen.range((fingerprint, 0)..=(fingerprint, depth)).next();
            if earlier.is_some() {
                return Ok(None);
            }
            let new = self.seen.range((fingerprint, 0)..=(fingerprint, u32::MAX)).next().is_none();
            if new && self.options.states_max.is_some_and(|most| self.stats.states >= most) {
                self.limits.insert(Limit::States);
                return Ok(None);
            }
            self.seen.insert((fingerprint, depth));
            self.stats.states += u64::from(new);
            if !too_deep && !enabled.is_empty() {
                snapshot = Some(snapshots.save()?);
            }
        } else {
            self.stats.states += 1;
        }
        if too_deep && !enabled.is_empty() {
            self.limits.insert(Limit::Depth);
            return Ok(None);
        }
        let mut choices = Vec::new();
        for task in enabled.into_iter().rev() {
            for alternative in (0..task.alternatives.max(1)).rev() {
                let mut choice = Choice::of(task.task.clone());
                choice.handler.clone_from(&task.handler);
                choice.alternative = alternative;
                choices.push(choice);
            }
        }
        Ok(Some(Level { choices, snapshot, here: true }))
    }

    /// Brings the program back to the state of the schedule; returns whether the limit on executions allows it.
    fn go_back(&mut self, snapshot: Option<SnapshotId>) -> Result<bool, SearchError> {
        if let (Some(snapshot), Some(snapshots)) = (snapshot, self.system.snapshots()) {
            snapshots.restore(snapshot)?;
            return Ok(true);
        }
        if self.control.limits.executions.is_some_and(|most| self.stats.executions >= most) {
            self.limits.insert(Limit::Executions);
            return Ok(false);
        }
        self.stats.executions += 1;
        self.control.progress.report(self.stats.executions, self.control.limits.executions);
        self.system.reset()?;
        for choice in &self.schedule {
            self.system.execute(choice)?;
        }
        Ok(true)
    }

    fn leave(&mut self, snapshot: Option<SnapshotId>) {
        if let (Some(snapshot), Some(snapshots)) = (snapshot, self.system.snapshots()) {
            snapshots.forget(snapshot);
        }
    }

    /// Keeps failures; returns whether there were some.
    fn note(&mut self, step: Step) -> bool {
        let failed = !step.failures.is_empty();
        for message in step.failures {
            match self.failures.iter_mut().find(|(known, _)| *known == message) {
                Some((_, known)) if known.len() <= self.schedule.len() => {}
                Some((_, known)) => known.clone_from(&self.schedule),
                None => self.failures.push((message, self.schedule.clone())),
            }
        }
        failed
    }
}

impl From<RunError> for SearchError {
    fn from(error: RunError) -> SearchError {
        SearchError::Run(error)
    }
}
