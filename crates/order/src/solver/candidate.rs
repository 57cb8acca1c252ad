//! A candidate order: a greedy schedule, run forward, that decides as little as possible.
//!
//! A key runs as soon as all its predecessors have run and its blocks can have their resources.
//! Entries, and blocks that no queue orders, are choices: they run only when nothing else can,
//! since a key that chooses nothing never has to wait for one. The first to enter is the first
//! served. When nothing can run, the waiting keys form a cycle, whose choices cannot all hold. The
//! schedule records the shortest such cycle, drops one choice in it, and continues to find more
//! cycles.

use super::blocks::NO_ENTRY;
use super::condense::{CHAIN, Key};
use super::path::{Hop, HopKind, PathRules, Paths};
use super::prepare::Prepared;
use super::problem::{Problem, Rank};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The result of one candidate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    /// All keys in a topological order of the graph; a solution when no cycle was found.
    pub(crate) order: Vec<Key>,
    /// The cycles found, in hops.
    pub(crate) cycles: Vec<Vec<Hop>>,
    /// Whether the last cycle is one of the graph itself: there is no order.
    pub(crate) refuted: bool,
}

/// Buffers, reused from one candidate to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateRunner {
    waits: Vec<u32>,
    done: Vec<bool>,
    plain: Vec<Key>,
    choices: BinaryHeap<Reverse<(u32, Key)>>,
    /// For each resource, the blocks that entered, in order; the first `head` of them have
    /// finished.
    queue: Vec<Vec<u32>>,
    head: Vec<usize>,
    /// For each resource that is not first come, first served: the blocks that hold it.
    running: Vec<Vec<u32>>,
    /// Keys that only wait for a resource, by resource.
    parked: Vec<Vec<Key>>,
    parked_keys: Vec<Key>,
    entered: Vec<bool>,
    /// For each block that entered, how many had entered before.
    entered_at: Vec<u32>,
    entries: u32,
    finished: Vec<bool>,
    freed: Vec<bool>,
    paths: Paths,
    /// Sabotage: blocks begin regardless of the queue.
    pub(crate) no_queues: bool,
}

/// The greatest number of cycles recorded for one candidate; then it ends and ignores resources.
const CYCLES_MAX: usize = 512;

struct Run<'a> {
    problem: &'a Problem,
    on: &'a Prepared,
    /// Added edges with a smaller label depend on no decision.
    fixed: u32,
    hint: &'a [u32],
    with: &'a mut CandidateRunner,
    candidate: Candidate,
    /// How many keys the searches for cycles may still visit.
    effort: u64,
}

impl CandidateRunner {
    /// Runs one candidate. Among choices, the key with the smallest `hint` runs first.
    pub(crate) fn run(
        &mut self,
        problem: &Problem,
        on: &Prepared,
        fixed: u32,
        hint: &[u32],
    ) -> Candidate {
        let keys = on.keys.len();
        let resources = on.blocks.of.len();
        self.waits.clear();
        self.waits.extend((0..keys as u32).map(|key| {
            on.keys.into.keys(key).len() as u32 + on.graph.added_into(key).count() as u32
        }));
        self.done.clear();
        self.done.resize(keys, false);
        self.plain.clear();
        self.choices.clear();
        for list in [&mut self.queue, &mut self.running] {
            list.iter_mut().for_each(Vec::clear);
            list.resize(resources, Vec::new());
        }
        self.parked.iter_mut().for_each(Vec::clear);
        self.parked.resize(resources, Vec::new());
        self.parked_keys.clear();
        self.head.clear();
        self.head.resize(resources, 0);
        for flags in [&mut self.entered, &mut self.finished, &mut self.freed] {
            flags.clear();
            flags.resize(on.blocks.first.len(), false);
        }
        self.entered_at.clear();
        self.entered_at.resize(on.blocks.first.len(), 0);
        self.entries = 0;
        let effort = 16 * keys as u64 + 1_000_000;
        let candidate = Candidate { order: Vec::with_capacity(keys), ..Candidate::default() };
        let mut run = Run { problem, on, fixed, hint, with: self, candidate, effort };
        run.run_all();
        run.candidate
    }

