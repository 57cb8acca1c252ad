//! Which conflicts of a run can be reversed, and the sequences that reverse them.
//!
//! **Problem.** Given a run and its dependence ->, the pairs (i, j) with i before j that conflict,
//! that happens-before does not order, and that can be made adjacent; and for each the sequence in
//! which j comes before i and as little else as possible changes. **Source.** Algorithm 2 of the R4
//! paper, lines 5-7 (disabling) and 8-13 (races). **Deviations.** (1) *Relevant* is the adjacency
//! of lines 17-19, no k with i -> k -> j; section 4.4 prints a weaker test with a single covering
//! race, which contradicts section 2.1. (2) Disabled by a task means tasks other than itself:
//! `enabled(p)` without `enabled(p.i)` contains i, which has just been consumed. (3) A disabled
//! task that runs later in the sequence is moved, not doubled. **Cost.** n²/64 words for the
//! ancestors of n tasks, and their union over direct predecessors.

use super::ancestors::{Ancestors, POLLED};
use super::dependence::{Graph, sequence_part};
use super::names::{NO_TASK, NameCache, TaskId};
use super::options::Inputs;
use super::outcome::ReversalKind;
use super::queues;
use super::sabotage::Sabotage;
use super::step::Steps;
use anyorder_system::JobWatch;

/// The pair that a sequence reverses; `first` came first in the parent run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) first: TaskId,
    pub(crate) second: TaskId,
    pub(crate) kind: ReversalKind,
}

/// A sequence that reverses one pair of a run: the run up to `at`, then `window`, then the run from
/// `resume`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub(crate) pair: Pair,
    pub(crate) at: u32,
    pub(crate) window: Box<[TaskId]>,
    pub(crate) resume: u32,
    /// The task that comes before the one at `at`, with what leads to it. What comes behind it in
    /// the window may begin otherwise.
    pub(crate) leader: TaskId,
}

impl Plan {
    /// Returns the whole sequence.
    pub(crate) fn sequence<'a>(&'a self, run: &'a Steps) -> impl Iterator<Item = TaskId> + 'a {
        let start = run[..self.at as usize].iter().map(|step| step.task);
        let rest = run[self.resume as usize..].iter().map(|step| step.task);
        start.chain(self.window.iter().copied()).chain(rest)
    }

    /// Returns the hash of the sequence, given the hash of the run. Linear in the changed part.
    pub(crate) fn hash(&self, run: &Steps, run_hash: u128, name_cache: &NameCache) -> u128 {
        let (at, resume) = (self.at as usize, self.resume as usize);
        let mut hash = run_hash;
        let moved = self.window.len() != resume - at;
        let end = if moved { run.len() } else { resume };
        for (place, step) in run.iter().enumerate().take(end).skip(at) {
            hash = hash.wrapping_sub(sequence_part(name_cache, step.task, place));
        }
        let rest = run[resume..].iter().map(|step| step.task).filter(|_| moved);
        for (place, task) in (at..).zip(self.window.iter().copied().chain(rest)) {
            hash = hash.wrapping_add(sequence_part(name_cache, task, place));
        }
        hash
    }
}

/// Returns the plans of a run, sorted by the first task of the pair and then by the second, last to
/// first. Only the first `alternatives_max` alternatives of each task take part.
pub(crate) fn plans(
    steps: &Steps,
    (graph, ancestors): (&Graph, &Ancestors),
    (name_cache, inputs): (&mut NameCache, &Inputs),
    (alternatives_max, delays): (u32, bool),
    sabotage: Sabotage,
) -> Vec<Plan> {
    let mut pairs = relevant(graph, ancestors, sabotage);
    pairs.sort_unstable_by(|a, b| b.cmp(a));
    let mut pairs = pairs.into_iter().peekable();
    let disabled = disabled(steps, name_cache, inputs);
    let mut plans = Vec::new();
    let watch = JobWatch::current();
    for i in (0..steps.len()).rev() {
        if watch.check().is_err() {
            break;
        }
        while let Some((_, j)) = pairs.next_if(|(first, _)| *first == i) {
            plans.push(match graph.has_queues() {
                true => queues::reversal(steps, graph, ancestors, (i, j)),
                false => reversal(steps, ancestors, i, j),
            });
            if delays {
                plans.extend(delay(steps, (&*name_cache, inputs), i, j));
            }
        }
        plans.extend(disabled[i].iter().map(|task| enabling(steps, i, *task)));
        if sabotage != Sabotage::FirstAlternatives {
            alternatives(steps, i, name_cache, alternatives_max, &mut plans);
        }
    }
    plans
}

