//! Which tasks of a run must stay in order: the dependence of the run.
//!
//! **Problem.** Given the steps of a run, the relation -> : the transitive closure of
//! happens-before and of all conflicts, taken in the order of the run. Happens-before is: creator
//! to created, the order of input events, and what enabled a task to that task. **Source.**
//! Definition 2 of the R4 paper (Jensen, Møller, Raychev, Dimitrov, Vechev: Stateless Model
//! Checking of Event-Driven Applications). **Guarantee.** The closure of the direct predecessors is
//! exactly ->. **Naive version**: compare all pairs; it is in `tests/r4/naive`. **Method.** The
//! uses of a location fall into groups of equal modes ([`Mode`]); a use conflicts with all of the
//! group before its own, and earlier uses are reached through that group. **Cost.** Linear in the
//! accesses and the direct pairs; a location that m tasks read before and n after one write gives
//! m + n pairs.
//!
//! **Queues.** A task may wait for another one of its queue only because it was posted later. That
//! does not order the two if the tasks that posted them have no order: then the posts can come in
//! the other order, too. With queues, the closure is kept while the run is read: n²/64 words.

use super::ancestors::Ancestors;
use super::footprint::Mode;
use super::names::{NO_TASK, NameCache, TaskId};
use super::options::Inputs;
use super::sabotage::Sabotage;
use super::step::Steps;

/// A direct predecessor of a task, by its position in the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Predecessor {
    pub(crate) at: u32,
    /// Both use a location, and the uses conflict.
    pub(crate) conflict: bool,
    /// The predecessor created the task, or both are inputs.
    pub(crate) by_creation: bool,
    /// The predecessor enabled the task.
    pub(crate) enables: bool,
}

/// The place of a task of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    /// The position of the task that posted it.
    pub(crate) poster: u32,
    pub(crate) queue: u64,
    pub(crate) delay: u64,
}

impl Queued {
    /// Returns whether it waits for another task that is posted before it.
    pub(crate) fn waits_for(&self, earlier: &Queued) -> bool {
        earlier.queue == self.queue && earlier.delay <= self.delay
    }
}

/// The direct predecessors of each task of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    ends: Vec<u32>,
    before: Vec<Predecessor>,
    /// For each task, its place in a queue; empty if no task has one.
    queued: Vec<Option<Queued>>,
}

impl Graph {
    /// Returns the number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether some task waits in a queue.
    pub(crate) fn has_queues(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Returns the place in a queue of the task at a position.
    pub(crate) fn queued(&self, at: usize) -> Option<Queued> {
        self.queued.get(at).copied().flatten()
    }

    /// Returns the direct predecessors of the task at a position, by position.
    pub(crate) fn before(&self, at: usize) -> &[Predecessor] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.before[start..self.ends[at] as usize]
    }
}

/// Computes graphs. Its tables are reused from run to run.
#[derive(Debug, Default)]
pub(crate) struct Analyzer {
    round: u32,
    locations: Vec<Location>,
    /// For each task, positions and the round in which they are valid.
    tasks: Vec<Task>,
    found: Vec<Predecessor>,
    /// For the part of the run that was read, if it has queues.
    reached: Ancestors,
    pub(crate) sabotage: Sabotage,
}

#[derive(Clone, Debug, Default)]
struct Location {
    round: u32,
    mode: Option<Mode>,
    /// The current group, and the group before it.
    group: Vec<u32>,
    previous: Vec<u32>,
}

const NEVER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Task {
    round: u32,
    ran: u32,
    poster: u32,
    opener: u32,
    queue: Option<(u64, u64)>,
}

impl Default for Task {
    fn default() -> Task {
        Task { round: 0, ran: NEVER, poster: NEVER, opener: NEVER, queue: None }
    }
}

impl Analyzer {
    /// Computes the graph of a run.
    pub(crate) fn graph(&mut self, steps: &Steps, names: &NameCache, inputs: &Inputs) -> Graph {
        self.round += 1;
        self.tasks.resize(names.len().max(self.tasks.len()), Task::default());
        let has_queues = steps.iter().any(|step| !step.queued.is_empty());
        self.reached.reset(if has_queues { steps.len() } else { 0 });
        let mut graph = Graph { ends: Vec::with_capacity(steps.len()), ..Graph::default() };
        let mut last_input = NEVER;
        for (at, step) in (0..).zip(steps) {
            self.found.clear();
            let info = names.task(step.task);
            let own = self.task(step.base);
            let (poster, opener, queue) = (own.poster, own.opener, own.queue);
            own.ran = at;
            if has_queues {
                let place = queue.filter(|_| poster != NEVER);
                graph.queued.push(place.map(|(queue, delay)| Queued { poster, queue, delay }));
            }
            if opener != NEVER && !self.is_by_posts(&graph, opener, at) {
                self.found.push(Predecessor {
                    at: opener,
                    enables: true,
                    ..Predecessor::default()
                });
            }
            if self.sabotage != Sabotage::NoCreation {
                self.add_creator(poster);
                // If the creator's step does not list the task, the creator is known from the
                // task's name.
                if info.creator != NO_TASK {
                    let creator = self.task(info.creator).ran;
                    self.add_creator(creator);
                }
            }
            if inputs.is_input(info) {
                self.add_creator(last_input);
                last_input = at;
            }
            for (location, mode) in &step.footprint {
                self.access(at, *location, *mode);
            }
            self.finish(&mut graph);
            self.reached.add(graph.before(at as usize));
            for (posted, _) in &step.posted {
                self.task(*posted).poster = at;
            }
            for (posted, queue, delay) in &step.queued {
                self.task(*posted).queue = Some((*queue, *delay));
            }
            for enables in step.enabled_change.iter().flat_map(|change| &change.enables) {
                self.task(*enables).opener = at;
            }
        }
        graph
    }

