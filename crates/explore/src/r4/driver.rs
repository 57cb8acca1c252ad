//! Drives one system along planned sequences: approximate replay.
//!
//! The driver follows a planned sequence as far as possible. It skips a task that cannot run at its
//! turn. Then the default scheduler runs until no task is left.

use super::candidate::{Candidate, Config, NoRun, RunResult};
use super::dependence::mix;
use super::footprint::footprint;
use super::names::{NO_TASK, NameCache, TaskId};
use super::sleep_sets::wake;
use super::step::{EnabledChange, ExecutedStep};
use anyorder_system::{
    Choice, Control, EnabledDetail, RunError, SnapshotId, Step, StopReason, TaskName, TaskSystem,
};
use anyorder_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why one attempt gave no run.
enum AttemptError {
    Stopped(StopReason),
    Failed(String),
}

impl From<RunError> for AttemptError {
    fn from(error: RunError) -> AttemptError {
        AttemptError::Failed(error.to_string())
    }
}

/// A saved state: the number of the run, and of the steps executed.
#[derive(Debug)]
struct Saved {
    run: u64,
    after: usize,
    snapshot: SnapshotId,
}

/// Drives one system.
pub(crate) struct Driver<S> {
    system: S,
    pub(crate) name_cache: NameCache,
    /// The global numbers of the system's own locations, in the order of first use.
    locations: Vec<u32>,
    saved: Option<Saved>,
    exact: bool,
    /// The number of executions started.
    pub(crate) attempts: u64,
    /// For each task, the round in which it was last marked.
    marks: Vec<u64>,
    mark: u64,
    /// The waits that complete runs have reported already.
    reported_waits: FxHashSet<(TaskId, u32)>,
}

/// The state of a run in progress.
struct RunState<'a> {
    /// The prefix shared with the parent run.
    shared: &'a [Arc<ExecutedStep>],
    steps: Vec<Arc<ExecutedStep>>,
    /// The last input event, by its task.
    last_input: Option<TaskId>,
    /// The step of each task in the parent run.
    known: FxHashMap<TaskId, &'a Arc<ExecutedStep>>,
    enabled: Option<Enabled>,
    /// For each task whose plan is not the first alternative: the planned alternative.
    preferred: FxHashMap<TaskId, TaskId>,
    awaited: FxHashSet<(TaskId, u32)>,
    more_alternatives: bool,
    asleep: Vec<Arc<ExecutedStep>>,
    /// Some task behaved differently than in the parent run, or is not in the parent run.
    differs: bool,
}

/// The enabled tasks in the order of the default scheduler, with the number of alternatives of
/// each.
#[derive(Clone, Debug, Default)]
struct Enabled {
    tasks: Vec<TaskId>,
    alternatives: Vec<u32>,
}

impl Enabled {
    /// Returns the number of alternatives of a task; 0 if it is not enabled.
    fn alternatives_of(&self, base: TaskId) -> u32 {
        let at = self.tasks.iter().position(|task| *task == base);
        at.and_then(|at| self.alternatives.get(at)).copied().unwrap_or(0)
    }
}

const NO_LOCATION: u32 = u32::MAX;

impl<S: TaskSystem> Driver<S> {
    pub(crate) fn new(system: S, name_cache: NameCache) -> Driver<S> {
        let exact = system.capabilities().enabled == EnabledDetail::Exact;
        let (locations, marks) = (Vec::new(), Vec::new());
        let reported_waits = FxHashSet::default();
        Driver {
            system,
            name_cache,
            locations,
            saved: None,
            exact,
            attempts: 0,
            marks,
            mark: 0,
            reported_waits,
        }
    }

    pub(crate) fn system(&self) -> &S {
        &self.system
    }

    /// Asks the system again for the roles of all known tasks.
    pub(crate) fn ask_roles(&mut self) {
        self.name_cache.ask_roles(|name| self.system.role(name));
    }

    /// Returns the number of a task's name.
    pub(crate) fn id(&mut self, name: &TaskName) -> TaskId {
        self.name_cache.id(name, |name| self.system.role(name))
    }

