//! Programs that run for ever: a limit cuts runs, and repeated runs are cut at the same point.

use crate::tests::r4::toy::{ALL, Effects, Model, Skills, factory};
use anyorder_explore::r4::{FindingKind, Limit, Order, Outcome, ReversalOptions, explore};
use anyorder_lang::lower::compile;
use anyorder_system::{
    Cancel, Choice, Control, Level, Limits, Observation, PartPath, Progress, Schedule, StopReason,
    TaskName,
};
use anyorder_vm::MachineFactory;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Eaters around a table. Each repeatedly uses the things at both sides; one of them stops after a
/// while if it comes first.
#[derive(Clone)]
struct Endless {
    meals: [u32; 3],
    last: [usize; 3],
}

impl Endless {
    fn new() -> Endless {
        Endless { meals: [0; 3], last: [9; 3] }
    }
}

fn eater(i: usize, meal: u32) -> TaskName {
    TaskName::root(&format!("eater{i}")).with_ordinal(meal)
}

impl Model for Endless {
    fn enabled(&self) -> Vec<TaskName> {
        // The eater who ate least comes first.
        let mut eaters: Vec<usize> = (0..3).collect();
        eaters.sort_by_key(|i| self.meals[*i]);
        eaters.into_iter().map(|i| eater(i, self.meals[i])).collect()
    }

    fn run(&mut self, task: &TaskName, _alternative: u32) -> Effects {
        let mut effects = Effects::default();
        let i = (0..3).find(|i| eater(*i, self.meals[*i]) == *task).expect("it is enabled");
        self.meals[i] += 1;
        for thing in [i, (i + 1) % 3] {
            self.last[thing] = i;
            effects.write(&format!("thing {thing}"));
        }
        effects.flips(&eater(i, self.meals[i]));
        effects
    }

    fn observe(&self) -> Observation {
        let mut observation = Observation::new();
        let text = format!("{:?} {:?}", self.meals, self.last);
        observation.set(PartPath::new(["table"]), Level::Output, text.as_bytes());
        observation
    }
}

fn explored(options: &ReversalOptions, limits: Limits, skills: Skills) -> Outcome {
    let control = Control { limits, ..Control::default() };
    explore(&factory(Endless::new(), skills), options, &control).expect("it runs")
}

fn check(outcome: &Outcome, length: usize, what: &str) {
    assert!(outcome.runs[0].cut, "{what}");
    assert!(outcome.limits.contains(&Limit::Steps) && !outcome.complete, "{what}");
    for run in &outcome.runs {
        assert_eq!((run.cut, run.length), (true, length), "{what}: all go on equally long");
    }
    let unstable = |kind: &FindingKind| matches!(kind, FindingKind::Unstable(_));
    assert!(!outcome.findings.iter().any(|found| unstable(&found.kind)), "{what}");
    assert_eq!(outcome.counts.unstable, 0, "{what}");
    assert!(outcome.counts.confirmations > 1, "{what}: {:?}", outcome.counts);
}

#[test]
fn what_was_cut_is_repeated_with_the_same_cut() {
    let limits = Limits { steps: Some(30), executions: Some(200), ..Limits::NONE };
    for skills in [ALL, Skills { snapshot: false, ..ALL }] {
        for (bound, order) in [
            (Some(1), Order::Levels),
            (Some(2), Order::Levels),
            (Some(2), Order::DepthFirst),
            (None, Order::Levels),
        ] {
            let options = ReversalOptions { bound, order, ..ReversalOptions::default() };
            check(&explored(&options, limits, skills), 30, &format!("{bound:?} {order:?}"));
        }
    }
}

#[test]
fn what_is_recorded_is_made_as_a_whole() {
    let limits = Limits { steps: Some(5), executions: Some(100), ..Limits::NONE };
    let mut schedule = Schedule::new(Default::default());
    let rounds = (0..4).flat_map(|meal| [2, 1, 0].map(|i| eater(i, meal)));
    schedule.choices.extend(rounds.map(Choice::of));
    let options = ReversalOptions { recording: Some(schedule), ..ReversalOptions::default() };
    check(&explored(&options, limits, ALL), 12 + 5, "recorded");
}

/// Counts reports, and stops the job after a number of them.
struct Counting {
    reports: AtomicU64,
    stop_after: u64,
    cancel: Cancel,
}

impl Progress for Counting {
    fn report(&self, _done: u64, _total: Option<u64>) {
        if self.reports.fetch_add(1, Ordering::Relaxed) >= self.stop_after {
            self.cancel.stop(StopReason::Interrupted);
        }
    }
}

#[test]
fn a_long_exploration_says_how_far_it_is_and_stops_when_asked() {
    // Long enough that the runs of its pairs outlast all reports that are waited for.
    const LENGTH: u64 = 300;
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models/dining-philosophers.any");
    let text = std::fs::read_to_string(path).expect("it is there");
    let compiled = compile(&text, "dining-philosophers.any").expect("it is sound");
    let factory =
        MachineFactory(Arc::new(anyorder_vm::Machine::new(compiled.program).expect("a machine")));
    let options = ReversalOptions { bound: Some(2), ..ReversalOptions::default() };
    let limits = Limits { steps: Some(LENGTH), executions: Some(1), ..Limits::NONE };
    let alone = explore(&factory, &options, &Control { limits, ..Control::default() });
    let races = alone.expect("a recording").races.expect("a short run");
    for (stop_after, confirm) in [(0, true), (3, true), (9, true), (9, false)] {
        let cancel = Cancel::new();
        let counting = Counting { reports: AtomicU64::new(0), stop_after, cancel: cancel.clone() };
        let limits = Limits { steps: Some(LENGTH), ..Limits::NONE };
        let control = Control { cancel, progress: &counting, limits };
        let options = ReversalOptions { confirm, ..options.clone() };
        let outcome = explore(&factory, &options, &control).expect("a recording");
        assert!(outcome.limits.contains(&Limit::Stopped(StopReason::Interrupted)));
        assert_eq!(outcome.races, Some(races), "the recorded run is whole");
        // The job ends at once: almost no report follows the stop.
        let reports = counting.reports.load(Ordering::Relaxed);
        println!("{reports} reports, {:?}", outcome.counts);
        assert!(reports <= stop_after + 3, "{reports} after {stop_after}");
        assert!(!outcome.exhausted && outcome.runs.iter().all(|run| run.length as u64 <= LENGTH));
    }
}
