//! Coverage at task level.
//!
//! **Idea.** The algorithm processes tasks in the order of their first events. A clock for each
//! task gives the tasks that lead to it. The direct predecessors of a task are the tasks that it
//! races with and, on each chain, the last task with an event that happens before one of its own. A
//! race with `A` is covered exactly if `A` leads to some direct predecessor. Tasks of several
//! strands (a looper's own code) have a chain of their own in these clocks. Bursts without accesses
//! are not tasks here.
//!
//! **Cost.** For each task, one step for each chain in the clock of its end, and a join for each
//! predecessor that no other predecessor leads to. The posting task comes first, because it leads
//! to most of the others.

use super::TaskPair;
use crate::relation::engine::Engine;
use crate::relation::pass::Ends;
use crate::relation::state::Clocks;
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, TaskId, TaskKind};
use rustc_hash::{FxHashMap, FxHashSet};

struct Tasks<'e, 't> {
    engine: &'e Engine<'t>,
    ends: &'e Ends,
    /// The own chains of tasks of several strands.
    own_chain: FxHashMap<TaskId, ChainId>,
    /// For each task, whether it counts. Bursts without accesses do not.
    counts: Vec<bool>,
    /// The first event of each task.
    first_of: Vec<EventId>,
    clocks: Clocks,
    /// For each task, the clock of the tasks that lead to it.
    led_by: Vec<ClockRef>,
    /// For each task, the chains on which the last task that it knows began later.
    late: Vec<Vec<ChainId>>,
}

/// Finds the uncovered pairs among the pairs of tasks that race.
pub(super) fn task_coverage(
    engine: &Engine<'_>,
    racing: &[TaskPair],
    ends: &Ends,
    cancel: &Cancel,
) -> Result<FxHashSet<TaskPair>, Stopped> {
    let mut uncovered = FxHashSet::default();
    let Some(last) = racing.iter().map(|(_, b)| engine.node_first(*b)).max() else {
        return Ok(uncovered);
    };
    let mut tasks = Tasks::new(engine, ends);
    let mut next = 0;
    for (i, task) in engine.nodes().into_iter().enumerate() {
        if i % 64 == 0 {
            cancel.check()?;
            tasks.compact();
        }
        if engine.node_first(task) > last {
            break;
        }
        let start = next;
        while next < racing.len() && racing[next].1 == task {
            next += 1;
        }
        if tasks.counts[task.index()] {
            let rivals: Vec<TaskId> = racing[start..next].iter().map(|(a, _)| *a).collect();
            tasks.add(task, &rivals, &mut uncovered);
        }
    }
    Ok(uncovered)
}

impl<'e, 't> Tasks<'e, 't> {
    fn new(engine: &'e Engine<'t>, ends: &'e Ends) -> Tasks<'e, 't> {
        let trace = engine.trace;
        let own_chain = trace
            .task_ids()
            .filter(|task| engine.strands.of_task(*task).count() > 1)
            .enumerate()
            .map(|(i, task)| (task, ChainId((engine.chains.len() + i) as u32)))
            .collect();
        let kind = |task: TaskId| trace.tables().tasks[task.index()].kind;
        let mut counts: Vec<bool> =
            trace.task_ids().map(|task| kind(task) != TaskKind::Burst).collect();
        for event in trace.events().filter(|event| event.kind().is_access()) {
            counts[event.task.index()] = true;
        }
        Tasks {
            engine,
            ends,
            own_chain,
            counts,
            first_of: trace.task_ids().map(|task| engine.node_first(task)).collect(),
            clocks: Clocks::new(None),
            led_by: vec![ClockRef::EMPTY; trace.tasks_count()],
            late: vec![Vec::new(); trace.tasks_count()],
        }
    }

    fn compact(&mut self) {
        if self.clocks.wants_compaction() {
            self.clocks.compact(&mut self.led_by);
        }
    }

    /// Returns the chain and position of a task in `led_by` clocks.
    fn position(&self, task: TaskId) -> (ChainId, u32) {
        let value = self.first_of[task.index()].0 + 1;
        match self.own_chain.get(&task) {
            Some(chain) => (*chain, value),
            None => {
                let strand = self.engine.strands.of_task(task).next();
                (strand.map_or(ChainId(0), |strand| self.engine.chains.of(strand)), value)
            }
        }
    }

    fn leads(&self, clock: ClockRef, task: TaskId) -> bool {
        let (chain, value) = self.position(task);
        self.clocks.get(clock, chain) >= value
    }

