//! The doors for front ends: the least that each asks for, and what a program gets for it.

use anyorder_drive::explore::{ExploreOptions, Started, explore, replay_run, shrink};
use anyorder_drive::explore::{ReversalOptions, ShrinkOptions};
use anyorder_drive::model::{Model, check_model, replay_model};
use anyorder_drive::states::{
    Algorithm, CheckOptions, Named, ReplayVerdict, SimulateOptions, Storage, check_states, simulate,
};
use anyorder_drive::{
    CertificateVerdict, JobControl, JobResult, RobustModelOptions, certify_model, certify_program,
    robust_model, robust_program, schedule_of,
};
use anyorder_finding::option;
use anyorder_system::{
    Awaited, Capabilities, Choice, Control, EnabledTask, Hash128, Limits, Observation,
    ProgramIdentity, Properties, RunError, Schedule, SerdeSystem, StateSystem, Step, Successor,
    TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;
use anyorder_vm::program::{Literal, MailboxKind, Op, PostTarget, ProgramBuilder, Reg};
use anyorder_vm::{Machine, MachineRun};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Threads that each add one, in two steps.
struct LostUpdate;

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Counts {
    count: u32,
    /// What each thread has read, and whether it is done.
    threads: [(Option<u32>, bool); 2],
}

impl SerdeSystem for LostUpdate {
    type State = Counts;
    type Action = usize;

    fn initial(&self) -> Vec<Counts> {
        vec![Counts::default()]
    }

    fn steps(&self, state: &Counts) -> Vec<(usize, Counts)> {
        let mut steps = Vec::new();
        for (thread, (read, _)) in state.threads.iter().enumerate().filter(|(_, one)| !one.1) {
            let mut next = state.clone();
            match read {
                None => next.threads[thread].0 = Some(state.count),
                Some(read) => (next.count, next.threads[thread].1) = (read + 1, true),
            }
            steps.push((thread, next));
        }
        steps
    }

    fn properties(&self) -> Properties<'_, Counts> {
        let holds =
            |state: &Counts| state.count == 2 || state.threads.iter().any(|(_, done)| !done);
        Properties::new().invariant("none lost", holds)
    }
}

#[test]
fn three_methods_and_one_call_check_a_state_system() {
    let program = Named::new("lost update", LostUpdate);
    let checked = check_states(&program, &CheckOptions::default(), &JobControl::default());
    let result = checked.expect("a plain system").result;
    let [found] = result.findings.as_slice() else { panic!("{result:?}") };
    assert_eq!(found.finding.title, "invariant `none lost` does not hold");
    let run = found.run.as_ref().expect("a run");
    assert_eq!(run.steps.len(), 4, "the shortest run");
    assert_eq!(run.steps[2].changes[0].name, "count", "fields are parts: {run:?}");
    assert_eq!(run.steps[2].changes[0].new.as_deref(), Some("1"));
    assert!(result.limits.is_empty() && result.bounds.is_empty(), "{result:?}");
    let walked = simulate(&program, &SimulateOptions::default(), &JobControl::default());
    assert_eq!(walked.expect("walks").findings[0].finding.kind, found.finding.kind);
}

#[test]
fn all_storages_hold_the_states_that_serde_writes() {
    let program = Named::new("lost update", LostUpdate);
    let states = |storage: Storage| {
        let options = CheckOptions { storage, ..CheckOptions::default() };
        let checked = check_states(&program, &options, &JobControl::default()).expect("a search");
        checked.result.stats.get("states").and_then(|count| count.integer()).expect("a count")
    };
    let known = states(Storage::Fingerprints);
    assert!(known > 10, "{known}");
    assert_eq!(states(Storage::Exact), known);
    assert_eq!(states(Storage::Bitstate { bytes: 1 << 16 }), known);
}

#[test]
fn what_only_reported_places_allow_is_refused() {
    let program = Named::new("lost update", LostUpdate);
    for algorithm in [Algorithm::Stateful, Algorithm::Paper] {
        let options = CheckOptions { algorithm: Some(algorithm), ..CheckOptions::default() };
        let refused =
            check_states(&program, &options, &JobControl::default()).expect_err("refused");
        assert!(refused.to_string().contains("do not report what they touch"), "{refused}");
    }
}

/// Two parts of a program that each update one place.
struct Apps;

impl StateSystem for Apps {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> Vec<u8> {
        vec![0]
    }

    fn successors(&self, state: &u8, out: &mut Vec<Successor<u8, u8>>) {
        for app in (0..2).filter(|app| state & (1 << app) == 0) {
            out.push(Successor { action: app, state: state | 1 << app, failure: None });
        }
    }