    pub(crate) fn bytes(&self) -> usize {
        10 * self.waits.capacity() + 4 * self.entered.capacity() + self.paths.bytes()
    }
}

impl Run<'_> {
    fn run_all(&mut self) {
        for key in (0..self.on.keys.len() as u32).rev() {
            if self.with.waits[key as usize] == 0 {
                self.enable(key);
            }
        }
        loop {
            if let Some(key) = self.with.plain.pop() {
                if !self.with.done[key as usize] {
                    self.execute(key);
                }
            } else if let Some(Reverse((_, key))) = self.with.choices.pop() {
                // The choice may have become impossible since it was queued.
                if self.with.done[key as usize] {
                } else if self.allowed(key) {
                    self.execute(key);
                } else {
                    self.park(key);
                }
            } else if self.candidate.order.len() == self.on.keys.len() || !self.break_cycle() {
                return;
            }
        }
    }

    /// Queues a key whose predecessors have all run.
    fn enable(&mut self, key: Key) {
        if self.allowed(key) { self.unpark(key) } else { self.park(key) }
    }

    fn park(&mut self, key: Key) {
        self.with.parked_keys.push(key);
        for &block in self.on.blocks.starting(key) {
            let resource = self.resource(block);
            if !self.on.blocks.fifo[resource] {
                self.with.parked[resource].push(key);
            }
        }
    }

    fn resource(&self, block: u32) -> usize {
        self.problem.blocks[block as usize].resource as usize
    }

    /// Returns whether running the key decides an order.
    fn is_choice(&self, key: Key) -> bool {
        !self.on.blocks.entering(key).is_empty()
            || self
                .on
                .blocks
                .starting(key)
                .iter()
                .any(|&block| !self.on.blocks.fifo[self.resource(block)])
    }

    /// Returns whether the blocks that begin at a key can have their resources.
    fn allowed(&self, key: Key) -> bool {
        self.on.blocks.starting(key).iter().all(|&block| self.obstacle(block).is_none())
    }

    /// Returns a block that must finish before `block` can begin, as the run stands.
    fn obstacle(&self, block: u32) -> Option<u32> {
        if self.with.freed[block as usize] || self.with.no_queues {
            return None;
        }
        let resource = self.resource(block);
        let queue = &self.with.queue[resource];
        if self.on.blocks.fifo[resource] {
            return queue.get(self.with.head[resource]).copied().filter(|&head| head != block);
        }
        if let Some(&running) = self.with.running[resource].first() {
            return Some(running);
        }
        // Two blocks of one resource begin at one key: neither order is possible, so neither may
        // seem possible.
        let key = self.on.blocks.first[block as usize];
        let twin = |&other: &u32| other < block && self.resource(other) == resource;
        if let Some(other) = self.on.blocks.starting(key).iter().copied().find(twin) {
            return Some(other);
        }
        queue
            .iter()
            .copied()
            .take_while(|&other| other != block)
            .find(|&other| !self.with.finished[other as usize] && self.problem.keeps(other, block))
    }

    fn execute(&mut self, key: Key) {
        debug_assert!(!self.with.done[key as usize]);
        self.with.done[key as usize] = true;
        self.candidate.order.push(key);
        let blocks = &self.on.blocks;
        for &block in blocks.entering(key) {
            let resource = self.resource(block);
            self.with.queue[resource].push(block);
            self.with.entered[block as usize] = true;
            self.with.entered_at[block as usize] = self.with.entries;
            self.with.entries += 1;
        }
        for &block in blocks.starting(key) {
            let resource = self.resource(block);
            if !blocks.fifo[resource] {
                self.with.running[resource].push(block);
                // Blocks that wait behind this one in the queue now wait for its end.
                self.with.queue[resource].retain(|&other| other != block);
            }
        }
        for &block in blocks.ending(key) {
            self.finish(block);
        }
        let on = self.on;
        for &other in on.keys.out.keys(key) {
            self.release(other);
        }
        for (_, added) in on.graph.added_out(key) {
            self.release(added.to);
        }
    }

    fn release(&mut self, key: Key) {
        self.with.waits[key as usize] -= 1;
        if self.with.waits[key as usize] == 0 {
            self.enable(key);
        }
    }

    fn finish(&mut self, block: u32) {
        let resource = self.resource(block);
        self.with.finished[block as usize] = true;
        if self.on.blocks.fifo[resource] {
            let queue = &self.with.queue[resource];
            let head = &mut self.with.head[resource];
            while queue.get(*head).is_some_and(|&first| self.with.finished[first as usize]) {
                *head += 1;
            }
            // Only the new head can begin.
            if let Some(&next) = queue.get(*head) {
                let key = self.on.blocks.first[next as usize];
                if self.with.waits[key as usize] == 0
                    && !self.with.done[key as usize]
                    && self.allowed(key)
                {
                    self.unpark(key);
                }
            }
            return;
        }
        self.with.running[resource].retain(|&other| other != block);
        let parked = std::mem::take(&mut self.with.parked[resource]);
        for key in parked {
            if self.with.done[key as usize] {
                continue;
            }
            if self.allowed(key) {
                self.unpark(key);
            } else {
                self.with.parked[resource].push(key);
            }
        }
    }

    fn unpark(&mut self, key: Key) {
        if self.is_choice(key) {
            self.with.choices.push(Reverse((self.hint[key as usize], key)));
        } else {
            self.with.plain.push(key);
        }
    }

    /// Nothing can run: finds a cycle among the waiting keys, records it, and drops one order in
    /// it. Returns false when there is none to drop.
    fn break_cycle(&mut self) -> bool {
        let (blocker, blocked) = match self.stuck() {
            Ok(assumed) => assumed,
            Err(key) => {
                self.graph_cycle(key);
                return false;
            }
        };
        if self.candidate.cycles.len() >= CYCLES_MAX || self.effort == 0 {
            // Enough cycles are known; from here on the rest only has to be a topological order.
            self.with.freed.fill(true);
            self.with.plain.append(&mut self.with.parked_keys);
            return true;
        }
        let blocks = &self.on.blocks;
        let (from, to) = (blocks.first[blocked as usize], blocks.last[blocker as usize]);
        let mut paths = std::mem::take(&mut self.with.paths);
        let visited = paths.visited;
        let waiting = Waiting { run: self, expanded: RefCell::default() };
        let found = paths.shortest(&self.on.keys, &self.on.graph, from, to, &waiting);
        self.effort = self.effort.saturating_sub(paths.visited - visited);
        self.with.paths = paths;
        let mut hops = found.expect("what waits in a circle has a path around it");
        hops.push(Hop { from: to, to: from, kind: HopKind::Assumed(blocker, blocked) });
        self.candidate.cycles.push(hops);
        self.with.freed[blocked as usize] = true;
        let key = blocks.first[blocked as usize];
        if self.allowed(key) && !self.with.done[key as usize] {
            self.with.plain.push(key);
        }
        true
    }

    /// Walks back from a waiting key until the walk closes. Returns an order on the circle that the
    /// candidate assumed: the first block before the second.
    ///
    /// # Errors
    ///
    /// Fails with a key of the circle when it is a cycle of the graph.
    fn stuck(&mut self) -> Result<(u32, u32), Key> {
        let done = &self.with.done;
        self.with.parked_keys.retain(|&key| !done[key as usize]);
        let undone = || done.iter().position(|done| !done).expect("something waits") as Key;
        let mut key = self.with.parked_keys.first().copied().unwrap_or_else(undone);
        let mut met = HashMap::new();
        let mut walk: Vec<Option<(u32, u32)>> = Vec::new();
        loop {
            if let Some(&since) = met.get(&key) {
                return walk[since..].iter().find_map(|&assumed| assumed).ok_or(key);
            }
            met.insert(key, walk.len());
            if let Some(hop) = self.back(key) {
                walk.push(None);
                key = hop.from;
                continue;
            }
            let (blocker, blocked) = self
                .on
                .blocks
                .starting(key)
                .iter()
                .find_map(|&block| self.obstacle(block).map(|other| (other, block)))
                .expect("a key that waits for no key waits for a resource");
            walk.push(Some((blocker, blocked)));
            key = self.on.blocks.last[blocker as usize];
        }
    }

    /// Returns an edge to a key from a key that has not run.
    fn back(&self, key: Key) -> Option<Hop> {
        let given = self.on.keys.into.iter(key).map(|(from, edge)| {
            let kind = if edge == CHAIN { HopKind::Chain } else { HopKind::Given(edge) };
            Hop { from, to: key, kind }
        });
        let added = self.on.graph.added_into(key).map(|(_, added)| Hop {
            from: added.from,
            to: key,
            kind: HopKind::Added(added.label),
        });
        given.chain(added).find(|hop| !self.with.done[hop.from as usize])
    }

    /// Only given and added edges block `key`, which is on a cycle of them: records the cycle.
    fn graph_cycle(&mut self, key: Key) {
        let close = self.back(key).expect("the key is on a cycle");
        let mut paths = std::mem::take(&mut self.with.paths);
        let rules = Remaining { done: &self.with.done };
        let found = paths.shortest(&self.on.keys, &self.on.graph, key, close.from, &rules);
        self.with.paths = paths;
        let mut hops = found.expect("the key is on a cycle");
        hops.push(close);
        self.candidate.cycles.push(hops);
        self.candidate.refuted = true;
    }
}

