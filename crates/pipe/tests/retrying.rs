//! Repeats lost requests of a system that loses them on demand.

use anyorder_pipe::Retrying;
use anyorder_system::{
    Accesses, Capabilities, Choice, EnabledTask, Observation, ProgramIdentity, RunError, Step,
    TaskName, TaskSystem,
};
use anyorder_trace::Tables;

/// Counts its requests; those in `losses` are lost. Runs any task, and fails from the run
/// `fails_from` on.
struct LossySystem {
    program: ProgramIdentity,
    tables: Tables,
    requests: u32,
    losses: Vec<u32>,
    resets: u32,
    fails_from: u32,
    steps: u32,
}

fn lossy(losses: &[u32], fails_from: u32) -> LossySystem {
    let (program, tables) = (ProgramIdentity::new("loser"), Tables::default());
    LossySystem {
        program,
        tables,
        requests: 0,
        losses: losses.to_vec(),
        resets: 0,
        fails_from,
        steps: 0,
    }
}

impl LossySystem {
    fn lose(&mut self) -> Result<(), RunError> {
        self.requests += 1;
        if self.losses.contains(&self.requests) {
            return Err(RunError::Unstable("lost".to_owned()));
        }
        Ok(())
    }
}

impl TaskSystem for LossySystem {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.lose()?;
        self.resets += 1;
        self.steps = 0;
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.lose().map(|()| Vec::new())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        // The worst moment: the task ran, but the reply is lost.
        self.steps += 1;
        self.lose()?;
        let failures =
            if self.resets >= self.fails_from { vec!["moody".into()] } else { Vec::new() };
        Ok(Step { accesses: Accesses::Unknown, failures, ..Step::of(choice.task.clone()) })
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.lose().map(|()| Observation::new())
    }
}

fn run(system: &mut Retrying<LossySystem>) -> Result<(), RunError> {
    for kind in ["a", "b", "c"] {
        system.execute(&Choice::of(TaskName::root(kind)))?;
    }
    system.observe().map(drop)
}

#[test]
fn every_single_loss_and_every_pair_is_repaired() {
    // Without losses: three tasks and an observation.
    for first in 1..=4 {
        for second in first..=first + 6 {
            let mut system = Retrying::new(lossy(&[first, second], 99), 4);
            run(&mut system).unwrap_or_else(|error| panic!("{first}, {second}: {error}"));
            assert_eq!(
                system.inner().steps,
                3,
                "{first}, {second}: each task ran once since the start"
            );
            assert!(system.retries() >= 1);
        }
    }
}

#[test]
fn attempts_are_counted() {
    let mut system = Retrying::new(lossy(&[1, 2, 3, 4], 99), 4);
    assert_eq!(run(&mut system), Err(RunError::Unstable("lost".to_owned())));
    assert_eq!(system.retries(), 3);
    let mut never = Retrying::new(lossy(&[1], 99), 0);
    assert!(run(&mut never).is_err());
    assert_eq!(never.retries(), 0);
}

#[test]
fn a_run_that_goes_another_way_is_not_hidden() {
    let mut system = Retrying::new(lossy(&[2], 1), 10);
    let error = run(&mut system).unwrap_err();
    let expected = "unstable: `a` did something else when it was repeated";
    assert_eq!(error.to_string(), expected);
    assert_eq!(system.retries(), 1, "trying on would not help");
}
