//! Swaps of tasks that share no reported location.
//!
//! **Problem.** The exploration trusts the accesses that a program reports: tasks without a
//! conflict are not reversed. A program that leaves out a variable hides every bug of it.
//! **Method.** Pairs of tasks of a run that its dependence leaves unordered are run in the other
//! order; all other tasks keep theirs. If that makes a difference, the swap is narrowed down to two
//! neighbours: the order is changed step by step, and bisection finds the step that makes the
//! difference. **Guarantee.** A difference that repeats shows that the program does not report all
//! that its tasks share (rule 5 of `docs/pipe-protocol.md`). No difference shows nothing about
//! other pairs. **Cost.** One run a swap, and the logarithm of a run's length for each difference.
//! The pairs are all pairs of the recording, or so many random ones of it.

use super::ancestors::Ancestors;
use super::candidate::Candidate;
use super::confirm::confirm;
use super::dependence::sequence_hash;
use super::explore::Exploration;
use super::names::TaskId;
use super::outcome::{Limit, ReversalKind};
use super::pool::{Answer, Job};
use super::reversal::Pair;
use super::run_records::Node;
use super::step::{ExecutedStep, Steps};
use super::store::RunId;
use super::verdict::Verdict;
use anyorder_common::random::{Random, SplitMix64};
use anyorder_system::Observation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most differences that are narrowed down.
const FOUND_MAX: usize = 16;

/// A run of a swapped order.
struct Swapped {
    steps: Vec<Arc<ExecutedStep>>,
    skipped: Vec<TaskId>,
    observation: Observation,
}

impl Exploration<'_> {
    /// Swaps tasks of the recording that do not depend on each other.
    pub(crate) fn swaps(&mut self) {
        if self.options.swaps.count == 0 || self.records.nodes[0].cut || self.is_stopped() {
            return;
        }
        let steps = self.records.store.steps(0);
        if !self.has_room(Ancestors::memory_bytes(steps.len())) {
            return;
        }
        let ancestors = Ancestors::of(&self.graph(&steps));
        let mut found = Vec::new();
        let mut named: FxHashSet<(TaskId, TaskId)> = FxHashSet::default();
        for (i, j) in self.pairs(&steps, &ancestors) {
            if found.len() >= FOUND_MAX {
                break;
            }
            let moves = Moves::of(&ancestors, i, j);
            let Some(swapped) = self.swap(&steps, &moves.order(moves.len())) else { break };
            if self.differs(&steps, &swapped) {
                found.extend(self.narrowed(&steps, &moves, swapped, &mut named));
            }
        }
        confirm(self, &found);
    }

    /// The independent pairs of a run: all of them, or so many random ones. Neighbours come first.
    fn pairs(&self, steps: &Steps, ancestors: &Ancestors) -> Vec<(usize, usize)> {
        let most = usize::try_from(self.options.swaps.count).unwrap_or(usize::MAX);
        let mut pairs = Vec::new();
        for j in 0..steps.len() {
            pairs.extend((0..j).rev().filter(|i| !ancestors.has(*i, j)).map(|i| (i, j)));
        }
        let mut random = SplitMix64(self.options.swaps.seed);
        for at in 0..pairs.len().min(most) {
            let other = at + random.index(pairs.len() - at);
            pairs.swap(at, other);
        }
        pairs.truncate(most);
        pairs.sort_by_key(|(i, j)| (j - i, *i));
        pairs
    }

    /// Runs the recorded tasks in another order; `None` if the exploration has to end.
    fn swap(&mut self, steps: &Steps, order: &[usize]) -> Option<Swapped> {
        let runs = self.records.counts.runs();
        if !self.goes_on(runs) {
            return None;
        }
        if runs >= self.planned_max() {
            self.records.limits.insert(Limit::Executions);
            return None;
        }
        self.records.counts.swaps += 1;
        let shared = order.iter().enumerate().take_while(|(at, place)| at == *place).count();
        let rest = order[shared..].iter().map(|place| steps[*place].task).collect();
        let candidates = vec![(0, Candidate { shared, rest, asleep: Vec::new() })];
        let job = Job {
            run: 0,
            parent: Arc::new(steps.to_vec()),
            candidates,
            ask: false,
            repeats: false,
        };
        match self.execute(vec![job]).pop() {
            Some(Answer { result: Ok(ran), .. }) => {
                let whole = steps[..shared].iter().chain(&ran.steps).cloned().collect();
                Some(Swapped { steps: whole, skipped: ran.skipped, observation: ran.observation })
            }
            // A lost run shows nothing.
            Some(Answer { result: Err(_), .. }) | None => (!self.is_ended()).then(|| Swapped {
                steps: steps.to_vec(),
                skipped: Vec::new(),
                observation: self.records.observation(0).1.as_ref().clone(),
            }),
        }
    }

    /// Whether an order of the recorded tasks ended otherwise than the recording.
    fn differs(&self, steps: &Steps, swapped: &Swapped) -> bool {
        swapped.observation.hash() != self.records.observation(0).0
            || failures(steps) != failures(&swapped.steps)
    }

    /// Finds two neighbours whose swap makes the difference. Records the runs with both orders;
    /// returns the later one.
    fn narrowed(
        &mut self,
        steps: &Steps,
        moves: &Moves,
        last: Swapped,
        named: &mut FxHashSet<(TaskId, TaskId)>,
    ) -> Option<RunId> {
        let (mut same, mut other) = (0, moves.len());
        let mut runs: FxHashMap<usize, Swapped> = FxHashMap::default();
        runs.insert(other, last);
        while other - same > 1 {
            let middle = usize::midpoint(same, other);
            let swapped = self.swap(steps, &moves.order(middle))?;
            if self.differs(steps, &swapped) {
                other = middle
            } else {
                same = middle
            };
            runs.insert(middle, swapped);
        }
        let (before, after) = (moves.order(same), moves.order(other));
        let at = before.iter().zip(&after).position(|(a, b)| a != b)?;
        let (first, second) = (steps[before[at]].task, steps[after[at]].task);
        let key = (first.min(second), first.max(second));
        if !named.insert(key) {
            return None;
        }
        let pair = Pair { first, second, kind: ReversalKind::Unreported };
        let parent = match runs.remove(&same) {
            Some(swapped) => self.note_swapped(steps, swapped, (0, None)),
            None => 0,
        };
        let swapped = runs.remove(&other)?;
        let id = self.note_swapped(steps, swapped, (parent, Some(pair)));
        self.compare_with_parent(id);
        let comparison = self.records.nodes[id as usize].comparison.as_mut()?;
        let differs = !matches!(
            comparison.verdict,
            Verdict::Equivalent | Verdict::Bookkeeping | Verdict::Timers
        );
        if differs {
            comparison.verdict = Verdict::Different;
        }
        differs.then_some(id)
    }

    /// Records a run of a swapped order.
    fn note_swapped(
        &mut self,
        recorded: &Steps,
        swapped: Swapped,
        (parent, pair): (RunId, Option<Pair>),
    ) -> RunId {
        let Swapped { steps, skipped, observation } = swapped;
        let node = Node {
            parent: Some(parent),
            pair,
            depth: 1,
            sequence_hash: sequence_hash(&self.name_cache, &steps),
            observation: self.records.observations.add(observation),
            ..Node::default()
        };
        let class = self.class(&steps);
        let planned: FxHashSet<TaskId> = recorded.iter().map(|step| step.task).collect();
        self.records.add(node, class, (&steps, None), (&planned, &skipped))
    }
}