    /// Executes a run. `run` is a number for its parent: it stays the same as long as saved states
    /// of that parent are useful. With `ask`, the driver asks for the enabled tasks after each
    /// step.
    pub(crate) fn run(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<ExecutedStep>]),
        candidate: &Candidate,
        ask: bool,
    ) -> Result<RunResult, NoRun> {
        let mut last = String::new();
        for _ in 0..config.attempts.max(1) {
            self.attempts += 1;
            match self.attempt(config, control, (run, parent), candidate, ask) {
                Ok(ran) => return Ok(ran),
                Err(AttemptError::Stopped(reason)) => return Err(NoRun::Stopped(reason)),
                Err(AttemptError::Failed(error)) => last = error,
            }
            // The saved state may be damaged as well.
            self.forget();
        }
        Err(NoRun::Lost(last))
    }

    fn attempt(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<ExecutedStep>]),
        candidate: &Candidate,
        ask: bool,
    ) -> Result<RunResult, AttemptError> {
        let ask = ask && self.exact;
        self.name_cache.catch_up();
        self.go_to(config, control, (run, parent), candidate.shared)?;
        let mut current = RunState {
            shared: &parent[..candidate.shared],
            steps: Vec::with_capacity(candidate.rest.len()),
            last_input: None,
            known: FxHashMap::default(),
            enabled: None,
            preferred: FxHashMap::default(),
            awaited: FxHashSet::default(),
            more_alternatives: false,
            asleep: candidate.asleep.clone(),
            differs: false,
        };
        let shared = parent[..candidate.shared].iter().rev().map(|step| step.base);
        current.last_input = shared.into_iter().find(|task| self.is_input(config, *task));
        let others = candidate.rest.iter().map(|task| (self.name_cache.base(*task), *task));
        current.preferred = others.filter(|(base, task)| base != task).collect();
        current.known = parent[candidate.shared..].iter().map(|step| (step.task, step)).collect();
        if ask {
            current.enabled = Some(self.enabled(&[])?);
            self.awaited(config, &mut current)?;
        }
        let mut skipped = Vec::new();
        for (at, task) in candidate.rest.iter().enumerate() {
            if at % 256 == 0 {
                control.check().map_err(|stopped| AttemptError::Stopped(stopped.0))?;
            }
            if current.length() >= config.length_max {
                break;
            }
            if !self.step(config, &mut current, *task, ask)? {
                skipped.push(*task);
            }
        }
        let mut cut = current.steps.len() + skipped.len() < candidate.rest.len();
        let mut blocked = false;
        if !config.stop_after_plan {
            (cut, blocked) = self.tail(config, control, &mut current, ask)?;
        }
        let observation = self.system.observe()?;
        self.reported_waits.extend(current.awaited.iter().copied());
        let as_planned = skipped.is_empty() && current.steps.len() == candidate.rest.len();
        let as_known = as_planned && !current.differs;
        let RunState { steps, awaited, more_alternatives, .. } = current;
        let mut awaited: Vec<_> = awaited.into_iter().collect();
        awaited.sort_unstable();
        Ok(RunResult {
            steps,
            skipped,
            observation,
            cut,
            blocked,
            as_known,
            awaited,
            more_alternatives,
        })
    }

    /// Brings the system to the state after a number of steps of a run.
    fn go_to(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<ExecutedStep>]),
        after: usize,
    ) -> Result<(), AttemptError> {
        let mut from = 0;
        match &self.saved {
            Some(saved) if saved.run == run && saved.after <= after => {
                from = saved.after;
                let snapshot = saved.snapshot;
                let snapshots = self.system.snapshots();
                snapshots.ok_or(RunError::Unsupported("snapshots"))?.restore(snapshot)?;
            }
            _ => {
                self.forget();
                self.system.reset()?;
            }
        }
        for (at, step) in parent.iter().enumerate().take(after).skip(from) {
            if at % 256 == 0 {
                control.check().map_err(|stopped| AttemptError::Stopped(stopped.0))?;
            }
            let again = self.execute(config, step.task)?;
            match again {
                Some(again) if again.is_same(step) => {}
                Some(_) => {
                    return Err(self.other_candidate(
                        step.task,
                        "did something else when the same run was repeated",
                    ));
                }
                None => {
                    return Err(self.other_candidate(
                        step.task,
                        "could not run when the same run was repeated",
                    ));
                }
            }
        }
        if after > from || self.saved.is_none() {
            self.save(run, after);
        }
        Ok(())
    }

    fn other_candidate(&self, task: TaskId, what: &str) -> AttemptError {
        let name = &self.name_cache.task(task).name;
        AttemptError::Failed(format!("`{name}` {what}"))
    }

    /// Saves the state, if the system can. A failure to save is no error: the run is then repeated
    /// from the start.
    fn save(&mut self, run: u64, after: usize) {
        self.forget();
        if let Some(snapshots) = self.system.snapshots()
            && let Ok(snapshot) = snapshots.save()
        {
            self.saved = Some(Saved { run, after, snapshot });
        }
    }

    fn forget(&mut self) {
        if let Some(saved) = self.saved.take()
            && let Some(snapshots) = self.system.snapshots()
        {
            snapshots.forget(saved.snapshot);
        }
    }

    fn is_input(&self, config: &Config, task: TaskId) -> bool {
        config.inputs.is_input(task, self.name_cache.task(task))
    }

    /// Runs one task if it can run. Returns whether it ran.
    fn step(
        &mut self,
        config: &Config,
        current: &mut RunState<'_>,
        task: TaskId,
        ask: bool,
    ) -> Result<bool, AttemptError> {
        let is_input = self.is_input(config, task);
        let (base, alternative) =
            (self.name_cache.base(task), self.name_cache.task(task).alternative);
        if is_input && !config.inputs.may_follow(current.last_input, base) {
            return Ok(false);
        }
        let count = current.enabled.as_ref().map(|enabled| enabled.alternatives_of(base));
        if count.is_some_and(|count| count <= alternative)
            || current.asleep.iter().any(|step| step.task == task)
        {
            return Ok(false);
        }
        let Some(mut done) = self.execute(config, task)? else {
            if self.exact && self.enabled(&[])?.alternatives_of(base) > alternative {
                return Err(self.other_candidate(task, "was listed as enabled and could not run"));
            }
            return Ok(false);
        };
        if ask {
            let before = current.enabled.take().unwrap_or_default();
            let now = self.enabled(&before.tasks)?;
            done.enabled_change = Some(self.enabled_change(&before.tasks, &now.tasks, base));
            done.alternatives = count.unwrap_or(0);
            current.more_alternatives |= done.alternatives > config.alternatives_max;
            current.enabled = Some(now);
            self.awaited(config, current)?;
        }
        if is_input {
            current.last_input = Some(base);
        }
        let done = match current.known.get(&task) {
            Some(known)
                if known.enabled_change.is_some() >= done.enabled_change.is_some()
                    && known.is_same(&done) =>
            {
                (*known).clone()
            }
            _ => {
                current.differs = true;
                Arc::new(done)
            }
        };
        wake(&mut current.asleep, &done);
        current.steps.push(done);
        Ok(true)
    }

    /// Runs the default scheduler. Returns whether the run was cut, and whether it ended because
    /// all enabled tasks were in the sleep set.
    fn tail(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        current: &mut RunState<'_>,
        ask: bool,
    ) -> Result<(bool, bool), AttemptError> {
        let listed = self.system.capabilities().enabled != EnabledDetail::Unknown;
        let (mut taken, mut blocked) = (0u64, false);
        'next: loop {
            if taken % 64 == 0 {
                control.check().map_err(|stopped| AttemptError::Stopped(stopped.0))?;
            }
            let enabled = match &current.enabled {
                Some(enabled) => enabled.clone(),
                None if listed => self.enabled(&[])?,
                None => Enabled::default(),
            };
            // If the list of enabled tasks may be wrong, alternatives are not run.
            current.more_alternatives |= !self.exact && enabled.alternatives.iter().any(|n| *n > 1);
            let mut tasks = enabled.tasks.clone();
            if !self.exact {
                let mut seen: FxHashSet<TaskId> = tasks.iter().copied().collect();
                tasks.extend(self.pending(config, current).into_iter().filter(|t| seen.insert(*t)));
            }
            self.order_inputs(config, current.last_input, &mut tasks);
            let candidates = self.with_alternatives(config, current, &enabled, tasks);
            if current.length() >= config.length_max {
                return Ok((!candidates.is_empty(), false));
            }
            blocked |= self.exact && !candidates.is_empty();
            for task in candidates {
                if self.step(config, current, task, ask)? {
                    taken += 1;
                    blocked = false;
                    continue 'next;
                }
            }
            return Ok((false, blocked && !current.asleep.is_empty()));
        }
    }

    /// Removes input events that may not run. Of those that may, keeps only the first in recorded
    /// order.
    fn order_inputs(&self, config: &Config, last: Option<TaskId>, tasks: &mut Vec<TaskId>) {
        let rank = |task: &TaskId| config.inputs.rank(*task);
        let may =
            |task: &TaskId| self.is_input(config, *task) && config.inputs.may_follow(last, *task);
        let first = tasks.iter().filter(|task| may(task)).min_by_key(|task| rank(task)).copied();
        tasks.retain(|task| !self.is_input(config, *task) || Some(*task) == first);
    }

    /// Replaces tasks by the alternative to run: the planned one, else the recorded one, else the
    /// first. If some alternatives are in the sleep set, the others follow after this one.
    fn with_alternatives(
        &mut self,
        config: &Config,
        current: &RunState<'_>,
        enabled: &Enabled,
        tasks: Vec<TaskId>,
    ) -> Vec<TaskId> {
        let mut candidates = Vec::with_capacity(tasks.len());
        for base in tasks {
            let wanted = current.preferred.get(&base).or_else(|| config.preferred.get(&base));
            let wanted = wanted.copied().unwrap_or(base);
            let count = enabled.alternatives_of(base);
            let is_there = count == 0 || self.name_cache.task(wanted).alternative < count;
            let first = if is_there { wanted } else { base };
            candidates.push(first);
            if config.exhaustive && self.exact {
                for alternative in 0..count.min(config.alternatives_max) {
                    let other = self.name_cache.alternative(base, alternative);
                    candidates.extend((other != first).then_some(other));
                }
            }
        }
        candidates
    }

    /// Records the waits of tasks that were not reported before.
    fn awaited(&mut self, config: &Config, current: &mut RunState<'_>) -> Result<(), AttemptError> {
        if !config.asks_waits.load(Ordering::Relaxed) {
            return Ok(());
        }
        for awaited in self.system.awaited()? {
            let task = self.id(&awaited.task);
            for location in awaited.locations {
                let location = self.location(location);
                if !self.reported_waits.contains(&(task, location)) {
                    current.awaited.insert((task, location));
                }
            }
        }
        Ok(())
    }

    /// Returns the global number of one of the system's locations.
    fn location(&mut self, id: LocationId) -> u32 {
        let index = id.index();
        if index >= self.locations.len() {
            self.locations.resize(index + 1, NO_LOCATION);
        }
        if self.locations[index] == NO_LOCATION {
            let text = self.system.tables().location_text(id);
            self.locations[index] = self.name_cache.names.location(&text);
        }
        self.locations[index]
    }

    /// The tasks that may be pending, as far as the steps show: recorded tasks first, then the
    /// others in the order of their posts.
    fn pending(&self, config: &Config, current: &RunState<'_>) -> Vec<TaskId> {
        let mut gone: FxHashSet<TaskId> = FxHashSet::default();
        let mut posted = Vec::new();
        for step in current.all() {
            gone.insert(step.base);
            gone.extend(step.cancelled.iter().copied());
            posted.extend(step.posted.iter().map(|(task, _)| *task));
        }
        let there: FxHashSet<TaskId> = posted.iter().copied().collect();
        let recorded =
            config.recorded.iter().map(|task| self.name_cache.base(*task)).filter(|task| {
                there.contains(task) || self.name_cache.task(*task).creator == NO_TASK
            });
        let mut seen = FxHashSet::default();
        let all = recorded.chain(posted.iter().copied());
        all.filter(|task| !gone.contains(task) && seen.insert(*task)).collect()
    }

    /// Asks for the enabled tasks. Most of them were enabled before, in the same order, so
    /// comparing names is cheaper than looking them up.
    fn enabled(&mut self, before: &[TaskId]) -> Result<Enabled, AttemptError> {
        const AHEAD: usize = 3;
        let enabled = self.system.enabled()?;
        let mut ids = Vec::with_capacity(enabled.len());
        let mut next = 0;
        for entry in &enabled {
            let ahead = before[next..].iter().take(AHEAD);
            let found = ahead.clone().position(|id| self.name_cache.task(*id).name == entry.task);
            ids.push(match found {
                Some(place) => {
                    next += place + 1;
                    before[next - 1]
                }
                None => self.id(&entry.task),
            });
        }
        let alternatives = enabled.iter().map(|entry| entry.alternatives.max(1)).collect();
        Ok(Enabled { tasks: ids, alternatives })
    }

    /// Returns how the set of enabled tasks changed.
    fn enabled_change(&mut self, before: &[TaskId], now: &[TaskId], ran: TaskId) -> EnabledChange {
        self.marks.resize(self.name_cache.len(), 0);
        self.mark += 2;
        let (old, both) = (self.mark, self.mark + 1);
        for task in before {
            self.marks[*task as usize] = old;
        }
        let mut enables = Vec::new();
        for task in now {
            let mark = &mut self.marks[*task as usize];
            if *mark < old {
                enables.push(*task);
            }
            *mark = both;
        }
        let closed =
            before.iter().filter(|task| **task != ran && self.marks[**task as usize] == old);
        EnabledChange { enables: enables.into(), closed: closed.copied().collect() }
    }

    /// Runs one task. Returns `None` if the system reports that it cannot run.
    fn execute(
        &mut self,
        config: &Config,
        task: TaskId,
    ) -> Result<Option<ExecutedStep>, AttemptError> {
        let info = self.name_cache.task(task);
        let choice = match config.choices.get(&info.base) {
            Some(choice) => choice.clone(),
            None => Choice::of(info.name.clone()),
        };
        let choice = Choice { alternative: info.alternative, ..choice };
        match self.system.execute(&choice) {
            Ok(step) => Ok(Some(self.done(config, task, &step))),
            Err(RunError::Diverged(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Converts a step into numbers.
    fn done(&mut self, config: &Config, task: TaskId, step: &Step) -> ExecutedStep {
        let (system, name_cache, locations) =
            (&self.system, &mut self.name_cache, &mut self.locations);
        let names = name_cache.names.clone();
        let number = |access: &anyorder_system::Access| {
            let index = access.location.index();
            if index >= locations.len() {
                locations.resize(index + 1, NO_LOCATION);
            }
            if locations[index] == NO_LOCATION {
                locations[index] = names.location(&system.tables().location_text(access.location));
            }
            locations[index]
        };
        let update_of = |id| match config.rules.updates.0.as_slice() {
            [] => None,
            _ => config.rules.updates.update_of(&names.location_text(id)),
        };
        let footprint = footprint(&step.accesses, &config.rules, number, update_of);
        let mut id = |name: &TaskName| name_cache.id(name, |name| system.role(name));
        let posted = step.posted.iter();
        let posted = posted.map(|posted| (id(&posted.task), posted.delay > 0)).collect();
        let cancelled = step.cancelled.iter().map(&mut id).collect();
        let failures = step.failures.clone().into();
        ExecutedStep {
            footprint,
            posted,
            cancelled,
            failures,
            ..ExecutedStep::of(task, name_cache)
        }
    }
}

impl RunState<'_> {
    /// The number of executed tasks.
    fn length(&self) -> u64 {
        (self.shared.len() + self.steps.len()) as u64
    }

    /// All steps of the run so far.
    fn all(&self) -> impl Iterator<Item = &Arc<ExecutedStep>> {
        self.shared.iter().chain(&self.steps)
    }
}

/// Returns the hash of a sequence.
pub(crate) fn sequence_hash(name_cache: &NameCache, steps: &[Arc<ExecutedStep>]) -> u128 {
    let parts = steps.iter().enumerate();
    parts.fold(mix(0), |sum, (at, step)| {
        sum.wrapping_add(super::dependence::sequence_part(name_cache, step.task, at))
    })
}