    fn add(&mut self, task: TaskId, rivals: &[TaskId], uncovered: &mut FxHashSet<TaskPair>) {
        let mut direct: FxHashSet<TaskId> = FxHashSet::default();
        let mut between = ClockRef::EMPTY;
        let base = self.base(task);
        if let Some(base) = base {
            between = self.led_by[base.index()];
            direct.insert(base);
        }
        let mut found = self.before(task, between, base);
        found.extend_from_slice(rivals);
        // The last ones first, since others lead to them.
        found.sort_by_key(|predecessor| std::cmp::Reverse(self.first_of[predecessor.index()]));
        for predecessor in found {
            if !self.leads(between, predecessor) && direct.insert(predecessor) {
                let led_by = self.led_by[predecessor.index()];
                between = self.clocks.join(between, led_by);
            }
        }
        for rival in rivals {
            if !self.leads(between, *rival) {
                uncovered.insert((*rival, task));
            }
        }
        let mut direct: Vec<TaskId> = direct.into_iter().collect();
        direct.sort_unstable();
        for predecessor in direct {
            let (chain, value) = self.position(predecessor);
            between = self.clocks.raise(between, chain, value);
        }
        self.led_by[task.index()] = between;
    }

    /// Returns a task that leads to a task of one strand and to most of its predecessors: its
    /// poster, or the previous task on its chain.
    fn base(&self, task: TaskId) -> Option<TaskId> {
        let mut strands = self.engine.strands.of_task(task);
        let strand = strands.next().filter(|_| strands.next().is_none())?;
        self.poster(task)
            .or_else(|| self.own_chain_before(strand, self.first_of[task.index()], task))
            .filter(|base| !self.own_chain.contains_key(base))
    }

    /// Returns the task that posted a task, if the poster began before it and counts.
    fn poster(&self, task: TaskId) -> Option<TaskId> {
        let span = self.engine.trace.span(task);
        if !self.engine.rules.reorders_tasks() || span.get.is_none() {
            return None;
        }
        let poster = self.engine.trace.event(span.post.some()?).task;
        let first = self.first_of[poster.index()];
        (self.counts[poster.index()] && first < span.first && span.post < span.get)
            .then_some(poster)
    }

    /// Finds, on each chain, the last task that begins before `task` and has an event that happens
    /// before one of `task`, unless it is in `known` or is `base`. Tasks in the clock of the end of
    /// `base` lead to `base` and are skipped, except those that began later.
    fn before(&mut self, task: TaskId, known: ClockRef, base: Option<TaskId>) -> Vec<TaskId> {
        let begins = self.first_of[task.index()];
        let (mut found, mut late) = (Vec::new(), Vec::new());
        let mut look = |chain: ChainId, value: u32| {
            let (other, is_late) = self.last_on(chain, value, begins, task);
            if is_late {
                late.push(chain);
            }
            if let Some(other) = other
                && Some(other) != base
                && !self.leads(known, other)
            {
                found.push(other);
            }
        };
        for strand in self.engine.strands.of_task(task) {
            let end = self.ends.of_strand[strand.index()];
            let base_strand = base.and_then(|base| self.engine.strands.of_task(base).next());
            if let (Some(base), Some(base_strand)) = (base, base_strand) {
                for &chain in &self.late[base.index()] {
                    look(chain, self.ends.clocks.get(end, chain));
                }
                let than = self.ends.of_strand[base_strand.index()];
                self.ends.clocks.store.for_each_above(end, than, &mut look);
            } else {
                self.ends.clocks.store.for_each(end, &mut look);
            }
        }
        for strand in self.engine.strands.of_task(task) {
            found.extend(self.own_chain_before(strand, begins, task));
        }
        late.sort_unstable();
        late.dedup();
        self.late[task.index()] = late;
        found
    }

    /// Returns the last task on a chain that has an event below `value`, begins before `begins`,
    /// and counts. Also returns whether a task after it began later.
    fn last_on(
        &self,
        chain: ChainId,
        value: u32,
        begins: EventId,
        task: TaskId,
    ) -> (Option<TaskId>, bool) {
        let known = self.engine.begun_on(chain, value).iter().rev();
        let mut late = false;
        let other = known.map(|s| self.engine.strands.get(*s).task).find(|other| {
            let is_late = self.first_of[other.index()] >= begins;
            late |= is_late;
            *other != task && !is_late && self.counts[other.index()]
        });
        (other, late)
    }

    /// Returns the task before a strand on its own chain.
    fn own_chain_before(&self, strand: StrandId, begins: EventId, task: TaskId) -> Option<TaskId> {
        let first = self.engine.strands.get(strand).first;
        if !self.engine.chains.is_placed(strand) {
            return None;
        }
        self.last_on(self.engine.chains.of(strand), first.0, begins, task).0
    }
}