    fn task(&mut self, id: TaskId) -> &mut Task {
        let index = id as usize;
        if index >= self.tasks.len() {
            self.tasks.resize(index + 1, Task::default());
        }
        let task = &mut self.tasks[index];
        if task.round != self.round {
            *task = Task { round: self.round, ..Task::default() };
        }
        task
    }

    /// Returns whether a task waited for another one of its queue only because the two were posted
    /// in this order, by tasks that have none.
    fn is_by_posts(&self, graph: &Graph, opener: u32, at: u32) -> bool {
        let (first, second) = (graph.queued(opener as usize), graph.queued(at as usize));
        let (Some(first), Some(second)) = (first, second) else { return false };
        let are_fixed = self.sabotage == Sabotage::FixedQueues;
        first.queue == second.queue
            && first.poster != second.poster
            && !are_fixed
            && !self.reached.has(first.poster as usize, second.poster as usize)
    }

    /// Adds a task that created this one, or the input before it, if it ran.
    fn add_creator(&mut self, at: u32) {
        if at != NEVER {
            self.found.push(Predecessor { at, by_creation: true, ..Predecessor::default() });
        }
    }

    fn access(&mut self, at: u32, id: u32, mode: Mode) {
        let index = id as usize;
        if index >= self.locations.len() {
            self.locations.resize(index + 1, Location::default());
        }
        let location = &mut self.locations[index];
        if location.round != self.round {
            location.round = self.round;
            location.mode = None;
            location.group.clear();
            location.previous.clear();
        }
        if !location.mode.is_some_and(|group| group.commutes_with(mode)) {
            std::mem::swap(&mut location.previous, &mut location.group);
            location.group.clear();
            location.mode = Some(mode);
        }
        location.group.push(at);
        let conflict = |at: &u32| Predecessor { at: *at, conflict: true, ..Predecessor::default() };
        self.found.extend(location.previous.iter().map(conflict));
    }

    /// Sorts the direct predecessors of one task, and merges the entries of one predecessor.
    fn finish(&mut self, graph: &mut Graph) {
        self.found.sort_unstable_by_key(|before| before.at);
        let start = graph.before.len();
        for before in &self.found {
            match graph.before[start..].last_mut() {
                Some(last) if last.at == before.at => {
                    last.conflict |= before.conflict;
                    last.by_creation |= before.by_creation;
                    last.enables |= before.enables;
                }
                _ => graph.before.push(*before),
            }
        }
        graph.ends.push(u32::try_from(graph.before.len()).unwrap_or(u32::MAX));
    }
}

/// Returns a hash of the class of a run. Runs that differ only in the order of independent tasks
/// have the same hash; other runs have another one, except for collisions. The hash leaves out
/// which task enabled which, because not every run records that.
pub(crate) fn class(graph: &Graph, steps: &Steps, name_cache: &NameCache) -> u128 {
    let mut hashes: Vec<u128> = Vec::with_capacity(graph.len());
    let mut sum = 0u128;
    for (at, step) in steps.iter().enumerate() {
        let by_creation =
            graph.before(at).iter().filter(|before| before.conflict || before.by_creation);
        let before =
            by_creation.fold(0u128, |sum, before| sum.wrapping_add(hashes[before.at as usize]));
        let hash = mix(name_cache.task(step.task).hash.wrapping_add(mix(before)));
        hashes.push(hash);
        sum = sum.wrapping_add(mix(hash ^ 0x5851_f42d_4c95_7f2d));
    }
    sum
}

/// Returns the hash of a task at a position. The hash of a sequence is the sum of these over its
/// positions, so a change costs time linear in the changed part.
pub(crate) fn sequence_part(name_cache: &NameCache, task: TaskId, at: usize) -> u128 {
    mix(name_cache.task(task).hash ^ mix(at as u128 + 1))
}

/// Returns the hash of a sequence.
pub(crate) fn sequence_hash(name_cache: &NameCache, steps: &Steps) -> u128 {
    let parts = steps.iter().enumerate();
    parts.fold(mix(0), |sum, (at, step)| sum.wrapping_add(sequence_part(name_cache, step.task, at)))
}

/// Mixes 128 bits; bijective.
pub(crate) fn mix(x: u128) -> u128 {
    const M: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let x = (x ^ (x >> 67)).wrapping_mul(M);
    let x = (x ^ (x >> 61)).wrapping_mul(M);
    x ^ (x >> 64)
}

/// Returns whether `order` (positions in the run, first to last) contains all tasks of the run
/// exactly once, and every task after its predecessors; then doing the tasks in that order gives an
/// equivalent run.
pub(crate) fn is_linearisation(graph: &Graph, order: &[u32]) -> bool {
    order.len() == graph.len() && is_prefix_of_linearisation(graph, order)
}

/// Returns whether `order` is a prefix of such an order of all tasks.
pub(crate) fn is_prefix_of_linearisation(graph: &Graph, order: &[u32]) -> bool {
    let mut there = vec![false; graph.len()];
    for at in order {
        let Some(slot) = there.get(*at as usize) else { return false };
        if *slot || graph.before(*at as usize).iter().any(|before| !there[before.at as usize]) {
            return false;
        }
        there[*at as usize] = true;
    }
    true
}