/// The failures of a run, sorted.
fn failures(steps: &Steps) -> Vec<String> {
    let mut failures: Vec<String> =
        steps.iter().flat_map(|step| step.failures.iter().map(ToString::to_string)).collect();
    failures.sort();
    failures
}

/// The way from a run to the order in which j, with the tasks between that it needs, comes before
/// i. Each move exchanges two neighbours that do not depend on each other.
struct Moves {
    length: usize,
    /// The positions of the later ones of the two neighbours.
    from: Vec<usize>,
}

impl Moves {
    fn of(ancestors: &Ancestors, i: usize, j: usize) -> Moves {
        let needed = (i + 1..=j).filter(|k| *k == j || ancestors.has(*k, j));
        // The k-th needed task leaves its place, where those before it have not changed anything.
        let from = (i..).zip(needed).flat_map(|(to, place)| (to + 1..=place).rev());
        Moves { length: ancestors.len(), from: from.collect() }
    }

    fn len(&self) -> usize {
        self.from.len()
    }

    /// The order after so many moves, as positions in the run.
    fn order(&self, moves: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.length).collect();
        self.from[..moves].iter().for_each(|from| order.swap(from - 1, *from));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::super::dependence::Analyzer;
    use super::super::names::{NameCache, Names};
    use super::super::options::{Inputs, UserEvents};
    use super::*;
    use anyorder_system::{TaskName, TaskRole};

    #[test]
    fn needed_tasks_move_one_place_at_a_time() {
        let mut names = NameCache::new(Arc::new(Names::default()));
        let ids: Vec<TaskId> = ["a", "b", "c", "d", "e"]
            .map(|name| names.id(&TaskName::root(name), |_| TaskRole::Task))
            .to_vec();
        let step = |at: usize, names: &NameCache| ExecutedStep::of(ids[at], names);
        let mut steps: Vec<ExecutedStep> = (0..5).map(|at| step(at, &names)).collect();
        // c posts e.
        steps[2].posted = vec![(ids[4], false)].into();
        let steps: Vec<Arc<ExecutedStep>> = steps.into_iter().map(Arc::new).collect();
        let inputs = Inputs::new(UserEvents::None);
        let graph = Analyzer::default().graph(&steps, &names, &inputs);
        let moves = Moves::of(&Ancestors::of(&graph), 1, 4);
        let orders: Vec<Vec<usize>> = (0..=moves.len()).map(|count| moves.order(count)).collect();
        let expected: [&[usize]; 4] =
            [&[0, 1, 2, 3, 4], &[0, 2, 1, 3, 4], &[0, 2, 1, 4, 3], &[0, 2, 4, 1, 3]];
        assert_eq!(orders, expected);
    }
}
