//! Drives one system along planned sequences: approximate replay.
//!
//! The driver follows a planned sequence as far as possible. It skips a task that cannot run at its
//! turn. Then the default scheduler runs until no task is left.

use super::candidate::{Config, NoRun, Request, RunResult};
use super::footprint::{Mode, footprint};
use super::names::{NO_TASK, NameCache, Names, TaskId};
use super::step::{EnabledChange, ExecutedStep, Steps, wake};
use crate::location_name::LocationName;
use anyorder_system::{Access, EnabledDetail, RunError, SnapshotId, Step, TaskName, TaskSystem};
use anyorder_trace::{LocationId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A saved state: the number of the run, and of the steps executed.
#[derive(Debug)]
struct Saved {
    run: u64,
    after: usize,
    snapshot: SnapshotId,
}

/// Drives one system.
pub(crate) struct Driver<'s> {
    pub(crate) system: Box<dyn TaskSystem + 's>,
    pub(crate) name_cache: NameCache,
    /// The global numbers of the system's own locations, in the order of first use.
    locations: Vec<u32>,
    saved: Option<Saved>,
    exact: bool,
    /// The system can go back to a saved state.
    restores: bool,
    /// Steps are kept for reports.
    keep: bool,
    /// The number of tasks that ran.
    executed: u64,
    /// For each task, the round in which it was last marked.
    marks: Vec<u64>,
    mark: u64,
    /// The waits that complete runs have reported already.
    reported_waits: FxHashSet<(TaskId, u32)>,
}

/// The state of a run in progress.
struct RunState<'a> {
    request: &'a Request<'a>,
    /// The prefix shared with the parent run.
    shared: &'a Steps,
    steps: Vec<Arc<ExecutedStep>>,
    /// The last input event, by its task.
    last_input: Option<TaskId>,
    /// The step of each task in the parent run.
    known: FxHashMap<TaskId, &'a Arc<ExecutedStep>>,
    /// The enabled tasks; `None` if the run does not ask for them.
    enabled: Option<Enabled>,
    /// For each task whose plan is not the first alternative: the planned alternative.
    preferred: FxHashMap<TaskId, TaskId>,
    awaited: FxHashSet<(TaskId, u32)>,
    more_alternatives: bool,
    asleep: Vec<Arc<ExecutedStep>>,
    /// Some task behaved differently than in the parent run, or is not in the parent run.
    differs: bool,
}

/// The enabled tasks in the order of the default scheduler, each with its number of alternatives.
type Enabled = Vec<(TaskId, u32)>;

/// Returns the number of alternatives of a task; 0 if it is not enabled.
fn alternatives_of(enabled: &Enabled, base: TaskId) -> u32 {
    enabled.iter().find(|(task, _)| *task == base).map_or(0, |(_, count)| *count)
}

const NO_LOCATION: u32 = u32::MAX;

/// The only location of a program that reports none.
pub const EVERYTHING: &str = "(not reported)";

/// Returns the name of that location. No variable has it.
pub(crate) fn everything() -> LocationName {
    LocationName::of_class(EVERYTHING, EVERYTHING)
}

/// Returns the global number of one of a system's locations.
fn location_number(
    locations: &mut Vec<u32>,
    (names, tables): (&Names, &Tables),
    id: LocationId,
) -> u32 {
    let index = id.index();
    if index >= locations.len() {
        locations.resize(index + 1, NO_LOCATION);
    }
    if locations[index] == NO_LOCATION {
        locations[index] = names.location(LocationName::of(tables, id));
    }
    locations[index]
}

