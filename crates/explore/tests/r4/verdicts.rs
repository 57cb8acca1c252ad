//! The verdicts of reversals.

use crate::tests::r4::toy::{ALL, Effects, Model, factory};
use anyorder_explore::r4::{
    Error, FindingKind, Limit, Outcome, ReversalOptions, UserEvents, Verdict, explore,
};
use anyorder_system::{
    Choice, Control, EnabledDetail, Level, Limits, Observation, PartPath, StopReason, TaskName,
    TaskRole,
};

/// Two tasks, `first` and `second`, and one place that both use.
#[derive(Clone, Debug)]
struct Two {
    /// The name of the place, the level of the part that depends on it, and the effect of `second`
    /// if it finds nothing.
    place: &'static str,
    level: Level,
    fails: bool,
    set: bool,
    result: &'static str,
    done: Vec<TaskName>,
}

fn two(place: &'static str, level: Level, fails: bool) -> Two {
    Two { place, level, fails, set: false, result: "nothing", done: vec![] }
}

impl Model for Two {
    fn enabled(&self) -> Vec<TaskName> {
        let all = ["first", "second"].map(TaskName::root);
        all.into_iter().filter(|task| !self.done.contains(task)).collect()
    }

    fn run(&mut self, task: &TaskName, _alternative: u32) -> Effects {
        let mut effects = Effects::default();
        self.done.push(task.clone());
        if *task == TaskName::root("first") {
            effects.write(self.place);
            self.set = true;
            return effects;
        }
        effects.read(self.place);
        if self.set {
            effects.write("result");
            self.result = "found";
        } else if self.fails {
            effects.failures.push("not there".to_owned());
        }
        effects
    }

    fn observe(&self) -> Observation {
        let mut observation = Observation::new();
        observation.set(PartPath::new(["result"]), self.level, self.result.as_bytes());
        observation
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        if *task == TaskName::root("second") { TaskRole::Input } else { TaskRole::Task }
    }
}

fn explored(model: Two, options: &ReversalOptions) -> Outcome {
    explored_any(model, options)
}

fn explored_any<M: Model + Clone + Send + Sync + 'static>(
    model: M,
    options: &ReversalOptions,
) -> Outcome {
    explore(&factory(model, ALL), options, &Control::default()).unwrap()
}

fn verdict(model: Two) -> (Verdict, Vec<FindingKind>) {
    let outcome = explored(model, &ReversalOptions::default());
    assert_eq!(outcome.runs.len(), 2);
    let kinds = outcome.findings.iter().map(|found| found.kind.clone()).collect();
    (outcome.runs[1].comparison.as_ref().unwrap().verdict, kinds)
}

#[test]
fn differences_have_classes() {
    let harmful = || vec![FindingKind::Harmful];
    let failure = || vec![FindingKind::Failure("not there".into())];
    for (model, expected, findings) in [
        (two("x", Level::Output, false), Verdict::Different, harmful()),
        (two("x", Level::Heap, false), Verdict::Different, harmful()),
        (two("x", Level::Bookkeeping, false), Verdict::Bookkeeping, vec![]),
        (two("x", Level::PendingTimers, false), Verdict::Timers, vec![]),
        (two("listener:click", Level::Output, false), Verdict::LateRegistration, vec![]),
        (two("listener:click", Level::Output, true), Verdict::Different, failure()),
        (two("x", Level::Bookkeeping, true), Verdict::Different, failure()),
    ] {
        assert_eq!(verdict(model.clone()), (expected, findings), "{model:?}");
    }
}

/// A response that hides the button of the input `cancel`.
#[derive(Clone, Debug)]
struct Hides {
    fails: bool,
    role: TaskRole,
    done: Vec<TaskName>,
}

impl Model for Hides {
    fn enabled(&self) -> Vec<TaskName> {
        let all = ["response", "cancel"].map(TaskName::root);
        let done = self.done.len();
        all.into_iter().filter(|_| done == 0).collect()
    }

    fn run(&mut self, task: &TaskName, _alternative: u32) -> Effects {
        let mut effects = Effects::default();
        self.done.push(task.clone());
        effects.write("button");
        if self.fails && *task == TaskName::root("cancel") {
            effects.failures.push("no request".to_owned());
        }
        effects
    }

    fn observe(&self) -> Observation {
        let mut observation = Observation::new();
        let shown = self.done[0].to_string();
        observation.set(PartPath::new(["result"]), Level::Output, shown.as_bytes());
        observation
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        if *task == TaskName::root("cancel") { self.role } else { TaskRole::Task }
    }
}

