//! Each kind keeps the contract, and all kinds have the same runs.

use super::by_hand::by_hand;
use super::children::Language;
use super::closures::closures;
use super::enumerate::{Bounds, Enumeration, Outcome, choices, enumerate};
use super::machine::{machine, translated};
use super::promises::{Effort, assert_keeps};
use super::subject::{RenderedStep, Subject};
use anyorder_common::random::{Random, Rng};
use anyorder_system::{
    AccessKind, Accesses, EnabledTask, RunError, Step, SystemFactory, TaskSystem,
};
use anyorder_trace::Tables;

const EFFORT: Effort = Effort { seed: 20_240_607, walks: 6, steps_max: 12 };
/// Children handle thousands of requests per walk.
const CHILD_EFFORT: Effort = Effort { walks: 2, ..EFFORT };
const BOUNDS: Bounds = Bounds { steps_max: 20, schedules_max: 100_000 };

/// Returns all runs of a system.
pub(crate) fn all_runs<F>(factory: &F) -> Enumeration
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let mut system = factory.make().expect("the system starts");
    let runs = enumerate(&mut system, BOUNDS).expect("all runs end");
    assert!(runs.is_complete, "the program is small enough for a full search");
    runs
}

/// Compares the runs of two kinds: the same number of maximal schedules, the same outcomes, and the
/// same number of schedules for each.
pub(crate) fn assert_same_runs(name: &str, a: &Enumeration, b: &Enumeration) {
    let ends = |runs: &Enumeration| {
        runs.outcomes.iter().map(|(hash, outcome)| (*hash, outcome.count)).collect::<Vec<_>>()
    };
    assert_eq!((a.maximal, a.cut), (b.maximal, b.cut), "{name}: maximal and cut schedules");
    assert_eq!(ends(a), ends(b), "{name}: distinct ends, and how many schedules lead to each");
}

#[test]
fn a_struct_keeps_the_contract() {
    let coverage = assert_keeps("by hand", &by_hand, EFFORT);
    assert!(coverage.restored > 0, "snapshots were declared and never restored");
}

#[test]
fn closures_keep_the_contract() {
    assert_keeps("closures", &closures, EFFORT);
}

#[test]
fn the_machine_keeps_the_contract() {
    // In the machine's own words, and in those of the others.
    for coverage in [
        assert_keeps("machine", &machine(), EFFORT),
        assert_keeps("machine, worded", &translated, EFFORT),
    ] {
        assert!(coverage.restored > 0, "snapshots were declared and never restored");
    }
}

#[test]
fn children_keep_the_contract() {
    for language in Language::ALL {
        if let Some(factory) = language.order_form(&[]) {
            assert_keeps(&format!("{language:?}"), &factory, CHILD_EFFORT);
        }
    }
}

#[test]
fn all_kinds_have_the_same_runs() {
    let expected = all_runs(&by_hand);
    println!(
        "{} schedules, {} steps, {} ends",
        expected.maximal,
        expected.steps,
        expected.outcomes.len()
    );
    // A golden: any other number means that a rule of the event loop changed.
    assert_eq!((expected.maximal, expected.outcomes.len()), (269, 12));
    let failed = expected.outcomes.values().filter(|o| !o.failures.is_empty()).count();
    assert!(failed > 0, "the bug must be found");
    for outcome in expected.outcomes.values() {
        assert_replays(outcome);
    }
    assert_same_runs("closures", &expected, &all_runs(&closures));
    assert_same_runs("machine", &expected, &all_runs(&translated));
    for language in Language::ALL {
        if let Some(factory) = language.order_form(&["--step-ms", "1"]) {
            assert_same_runs(&format!("{language:?}"), &expected, &all_runs(&factory));
        }
    }
}

/// The stored schedule of an outcome leads to it.
fn assert_replays(outcome: &Outcome) {
    let mut subject = Subject::new(by_hand().expect("the system starts"));
    subject.run_to(&outcome.schedule).expect("a schedule replays");
    let view = subject.view().expect("the end");
    assert_eq!((view.enabled, view.observation), (Vec::new(), outcome.observation.clone()));
}

