//! Systems that know the role of a task only once they have run it, like programs behind a pipe.

use crate::tests::r4::naive::{Twin, choices};
use crate::tests::r4::random::{KINDS, Numbers, Random, sequences};
use crate::tests::r4::toy::{ALL, Toy, factory};
use anyorder_explore::r4::{ReversalOptions, explore};
use anyorder_system::{
    Awaited, Capabilities, Choice, Control, EnabledTask, Observation, ProgramIdentity, RunError,
    Schedule, Snapshots, Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;
use std::collections::HashSet;

struct Late<S> {
    inner: S,
    seen: HashSet<TaskName>,
}

impl<S: TaskSystem> TaskSystem for Late<S> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.inner.program()
    }

    fn tables(&self) -> &Tables {
        self.inner.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        if self.seen.contains(task) { self.inner.role(task) } else { TaskRole::Task }
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.inner.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let enabled = self.inner.enabled()?;
        self.seen.extend(enabled.iter().map(|enabled| enabled.task.clone()));
        Ok(enabled)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let step = self.inner.execute(choice)?;
        self.seen.extend(step.posted.iter().map(|posted| posted.task.clone()));
        Ok(step)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.inner.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.inner.observe()
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        self.inner.snapshots()
    }
}

#[test]
fn inputs_of_a_schedule_are_known_once_it_has_run() {
    let mut matters = 0;
    for seed in 1..=100u64 {
        let model = Random::new(KINDS[3].1, &mut Numbers(seed * 104_729));
        let mut schedule = Schedule::new(ProgramIdentity::default());
        let recording = Twin::new(model.clone()).recording().tasks;
        schedule.choices.extend(choices(&recording));
        for workers in [1, 2] {
            let options = ReversalOptions {
                bound: Some(2),
                recording: Some(schedule.clone()),
                workers,
                ..ReversalOptions::default()
            };
            let none = ReversalOptions {
                user_events: anyorder_explore::r4::UserEvents::None,
                ..options.clone()
            };
            let known = |options: &ReversalOptions| {
                let factory = factory(model.clone(), ALL);
                sequences(&explore(&factory, options, &Control::default()).expect("it runs"))
            };
            let late = || -> Result<_, RunError> {
                Ok(Late { inner: Toy::new(model.clone(), ALL), seen: HashSet::new() })
            };
            let outcome = explore(&late, &options, &Control::default()).expect("it runs");
            let expected = known(&options);
            assert_eq!(sequences(&outcome), expected, "{seed}");
            matters += u32::from(known(&none) != expected);
        }
    }
    println!("inputs matter in {matters} of 200");
    assert!(matters > 50);
}