#[test]
fn an_input_whose_control_is_taken_away_does_no_harm() {
    let verdict = |fails, role, patient_user| {
        let options = ReversalOptions { patient_user, ..ReversalOptions::default() };
        let model = Hides { fails, role, done: vec![] };
        let outcome = explored_any(model, &options);
        let run = outcome.runs.iter().find(|run| run.reversal.is_some()).expect("a reversal");
        run.comparison.as_ref().unwrap().verdict
    };
    assert_eq!(verdict(false, TaskRole::Input, true), Verdict::RefusedInput);
    // The input was recorded, and the reversal takes it away.
    let model = Hides { fails: false, role: TaskRole::Input, done: vec![] };
    let mut cancelled = explored_any(model.clone(), &ReversalOptions::default()).schedule(0);
    cancelled.choices = vec![Choice::of(TaskName::root("cancel"))];
    let options = ReversalOptions {
        patient_user: true,
        recording: Some(cancelled),
        ..ReversalOptions::default()
    };
    let outcome = explored_any(model, &options);
    assert_eq!(outcome.choices(0)[0].task, TaskName::root("cancel"));
    let reversed = outcome.runs.iter().find(|run| run.reversal.is_some()).expect("a reversal");
    assert_eq!(reversed.comparison.as_ref().unwrap().verdict, Verdict::RefusedInput);
    assert_eq!(verdict(false, TaskRole::Input, false), Verdict::Different);
    assert_eq!(verdict(false, TaskRole::Task, true), Verdict::Different);
    assert_eq!(verdict(true, TaskRole::Input, true), Verdict::Different);
}

#[test]
fn findings_have_two_runs_and_their_schedules() {
    let outcome = explored(two("x", Level::Output, false), &ReversalOptions::default());
    let found = &outcome.findings[0];
    assert_eq!((found.parent, found.run, found.confirmed), (Some(0), Some(1), Some(true)));
    let pair = found.reversal.as_ref().unwrap();
    assert_eq!(pair.locations, ["x"]);
    let words = |run| outcome.schedule(run).choices.iter().map(|c| c.task.to_string()).collect();
    let (parent, child): (Vec<String>, Vec<String>) = (words(0), words(1));
    assert_eq!(
        (parent, child),
        (vec!["first".into(), "second".into()], vec!["second".into(), "first".into()])
    );
    // The schedule of the worse run is a recording that begins there.
    let options =
        ReversalOptions { recording: Some(outcome.schedule(1)), ..ReversalOptions::default() };
    let again = explored(two("x", Level::Output, false), &options);
    assert_eq!(again.runs[0].observation, outcome.runs[1].observation);
}

#[test]
fn input_events_keep_their_order() {
    let count = |user_events| {
        let options = ReversalOptions { user_events, ..ReversalOptions::default() };
        explored(two("x", Level::Output, false), &options).runs.len()
    };
    assert_eq!(count(UserEvents::Declared), 2);
    assert_eq!(count(UserEvents::All), 1);
    assert_eq!(count(UserEvents::None), 2);
    let kinds = |words: &[&str]| UserEvents::Kinds(words.iter().map(|w| (*w).to_owned()).collect());
    assert_eq!(count(kinds(&["first", "second"])), 1);
    assert_eq!(count(kinds(&["first"])), 2);
}

#[test]
fn limits_are_named() {
    let limited = |limits, cancel: Option<StopReason>| {
        let control = Control { limits, ..Control::default() };
        if let Some(reason) = cancel {
            control.cancel.stop(reason);
        }
        explore(
            &factory(two("x", Level::Output, false), ALL),
            &ReversalOptions::default(),
            &control,
        )
    };
    let executions = Limits { executions: Some(1), ..Limits::NONE };
    let outcome = limited(executions, None).unwrap();
    assert_eq!((outcome.complete, outcome.limits), (false, vec![Limit::Executions]));
    let steps = Limits { steps: Some(1), ..Limits::NONE };
    let outcome = limited(steps, None).unwrap();
    assert_eq!((outcome.complete, outcome.limits.clone()), (false, vec![Limit::Steps]));
    assert_eq!(outcome.sequence(0).len(), 1);
    let memory = Limits { memory_bytes: Some(1), ..Limits::NONE };
    assert_eq!(limited(memory, None).unwrap().limits, [Limit::Memory]);
    let stopped = limited(Limits::NONE, Some(StopReason::Interrupted));
    assert!(matches!(stopped, Err(Error::Stopped(StopReason::Interrupted))));
}

#[test]
fn a_schedule_of_another_program_is_refused() {
    let mut schedule =
        anyorder_system::Schedule::new(anyorder_system::ProgramIdentity::new("other"));
    schedule.choices.push(anyorder_system::Choice::of(TaskName::root("unheard")));
    for enabled in [EnabledDetail::Exact, EnabledDetail::Unknown] {
        let skills = crate::tests::r4::toy::Skills { enabled, ..ALL };
        let options =
            ReversalOptions { recording: Some(schedule.clone()), ..ReversalOptions::default() };
        let factory = factory(two("x", Level::Output, false), skills);
        let error = explore(&factory, &options, &Control::default()).unwrap_err();
        assert_eq!(error, Error::Schedule);
    }
}