#[test]
fn the_fix_removes_the_failure() {
    for language in Language::ALL {
        let Some(factory) = language.order_form(&["--fixed"]) else { continue };
        let runs = all_runs(&factory);
        assert!(runs.outcomes.values().all(|outcome| outcome.failures.is_empty()), "{language:?}");
    }
}

/// Runs two systems side by side, and compares every step except for source positions.
fn same_steps<A: TaskSystem, B: TaskSystem>(name: &str, a: A, b: B) {
    let (mut a, mut b) = (Subject::new(a), Subject::new(b));
    let mut random = Rng::new(7);
    let mut compared = 0;
    for _ in 0..20 {
        a.reset().expect(name);
        b.reset().expect(name);
        loop {
            assert_eq!(a.view(), b.view(), "{name}");
            let possible = choices(&mut a.system).expect("enabled");
            if possible.is_empty() {
                break;
            }
            let choice = &possible[random.index(possible.len())];
            let left = a.execute(choice).expect(name);
            let right = b.execute(choice).expect(name);
            assert_eq!(left.without_sites(), right.without_sites(), "{name}");
            compared += 1;
        }
    }
    println!("{name}: {compared} equal steps");
}

#[test]
fn all_kinds_do_the_same_in_every_step() -> Result<(), RunError> {
    same_steps("closures", by_hand()?, closures()?);
    for language in Language::ALL {
        if let Some(factory) = language.order_form(&[]) {
            same_steps(&format!("{language:?}"), by_hand()?, factory.make()?);
        }
    }
    Ok(())
}

/// The machine's step in the words of the other kinds: only the five variables, in order; an update
/// becomes a read and a write (T7); values are compared as observed.
fn variables(shown: &RenderedStep, tables: &Tables) -> Vec<(AccessKind, String)> {
    let mut accesses = Vec::new();
    for access in shown.step.accesses.as_slice() {
        let location = tables.location_text(access.location);
        if !["status", "log", "panel", "sending", "orders"].contains(&location.as_str()) {
            continue;
        }
        match access.kind {
            AccessKind::Rmw => {
                accesses.push((AccessKind::Read, location.clone()));
                accesses.push((AccessKind::Write, location));
            }
            kind => accesses.push((kind, location)),
        }
    }
    accesses
}

#[test]
fn the_machine_does_the_same_in_every_step() -> Result<(), RunError> {
    let sorted = |mut enabled: Vec<EnabledTask>| {
        enabled.sort_by(|a, b| a.task.cmp(&b.task));
        enabled
    };
    let rest = |shown: &RenderedStep| Step { accesses: Accesses::Unknown, ..shown.step.clone() };
    let (mut a, mut b) = (Subject::new(by_hand()?), Subject::new(translated()?));
    let mut random = Rng::new(7);
    let (mut steps, mut accesses, mut cancelled, mut failed) = (0, 0, 0, 0);
    for _ in 0..40 {
        a.reset().expect("a reset");
        b.reset().expect("a reset");
        loop {
            let (left, right) = (a.view().expect("a state"), b.view().expect("a state"));
            assert_eq!(left.observation, right.observation);
            assert_eq!(sorted(left.enabled), sorted(right.enabled));
            let possible = choices(&mut a.system)?;
            if possible.is_empty() {
                break;
            }
            let choice = &possible[random.index(possible.len())];
            let left = a.execute(choice).expect("a step");
            let right = b.execute(choice).expect("a step");
            assert_eq!(rest(&left), rest(&right));
            let expected = variables(&left, a.system.tables());
            assert_eq!(expected, variables(&right, b.system.tables()), "{choice:?}");
            steps += 1;
            accesses += expected.len();
            cancelled += left.step.cancelled.len();
            failed += left.step.failures.len();
        }
    }
    println!("{steps} equal steps, {accesses} accesses, {cancelled} cancelled, {failed} failed");
    assert!([steps, accesses, cancelled, failed].iter().all(|count| *count > 0));
    Ok(())
}