/// Returns the conflicts (i, j) that happens-before leaves unordered and that can be made adjacent.
pub(crate) fn relevant(
    graph: &Graph,
    ancestors: &Ancestors,
    sabotage: Sabotage,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let watch = JobWatch::current();
    for j in 0..graph.len() {
        if j % POLLED == 0 && watch.check().is_err() {
            break;
        }
        let direct = graph.before(j);
        for before in direct {
            if !before.conflict || before.by_creation || before.enables {
                continue;
            }
            let i = before.at as usize;
            // If a task lies between i and j, then i is an ancestor of a direct predecessor of j.
            let is_covered = direct.iter().any(|other| ancestors.has(i, other.at as usize));
            if !is_covered || sabotage == Sabotage::AnyConflict {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

/// The plan for a relevant conflict [R4 Alg. 2, l. 16-25]: the ancestors of j, j, i, and the rest
/// unchanged.
fn reversal(steps: &Steps, ancestors: &Ancestors, i: usize, j: usize) -> Plan {
    let between = || i + 1..j;
    let needed = between().filter(|k| ancestors.has(*k, j));
    let others = between().filter(|k| !ancestors.has(*k, j));
    let order = needed.chain([j, i]).chain(others);
    let (first, second, kind) = (steps[i].task, steps[j].task, ReversalKind::Conflict);
    let window = order.map(|k| steps[k].task).collect();
    let pair = Pair { first, second, kind };
    Plan { pair, at: place(i), window, resume: place(j + 1), leader: second }
}

/// The plan for a task i that conflicts with a later input event j, and comes not only after j but
/// after all that j leads to before the next input. Else a pair such as an old response and a newer
/// one would take two reversals where the input reads what the old response wrote. `None` if j
/// leads to nothing.
fn delay(
    steps: &Steps,
    (name_cache, inputs): (&NameCache, &Inputs),
    i: usize,
    j: usize,
) -> Option<Plan> {
    let is_input = |k: usize| inputs.is_input(name_cache.task(steps[k].task));
    if is_input(i) || !is_input(j) {
        return None;
    }
    let follows = |of: usize, k: usize| {
        let mut at = name_cache.task(steps[k].task).creator;
        while at != NO_TASK && at != steps[of].base {
            at = name_cache.task(at).creator;
        }
        at != NO_TASK
    };
    let next = (j + 1..steps.len()).find(|k| is_input(*k)).unwrap_or(steps.len());
    let last = (j + 1..next).rev().find(|k| follows(j, *k))?;
    // What follows from i comes after i.
    let stays = |k: &usize| *k != i && !follows(i, *k);
    let first = (i + 1..=j).filter(stays).chain((j + 1..=last).filter(|k| follows(j, *k)));
    let late = (i..j).filter(|k| !stays(k)).chain((j + 1..=last).filter(|k| !follows(j, *k)));
    let window = first.chain(late).map(|k| steps[k].task).collect();
    let pair = Pair { first: steps[i].task, second: steps[j].task, kind: ReversalKind::Conflict };
    Some(Plan { pair, at: place(i), window, resume: place(last + 1), leader: pair.second })
}

/// The plan for a task that another disabled [R4 Alg. 2, l. 5-7]: it comes first.
fn enabling(steps: &Steps, i: usize, task: TaskId) -> Plan {
    let later = steps[i..].iter().position(|step| step.base == task).map(|after| i + after);
    let (second, between, resume) = match later {
        Some(place) => (steps[place].task, &steps[i..place], place + 1),
        None => (task, &steps[i..i], i),
    };
    let window = std::iter::once(second).chain(between.iter().map(|step| step.task)).collect();
    let pair = Pair { first: steps[i].task, second, kind: ReversalKind::Disabling };
    Plan { pair, at: place(i), window, resume: place(resume), leader: second }
}

/// The plans for the other alternatives of a task: one of them replaces the executed alternative.
fn alternatives(
    steps: &Steps,
    i: usize,
    name_cache: &mut NameCache,
    alternatives_max: u32,
    plans: &mut Vec<Plan>,
) {
    for alternative in 0..steps[i].alternatives.min(alternatives_max) {
        let (first, second) = (steps[i].task, name_cache.alternative(steps[i].base, alternative));
        if first != second {
            let pair = Pair { first, second, kind: ReversalKind::Alternative(alternative) };
            let window = Box::new([second]);
            plans.push(Plan { pair, at: place(i), window, resume: place(i + 1), leader: second });
        }
    }
}

pub(super) fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the tasks that each step disabled: from the sets of enabled tasks where these are known,
/// else from the pending tasks that were cancelled.
fn disabled(steps: &Steps, name_cache: &NameCache, inputs: &Inputs) -> Vec<Vec<TaskId>> {
    let mut last_input = None;
    let mut by = Vec::with_capacity(steps.len());
    for step in steps {
        let is_input = inputs.is_input(name_cache.task(step.task));
        let gone = step.enabled_change.as_ref().map_or(&step.cancelled, |change| &change.closed);
        let wanted = |task: &&TaskId| {
            if !inputs.is_input(name_cache.task(**task)) {
                return **task != step.base;
            }
            // Inputs keep their order, and only recorded ones take part.
            !is_input && inputs.may_follow(last_input, **task)
        };
        by.push(gone.iter().filter(wanted).copied().collect());
        if is_input {
            last_input = Some(step.base);
        }
    }
    by
}

#[cfg(test)]
mod tests {
    use super::super::dependence::Analyzer;
    use super::super::footprint::Mode;
    use super::super::names::Names;
    use super::super::options::UserEvents;
    use super::super::step::ExecutedStep;
    use super::*;
    use crate::location_name::LocationName;
    use anyorder_system::{TaskName, TaskRole};
    use std::sync::Arc;

    /// The first sequence of the paper's example: the operations of each event on the queue. The
    /// clicks are inputs, and e2 posted e4.
    fn first_sequence(name_cache: &mut NameCache) -> Vec<Arc<ExecutedStep>> {
        let queue = name_cache.names.location(LocationName::of_class("data", "queue"));
        let stats = name_cache.names.location(LocationName::of_class("data", "stats"));
        let is_click = |name: &TaskName| ["e1", "e2"].contains(&name.to_string().as_str());
        let role = |name: &TaskName| if is_click(name) { TaskRole::Input } else { TaskRole::Task };
        let ids: Vec<TaskId> =
            (0..6).map(|i| name_cache.id(&TaskName::root(&format!("e{i}")), role)).collect();
        let name_cache = &*name_cache;
        let uses = [
            (queue, Mode::Exclusive),
            (queue, Mode::Exclusive),
            (queue, Mode::Read),
            (queue, Mode::Exclusive),
            (queue, Mode::Exclusive),
            (stats, Mode::Exclusive),
        ];
        let step = |(i, used): (usize, &(u32, Mode))| {
            let posted = if i == 2 { vec![(ids[4], true)] } else { Vec::new() };
            let (footprint, posted) = (vec![*used].into(), posted.into());
            Arc::new(ExecutedStep { footprint, posted, ..ExecutedStep::of(ids[i], name_cache) })
        };
        uses.iter().enumerate().map(step).collect()
    }

    fn all_plans(
        steps: &[Arc<ExecutedStep>],
        graph: &Graph,
        name_cache: &mut NameCache,
        inputs: &Inputs,
    ) -> Vec<Plan> {
        let ancestors = Ancestors::of(graph);
        plans(steps, (graph, &ancestors), (name_cache, inputs), (16, false), Sabotage::None)
    }

    #[test]
    fn a_task_is_delayed_beyond_what_an_input_leads_to() {
        let mut name_cache = NameCache::new(Arc::new(Names::default()));
        let shared = name_cache.names.location(LocationName::of_class("data", "state"));
        let role = |name: &TaskName| match name.depth() {
            1 => TaskRole::Input,
            _ => TaskRole::Task,
        };
        let names = ["a", "a/old", "a/old/more", "other", "b", "b/new", "c", "c/last"];
        let ids: Vec<TaskId> =
            names.iter().map(|name| name_cache.id(&name.parse().expect("a name"), role)).collect();
        let steps: Vec<Arc<ExecutedStep>> = ids
            .iter()
            .map(|id| {
                let step = ExecutedStep::of(*id, &name_cache);
                Arc::new(ExecutedStep { footprint: Box::new([(shared, Mode::Exclusive)]), ..step })
            })
            .collect();
        let inputs = Inputs::new(UserEvents::Declared);
        let delayed = |i: usize, j: usize| {
            let plan = delay(&steps, (&name_cache, &inputs), i, j)?;
            let order = plan.sequence(&steps).map(|id| name_cache.task(id).name.to_string());
            Some(order.collect::<Vec<_>>().join(" "))
        };
        let expected = "a other b b/new a/old a/old/more c c/last";
        assert_eq!(delayed(1, 4).as_deref(), Some(expected));
        assert_eq!(delayed(1, 5), None, "this is no input");
        assert_eq!(delayed(0, 4), None, "inputs keep their order");
    }

    #[test]
    fn the_sets_of_the_first_sequence() {
        let mut name_cache = NameCache::new(Arc::new(Names::default()));
        let steps = first_sequence(&mut name_cache);
        let inputs = Inputs::new(UserEvents::Declared);
        let graph = Analyzer::default().graph(&steps, &name_cache, &inputs);
        let show = |plan: &Plan, name_cache: &NameCache| {
            let tasks = plan.sequence(&steps).skip(plan.at as usize);
            let words: Vec<String> = tasks.map(|id| name_cache.task(id).name.to_string()).collect();
            let [first, second] =
                [plan.pair.first, plan.pair.second].map(|id| name_cache.task(id).name.clone());
            format!("s{}: {} <{first},{second}>", plan.at, words.join(" "))
        };
        let found = all_plans(&steps, &graph, &mut name_cache, &inputs);
        let shown: Vec<String> = found.iter().map(|plan| show(plan, &name_cache)).collect();
        // <e0,e3> is a race, too. No single race covers it, but the chain e0 -> e1 -> e2 -> e3
        // does.
        let expected =
            ["s3: e4 e3 e5 <e3,e4>", "s2: e3 e2 e4 e5 <e2,e3>", "s0: e1 e0 e2 e3 e4 e5 <e0,e1>"];
        assert_eq!(shown, expected);
        // The hash of a plan follows from its changed part.
        let parts = |tasks: &mut dyn Iterator<Item = TaskId>| {
            let parts = tasks.enumerate().map(|(at, task)| sequence_part(&name_cache, task, at));
            parts.fold(0, u128::wrapping_add)
        };
        let run_hash = parts(&mut steps.iter().map(|step| step.task));
        for plan in &found {
            assert_eq!(plan.hash(&steps, run_hash, &name_cache), parts(&mut plan.sequence(&steps)));
        }
    }

    #[test]
    fn a_disabled_task_comes_first_and_once() {
        let mut name_cache = NameCache::new(Arc::new(Names::default()));
        let mut steps = first_sequence(&mut name_cache);
        let e5 = steps[5].task;
        let other = name_cache.id(&TaskName::root("other"), |_| TaskRole::Task);
        let cancels = |step: &ExecutedStep, task| ExecutedStep {
            cancelled: vec![task].into(),
            ..step.clone()
        };
        steps[3] = Arc::new(cancels(&steps[3], e5));
        steps[4] = Arc::new(cancels(&steps[4], other));
        let inputs = Inputs::new(UserEvents::Declared);
        let graph = Analyzer::default().graph(&steps, &name_cache, &inputs);
        let found = all_plans(&steps, &graph, &mut name_cache, &inputs);
        let run_hash = super::super::dependence::sequence_hash(&name_cache, &steps);
        let tasks = |plan: &Plan| plan.sequence(&steps).collect::<Vec<_>>();
        let of = |task| {
            let is_it = |plan: &&Plan| {
                plan.pair.kind == ReversalKind::Disabling && plan.pair.second == task
            };
            found.iter().find(is_it).unwrap()
        };
        let e: Vec<TaskId> = steps.iter().map(|step| step.task).collect();
        assert_eq!(tasks(of(e5)), [e[0], e[1], e[2], e5, e[3], e[4]]);
        assert_eq!(tasks(of(other)), [e[0], e[1], e[2], e[3], other, e[4], e5]);
        for plan in &found {
            let parts = tasks(plan).into_iter().enumerate();
            let sum = parts.fold(super::super::dependence::mix(0), |sum, (at, task)| {
                sum.wrapping_add(sequence_part(&name_cache, task, at))
            });
            assert_eq!(plan.hash(&steps, run_hash, &name_cache), sum);
        }
    }
}