impl<'s> Driver<'s> {
    pub(crate) fn new(mut system: Box<dyn TaskSystem + 's>, name_cache: NameCache) -> Driver<'s> {
        Driver {
            restores: system.snapshots().is_some(),
            keep: false,
            executed: 0,
            exact: system.capabilities().enabled == EnabledDetail::Exact,
            system,
            name_cache,
            locations: Vec::new(),
            saved: None,
            marks: Vec::new(),
            mark: 0,
            reported_waits: FxHashSet::default(),
        }
    }

    /// Returns the number of tasks that ran since the last call.
    pub(crate) fn take_executed(&mut self) -> u64 {
        std::mem::take(&mut self.executed)
    }

    /// Asks the system again for the roles of all known tasks.
    pub(crate) fn ask_roles(&mut self) {
        self.name_cache.ask_roles(|name| self.system.role(name));
    }

    /// Returns the number of a task's name.
    pub(crate) fn id(&mut self, name: &TaskName) -> TaskId {
        self.name_cache.id(name, |name| self.system.role(name))
    }

    /// Executes a run. Returns its result, and the number of attempts.
    pub(crate) fn run(&mut self, request: &Request<'_>) -> (Result<RunResult, NoRun>, u64) {
        let mut last = String::new();
        let most = u64::from(request.config.attempts.max(1));
        for attempt in 1..=most {
            match self.attempt(request) {
                Err(NoRun::Lost(error)) => last = error,
                other => return (other, attempt),
            }
            // The saved state may be damaged as well.
            self.forget();
        }
        (Err(NoRun::Lost(last)), most)
    }

    fn attempt(&mut self, request: &Request<'_>) -> Result<RunResult, NoRun> {
        let &Request { config, control, candidate, .. } = request;
        self.name_cache.catch_up();
        self.keep = config.keep;
        self.go_to(request)?;
        let (shared, rest) = request.parent.split_at(candidate.shared);
        let mut inputs = shared.iter().rev().map(|step| step.base);
        let others = candidate.rest.iter().map(|task| (self.name_cache.base(*task), *task));
        let mut current = RunState {
            request,
            shared,
            steps: Vec::with_capacity(candidate.rest.len()),
            last_input: inputs.find(|task| self.is_input(config, *task)),
            known: rest.iter().map(|step| (step.task, step)).collect(),
            enabled: None,
            preferred: others.filter(|(base, task)| base != task).collect(),
            awaited: FxHashSet::default(),
            more_alternatives: false,
            asleep: candidate.asleep.clone(),
            differs: false,
        };
        if request.ask && self.exact {
            current.enabled = Some(self.enabled(&[])?);
            self.awaited(&mut current)?;
        } else if self.keep && request.ask {
            // The handlers of the first tasks. Later ones are posted, or listed after the plan.
            self.listed()?;
        }
        let mut skipped = Vec::new();
        for (at, task) in candidate.rest.iter().enumerate() {
            if at % 256 == 0 {
                control.check()?;
            }
            if current.length() >= config.length_max {
                break;
            }
            if !self.step(&mut current, *task)? {
                skipped.push(*task);
            }
        }
        let mut cut = current.steps.len() + skipped.len() < candidate.rest.len();
        let mut blocked = false;
        if !config.stop_after_plan {
            (cut, blocked) = self.tail(&mut current)?;
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

    /// Asks for the enabled tasks, if the system lists them.
    fn listed(&mut self) -> Result<(), NoRun> {
        if self.system.capabilities().enabled != EnabledDetail::Unknown {
            self.enabled(&[])?;
        }
        Ok(())
    }

    /// Brings the system to the state in which the candidate leaves its parent.
    fn go_to(&mut self, request: &Request<'_>) -> Result<(), NoRun> {
        let after = request.candidate.shared;
        let executed = self.executed;
        let mut from = 0;
        match &self.saved {
            Some(saved) if saved.run == request.run && saved.after <= after => {
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
        for (at, step) in request.parent.iter().enumerate().take(after).skip(from) {
            if at % 256 == 0 {
                request.control.check()?;
            }
            let what = match self.execute(request.config, step.task)? {
                Some(repeated) if repeated.is_same(step) => continue,
                Some(repeated) => {
                    let what = self.changed(step, &repeated);
                    format!("did something else when the same run was repeated: {what}")
                }
                None => "could not run when the same run was repeated".to_owned(),
            };
            return Err(self.misbehaves(step.task, &what));
        }
        if self.restores {
            // Which of these states is saved depends on the worker.
            self.executed = executed;
        }
        if after > from || self.saved.is_none() {
            self.save(request.run, after);
        }
        Ok(())
    }

    /// Says in what a step differs from what it was.
    fn changed(&self, was: &ExecutedStep, is: &ExecutedStep) -> String {
        let tasks = |step: &ExecutedStep| -> FxHashSet<TaskId> {
            step.posted.iter().map(|(task, _)| *task).collect()
        };
        let name = |task: &TaskId| self.name_cache.task(*task).name.clone();
        let (before, now) = (tasks(was), tasks(is));
        let named = |tasks: &FxHashSet<TaskId>, others: &FxHashSet<TaskId>| {
            tasks.difference(others).map(name).min()
        };
        if let Some(task) = named(&now, &before) {
            return format!("it created `{task}`, too");
        }
        if let Some(task) = named(&before, &now) {
            return format!("it did not create `{task}`");
        }
        if let Some(task) = was
            .cancelled
            .iter()
            .chain(&is.cancelled)
            .find(|task| was.cancelled.contains(task) != is.cancelled.contains(task))
        {
            return format!("it cancelled `{}` only once", name(task));
        }
        if was.failures != is.failures {
            return "it failed in another way".to_owned();
        }
        let uses =
            |step: &ExecutedStep| -> FxHashSet<_> { step.footprint.iter().copied().collect() };
        let (before, now) = (uses(was), uses(is));
        match before.symmetric_difference(&now).map(|(location, _)| location).min() {
            Some(location) => {
                let text = self.name_cache.names.location_text(*location);
                format!("it used `{text}` in another way")
            }
            None => "its created tasks came in another order, or can run at other times".to_owned(),
        }
    }

    fn misbehaves(&self, task: TaskId, what: &str) -> NoRun {
        NoRun::Lost(format!("`{}` {what}", self.name_cache.task(task).name))
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
        config.inputs.is_input(self.name_cache.task(task))
    }

    /// Runs one task if it can run. Returns whether it ran.
    fn step(&mut self, current: &mut RunState<'_>, task: TaskId) -> Result<bool, NoRun> {
        let config = current.request.config;
        let is_input = self.is_input(config, task);
        let info = self.name_cache.task(task);
        let (base, alternative) = (info.base, info.alternative);
        if is_input && !config.inputs.may_follow(current.last_input, base) {
            return Ok(false);
        }
        let count = current.enabled.as_ref().map(|enabled| alternatives_of(enabled, base));
        if count.is_some_and(|count| count <= alternative)
            || current.asleep.iter().any(|step| step.task == task)
        {
            return Ok(false);
        }
        let Some(mut done) = self.execute(config, task)? else {
            if self.exact && alternatives_of(&self.enabled(&[])?, base) > alternative {
                return Err(self.misbehaves(task, "was listed as enabled and could not run"));
            }
            return Ok(false);
        };
        if let Some(before) = current.enabled.take() {
            let now = self.enabled(&before)?;
            done.enabled_change = Some(self.enabled_change(&before, &now, base));
            done.alternatives = count.unwrap_or(0);
            current.more_alternatives |= done.alternatives > config.alternatives_max;
            current.enabled = Some(now);
            self.awaited(current)?;
        }
        if is_input {
            current.last_input = Some(base);
        }
        let done = match current.known.get(&task) {
            Some(known)
                if known.enabled_change.is_some() >= done.enabled_change.is_some()
                    && known.is_same(&done) =>
            {
                match known.kept == done.kept {
                    true => (*known).clone(),
                    false => {
                        Arc::new(ExecutedStep { kept: done.kept, ..ExecutedStep::clone(known) })
                    }
                }
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
    fn tail(&mut self, current: &mut RunState<'_>) -> Result<(bool, bool), NoRun> {
        let Request { config, control, .. } = current.request;
        let listed = self.system.capabilities().enabled != EnabledDetail::Unknown;
        let (mut taken, mut blocked) = (0u64, false);
        'next: loop {
            if taken % 64 == 0 {
                control.check()?;
            }
            let enabled = match &current.enabled {
                Some(enabled) => enabled.clone(),
                None if listed => self.enabled(&[])?,
                None => Enabled::default(),
            };
            // If the list of enabled tasks may be wrong, alternatives are not run.
            current.more_alternatives |= !self.exact && enabled.iter().any(|(_, count)| *count > 1);
            let mut tasks: Vec<TaskId> = enabled.iter().map(|(task, _)| *task).collect();
            if !self.exact {
                let mut seen: FxHashSet<TaskId> = tasks.iter().copied().collect();
                tasks.extend(self.pending(current).into_iter().filter(|task| seen.insert(*task)));
            }
            self.order_inputs(config, current.last_input, &mut tasks);
            let candidates = self.with_alternatives(current, &enabled, tasks);
            if current.length() >= config.length_max {
                return Ok((!candidates.is_empty(), false));
            }
            blocked |= self.exact && !candidates.is_empty();
            for task in candidates {
                if self.step(current, task)? {
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
        current: &RunState<'_>,
        enabled: &Enabled,
        tasks: Vec<TaskId>,
    ) -> Vec<TaskId> {
        let config = current.request.config;
        let mut candidates = Vec::with_capacity(tasks.len());
        for base in tasks {
            let wanted = current.preferred.get(&base).or_else(|| config.preferred.get(&base));
            let wanted = wanted.copied().unwrap_or(base);
            let count = alternatives_of(enabled, base);
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
    fn awaited(&mut self, current: &mut RunState<'_>) -> Result<(), NoRun> {
        if !current.request.config.asks_waits.load(Ordering::Relaxed) {
            return Ok(());
        }
        for awaited in self.system.awaited()? {
            let task = self.id(&awaited.task);
            for location in awaited.locations {
                let texts = (&*self.name_cache.names, self.system.tables());
                let location = location_number(&mut self.locations, texts, location);
                if !self.reported_waits.contains(&(task, location)) {
                    current.awaited.insert((task, location));
                }
            }
        }
        Ok(())
    }

    /// The tasks that may be pending, as far as the steps show: recorded tasks first, then the
    /// others in the order of their posts.
    fn pending(&self, current: &RunState<'_>) -> Vec<TaskId> {
        let mut gone: FxHashSet<TaskId> = FxHashSet::default();
        let mut posted = Vec::new();
        for step in current.shared.iter().chain(&current.steps) {
            gone.insert(step.base);
            gone.extend(step.cancelled.iter().copied());
            posted.extend(step.posted.iter().map(|(task, _)| *task));
        }
        let there: FxHashSet<TaskId> = posted.iter().copied().collect();
        let recorded = current.request.config.recorded.iter();
        let recorded = recorded
            .map(|task| self.name_cache.base(*task))
            .filter(|task| there.contains(task) || self.name_cache.task(*task).creator == NO_TASK);
        let mut seen = FxHashSet::default();
        let all = recorded.chain(posted.iter().copied());
        all.filter(|task| !gone.contains(task) && seen.insert(*task)).collect()
    }

    /// Asks for the enabled tasks. Most of them were enabled before, in the same order, so
    /// comparing names is cheaper than looking them up.
    fn enabled(&mut self, before: &[(TaskId, u32)]) -> Result<Enabled, NoRun> {
        const AHEAD: usize = 3;
        let enabled = self.system.enabled()?;
        let mut found = Vec::with_capacity(enabled.len());
        let mut next = 0;
        for entry in &enabled {
            let is_same = |(id, _): &(TaskId, u32)| self.name_cache.task(*id).name == entry.task;
            let id = match before[next..].iter().take(AHEAD).position(is_same) {
                Some(place) => {
                    next += place + 1;
                    before[next - 1].0
                }
                None => self.id(&entry.task),
            };
            if self.keep {
                self.name_cache.note_handler(id, &entry.handler);
            }
            found.push((id, entry.alternatives.max(1)));
        }
        Ok(found)
    }

    /// Returns how the set of enabled tasks changed.
    fn enabled_change(&mut self, before: &Enabled, now: &Enabled, ran: TaskId) -> EnabledChange {
        self.marks.resize(self.name_cache.len(), 0);
        self.mark += 2;
        let (old, both) = (self.mark, self.mark + 1);
        for (task, _) in before {
            self.marks[*task as usize] = old;
        }
        let mut enables = Vec::new();
        for (task, _) in now {
            let mark = &mut self.marks[*task as usize];
            if *mark < old {
                enables.push(*task);
            }
            *mark = both;
        }
        let before = before.iter().map(|(task, _)| *task);
        let closed = before.filter(|task| *task != ran && self.marks[*task as usize] == old);
        EnabledChange { enables: enables.into(), closed: closed.collect() }
    }

    /// Runs one task. Returns `None` if the system reports that it cannot run.
    fn execute(&mut self, config: &Config, task: TaskId) -> Result<Option<ExecutedStep>, NoRun> {
        match self.system.execute(&self.name_cache.choice(task, &config.choices)) {
            Ok(step) => {
                self.executed += 1;
                Ok(Some(self.done(config, task, &step)))
            }
            Err(RunError::Diverged(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Converts a step into numbers.
    fn done(&mut self, config: &Config, task: TaskId, step: &Step) -> ExecutedStep {
        let (system, name_cache) = (&*self.system, &mut self.name_cache);
        let names = name_cache.names.clone();
        let texts = (&*names, system.tables());
        let number = |access: &Access| location_number(&mut self.locations, texts, access.location);
        let update_of = |id| match config.rules.updates.0.as_slice() {
            [] => None,
            _ => config.rules.updates.update_of(&names.location_text(id)),
        };
        let mut footprint = footprint(&step.accesses, &config.rules, number, update_of);
        if config.blind {
            footprint = [(names.location(everything()), Mode::Exclusive)].into();
        }
        let mut id = |name: &TaskName| name_cache.id(name, |name| system.role(name));
        let posted = step.posted.iter();
        let posted: Box<[_]> = posted.map(|posted| (id(&posted.task), posted.delay > 0)).collect();
        let queued =
            step.posted.iter().filter_map(|one| Some((id(&one.task), one.queue?, one.delay)));
        let queued = queued.collect();
        let cancelled = step.cancelled.iter().map(&mut id).collect();
        let kept = config.keep.then(|| Arc::new(name_cache.keep(system, step)));
        if config.keep {
            for ((task, _), one) in posted.iter().zip(&step.posted) {
                name_cache.note_handler(*task, &one.handler);
            }
        }
        ExecutedStep {
            footprint,
            posted,
            queued,
            cancelled,
            failures: step.failures.clone().into(),
            kept,
            ..ExecutedStep::of(task, name_cache)
        }
    }
}

impl RunState<'_> {
    /// The number of executed tasks.
    fn length(&self) -> u64 {
        (self.shared.len() + self.steps.len()) as u64
    }
}
