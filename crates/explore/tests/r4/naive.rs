//! The definitions, computed in the most direct way: all pairs, all closures, all sequences.
#![expect(clippy::needless_range_loop, reason = "the definitions speak of i, j and k")]

use crate::tests::r4::toy::{Effects, Model, shadow};
use anyorder_system::{AccessKind, Choice, Hash128, TaskName, TaskRole};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A task, and the number of its alternative.
pub(crate) type Act = (TaskName, u32);

/// The choices that name acts.
pub(crate) fn choices(acts: &[Act]) -> Vec<Choice> {
    let choice = |(task, alternative): &Act| Choice {
        alternative: *alternative,
        ..Choice::of(task.clone())
    };
    acts.iter().map(choice).collect()
}

/// One executed run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) tasks: Vec<Act>,
    /// The number of alternatives of each.
    pub(crate) counts: Vec<u32>,
    pub(crate) effects: Vec<Effects>,
    /// The enabled tasks before each step, and at the end.
    pub(crate) enabled: Vec<Vec<TaskName>>,
    pub(crate) observed: Hash128,
    pub(crate) failures: BTreeSet<String>,
}

/// A model with its recording.
pub(crate) struct Twin<M> {
    pub(crate) model: M,
    /// The inputs of the recording and those that it missed, in their order.
    pub(crate) inputs: Vec<TaskName>,
    /// The inputs of the recording.
    taken: Vec<TaskName>,
    pub(crate) mutant: Mutant,
    /// Whether a task is also tried after all that a later input leads to.
    pub(crate) patient: bool,
}

/// A fault of the printed algorithms, or another rule than ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mutant {
    None,
    /// Section 4.4: a pair is covered if a single race covers it.
    SingleCover,
    /// All races are reversed.
    AllRaces,
    /// Lines 5-7 are left out.
    NoDisabling,
    /// Tasks that need the first of the pair come with the second.
    NoLambda,
    /// The sequence ends with the pair.
    OnlyThePair,
    /// Enabling is unknown.
    NoOpening,
    /// Other alternatives are left out.
    NoAlternatives,
}

pub(crate) const MUTANTS: [Mutant; 7] = [
    Mutant::SingleCover,
    Mutant::AllRaces,
    Mutant::NoDisabling,
    Mutant::NoLambda,
    Mutant::OnlyThePair,
    Mutant::NoOpening,
    Mutant::NoAlternatives,
];

fn is_input<M: Model>(model: &M, task: &TaskName) -> bool {
    model.role(task) == TaskRole::Input
}

impl<M: Model> Twin<M> {
    pub(crate) fn new(model: M) -> Twin<M> {
        let (inputs, taken) = (Vec::new(), Vec::new());
        let mut twin = Twin { model, inputs, taken, mutant: Mutant::None, patient: false };
        // No input is held back while the recording is made.
        let mut state = twin.model.clone();
        let mut missed: Vec<(usize, TaskName)> = Vec::new();
        let mut ran = BTreeSet::new();
        while let Some(task) = state.enabled().first().cloned() {
            let before = state.enabled();
            state.run(&task, 0);
            ran.insert(task.clone());
            if is_input(&state, &task) {
                twin.inputs.push(task);
            }
            let gone = before.into_iter().filter(|one| !state.enabled().contains(one));
            missed.extend(gone.map(|one| (twin.inputs.len(), one)));
        }
        twin.taken = twin.inputs.clone();
        missed.retain(|(_, one)| is_input(&state, one) && !ran.contains(one));
        for (at, one) in missed.into_iter().rev() {
            if twin.rank(&one).is_some() {
                twin.inputs.retain(|other| *other != one);
            }
            twin.inputs.insert(at, one);
        }
        twin
    }

    pub(crate) fn recording(&self) -> Run {
        let mut state = self.model.clone();
        let mut acts = Vec::new();
        while let Some(task) = state.enabled().first().cloned() {
            state.run(&task, 0);
            acts.push((task, 0));
        }
        self.execute(&acts)
    }

    fn rank(&self, task: &TaskName) -> Option<usize> {
        self.inputs.iter().position(|input| input == task)
    }

