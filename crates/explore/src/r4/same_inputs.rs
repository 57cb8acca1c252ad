//! Runs that can have the same input events in the same order must end alike, whichever order of
//! inputs each was planned from.
//!
//! **Problem.** With inputs in any order, a run is often compared with a parent that has another
//! order of them, and a difference from it means nothing. But another run may have the same order
//! of inputs and another end: then the order of other tasks made the difference. A run stands for
//! its class, so the order of two inputs that do not depend on each other in it is free.
//! **Method.** Runs are grouped by the inputs and the alternatives that they took. Of each group,
//! one run is kept for each end and each order that its dependence gives the inputs. Two of them
//! with different ends, whose orders together have no cycle, are brought into one order of inputs
//! and compared. One such pair of a group is enough.

use super::ancestors::Ancestors;
use super::confirm::confirm;
use super::dependence::{mix, sequence_hash};
use super::explore::Exploration;
use super::names::TaskId;
use super::outcome::ReversalKind;
use super::reversal::Pair;
use super::run_records::Node;
use super::step::{ExecutedStep, Steps};
use super::store::RunId;
use super::verdict::{Verdict, conflicts, free_inputs};
use anyorder_system::Hash128;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most runs of a group that are compared with each other.
const GROUP_MAX: usize = 64;

/// The pairs of inputs of which the second depends on the first.
type InputOrder = BTreeSet<(TaskId, TaskId)>;

/// One run for an end and an order of inputs.
struct Kept {
    id: RunId,
    end: Hash128,
    order: InputOrder,
}

impl Exploration<'_> {
    /// Compares runs that can have the same inputs in the same order.
    pub(crate) fn same_inputs(&mut self) {
        let mut compared = Vec::new();
        for group in self.groups() {
            if self.is_stopped() {
                break;
            }
            let found = group.iter().any(|id| {
                let comparison = self.records.nodes[*id as usize].comparison.as_ref();
                comparison.is_some_and(|one| one.verdict == Verdict::Different)
            });
            if found {
                continue;
            }
            let kept = self.kept(&group);
            let pairs =
                kept.iter().enumerate().flat_map(|(at, b)| kept[..at].iter().map(move |a| (a, b)));
            for (a, b) in pairs.filter(|(a, b)| a.end != b.end) {
                let inputs: Vec<TaskId> = self.inputs_of(a.id);
                if let Some(order) = common_order(&inputs, &a.order, &b.order)
                    && let Some(id) = self.compare_with_inputs((a.id, b.id), &order)
                {
                    compared.push(id);
                    break;
                }
            }
        }
        confirm(self, &compared);
    }

    fn inputs_of(&self, id: RunId) -> Vec<TaskId> {
        let tables = (&self.name_cache, &self.config.inputs);
        free_inputs(&self.records.store.steps(id), tables).collect()
    }

    /// The runs that were not cut, by their inputs and alternatives in any order; in each group by
    /// number.
    fn groups(&self) -> Vec<Vec<RunId>> {
        let mut groups: FxHashMap<u128, usize> = FxHashMap::default();
        let mut runs: Vec<Vec<RunId>> = Vec::new();
        for (id, node) in (0..).zip(&self.records.nodes) {
            if node.cut {
                continue;
            }
            let steps = self.records.store.steps(id);
            let chosen = steps.iter().map(|step| step.task).zip(steps.iter().map(|step| step.base));
            let chosen = chosen.filter(|(task, base)| task != base).map(|(task, _)| task);
            let all = self.inputs_of(id).into_iter().chain(chosen);
            let key =
                all.fold(0u128, |sum, task| sum.wrapping_add(mix(self.name_cache.task(task).hash)));
            let group = *groups.entry(key).or_insert(runs.len());
            if group == runs.len() {
                runs.push(Vec::new());
            }
            runs[group].push(id);
        }
        runs
    }

    /// The first run of each end and each order of inputs.
    fn kept(&mut self, group: &[RunId]) -> Vec<Kept> {
        let mut kept: Vec<Kept> = Vec::new();
        let ends: BTreeSet<u128> =
            group.iter().map(|id| self.records.observation(*id).0.0).collect();
        if ends.len() < 2 {
            return kept;
        }
        for id in group {
            if kept.len() >= GROUP_MAX {
                break;
            }
            let (steps, end) = (self.records.store.steps(*id), self.records.observation(*id).0);
            let ancestors = Ancestors::of(&self.graph(&steps));
            let inputs = &self.config.inputs;
            let is_input = |at: &usize| inputs.is_free(self.name_cache.task(steps[*at].base));
            let places: Vec<usize> = (0..steps.len()).filter(is_input).collect();
            let mut order = InputOrder::new();
            for (count, j) in places.iter().enumerate() {
                let before = places[..count].iter().filter(|i| ancestors.has(**i, *j));
                order.extend(before.map(|i| (steps[*i].base, steps[*j].base)));
            }
            if !kept.iter().any(|one| one.end == end && one.order == order) {
                kept.push(Kept { id: *id, end, order });
            }
        }
        kept
    }

    /// Brings two runs into one order of inputs, and compares them. Returns the later one if the
    /// difference is harmful.
    fn compare_with_inputs(&mut self, (a, b): (RunId, RunId), order: &[TaskId]) -> Option<RunId> {
        let before = self.records.store.steps(a);
        let before = self.with_inputs(&before, order)?;
        let after = self.records.store.steps(b);
        let after = self.with_inputs(&after, order)?;
        let pair = reversed(&before, &after)?;
        let parent = self.same_run(a, None, &before);
        let id = self.same_run(b, Some((parent, pair)), &after);
        self.compare_with_parent(id);
        let comparison = self.records.nodes[id as usize].comparison.as_ref();
        comparison.is_some_and(|one| one.verdict == Verdict::Different).then_some(id)
    }

    /// An equivalent order of a run's steps with the inputs in this order; `None` if there is none.
    fn with_inputs(&mut self, steps: &Steps, order: &[TaskId]) -> Option<Vec<Arc<ExecutedStep>>> {
        let graph = self.graph(steps);
        let rank: FxHashMap<TaskId, usize> = order.iter().copied().zip(0..).collect();
        let mut left: Vec<usize> = (0..steps.len()).collect();
        let mut done = vec![false; steps.len()];
        let (mut next_input, mut sorted) = (0, Vec::with_capacity(steps.len()));
        while !left.is_empty() {
            let at = left.iter().position(|at| {
                let turn = rank.get(&steps[*at].base).is_none_or(|rank| *rank == next_input);
                turn && graph.before(*at).iter().all(|before| done[before.at as usize])
            })?;
            let place = left.remove(at);
            done[place] = true;
            next_input += usize::from(rank.contains_key(&steps[place].base));
            sorted.push(steps[place].clone());
        }
        Some(sorted)
    }

    /// Records another order of a run, with its end; without a parent it may be the run itself.
    fn same_run(&mut self, of: RunId, from: Option<(RunId, Pair)>, steps: &Steps) -> RunId {
        let hash = sequence_hash(&self.name_cache, steps);
        let node = &self.records.nodes[of as usize];
        if from.is_none() && node.sequence_hash == hash {
            return of;
        }
        let node = Node {
            parent: Some(from.map_or(of, |(parent, _)| parent)),
            pair: from.map(|(_, pair)| pair),
            depth: node
                .depth
                .max(from.map_or(0, |(parent, _)| self.records.nodes[parent as usize].depth))
                + 1,
            sequence_hash: hash,
            observation: node.observation,
            slept: true,
            ..Node::default()
        };
        let class = self.class(steps);
        self.records.add(node, class, (steps, None), (&FxHashSet::default(), &[]))
    }
}