/// Paths between keys that have not run.
struct Remaining<'a> {
    done: &'a [bool],
}

impl PathRules for Remaining<'_> {
    fn passes(&self, key: Key) -> bool {
        !self.done[key as usize]
    }

    fn cost(&self, _: u32, _: u32) -> Option<bool> {
        Some(false)
    }
}

/// Paths of a blocked candidate: between keys that have not run, and over the assumed orders.
struct Waiting<'r, 'a> {
    run: &'r Run<'a>,
    /// For each resource and rank, the earliest entry of a waiting block that the search has
    /// expanded. It leads to all that a later entry leads to, and no further.
    expanded: RefCell<HashMap<(usize, Rank), u32>>,
}

impl PathRules for Waiting<'_, '_> {
    fn passes(&self, key: Key) -> bool {
        !self.run.with.done[key as usize]
    }

    fn cost(&self, _: u32, label: u32) -> Option<bool> {
        Some(label >= self.run.fixed)
    }

    fn assumed(&self, key: Key, visit: &mut dyn FnMut(Key, u32, u32)) {
        let (run, on) = (self.run, self.run.on);
        for &block in on.blocks.ending(key) {
            let resource = run.resource(block);
            let head = if on.blocks.fifo[resource] {
                run.with.queue[resource].get(run.with.head[resource]) == Some(&block)
            } else {
                run.with.running[resource].contains(&block)
            };
            let pending = !on.blocks.fifo[resource] && run.with.entered[block as usize];
            if !head && !pending {
                continue;
            }
            if !head && !self.is_new(block, resource) {
                continue;
            }
            for &other in &on.blocks.of[resource] {
                let first = on.blocks.first[other as usize];
                if other == block
                    || run.with.done[first as usize]
                    || run.with.freed[other as usize]
                    || on.known.is(block, other)
                {
                    continue;
                }
                if head || (run.problem.keeps(block, other) && run.precedes(block, other)) {
                    visit(first, block, other);
                }
            }
        }
    }
}

impl Run<'_> {
    /// Returns whether a waiting block entered before another one, which has not begun and may not
    /// have entered yet.
    fn precedes(&self, block: u32, other: u32) -> bool {
        let begun = self.with.done[self.on.blocks.first[block as usize] as usize];
        let entered_at = |block: u32| self.with.entered_at[block as usize];
        !begun
            && self.on.blocks.entry[other as usize] != NO_ENTRY
            && (!self.with.entered[other as usize] || entered_at(block) < entered_at(other))
    }
}

impl Waiting<'_, '_> {
    /// Returns whether no block of the rank that entered before this block was expanded.
    fn is_new(&self, block: u32, resource: usize) -> bool {
        let Some(entry) = self.run.problem.blocks[block as usize].entry else { return false };
        let at = self.run.with.entered_at[block as usize];
        let mut expanded = self.expanded.borrow_mut();
        let earliest = expanded.entry((resource, entry.rank)).or_insert(u32::MAX);
        let new = at < *earliest;
        *earliest = at.min(*earliest);
        new
    }
}
