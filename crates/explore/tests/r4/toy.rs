//! Small systems written by hand: a state that decides which tasks can run, and the effect of
//! running them.

use anyorder_system::{
    Access, AccessDetail, AccessKind, Accesses, Awaited, Capabilities, Choice, Divergence,
    EnabledDetail, EnabledTask, Hash128, Observation, Posted, ProgramIdentity, RunError,
    SnapshotId, Snapshots, Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::{Interner, Location, LocationId, SiteId, Tables};
use std::collections::HashMap;

/// The effect of running a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) accesses: Vec<(String, AccessKind, Option<u64>, Option<u64>)>,
    /// Names and delays.
    pub(crate) posted: Vec<(TaskName, u64)>,
    pub(crate) cancelled: Vec<TaskName>,
    pub(crate) failures: Vec<String>,
}

impl Effects {
    pub(crate) fn read(&mut self, location: &str) {
        self.accesses.push((location.to_owned(), AccessKind::Read, None, None));
    }

    pub(crate) fn write(&mut self, location: &str) {
        self.accesses.push((location.to_owned(), AccessKind::Write, None, None));
    }

    /// A task may run now, or no longer, or might have become able to.
    pub(crate) fn flips(&mut self, task: &TaskName) {
        self.write(&shadow(task));
    }
}

/// The location that decides whether a task may run.
pub(crate) fn shadow(task: &TaskName) -> String {
    format!("task {task}")
}

/// A program as its states.
pub(crate) trait Model: Clone + Send + Sync {
    fn enabled(&self) -> Vec<TaskName>;
    fn run(&mut self, task: &TaskName, alternative: u32) -> Effects;
    fn observe(&self) -> Observation;
    /// The number of alternatives of an enabled task.
    fn alternatives(&self, _task: &TaskName) -> u32 {
        1
    }
    /// The locations that pending tasks wait for, besides their own.
    fn awaited(&self) -> Vec<(TaskName, Vec<String>)> {
        Vec::new()
    }
    fn role(&self, _task: &TaskName) -> TaskRole {
        TaskRole::Task
    }
    /// The queue in which a task waits once it is posted.
    fn queue(&self, _task: &TaskName) -> Option<u64> {
        None
    }
}

/// The capabilities of a toy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skills {
    pub(crate) snapshot: bool,
    pub(crate) enabled: EnabledDetail,
    pub(crate) values: bool,
}

pub(crate) const ALL: Skills =
    Skills { snapshot: true, enabled: EnabledDetail::Exact, values: true };
pub(crate) const NONE: Skills =
    Skills { snapshot: false, enabled: EnabledDetail::Unknown, values: true };

/// A model as a task system.
pub(crate) struct Toy<M> {
    start: M,
    state: M,
    skills: Skills,
    program: ProgramIdentity,
    interner: Interner,
    locations: HashMap<String, LocationId>,
    saved: HashMap<u64, M>,
    next: u64,
    /// Tasks executed, over all runs.
    pub(crate) executed: u64,
}

impl<M: Model> Toy<M> {
    pub(crate) fn new(start: M, skills: Skills) -> Toy<M> {
        Toy {
            state: start.clone(),
            start,
            skills,
            program: ProgramIdentity::new("toy"),
            interner: Interner::default(),
            locations: HashMap::new(),
            saved: HashMap::new(),
            next: 0,
            executed: 0,
        }
    }

    fn location(&mut self, text: &str) -> LocationId {
        if let Some(id) = self.locations.get(text) {
            return *id;
        }
        let name = self.interner.name(text).expect("a name fits");
        let id = self.interner.location(Location::Named(name)).expect("a location fits");
        self.locations.insert(text.to_owned(), id);
        id
    }
}

/// Creates toys.
pub(crate) fn factory<M: Model>(
    start: M,
    skills: Skills,
) -> impl Fn() -> Result<Toy<M>, RunError> + Sync {
    move || Ok(Toy::new(start.clone(), skills))
}

impl<M: Model> TaskSystem for Toy<M> {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: self.skills.snapshot,
            enabled: self.skills.enabled,
            deterministic: true,
            values: self.skills.values,
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

    fn role(&self, task: &TaskName) -> TaskRole {
        self.start.role(task)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.state = self.start.clone();
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        if self.skills.enabled == EnabledDetail::Unknown {
            return Ok(Vec::new());
        }
        let enabled = |task: TaskName| EnabledTask {
            alternatives: self.state.alternatives(&task),
            task,
            handler: "loop".to_owned(),
        };
        Ok(self.state.enabled().into_iter().map(enabled).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let enabled = self.state.enabled();
        if !enabled.contains(&choice.task)
            || choice.alternative >= self.state.alternatives(&choice.task)
        {
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        }
        self.executed += 1;
        let mut effects = self.state.run(&choice.task, choice.alternative);
        effects.read(&shadow(&choice.task));
        for cancelled in effects.cancelled.clone() {
            effects.flips(&cancelled);
        }
        for (posted, _) in effects.posted.clone() {
            effects.flips(&posted);
        }
        let accesses = effects.accesses.iter().map(|(location, kind, read, written)| Access {
            location: self.location(location),
            kind: *kind,
            site: SiteId::UNKNOWN,
            read: *read,
            written: *written,
        });
        let accesses = Accesses::List(accesses.collect());
        let posted = effects.posted.into_iter().map(|(task, delay)| Posted {
            handler: "loop".to_owned(),
            delay,
            queue: self.state.queue(&task),
            task,
        });
        Ok(Step {
            task: choice.task.clone(),
            accesses,
            posted: posted.collect(),
            cancelled: effects.cancelled,
            failures: effects.failures.into_iter().map(Into::into).collect(),
        })
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        let told = self.state.awaited().into_iter();
        Ok(told
            .map(|(task, locations)| {
                let own = shadow(&task);
                let all = locations.iter().chain([&own]);
                Awaited { locations: all.map(|text| self.location(text)).collect(), task }
            })
            .collect())
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        Ok(self.state.observe())
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        if self.skills.snapshot { Some(self) } else { None }
    }
}

impl<M: Model> Snapshots for Toy<M> {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        self.next += 1;
        self.saved.insert(self.next, self.state.clone());
        Ok(SnapshotId(self.next))
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        self.state =
            self.saved.get(&snapshot.0).ok_or(RunError::Unsupported("this snapshot"))?.clone();
        Ok(())
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.saved.remove(&snapshot.0);
    }

    fn fingerprint(&mut self) -> Hash128 {
        self.state.observe().hash()
    }
}