    fn encode(&self, state: &u8, out: &mut Vec<u8>) {
        out.push(*state);
    }

    fn decode(&self, bytes: &[u8]) -> Option<u8> {
        bytes.first().copied()
    }

    fn components(&self) -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }
}

#[test]
fn what_a_search_of_all_states_cannot_check_is_named() {
    let program = Named::new("apps", Apps);
    let limits = |storage: Storage| {
        let options = CheckOptions { storage, ..CheckOptions::default() };
        check_states(&program, &options, &JobControl::default()).expect("a search").result.limits
    };
    assert!(limits(Storage::Exact).is_empty());
    let limits = limits(Storage::Bitstate { bytes: 1 << 16 });
    assert!(limits.contains(&option::ALGORITHM), "no one looked for conflicts: {limits:?}");
}

/// A lamp that two rules switch, each posted by an event of its own: `on` must come last.
fn lamp() -> anyorder_vm::program::Program {
    let mut b = ProgramBuilder::new("lamp");
    let lamp = b.global("lamp", Literal::Bool(false));
    let hub = b.handler("hub", MailboxKind::Bag, None);
    for (name, value) in [("dusk", true), ("dawn", false)] {
        let mut rule = b.function(name, 0);
        let src = rule.value(|dst| Op::Bool { dst, value });
        rule.emit(Op::SetGlobal { global: lamp, src });
        let rule = b.add(rule);
        let task = b.task(&format!("{name}_rule"), rule, Some(hub));
        let post = b.post(task, PostTarget::Own);
        let mut event = b.function(name, 0);
        event.emit(Op::Post { dst: Reg::NONE, post, args: Reg(0) });
        let event = b.add(event);
        b.once_event(name, event);
    }
    let mut lit = b.function("lit", 0);
    let src = lit.value(|dst| Op::GetGlobal { dst, global: lamp });
    lit.emit(Op::Return { src });
    let lit = b.add(lit);
    b.final_condition(lit);
    b.finish().expect("a program")
}

#[test]
fn a_program_of_the_machine_has_every_job_of_a_model() {
    let hash = Some(Hash128::of(b"lamp rules"));
    let identity = ProgramIdentity { hash, ..ProgramIdentity::new("lamp.rules") };
    let model = Model::from_program(lamp(), identity, Vec::new()).expect("a model");
    let control = JobControl::default();
    let title = |result: &JobResult| result.findings[0].finding.title.clone();
    let dark = "all is done, and `final` does not hold";
    let checked = check_model(&model, &CheckOptions::default(), &control).expect("checked").result;
    assert_eq!(title(&checked), dark);
    let walked = simulate(&model, &SimulateOptions::default(), &control).expect("walks");
    assert_eq!(title(&walked), dark);
    let explored = explore(&model, &ExploreOptions::default(), &control).expect("explored");
    assert_eq!(title(&explored), dark);
    // A step of this model is a whole task, which hides what concurrency adds.
    let refused = robust_program(&model, &RobustModelOptions::default(), &control);
    assert!(refused.is_err_and(|error| format!("{error}").contains("single accesses")));
    let robust = robust_model(&model, &RobustModelOptions::default(), &control).expect("decided");
    assert!(robust.stats.get("states").is_some(), "{robust:?}");
    let schedule = schedule_of(&checked.findings[0].finding).expect("a schedule");
    assert_eq!(replay_model(&model, &schedule).expect("runs").verdict, ReplayVerdict::Reproduced);
    let shrunk = shrink(&model, &schedule, &ShrinkOptions::default(), &JobControl::default());
    assert!(shrunk.is_ok(), "{shrunk:?}");
    let verdict = |model: &Model| {
        let text = schedule.to_json();
        let file = certify_model(model, "lamp.rules", &text, &control).expect("certified");
        file.certificates[0].verdict.clone()
    };
    assert!(matches!(verdict(&model), CertificateVerdict::Holds { .. }));
    let other =
        ProgramIdentity { hash: Some(Hash128::of(b"other rules")), ..schedule.program.clone() };
    let other = Model::from_program(lamp(), other, Vec::new()).expect("a model");
    assert!(matches!(verdict(&other), CertificateVerdict::Fails(_)), "of another text");
}

/// What a program saw.
#[derive(Default)]
struct Seen {
    resets: AtomicU64,
    executed: AtomicU64,
}

/// A run of a machine that counts what it is asked, and cannot save its state.
struct Counted(MachineRun, Arc<Seen>);

