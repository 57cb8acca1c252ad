//! A tiny task system: the traits can be implemented, re-executed and snapshotted.

use anyorder_system::{
    Access, AccessDetail, AccessKind, Accesses, Capabilities, Choice, Divergence, EnabledDetail,
    EnabledTask, Hash128, Level, Observation, PartPath, Posted, ProgramIdentity, RunError,
    SnapshotId, Snapshots, Step, SystemFactory, TaskName, TaskSystem,
};
use anyorder_trace::{Interner, Location, LocationId, SiteId, Tables};

/// A page with a counter: `load` posts `reply` and `click`; one doubles the counter, the other adds
/// one.
struct Page {
    program: ProgramIdentity,
    interner: Interner,
    counter: LocationId,
    value: u64,
    pending: Vec<TaskName>,
    saved: Vec<(u64, Vec<TaskName>)>,
}

fn page() -> Result<Page, RunError> {
    let mut interner = Interner::default();
    let name = interner.name("counter").expect("one name fits");
    let counter = interner.location(Location::Named(name)).expect("one location fits");
    let (program, pending, saved) =
        (ProgramIdentity::new("page"), vec![TaskName::root("load")], Vec::new());
    Ok(Page { program, interner, counter, value: 1, pending, saved })
}

impl TaskSystem for Page {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: true,
            enabled: EnabledDetail::Exact,
            deterministic: true,
            values: true,
            accesses: AccessDetail::List,
            awaits: false,
        }
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.value = 1;
        self.pending = vec![TaskName::root("load")];
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let enabled = |task: &TaskName| EnabledTask {
            task: task.clone(),
            handler: "ui".to_owned(),
            alternatives: 1,
        };
        Ok(self.pending.iter().map(enabled).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let Some(at) = self.pending.iter().position(|task| *task == choice.task) else {
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence {
                choice: 0,
                wanted,
                enabled: self.pending.clone(),
            }));
        };
        let task = self.pending.remove(at);
        let mut step = Step::of(task.clone());
        if task.segment().kind == "load" {
            for child in [task.child("reply"), task.child("click")] {
                self.pending.push(child.clone());
                step.posted.push(Posted {
                    task: child,
                    handler: "ui".to_owned(),
                    delay: 0,
                    queue: None,
                });
            }
        } else {
            let before = self.value;
            self.value = if task.segment().kind == "reply" { before * 2 } else { before + 1 };
            step.accesses = Accesses::List(vec![Access {
                location: self.counter,
                kind: AccessKind::Rmw,
                site: SiteId::UNKNOWN,
                read: Some(before),
                written: Some(self.value),
            }]);
        }
        Ok(step)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let mut observation = Observation::new();
        observation.set(PartPath::new(["counter"]), Level::Output, &self.value.to_le_bytes());
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        Some(self)
    }
}

impl Snapshots for Page {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        self.saved.push((self.value, self.pending.clone()));
        Ok(SnapshotId(self.saved.len() as u64 - 1))
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        let state = self.saved.get(snapshot.0 as usize).cloned();
        (self.value, self.pending) = state.ok_or(RunError::Unsupported("this snapshot"))?;
        Ok(())
    }

    fn forget(&mut self, _snapshot: SnapshotId) {}

    fn fingerprint(&mut self) -> Hash128 {
        let mut pending = self.pending.clone();
        pending.sort();
        pending.iter().fold(Hash128::new().number(self.value), |hash, task| {
            hash.part(task.to_string().as_bytes())
        })
    }
}

/// Runs all orders by re-execution, for any task system: the simplest possible engine.
fn all_outcomes<F: SystemFactory>(factory: &F) -> Vec<Hash128>
where
    F::System: TaskSystem,
{
    let mut system = factory.make().expect("the system starts");
    let mut outcomes = Vec::new();
    let mut prefixes = vec![Vec::<TaskName>::new()];
    while let Some(prefix) = prefixes.pop() {
        system.reset().expect("reset");
        for task in &prefix {
            system.execute(&Choice::of(task.clone())).expect("a prefix replays");
        }
        let enabled = system.enabled().expect("enabled");
        if enabled.is_empty() {
            outcomes.push(system.observe().expect("observe").hash());
        }
        for next in enabled {
            prefixes.push(prefix.iter().cloned().chain([next.task]).collect());
        }
    }
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

#[test]
fn re_execution_finds_both_outcomes() {
    assert_eq!(all_outcomes(&page).len(), 2, "(1 * 2) + 1 and (1 + 1) * 2");
}

#[test]
fn snapshots_restore_what_they_saved() {
    let mut page = page().unwrap();
    page.execute(&Choice::of(TaskName::root("load"))).unwrap();
    let before = page.snapshots().unwrap().fingerprint();
    let saved = page.snapshots().unwrap().save().unwrap();
    page.execute(&Choice::of("load/click".parse().unwrap())).unwrap();
    assert_ne!(page.snapshots().unwrap().fingerprint(), before);
    page.snapshots().unwrap().restore(saved).unwrap();
    assert_eq!(page.snapshots().unwrap().fingerprint(), before);
}

#[test]
fn a_missing_task_is_a_divergence() {
    let mut page = page().unwrap();
    let error = page.execute(&Choice::of(TaskName::root("click"))).unwrap_err();
    assert_eq!(error.to_string(), "diverged at choice 1: `click` cannot run; enabled: `load`");
}
