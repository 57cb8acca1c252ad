//! A program of counters: small enough to know the answer, and to try all orders.

use super::{Error, ShrinkOptions, Symptom, shrink};
use anyorder_system::{
    Access, AccessDetail, AccessKind, Accesses, Capabilities, Choice, Control, Divergence,
    EnabledDetail, EnabledTask, Level, Observation, PartPath, ProgramIdentity, RunError, Schedule,
    Step, TaskName, TaskSystem,
};
use anyorder_trace::{Interner, Location, LocationId, SiteId, Tables};

/// Tasks `t#0` to `t#n`, each once, in any order. They share one location. A run fails if task 5
/// comes before task 2, and task 3 came before.
struct Toy {
    program: ProgramIdentity,
    tasks: u32,
    done: Vec<u32>,
    interner: Interner,
    location: LocationId,
    /// Every n-th request fails.
    lose: Option<u64>,
    requests: u64,
}

impl Toy {
    fn new(tasks: u32, lose: Option<u64>) -> Toy {
        let mut interner = Interner::default();
        let name = interner.name("x").expect("room");
        let location = interner.location(Location::Named(name)).expect("room");
        let program = ProgramIdentity::new("toy");
        Toy { program, tasks, done: Vec::new(), interner, location, lose, requests: 0 }
    }

    fn fails(&self) -> bool {
        let at = |task: u32| self.done.iter().position(|one| *one == task);
        match (at(5), at(3)) {
            (Some(five), Some(three)) => three < five && at(2).is_none_or(|two| two > five),
            _ => false,
        }
    }
}

fn name(task: u32) -> TaskName {
    TaskName::root("t").with_ordinal(task)
}

impl TaskSystem for Toy {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: false,
            enabled: EnabledDetail::Exact,
            deterministic: true,
            values: false,
            accesses: AccessDetail::Set,
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
        self.done.clear();
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let left = (0..self.tasks).filter(|task| !self.done.contains(task));
        let task =
            |task| EnabledTask { task: name(task), handler: "h".to_owned(), alternatives: 1 };
        Ok(left.map(task).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        self.requests += 1;
        if self.lose.is_some_and(|every| self.requests.is_multiple_of(every)) {
            return Err(RunError::Unstable("lost".to_owned()));
        }
        let task = choice.task.segment().ordinal;
        if task >= self.tasks || self.done.contains(&task) {
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled: Vec::new() }));
        }
        self.done.push(task);
        let (location, kind, site) = (self.location, AccessKind::Write, SiteId::NONE);
        let access = Access { location, kind, site, read: None, written: None };
        let fails = task == 5 && self.fails();
        Ok(Step {
            accesses: Accesses::Set(vec![access]),
            failures: fails.then(|| "five before two".into()).into_iter().collect(),
            ..Step::of(choice.task.clone())
        })
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let mut observation = Observation::new();
        let last = self.done.last().copied().unwrap_or(0);
        observation.set(PartPath::new(["last"]), Level::Output, &last.to_le_bytes());
        Ok(observation)
    }
}

fn schedule(tasks: &[u32]) -> Schedule {
    let mut schedule = Schedule::new(ProgramIdentity::new("toy"));
    schedule.choices = tasks.iter().map(|task| Choice::of(name(*task))).collect();
    schedule
}

fn tasks(schedule: &Schedule) -> Vec<u32> {
    schedule.choices.iter().map(|choice| choice.task.segment().ordinal).collect()
}

#[test]
fn what_is_not_needed_is_left_out() {
    let symptom = Symptom { failure: &|failure| failure.message == "five before two", end: None };
    for lose in [None, Some(40)] {
        let make = || -> Result<Toy, RunError> { Ok(Toy::new(8, lose)) };
        let long = schedule(&[7, 6, 3, 1, 0, 4, 5, 2]);
        let shrunk = shrink(&make, &long, symptom, &ShrinkOptions::default(), &Control::default());
        let shrunk = shrunk.expect("it fails");
        assert_eq!(tasks(&shrunk.schedule), [3, 5], "{shrunk:?}");
        assert!(shrunk.minimal && shrunk.fewest, "{shrunk:?}");
        // All tasks conflict: 3 before 2, 5 before 4, and 5 before 2.
        assert_eq!((shrunk.length_before, shrunk.reversals), (7, 3), "{shrunk:?}");
    }
}

#[test]
fn without_enough_runs_the_smallest_so_far_is_returned() {
    let symptom = Symptom { failure: &|failure| failure.message == "five before two", end: None };
    let make = || -> Result<Toy, RunError> { Ok(Toy::new(8, None)) };
    let long = schedule(&[7, 6, 3, 1, 0, 4, 5, 2]);
    for most in 2..40 {
        let options = ShrinkOptions { executions_max: most, ..ShrinkOptions::default() };
        let shrunk =
            shrink(&make, &long, symptom, &options, &Control::default()).expect("it fails");
        let left = tasks(&shrunk.schedule);
        let at = |task| left.iter().position(|one| *one == task);
        assert!(at(3) < at(5) && at(3).is_some() && at(2).is_none(), "{most}: {left:?}");
        assert!(left.len() <= 7 && shrunk.executions <= most + 8, "{most}: {shrunk:?}");
    }
}

#[test]
fn what_does_not_fail_is_refused() {
    let symptom = Symptom { failure: &|failure| failure.message == "five before two", end: None };
    let make = || -> Result<Toy, RunError> { Ok(Toy::new(8, None)) };
    let fine = schedule(&[2, 3, 5]);
    let error = shrink(&make, &fine, symptom, &ShrinkOptions::default(), &Control::default());
    assert_eq!(error, Err(Error::NotShown));
}

#[test]
fn a_symptom_at_the_end_needs_the_whole_run() {
    let last = |observation: &Observation| {
        let mut wanted = Observation::new();
        wanted.set(PartPath::new(["last"]), Level::Output, &0_u32.to_le_bytes());
        observation.difference(&wanted).is_empty()
    };
    let symptom = Symptom { failure: &|_| false, end: Some(&last) };
    let make = || -> Result<Toy, RunError> { Ok(Toy::new(4, None)) };
    let long = schedule(&[3, 2, 1, 0]);
    let shrunk = shrink(&make, &long, symptom, &ShrinkOptions::default(), &Control::default());
    let left = tasks(&shrunk.expect("it ends so").schedule);
    assert_eq!((left.len(), left.last()), (4, Some(&0)), "{left:?}");
}