    /// Whether the order of inputs lets a task run after these: it must be recorded, and not come
    /// after a later one.
    fn lets(&self, done: &[Act], task: &TaskName) -> bool {
        if !is_input(&self.model, task) {
            return true;
        }
        let last = done.iter().filter_map(|(task, _)| self.rank(task)).max();
        self.rank(task).is_some_and(|rank| last.is_none_or(|last| last < rank))
    }

    /// Approximate replay: skip tasks that cannot run, then run to the end.
    pub(crate) fn execute(&self, plan: &[Act]) -> Run {
        let mut state = self.model.clone();
        let mut run = Run {
            tasks: vec![],
            counts: vec![],
            effects: vec![],
            enabled: vec![],
            observed: Hash128::new(),
            failures: BTreeSet::new(),
        };
        let step = |state: &mut M, run: &mut Run, (task, alternative): &Act| {
            run.enabled.push(state.enabled());
            run.counts.push(state.alternatives(task));
            let mut effects = state.run(task, *alternative);
            for name in effects.posted.iter().map(|(name, _)| name).chain(&effects.cancelled) {
                effects.accesses.push((shadow(name), AccessKind::Write, None, None));
            }
            effects.accesses.push((shadow(task), AccessKind::Read, None, None));
            run.failures.extend(effects.failures.iter().cloned());
            run.tasks.push((task.clone(), *alternative));
            run.effects.push(effects);
        };
        for act in plan {
            let (task, alternative) = act;
            let is_there =
                state.enabled().contains(task) && *alternative < state.alternatives(task);
            if is_there && self.lets(&run.tasks, task) {
                step(&mut state, &mut run, act);
            }
        }
        loop {
            let enabled = state.enabled();
            let may: Vec<&TaskName> =
                enabled.iter().filter(|task| self.lets(&run.tasks, task)).collect();
            let first_input =
                may.iter().filter_map(|task| self.rank(task)).min().map(|rank| &self.inputs[rank]);
            let next = may
                .iter()
                .find(|task| !is_input(&self.model, task) || Some(**task) == first_input)
                .map(|task| (*task).clone());
            let Some(task) = next else { break };
            // The planned alternative, else the first.
            let planned = plan.iter().rfind(|(other, alternative)| {
                *other == task && 0 < *alternative && *alternative < state.alternatives(&task)
            });
            let act = planned.cloned().unwrap_or((task, 0));
            step(&mut state, &mut run, &act);
        }
        run.enabled.push(state.enabled());
        run.observed = state.observe().hash();
        run
    }

    /// All sequences at most `bound` reversals from the recording, with their numbers of reversals.
    pub(crate) fn within(&self, bound: u32) -> BTreeMap<Vec<Act>, (u32, Run)> {
        let first = self.recording();
        let mut found = BTreeMap::from([(first.tasks.clone(), (0, first.clone()))]);
        let mut open = VecDeque::from([(0, first)]);
        while let Some((depth, run)) = open.pop_front() {
            if depth == bound {
                continue;
            }
            for (_, plan) in self.reversals(&run) {
                let child = self.execute(&plan);
                if !found.contains_key(&child.tasks) {
                    found.insert(child.tasks.clone(), (depth + 1, child.clone()));
                    open.push_back((depth + 1, child));
                }
            }
        }
        found
    }

    /// The races of a run before covering, and those that no third task orders.
    pub(crate) fn races(&self, run: &Run) -> (u64, u64) {
        let (depends, happens) = (closure(&self.direct(run)), closure(&self.before(run)));
        let (mut all, mut uncovered) = (0, 0);
        for j in 0..run.tasks.len() {
            for i in 0..j {
                if conflict(&run.effects[i], &run.effects[j]) && !happens[i][j] {
                    all += 1;
                    uncovered += u64::from(!(i + 1..j).any(|k| depends[i][k] && depends[k][j]));
                }
            }
        }
        (all, uncovered)
    }

