//! One system, driven along planned sequences: approximate replay.
//!
//! A planned sequence is followed as far as it goes: a task that cannot run when its turn comes is
//! skipped. Then the default scheduler goes on until nothing is left to do.

use super::course::{Config, Course, NoRun, Ran};
use super::dependence::mix;
use super::footprint::footprint;
use super::names::{Book, NO_TASK, TaskId};
use super::sleepers::wake;
use super::step::{Done, Flips};
use anyorder_system::{
    Choice, Control, EnabledDetail, RunError, SnapshotId, Step, StopReason, TaskName, TaskSystem,
};
use anyorder_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why one attempt gave no run.
enum Attempt {
    Stopped(StopReason),
    Failed(String),
}

impl From<RunError> for Attempt {
    fn from(error: RunError) -> Attempt {
        Attempt::Failed(error.to_string())
    }
}

/// A saved state: after so many steps of the run with this number.
#[derive(Debug)]
struct Saved {
    run: u64,
    after: usize,
    snapshot: SnapshotId,
}

/// Drives one system.
pub(crate) struct Driver<S> {
    system: S,
    pub(crate) book: Book,
    /// The numbers of the system's own locations, as they are met.
    locations: Vec<u32>,
    saved: Option<Saved>,
    exact: bool,
    /// Executions begun.
    pub(crate) attempts: u64,
    /// By task, marks of the round in which it was seen.
    marks: Vec<u64>,
    mark: u64,
    /// What tasks wait for, as complete runs reported it.
    told: FxHashSet<(TaskId, u32)>,
}

/// The state of a run that is being made.
struct Going<'a> {
    /// What it has in common with the run that it varies.
    shared: &'a [Arc<Done>],
    steps: Vec<Arc<Done>>,
    /// The last input event, by its task.
    last_input: Option<TaskId>,
    /// The step of each task in the run that this one varies.
    known: FxHashMap<TaskId, &'a Arc<Done>>,
    enabled: Option<Enabled>,
    /// The alternatives that are planned and are not the first, by their task.
    preferred: FxHashMap<TaskId, TaskId>,
    awaited: FxHashSet<(TaskId, u32)>,
    more_alternatives: bool,
    asleep: Vec<Arc<Done>>,
    /// Some task did something else than in the run that this one varies, or is not in it.
    differs: bool,
}

/// The enabled tasks in the order of the default scheduler, and how many alternatives each has.
#[derive(Clone, Debug, Default)]
struct Enabled {
    tasks: Vec<TaskId>,
    alternatives: Vec<u32>,
}

impl Enabled {
    /// Returns how many alternatives a task has: none where it is not enabled.
    fn alternatives_of(&self, base: TaskId) -> u32 {
        let at = self.tasks.iter().position(|task| *task == base);
        at.and_then(|at| self.alternatives.get(at)).copied().unwrap_or(0)
    }
}

const NO_LOCATION: u32 = u32::MAX;

impl<S: TaskSystem> Driver<S> {
    pub(crate) fn new(system: S, book: Book) -> Driver<S> {
        let exact = system.capabilities().enabled == EnabledDetail::Exact;
        let (locations, marks) = (Vec::new(), Vec::new());
        let told = FxHashSet::default();
        Driver { system, book, locations, saved: None, exact, attempts: 0, marks, mark: 0, told }
    }

    pub(crate) fn system(&self) -> &S {
        &self.system
    }

    /// Asks again for the roles of all tasks met.
    pub(crate) fn ask_roles(&mut self) {
        self.book.ask_roles(|name| self.system.role(name));
    }

    /// Returns the number of a task's name.
    pub(crate) fn id(&mut self, name: &TaskName) -> TaskId {
        self.book.id(name, |name| self.system.role(name))
    }