/// An order of inputs that contains both orders; `None` if they contradict each other.
fn common_order(inputs: &[TaskId], a: &InputOrder, b: &InputOrder) -> Option<Vec<TaskId>> {
    let mut waits: BTreeMap<TaskId, BTreeSet<TaskId>> =
        inputs.iter().map(|task| (*task, BTreeSet::new())).collect();
    for (first, second) in a.iter().chain(b) {
        waits.entry(*second).or_default().insert(*first);
    }
    let mut order: Vec<TaskId> = Vec::with_capacity(inputs.len());
    while order.len() < inputs.len() {
        let is_next = |task: &&TaskId| {
            !order.contains(task) && waits[*task].iter().all(|first| order.contains(first))
        };
        order.push(*inputs.iter().find(is_next)?);
    }
    Some(order)
}

/// The first conflicting pair, in the order of `after`, that came the other way round in `before`.
fn reversed(before: &Steps, after: &Steps) -> Option<Pair> {
    let places: FxHashMap<_, usize> =
        before.iter().zip(0..).map(|(step, at)| (step.task, at)).collect();
    for (at, second) in after.iter().enumerate() {
        let Some(place) = places.get(&second.task).copied() else { continue };
        let later = |first: &usize| {
            let task = before[*first].task;
            after[..at].iter().all(|step| step.task != task)
        };
        let conflict = |first: &usize| conflicts(&before[*first], second).next().is_some();
        if let Some(first) = (0..place).rev().find(|first| later(first) && conflict(first)) {
            let (first, second) = (before[first].task, second.task);
            return Some(Pair { first, second, kind: ReversalKind::Conflict });
        }
    }
    None
}