impl TaskSystem for Counted {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.0.program()
    }

    fn tables(&self) -> &Tables {
        self.0.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.1.resets.fetch_add(1, Ordering::Relaxed);
        self.0.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.0.enabled()
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let step = self.0.execute(choice)?;
        self.1.executed.fetch_add(1, Ordering::Relaxed);
        Ok(step)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.0.observe()
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.0.awaited()
    }

    fn value_text(&self, value: u64) -> Option<&str> {
        self.0.value_text(value)
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.0.role(task)
    }
}

#[test]
fn every_run_is_counted_and_drawn_from_what_it_did() {
    let machine = Arc::new(Machine::new(lamp()).expect("a machine"));
    for bound in [Some(1), Some(3), None] {
        for most in [None, Some(1), Some(2), Some(4), Some(9)] {
            let seen = Arc::new(Seen::default());
            let factory = || Ok(Counted(MachineRun::new(Arc::clone(&machine)), Arc::clone(&seen)));
            let program = Started { name: "lamp".to_owned(), factory };
            let reversals = ReversalOptions { bound, ..ReversalOptions::default() };
            let options = ExploreOptions { reversals, ..ExploreOptions::default() };
            let limits = Limits { executions: most, ..Limits::default() };
            let control = JobControl::from(Control { limits, ..Control::default() });
            let found = explore(&program, &options, &control).expect("explored");
            let count = |name: &str| {
                found.stats.get(name).and_then(|count| count.integer()).expect("a count")
            };
            let context = format!("{bound:?} {most:?} {:?}", found.stats);
            let seen_runs = seen.resets.load(Ordering::Relaxed);
            assert_eq!(count("executions"), seen_runs, "{context}");
            assert!(seen_runs <= most.unwrap_or(u64::MAX), "{context}");
            let executed = count("executed_tasks") + count("repeated_tasks");
            assert_eq!(executed, seen.executed.load(Ordering::Relaxed), "{context}");
            let harmful = found.findings.iter().find(|one| one.run.is_some());
            assert_eq!(harmful.is_some(), most.is_none_or(|most| most > 2), "{context}");
            if let Some(one) = harmful {
                let run = one.run.as_ref().expect("a run");
                let compared = run.compared.as_ref().expect("both runs");
                let lanes = run.steps.iter().chain(&compared.before.steps).map(|step| &step.lane);
                assert!(lanes.clone().any(|lane| lane == "hub"), "{run:?}");
                let schedule = schedule_of(&one.finding).expect("a schedule");
                let replayed = replay_run(&program, &schedule).expect("runs");
                assert_eq!(replayed.verdict, ReplayVerdict::Reproduced);
            }
        }
    }
}

#[test]
fn a_schedule_of_a_program_is_certified_by_another_run_of_it() {
    let machine = Arc::new(Machine::new(lamp()).expect("a machine"));
    let seen = Arc::new(Seen::default());
    let factory = || Ok(Counted(MachineRun::new(Arc::clone(&machine)), Arc::clone(&seen)));
    let program = Started { name: "lamp".to_owned(), factory };
    let control = JobControl::default();
    let found = explore(&program, &ExploreOptions::default(), &control).expect("explored");
    let schedules: Vec<_> =
        found.findings.iter().filter_map(|one| schedule_of(&one.finding)).collect();
    assert!(!schedules.is_empty(), "{found:?}");
    let verdict = |schedule: &Schedule| {
        let file = certify_program(&program, "lamp", &schedule.to_json(), &control);
        file.expect("certified").certificates[0].verdict.clone()
    };
    let fails = |schedule: &Schedule| matches!(verdict(schedule), CertificateVerdict::Fails(_));
    for schedule in &schedules {
        let holds = verdict(schedule);
        assert!(matches!(holds, CertificateVerdict::Holds { .. }), "{holds:?}");
        let mut other = schedule.clone();
        other.choices.swap_remove(0);
        assert!(fails(&other), "its tasks were never posted");
        let mut other = schedule.clone();
        other.choices[0].alternative = 7;
        assert!(fails(&other), "no such alternative");
        let mut other = schedule.clone();
        let shown = other.options["shows"].clone();
        other.options.insert("shows".to_owned(), shown.replace("lamp", "door"));
        assert!(fails(&other), "another part: {shown}");
        let mut other = schedule.clone();
        other.program.version = "2".to_owned();
        assert!(fails(&other), "of another version");
        other.program.version.clear();
        for (key, value) in [("shows", "final"), ("granularity", "access")] {
            let mut other = other.clone();
            other.options.clear();
            other.options.insert(key.to_owned(), value.to_owned());
            assert!(matches!(verdict(&other), CertificateVerdict::Unreadable(_)), "{key}");
        }
    }
}
