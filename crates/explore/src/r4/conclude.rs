//! Builds the outcome of an exploration.

use super::explore::Exploration;
use super::names::TaskId;
use super::outcome::{FindingKind, Found, Outcome, Reversal, ReversalKind, RunInfo, Sequences};
use super::race_counts::race_counts;
use super::reversal::Pair;
use super::run_records::Node;
use super::verdict::{Verdict, conflicts};
use anyorder_system::{TaskName, TaskRole};
use std::sync::Arc;

/// Builds the outcome.
pub(crate) fn conclude(mut exploration: Exploration<'_>) -> Outcome {
    exploration.name_cache.catch_up();
    let mut findings = Vec::new();
    let mut runs = Vec::with_capacity(exploration.records.nodes.len());
    for (id, node) in exploration.records.nodes.iter().enumerate() {
        let reversal = node.pair.map(|pair| exploration.reversal(node, pair));
        findings.extend(exploration.findings(id, node, reversal.as_ref()));
        runs.push(exploration.run_info(node, reversal));
    }
    for lost in &exploration.records.lost {
        let reversal = Some(exploration.named(lost.pair));
        findings.push(Found {
            kind: FindingKind::Unstable(lost.error.clone()),
            run: None,
            parent: lost.parent.map(|id| id as usize),
            reversal,
            confirmed: None,
        });
    }
    let at_bound = exploration.options.bound.is_some();
    let exhausted = exploration.exhausted && !(at_bound && exploration.waits);
    let recorded = exploration.records.store.steps(0);
    let graph = exploration.graph(&recorded);
    let races = race_counts(&recorded, &graph, exploration.options.sabotage());
    let is_input = |task| exploration.name_cache.task(task).role == TaskRole::Input;
    let inputs = recorded.iter().filter(|step| is_input(step.base)).count();
    let Exploration { config, program, name_cache, records, depth_complete, .. } = exploration;
    let limits: Vec<_> = records.limits.into_iter().collect();
    let choices = config.choices.clone();
    Outcome {
        runs,
        findings,
        counts: records.counts,
        races,
        complete: limits.is_empty(),
        exhausted: exhausted && limits.is_empty(),
        limits,
        depth_complete,
        inputs,
        program,
        sequences: Arc::new(Sequences { store: records.store, name_cache, choices }),
    }
}

impl Exploration<'_> {
    fn names(&self, tasks: &[TaskId]) -> Vec<TaskName> {
        tasks.iter().map(|task| self.name_cache.task(*task).name.clone()).collect()
    }

    fn named(&self, pair: Pair) -> Reversal {
        let [first, second] =
            [pair.first, pair.second].map(|task| self.name_cache.task(task).name.clone());
        Reversal { first, second, kind: pair.kind, locations: Vec::new() }
    }

    /// The pair that a run reverses, with the locations on which it conflicted in the parent. The
    /// locations are computed only for runs that are shown.
    fn reversal(&self, node: &Node, pair: Pair) -> Reversal {
        let mut reversal = self.named(pair);
        let harmless = node.comparison.as_ref().is_some_and(|comparison| {
            matches!(comparison.verdict, Verdict::Equivalent | Verdict::Bookkeeping)
        });
        let Some(parent) = node.parent.filter(|_| pair.kind == ReversalKind::Conflict && !harmless)
        else {
            return reversal;
        };
        let steps = self.records.store.steps(parent);
        let find = |task| steps.iter().find(|step| step.task == task);
        if let (Some(first), Some(second)) = (find(pair.first), find(pair.second)) {
            let shared = conflicts(first, second);
            let texts = shared.map(|id| self.name_cache.names.location_text(id).to_string());
            reversal.locations = texts.collect();
            reversal.locations.sort();
        }
        reversal
    }

    fn run_info(&self, node: &Node, reversal: Option<Reversal>) -> RunInfo {
        RunInfo {
            parent: node.parent.map(|id| id as usize),
            reversal,
            depth: node.depth,
            length: node.length,
            skipped: self.names(&node.skipped),
            late: self.names(&node.late),
            new: self.names(&node.new),
            equivalent_to: node.equivalent_to.map(|id| id as usize),
            slept: node.slept,
            cut: node.cut,
            failures: node.failures.clone(),
            comparison: node.comparison.clone(),
            observation: self.records.observations.all[node.observation].1.clone(),
        }
    }

    fn findings(&self, id: usize, node: &Node, reversal: Option<&Reversal>) -> Vec<Found> {
        let found = |kind| Found {
            kind,
            run: Some(id),
            parent: node.parent.map(|id| id as usize),
            reversal: reversal.cloned(),
            confirmed: node.confirmed,
        };
        let mut kinds = Vec::new();
        kinds.extend(node.unstable.clone().map(FindingKind::Unstable));
        let failures = match &node.comparison {
            None => &node.failures,
            Some(comparison) if comparison.verdict == Verdict::Different => {
                let swapped = reversal.is_some_and(|one| one.kind == ReversalKind::Unreported);
                if swapped {
                    kinds.push(FindingKind::Unreported);
                } else if comparison.failures_new.is_empty() {
                    kinds.push(FindingKind::Harmful);
                }
                &comparison.failures_new
            }
            Some(_) => return kinds.into_iter().map(found).collect(),
        };
        kinds.extend(failures.iter().cloned().map(FindingKind::Failure));
        kinds.into_iter().map(found).collect()
    }
}