    /// Makes a run; `run` is a number for the run it varies, which stays the same while states of
    /// that are worth keeping. With `ask`, the enabled tasks are asked for after each step.
    pub(crate) fn run(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<Done>]),
        course: &Course,
        ask: bool,
    ) -> Result<Ran, NoRun> {
        let mut last = String::new();
        for _ in 0..config.attempts.max(1) {
            self.attempts += 1;
            match self.attempt(config, control, (run, parent), course, ask) {
                Ok(ran) => return Ok(ran),
                Err(Attempt::Stopped(reason)) => return Err(NoRun::Stopped(reason)),
                Err(Attempt::Failed(error)) => last = error,
            }
            // Whatever state was kept may be a victim as well.
            self.forget();
        }
        Err(NoRun::Lost(last))
    }

    fn attempt(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<Done>]),
        course: &Course,
        ask: bool,
    ) -> Result<Ran, Attempt> {
        let ask = ask && self.exact;
        self.book.catch_up();
        self.go_to(config, control, (run, parent), course.shared)?;
        let mut going = Going {
            shared: &parent[..course.shared],
            steps: Vec::with_capacity(course.rest.len()),
            last_input: None,
            known: FxHashMap::default(),
            enabled: None,
            preferred: FxHashMap::default(),
            awaited: FxHashSet::default(),
            more_alternatives: false,
            asleep: course.asleep.clone(),
            differs: false,
        };
        let shared = parent[..course.shared].iter().rev().map(|step| step.base);
        going.last_input = shared.into_iter().find(|task| self.is_input(config, *task));
        let others = course.rest.iter().map(|task| (self.book.base(*task), *task));
        going.preferred = others.filter(|(base, task)| base != task).collect();
        going.known = parent[course.shared..].iter().map(|step| (step.task, step)).collect();
        if ask {
            going.enabled = Some(self.enabled(&[])?);
            self.awaited(config, &mut going)?;
        }
        let mut skipped = Vec::new();
        for (at, task) in course.rest.iter().enumerate() {
            if at % 256 == 0 {
                control.check().map_err(|stopped| Attempt::Stopped(stopped.0))?;
            }
            if going.length() >= config.length_max {
                break;
            }
            if !self.step(config, &mut going, *task, ask)? {
                skipped.push(*task);
            }
        }
        let mut cut = going.steps.len() + skipped.len() < course.rest.len();
        let mut blocked = false;
        if !config.stop_after_plan {
            (cut, blocked) = self.tail(config, control, &mut going, ask)?;
        }
        let observation = self.system.observe()?;
        self.told.extend(going.awaited.iter().copied());
        let as_planned = skipped.is_empty() && going.steps.len() == course.rest.len();
        let as_known = as_planned && !going.differs;
        let Going { steps, awaited, more_alternatives, .. } = going;
        let mut awaited: Vec<_> = awaited.into_iter().collect();
        awaited.sort_unstable();
        Ok(Ran { steps, skipped, observation, cut, blocked, as_known, awaited, more_alternatives })
    }

    /// Brings the system to the state after so many steps of a run.
    fn go_to(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        (run, parent): (u64, &[Arc<Done>]),
        after: usize,
    ) -> Result<(), Attempt> {
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
                control.check().map_err(|stopped| Attempt::Stopped(stopped.0))?;
            }
            let again = self.execute(config, step.task)?;
            match again {
                Some(again) if again.is_same(step) => {}
                Some(_) => {
                    return Err(self.other_course(
                        step.task,
                        "did something else when the same run was repeated",
                    ));
                }
                None => {
                    return Err(self
                        .other_course(step.task, "could not run when the same run was repeated"));
                }
            }
        }
        if after > from || self.saved.is_none() {
            self.save(run, after);
        }
        Ok(())
    }

    fn other_course(&self, task: TaskId, what: &str) -> Attempt {
        let name = &self.book.task(task).name;
        Attempt::Failed(format!("`{name}` {what}"))
    }

    /// Keeps the state, where the system can. That it cannot now is no error: the run is then
    /// repeated from the start.
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
        config.inputs.is_input(task, self.book.task(task))
    }

    /// Runs one task if it can run; says whether it did.
    fn step(
        &mut self,
        config: &Config,
        going: &mut Going<'_>,
        task: TaskId,
        ask: bool,
    ) -> Result<bool, Attempt> {
        let is_input = self.is_input(config, task);
        let (base, alternative) = (self.book.base(task), self.book.task(task).alternative);
        if is_input && !config.inputs.may_follow(going.last_input, base) {
            return Ok(false);
        }
        let count = going.enabled.as_ref().map(|enabled| enabled.alternatives_of(base));
        if count.is_some_and(|count| count <= alternative)
            || going.asleep.iter().any(|step| step.task == task)
        {
            return Ok(false);
        }
        let Some(mut done) = self.execute(config, task)? else {
            if self.exact && self.enabled(&[])?.alternatives_of(base) > alternative {
                return Err(self.other_course(task, "was listed as enabled and could not run"));
            }
            return Ok(false);
        };
        if ask {
            let before = going.enabled.take().unwrap_or_default();
            let now = self.enabled(&before.tasks)?;
            done.flips = Some(self.flips(&before.tasks, &now.tasks, base));
            done.alternatives = count.unwrap_or(0);
            going.more_alternatives |= done.alternatives > config.alternatives_max;
            going.enabled = Some(now);
            self.awaited(config, going)?;
        }
        if is_input {
            going.last_input = Some(base);
        }
        let done = match going.known.get(&task) {
            Some(known)
                if known.flips.is_some() >= done.flips.is_some() && known.is_same(&done) =>
            {
                (*known).clone()
            }
            _ => {
                going.differs = true;
                Arc::new(done)
            }
        };
        wake(&mut going.asleep, &done);
        going.steps.push(done);
        Ok(true)
    }

    /// Lets the default scheduler go on. Returns whether the run was cut, and whether it ended
    /// because all slept.
    fn tail(
        &mut self,
        config: &Config,
        control: &Control<'_>,
        going: &mut Going<'_>,
        ask: bool,
    ) -> Result<(bool, bool), Attempt> {
        let listed = self.system.capabilities().enabled != EnabledDetail::Unknown;
        let (mut taken, mut blocked) = (0u64, false);
        'next: loop {
            if taken % 64 == 0 {
                control.check().map_err(|stopped| Attempt::Stopped(stopped.0))?;
            }
            let enabled = match &going.enabled {
                Some(enabled) => enabled.clone(),
                None if listed => self.enabled(&[])?,
                None => Enabled::default(),
            };
            // Of a list that may be wrong, the alternatives are not run.
            going.more_alternatives |= !self.exact && enabled.alternatives.iter().any(|n| *n > 1);
            let mut tasks = enabled.tasks.clone();
            if !self.exact {
                let mut seen: FxHashSet<TaskId> = tasks.iter().copied().collect();
                tasks.extend(self.pending(config, going).into_iter().filter(|t| seen.insert(*t)));
            }
            self.order_inputs(config, going.last_input, &mut tasks);
            let candidates = self.with_alternatives(config, going, &enabled, tasks);
            if going.length() >= config.length_max {
                return Ok((!candidates.is_empty(), false));
            }
            blocked |= self.exact && !candidates.is_empty();
            for task in candidates {
                if self.step(config, going, task, ask)? {
                    taken += 1;
                    blocked = false;
                    continue 'next;
                }
            }
            return Ok((false, blocked && !going.asleep.is_empty()));
        }
    }

    /// Leaves out input events that may not run, and of those that may all but the first in the
    /// order of the recording.
    fn order_inputs(&self, config: &Config, last: Option<TaskId>, tasks: &mut Vec<TaskId>) {
        let rank = |task: &TaskId| config.inputs.rank(*task);
        let may =
            |task: &TaskId| self.is_input(config, *task) && config.inputs.may_follow(last, *task);
        let first = tasks.iter().filter(|task| may(task)).min_by_key(|task| rank(task)).copied();
        tasks.retain(|task| !self.is_input(config, *task) || Some(*task) == first);
    }

    /// Replaces tasks by the alternative to be run: the planned one, else that of the recording,
    /// else the first. Where some sleep, the others come after it.
    fn with_alternatives(
        &mut self,
        config: &Config,
        going: &Going<'_>,
        enabled: &Enabled,
        tasks: Vec<TaskId>,
    ) -> Vec<TaskId> {
        let mut candidates = Vec::with_capacity(tasks.len());
        for base in tasks {
            let wanted = going.preferred.get(&base).or_else(|| config.preferred.get(&base));
            let wanted = wanted.copied().unwrap_or(base);
            let count = enabled.alternatives_of(base);
            let is_there = count == 0 || self.book.task(wanted).alternative < count;
            let first = if is_there { wanted } else { base };
            candidates.push(first);
            if config.exhaustive && self.exact {
                for alternative in 0..count.min(config.alternatives_max) {
                    let other = self.book.alternative(base, alternative);
                    candidates.extend((other != first).then_some(other));
                }
            }
        }
        candidates
    }

    /// Notes what tasks wait for, as far as it was not told before.
    fn awaited(&mut self, config: &Config, going: &mut Going<'_>) -> Result<(), Attempt> {
        if !config.asks_waits.load(Ordering::Relaxed) {
            return Ok(());
        }
        for awaited in self.system.awaited()? {
            let task = self.id(&awaited.task);
            for location in awaited.locations {
                let location = self.location(location);
                if !self.told.contains(&(task, location)) {
                    going.awaited.insert((task, location));
                }
            }
        }
        Ok(())
    }

    /// Returns the number of one of the system's locations.
    fn location(&mut self, id: LocationId) -> u32 {
        let index = id.index();
        if index >= self.locations.len() {
            self.locations.resize(index + 1, NO_LOCATION);
        }
        if self.locations[index] == NO_LOCATION {
            let text = self.system.tables().location_text(id);
            self.locations[index] = self.book.names.location(&text);
        }
        self.locations[index]
    }

    /// The tasks that may be pending, as far as the steps tell: the recorded first, then in the
    /// order of their posts.
    fn pending(&self, config: &Config, going: &Going<'_>) -> Vec<TaskId> {
        let mut gone: FxHashSet<TaskId> = FxHashSet::default();
        let mut posted = Vec::new();
        for step in going.all() {
            gone.insert(step.base);
            gone.extend(step.cancelled.iter().copied());
            posted.extend(step.posted.iter().map(|(task, _)| *task));
        }
        let there: FxHashSet<TaskId> = posted.iter().copied().collect();
        let recorded = config
            .recorded
            .iter()
            .map(|task| self.book.base(*task))
            .filter(|task| there.contains(task) || self.book.task(*task).creator == NO_TASK);
        let mut seen = FxHashSet::default();
        let all = recorded.chain(posted.iter().copied());
        all.filter(|task| !gone.contains(task) && seen.insert(*task)).collect()
    }

    /// Asks for the enabled tasks. Most are those enabled before, in the same order: comparing
    /// names is cheaper than looking them up.
    fn enabled(&mut self, before: &[TaskId]) -> Result<Enabled, Attempt> {
        const AHEAD: usize = 3;
        let enabled = self.system.enabled()?;
        let mut ids = Vec::with_capacity(enabled.len());
        let mut next = 0;
        for entry in &enabled {
            let ahead = before[next..].iter().take(AHEAD);
            let found = ahead.clone().position(|id| self.book.task(*id).name == entry.task);
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

    /// How the enabled tasks changed.
    fn flips(&mut self, before: &[TaskId], now: &[TaskId], ran: TaskId) -> Flips {
        self.marks.resize(self.book.len(), 0);
        self.mark += 2;
        let (old, both) = (self.mark, self.mark + 1);
        for task in before {
            self.marks[*task as usize] = old;
        }
        let mut opened = Vec::new();
        for task in now {
            let mark = &mut self.marks[*task as usize];
            if *mark < old {
                opened.push(*task);
            }
            *mark = both;
        }
        let closed =
            before.iter().filter(|task| **task != ran && self.marks[**task as usize] == old);
        Flips { opened: opened.into(), closed: closed.copied().collect() }
    }

    /// Runs one task; nothing when the system says that it cannot run.
    fn execute(&mut self, config: &Config, task: TaskId) -> Result<Option<Done>, Attempt> {
        let info = self.book.task(task);
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

    /// Turns a step into numbers.
    fn done(&mut self, config: &Config, task: TaskId, step: &Step) -> Done {
        let (system, book, locations) = (&self.system, &mut self.book, &mut self.locations);
        let names = book.names.clone();
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
        let mut id = |name: &TaskName| book.id(name, |name| system.role(name));
        let posted = step.posted.iter();
        let posted = posted.map(|posted| (id(&posted.task), posted.delay > 0)).collect();
        let cancelled = step.cancelled.iter().map(&mut id).collect();
        let failures = step.failures.clone().into();
        Done { footprint, posted, cancelled, failures, ..Done::of(task, book) }
    }
}

impl Going<'_> {
    /// How many tasks have run.
    fn length(&self) -> u64 {
        (self.shared.len() + self.steps.len()) as u64
    }

    /// All steps of the run so far.
    fn all(&self) -> impl Iterator<Item = &Arc<Done>> {
        self.shared.iter().chain(&self.steps)
    }
}

/// Returns the hash of a sequence.
pub(crate) fn sequence_hash(book: &Book, steps: &[Arc<Done>]) -> u128 {
    let parts = steps.iter().enumerate();
    parts.fold(mix(0), |sum, (at, step)| {
        sum.wrapping_add(super::dependence::sequence_part(book, step.task, at))
    })
}
