//! Inputs in any order: a difference is a finding only where runs with one order of inputs end in
//! several ways; a failure always is. Compared with all sequences.

use crate::tests::r4::naive::{Run, Twin};
use crate::tests::r4::random::{KINDS, Kind, Numbers, Random, acts, explored};
use crate::tests::r4::toy::{Effects, Model};
use anyorder_explore::r4::{FindingKind, ReversalOptions, UserEvents};
use anyorder_system::{Hash128, Observation, TaskName, TaskRole};
use std::collections::{BTreeMap, BTreeSet};

/// A random system whose inputs keep no order.
#[derive(Clone)]
struct AnyOrder(Random);

impl Model for AnyOrder {
    fn enabled(&self) -> Vec<TaskName> {
        self.0.enabled()
    }

    fn run(&mut self, task: &TaskName, alternative: u32) -> Effects {
        self.0.run(task, alternative)
    }

    fn observe(&self) -> Observation {
        self.0.observe()
    }
}

/// The inputs of a run, in their order.
fn inputs(model: &Random, run: &Run) -> Vec<TaskName> {
    let names = run.tasks.iter().map(|(name, _)| name.clone());
    names.filter(|name| model.role(name) == TaskRole::Input).collect()
}

#[test]
fn only_runs_with_the_same_inputs_are_compared() {
    let kinds = [
        ("inputs", Kind { tasks: 4, ..KINDS[3].1 }),
        ("all", Kind { tasks: 5, ..KINDS[4].1 }),
        ("few", Kind { tasks: 4, vars: 3, ..KINDS[3].1 }),
    ];
    let (mut with_inputs, mut silent, mut by_order, mut failing, mut within) = (0, 0, 0, 0, 0);
    for (name, kind) in kinds {
        for seed in 1..=200u64 {
            let model = Random::new(kind, &mut Numbers(seed.wrapping_mul(0x5851_f42d_4c95_7f2d)));
            let twin = Twin::new(AnyOrder(model.clone()));
            let Some(all) = twin.all(2000) else { continue };
            let mut ends: BTreeMap<Vec<TaskName>, BTreeSet<Hash128>> = BTreeMap::new();
            for run in &all {
                ends.entry(inputs(&model, run)).or_default().insert(run.observed);
            }
            let fails = all.iter().any(|run| !run.failures.is_empty());
            let differs = ends.values().any(|ends| ends.len() > 1);
            let any: BTreeSet<Hash128> = ends.values().flatten().copied().collect();
            let options = ReversalOptions {
                bound: None,
                user_events: UserEvents::Free,
                ..ReversalOptions::default()
            };
            let outcome = explored(&model, &options);
            let context = format!("{name} {seed}");
            assert!(outcome.exhausted, "{context}");
            assert_eq!(outcome.inputs, inputs(&model, &twin.recording()).len(), "{context}");
            let found = |test: &dyn Fn(&FindingKind) -> bool| {
                outcome.findings.iter().filter(|found| test(&found.kind)).count()
            };
            let failures = found(&|kind| matches!(kind, FindingKind::Failure(_)));
            assert_eq!(failures > 0, fails, "{context}");
            if !fails {
                let harmful = found(&|kind| *kind == FindingKind::Harmful);
                assert_eq!(harmful > 0, differs, "{context}: {:?}", outcome.findings);
            }
            for found in &outcome.findings {
                if found.kind == FindingKind::Harmful {
                    let [run, parent] = [found.run, found.parent]
                        .map(|run| twin.execute(&acts(&outcome, run.expect("a run"))));
                    assert_eq!(inputs(&model, &run), inputs(&model, &parent), "{context}");
                    let end = |run: &Run| (run.observed, run.failures.clone());
                    assert_ne!(end(&run), end(&parent), "{context}");
                    within += 1;
                }
            }
            with_inputs += usize::from(outcome.inputs > 1);
            silent += usize::from(!fails && !differs);
            by_order += usize::from(!fails && !differs && any.len() > 1);
            failing += usize::from(fails);
        }
    }
    println!(
        "{with_inputs} with inputs, {silent} silent, {by_order} of them by the order of inputs only, \
         {failing} fail, {within} differences"
    );
    assert!(with_inputs > 200 && silent > 60 && by_order > 20 && failing > 60 && within > 100);
}
