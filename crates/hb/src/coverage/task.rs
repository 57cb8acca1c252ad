//! Coverage at task level.
//!
//! **Idea.** Tasks are taken in the order of their first events. For each, a clock says which tasks lead
//! to it: its direct predecessors are, on each chain, the last task that happens-before puts before its end,
//! and the tasks it races with; a race with `A` is covered exactly if some direct predecessor is led to from
//! `A`. Tasks of several strands (a looper's own code) have a chain of their own in these clocks.
//!
//! **Cost.** For each task O(chains) look-ups, and a join for each predecessor that no other one leads to.

use super::{Uncovered, by_tasks};
use crate::engine::Engine;
use crate::races::Races;
use crate::strands::StrandId;
use anyorder_order::{ChainId, Clock};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};

struct Tasks<'e, 't> {
    engine: &'e Engine<'t>,
    /// The clocks at the ends of strands.
    ends: &'e [Clock],
    /// The own chains of tasks of several strands.
    own_chain: FxHashMap<TaskId, ChainId>,
    /// Which tasks lead to each task.
    led_by: Vec<Clock>,
}

/// Counts the uncovered pairs of accesses in each racing pair of runs. `ends` are the clocks at the ends of strands.
///
/// # Errors
///
/// Fails when it was cancelled.
pub(crate) fn task_coverage(
    engine: &Engine<'_>,
    races: &Races,
    ends: &[Clock],
    cancel: &Cancel,
) -> Result<Uncovered, Stopped> {
    let racing = racing_tasks(engine, races);
    let mut uncovered: FxHashSet<(TaskId, TaskId)> = FxHashSet::default();
    if !racing.is_empty() {
        let order = engine.nodes();
        let last = racing.iter().map(|(_, b)| engine.node_first(*b)).max();
        let mut tasks = Tasks::new(engine, ends);
        let mut next = 0;
        for (i, &task) in order.iter().enumerate() {
            if i % 1024 == 0 {
                cancel.check()?;
            }
            if Some(engine.node_first(task)) > last {
                break;
            }
            let start = next;
            while next < racing.len() && racing[next].1 == task {
                next += 1;
            }
            let rivals: Vec<TaskId> = racing[start..next].iter().map(|(a, _)| *a).collect();
            tasks.add(task, &rivals, &mut uncovered);
        }
    }
    Ok(by_tasks(races, |a, b| {
        let (a, b) = (engine.node_of(races.run(a)), engine.node_of(races.run(b)));
        uncovered.contains(&in_order(engine, a, b))
    }))
}

/// Puts the task that begins first first.
pub(super) fn in_order(engine: &Engine<'_>, a: TaskId, b: TaskId) -> (TaskId, TaskId) {
    if engine.node_first(a) <= engine.node_first(b) { (a, b) } else { (b, a) }
}

/// Returns the distinct pairs of tasks that race, by the one that begins later.
pub(super) fn racing_tasks(engine: &Engine<'_>, races: &Races) -> Vec<(TaskId, TaskId)> {
    let pairs: FxHashSet<(TaskId, TaskId)> = races
        .pairs
        .iter()
        .map(|(a, b)| in_order(engine, engine.node_of(races.run(*a)), engine.node_of(races.run(*b))))
        .filter(|(a, b)| a != b)
        .collect();
    #[expect(clippy::iter_over_hash_type, reason = "sorted right below")]
    let mut pairs: Vec<(TaskId, TaskId)> = pairs.into_iter().collect();
    let first = |task: TaskId| engine.node_first(task);
    pairs.sort_by_key(|(a, b)| (first(*b), first(*a)));
    pairs
}

impl<'e, 't> Tasks<'e, 't> {
    fn new(engine: &'e Engine<'t>, ends: &'e [Clock]) -> Tasks<'e, 't> {
        let several = engine
            .trace
            .task_ids()
            .filter(|task| engine.strands.of_task(*task).count() > 1)
            .enumerate()
            .map(|(i, task)| (task, ChainId((engine.chains.len() + i) as u32)))
            .collect();
        Tasks {
            engine,
            ends,
            own_chain: several,
            led_by: vec![Clock::new(); engine.trace.tasks_count()],
        }
    }

    /// The chain and position of a task in `led_by` clocks.
    fn position(&self, task: TaskId) -> (ChainId, u32) {
        let value = self.engine.node_first(task).0 + 1;
        match self.own_chain.get(&task) {
            Some(chain) => (*chain, value),
            None => {
                let strand = self.engine.strands.of_task(task).next();
                (strand.map_or(ChainId(0), |strand| self.engine.chains.of(strand)), value)
            }
        }
    }

    fn leads(&self, clock: &Clock, task: TaskId) -> bool {
        let (chain, value) = self.position(task);
        clock.get(chain) >= value
    }

    fn add(
        &mut self,
        task: TaskId,
        rivals: &[TaskId],
        uncovered: &mut FxHashSet<(TaskId, TaskId)>,
    ) {
        let mut direct = self.before(task);
        direct.extend_from_slice(rivals);
        let first = |task: &TaskId| self.engine.node_first(*task);
        direct.sort_by_key(|task| std::cmp::Reverse(first(task)));
        direct.dedup();
        let mut between = Clock::new();
        for predecessor in &direct {
            if !self.leads(&between, *predecessor) {
                between.join(&self.led_by[predecessor.index()]);
            }
        }
        for rival in rivals {
            if !self.leads(&between, *rival) {
                uncovered.insert((*rival, task));
            }
        }
        for predecessor in &direct {
            let (chain, value) = self.position(*predecessor);
            between.raise(chain, value);
        }
        self.led_by[task.index()] = between;
    }

    /// Finds, on each chain, the last task that begins before `task` and of which some event happens before one of it.
    fn before(&self, task: TaskId) -> Vec<TaskId> {
        let begins = self.engine.node_first(task);
        let mut found = Vec::new();
        for strand in self.engine.strands.of_task(task) {
            for (i, value) in self.ends[strand.index()].as_slice().iter().enumerate() {
                if *value > 0 {
                    self.last_on(ChainId(i as u32), *value, begins, task, &mut found);
                }
            }
            self.own_chain_before(strand, task, &mut found);
        }
        found
    }

    fn last_on(
        &self,
        chain: ChainId,
        value: u32,
        begins: EventId,
        task: TaskId,
        found: &mut Vec<TaskId>,
    ) {
        let strands = self.engine.chains.strands_of(chain);
        let known = strands.partition_point(|s| self.engine.strands.get(*s).first.0 < value);
        for strand in strands[..known].iter().rev() {
            let other = self.engine.strands.get(*strand).task;
            if other != task && self.engine.node_first(other) < begins {
                found.push(other);
                let alone = self.engine.strands.get(strands[0]).task == other;
                if alone || !self.own_chain.contains_key(&other) {
                    break;
                }
            }
        }
    }

    /// The task before a strand on its own chain.
    fn own_chain_before(&self, strand: StrandId, task: TaskId, found: &mut Vec<TaskId>) {
        let first = self.engine.strands.get(strand).first;
        let chain = self.engine.chains.of(strand);
        self.last_on(chain, first.0, self.engine.node_first(task), task, found);
    }
}