    /// The pairs of a run that can be reversed, and the sequences that do it.
    pub(crate) fn reversals(&self, run: &Run) -> Vec<((TaskName, TaskName), Vec<Act>)> {
        let n = run.tasks.len();
        let (depends, happens) = (closure(&self.direct(run)), closure(&self.before(run)));
        let mut plans = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                let race = |a: usize, b: usize| {
                    conflict(&run.effects[a], &run.effects[b]) && !happens[a][b]
                };
                let until = |a: usize, b: usize| a == b || happens[a][b];
                let adjacent = match self.mutant {
                    Mutant::AllRaces => true,
                    Mutant::SingleCover => !(i..=j).any(|a| {
                        (a + 1..=j)
                            .any(|b| (a, b) != (i, j) && race(a, b) && until(i, a) && until(b, j))
                    }),
                    _ => !(i + 1..j).any(|k| depends[i][k] && depends[k][j]),
                };
                if !conflict(&run.effects[i], &run.effects[j]) || happens[i][j] || !adjacent {
                    continue;
                }
                let mut plan: Vec<usize> = (0..i).collect();
                let needed = |k: &usize| depends[*k][j] && self.mutant != Mutant::NoLambda;
                plan.extend((i + 1..j).filter(needed));
                plan.extend([j, i]);
                if self.mutant != Mutant::OnlyThePair {
                    plan.extend((i + 1..j).filter(|k| !needed(k)));
                    plan.extend(j + 1..n);
                }
                let named = |plan: Vec<usize>| {
                    let plan = plan.into_iter().map(|k| run.tasks[k].clone()).collect();
                    ((run.tasks[i].0.clone(), run.tasks[j].0.clone()), plan)
                };
                plans.push(named(plan));
                plans.extend(self.delayed(run, i, j).map(named));
            }
            for gone in &run.enabled[i] {
                let own = *gone == run.tasks[i].0 || run.enabled[i + 1].contains(gone);
                let both = is_input(&self.model, gone)
                    && (is_input(&self.model, &run.tasks[i].0)
                        || !self.lets(&run.tasks[..i], gone));
                if own || both || self.mutant == Mutant::NoDisabling {
                    continue;
                }
                let mut plan = run.tasks[..i].to_vec();
                let later = run.tasks[i..].iter().find(|(task, _)| task == gone);
                plan.push(later.cloned().unwrap_or((gone.clone(), 0)));
                plan.extend(run.tasks[i..].iter().filter(|(task, _)| task != gone).cloned());
                plans.push(((run.tasks[i].0.clone(), gone.clone()), plan));
            }
            for alternative in 0..run.counts[i] {
                let (task, own) = &run.tasks[i];
                if alternative != *own && self.mutant != Mutant::NoAlternatives {
                    let mut plan = run.tasks.clone();
                    plan[i].1 = alternative;
                    plans.push(((task.clone(), task.clone()), plan));
                }
            }
        }
        plans
    }

    /// The order with a task i after an input j and all that j leads to before the next input, if
    /// there is anything. What i leads to stays behind i.
    fn delayed(&self, run: &Run, i: usize, j: usize) -> Option<Vec<usize>> {
        let n = run.tasks.len();
        let input = |k: usize| is_input(&self.model, &run.tasks[k].0);
        if !self.patient || input(i) || !input(j) {
            return None;
        }
        let leads = |a: usize, k: usize| {
            let mut creators = std::iter::successors(run.tasks[k].0.creator(), |one| one.creator());
            creators.any(|one| *one == run.tasks[a].0)
        };
        let until = (j + 1..n).find(|k| input(*k)).unwrap_or(n);
        let led: Vec<usize> = (j + 1..until).filter(|k| leads(j, *k)).collect();
        if led.is_empty() {
            return None;
        }
        let held = |k: &usize| *k == i || leads(i, *k);
        let before = (0..=j).filter(|k| *k < i || !held(k));
        let behind = (i..j).filter(|k| held(k)).chain((j + 1..n).filter(|k| !led.contains(k)));
        Some(before.chain(led.iter().copied()).chain(behind).collect())
    }

    /// The pairs of a run that do not depend on each other, and the sequences that swap them: the
    /// tasks before, those between that the second needs, the second, the first, and the rest.
    pub(crate) fn swaps(&self, run: &Run) -> Vec<((TaskName, TaskName), Vec<Act>)> {
        let n = run.tasks.len();
        let depends = closure(&self.direct(run));
        let mut plans = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if depends[i][j] {
                    continue;
                }
                let (needed, others): (Vec<usize>, Vec<usize>) =
                    (i + 1..j).partition(|k| depends[*k][j]);
                let order = (0..i).chain(needed).chain([j, i]).chain(others).chain(j + 1..n);
                let plan = order.map(|k| run.tasks[k].clone()).collect();
                plans.push(((run.tasks[i].0.clone(), run.tasks[j].0.clone()), plan));
            }
        }
        plans
    }

    /// Happens-before, pair by pair.
    fn before(&self, run: &Run) -> Vec<Vec<bool>> {
        let n = run.tasks.len();
        let mut relation = vec![vec![false; n]; n];
        for j in 0..n {
            let task = &run.tasks[j].0;
            for i in 0..j {
                let posts = run.effects[i].posted.iter().any(|(name, _)| name == task)
                    || task.creator() == Some(&run.tasks[i].0);
                let inputs = is_input(&self.model, task) && is_input(&self.model, &run.tasks[i].0);
                let opens = self.mutant != Mutant::NoOpening
                    && !run.enabled[i].contains(task)
                    && (i + 1..=j).all(|k| run.enabled[k].contains(task));
                relation[i][j] = posts || inputs || opens;
            }
        }
        relation
    }

    /// Happens-before and conflicts, pair by pair.
    fn direct(&self, run: &Run) -> Vec<Vec<bool>> {
        let mut relation = self.before(run);
        for (i, row) in relation.iter_mut().enumerate() {
            for j in i + 1..run.tasks.len() {
                row[j] |= conflict(&run.effects[i], &run.effects[j]);
            }
        }
        relation
    }

    /// The class of a run: its tasks, and the order of each two that depend on each other.
    pub(crate) fn class(&self, run: &Run) -> BTreeSet<(Act, Option<Act>)> {
        let depends = self.direct(run);
        let n = run.tasks.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let pairs = pairs.filter(|(i, j)| depends[*i][*j]);
        let pairs = pairs.map(|(i, j)| (run.tasks[i].clone(), Some(run.tasks[j].clone())));
        run.tasks.iter().map(|task| (task.clone(), None)).chain(pairs).collect()
    }

    /// All maximal sequences, inputs strictly in the order of the recording; `None` if there are
    /// more than `most`.
    pub(crate) fn all(&self, most: usize) -> Option<Vec<Run>> {
        let mut found = Vec::new();
        let mut open = vec![(self.model.clone(), Vec::<Act>::new())];
        while let Some((state, tasks)) = open.pop() {
            let inputs = tasks.iter().filter(|(task, _)| is_input(&self.model, task)).count();
            let next: Vec<TaskName> = state
                .enabled()
                .into_iter()
                .filter(|t| !is_input(&self.model, t) || self.taken.get(inputs) == Some(t))
                .collect();
            if next.is_empty() {
                found.push(self.exactly(&tasks));
                if found.len() > most {
                    return None;
                }
            }
            for task in next {
                for alternative in 0..state.alternatives(&task) {
                    let mut state = state.clone();
                    state.run(&task, alternative);
                    let tasks = tasks.iter().cloned().chain([(task.clone(), alternative)]);
                    open.push((state, tasks.collect()));
                }
            }
        }
        Some(found)
    }

    /// A run of exactly these tasks.
    fn exactly(&self, tasks: &[Act]) -> Run {
        let mut run = self.execute(tasks);
        if run.tasks.len() > tasks.len() {
            // The looser rule for inputs would continue: remove its further steps.
            let mut state = self.model.clone();
            let mut failures = BTreeSet::new();
            for (task, alternative) in tasks {
                failures.extend(state.run(task, *alternative).failures);
            }
            run.tasks.truncate(tasks.len());
            run.counts.truncate(tasks.len());
            run.effects.truncate(tasks.len());
            run.enabled.truncate(tasks.len() + 1);
            run.observed = state.observe().hash();
            run.failures = failures;
        }
        run
    }
}

fn conflict(a: &Effects, b: &Effects) -> bool {
    a.accesses.iter().any(|(location, kind, _, _)| {
        b.accesses.iter().any(|(other, with, _, _)| {
            location == other && (*kind != AccessKind::Read || *with != AccessKind::Read)
        })
    })
}

fn closure(relation: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let n = relation.len();
    let mut closed = relation.to_vec();
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                closed[i][j] |= closed[i][k] && closed[k][j];
            }
        }
    }
    closed
}
