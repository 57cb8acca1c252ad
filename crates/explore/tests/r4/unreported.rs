//! Programs that do not report a variable: swaps of independent tasks find it, and find nothing
//! where everything is reported. Compared with all swaps of the recording.

use crate::tests::r4::naive::{Act, Run, Twin};
use crate::tests::r4::random::{GUARDED, KINDS, Numbers, Random, acts};
use crate::tests::r4::toy::{ALL, Effects, Model, factory};
use anyorder_explore::r4::{FindingKind, Outcome, ReversalOptions, Swaps, explore};
use anyorder_system::{Control, Observation, TaskName, TaskRole};
use std::collections::BTreeSet;

/// A random system that does not report one variable, or nothing at all.
#[derive(Clone)]
struct Hiding(Random, &'static [&'static str]);

impl Model for Hiding {
    fn enabled(&self) -> Vec<TaskName> {
        self.0.enabled()
    }

    fn run(&mut self, task: &TaskName, alternative: u32) -> Effects {
        let mut effects = self.0.run(task, alternative);
        effects.accesses.retain(|(location, ..)| !self.1.contains(&location.as_str()));
        effects
    }

    fn observe(&self) -> Observation {
        self.0.observe()
    }

    fn alternatives(&self, task: &TaskName) -> u32 {
        self.0.alternatives(task)
    }

    fn awaited(&self) -> Vec<(TaskName, Vec<String>)> {
        let mut awaited = self.0.awaited();
        awaited.iter_mut().for_each(|(_, read)| read.retain(|x| !self.1.contains(&x.as_str())));
        awaited
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.0.role(task)
    }
}

fn swapped(model: &Hiding, swaps: Swaps) -> Outcome {
    let options = ReversalOptions { swaps, ..ReversalOptions::default() };
    explore(&factory(model.clone(), ALL), &options, &Control::default()).expect("it runs")
}

fn unreported(outcome: &Outcome) -> Vec<(TaskName, TaskName)> {
    let found = outcome.findings.iter().filter(|found| found.kind == FindingKind::Unreported);
    let pairs = found.filter_map(|found| found.reversal.as_ref());
    pairs.map(|pair| (pair.first.clone(), pair.second.clone())).collect()
}

#[test]
fn swaps_find_a_variable_that_is_not_reported() {
    let all = Swaps { count: 1_000, seed: 7 };
    let (mut hidden, mut found_some, mut nothing, mut right, mut swaps, mut far) =
        (0, 0, 0, 0, 0, 0);
    for (name, kind) in KINDS.into_iter().chain(GUARDED) {
        for seed in 1..=100u64 {
            let random = Random::new(kind, &mut Numbers(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
            let context = format!("{name} {seed}");
            let honest = swapped(&Hiding(random.clone(), &[]), all);
            assert_eq!(unreported(&honest), [], "{context}: everything is reported");
            right += 1;
            swaps += honest.counts.swaps;
            let model = Hiding(random, &["x0"]);
            let twin = Twin::new(model.clone());
            let recording = twin.recording();
            let expected: Vec<_> = twin
                .swaps(&recording)
                .into_iter()
                .filter(|(_, plan)| {
                    let run = twin.execute(plan);
                    run.observed != recording.observed || run.failures != recording.failures
                })
                .collect();
            let outcome = swapped(&model, all);
            let found = unreported(&outcome);
            assert_eq!(found.is_empty(), expected.is_empty(), "{context}: {found:?}");
            for one in outcome.findings.iter().filter(|one| one.kind == FindingKind::Unreported) {
                let [run, parent] =
                    [one.run, one.parent].map(|run| acts(&outcome, run.expect("a run")));
                neighbours(&run, &parent, &context);
                let (run, parent) = (twin.execute(&run), twin.execute(&parent));
                let end = |run: &Run| (run.observed, run.failures.clone());
                assert_ne!(end(&run), end(&parent), "{context}");
                assert_eq!(one.confirmed, Some(true), "{context}");
                far += usize::from(one.parent != Some(0));
            }
            hidden += usize::from(!expected.is_empty());
            found_some += found.len();
            nothing += usize::from(expected.is_empty());
        }
    }
    println!(
        "{right} right programs; {hidden} hide something that matters, {found_some} pairs found, {far} of \
         them narrowed down, {nothing} hide nothing; {swaps} swaps"
    );
    assert!(hidden > 100 && nothing > 100 && found_some > 150 && far > 10 && swaps > 500);
}

/// The first place at which two runs part has two tasks that come right after each other there.
fn neighbours(run: &[Act], parent: &[Act], context: &str) {
    let at = run.iter().zip(parent).position(|(a, b)| a != b).expect("they differ");
    assert_eq!(Some(&run[at]), parent.get(at + 1), "{context}");
    // The other one may be unable to run now.
    if let Some(place) = run.iter().position(|act| *act == parent[at]) {
        assert_eq!(place, at + 1, "{context}");
    }
}

#[test]
fn a_number_of_swaps_bounds_them_and_the_seed_chooses() {
    let random = Random::new(KINDS[1].1, &mut Numbers(99));
    let model = Hiding(random, &["x0", "x1", "x2"]);
    let all = swapped(&model, Swaps { count: 1_000, seed: 1 }).counts.swaps;
    let few = swapped(&model, Swaps { count: 3, seed: 1 }).counts.swaps;
    assert!(few < all && swapped(&model, Swaps::default()).counts.swaps == 0, "{few} of {all}");
}

#[test]
fn where_nothing_is_reported_all_orders_are_run() {
    let mut distinct = 0;
    for seed in 1..=60u64 {
        let random = Random::new(KINDS[1].1, &mut Numbers(seed * 7_368_787));
        let twin = Twin::new(random.clone());
        let Some(all) = twin.all(1_000) else { continue };
        let model = Hiding(random, &["x0", "x1", "x2"]);
        let options = ReversalOptions { bound: None, blind: true, ..ReversalOptions::default() };
        let factory = factory(model, ALL);
        let outcome = explore(&factory, &options, &Control::default()).expect("it runs");
        assert!(outcome.exhausted && outcome.is_blind(), "{seed}");
        let expected: BTreeSet<_> = all.iter().map(|run| run.observed).collect();
        let ours: BTreeSet<_> = outcome.runs.iter().map(|run| run.observation.hash()).collect();
        assert_eq!(ours, expected, "{seed}");
        let failures: BTreeSet<_> = all.iter().flat_map(|run| run.failures.clone()).collect();
        let failed = outcome.runs.iter().flat_map(|run| &run.failures).map(ToString::to_string);
        assert_eq!(failed.collect::<BTreeSet<_>>(), failures, "{seed}");
        distinct += usize::from(expected.len() > 1);
    }
    assert!(distinct > 20, "{distinct}");
}
