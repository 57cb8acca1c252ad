//! The parallel half of a round: expands each state of a block.
//!
//! A unit of work is a slice of states with consecutive positions. Threads take units in order. So
//! when they are stopped, all states up to some position are done, and few after it. Threads only
//! add to the table of known states, and their entries are provisional: `commit` decides.

use crate::chunk::{Candidate, Chunk, FAILED, NO_SLOT, PENDING, Status, UNCHECKED};
use crate::frontier::Entry;
use crate::outcome::Property;
use crate::parallel::Pool;
use crate::search::SystemInfo;
use crate::store::{FingerprintTable, Key, Store, Visit};
use anyorder_common::order::{order_of, rearrange};
use anyorder_system::{Control, Hash128, JobWatch, Offers, StateSystem, Successor, Updates};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// States of a unit.
pub(crate) const UNIT: usize = 64;

/// The free slots of the table that a thread reserves at a time.
const RESERVE: u64 = 256;

/// Rounds with fewer states use one thread: a second one would not pay.
const ONE_THREAD_MAX: usize = 2 * UNIT;

/// So many successors of a state are taken between two polls.
const POLLED: usize = 64;

/// No class, in the graph.
pub(crate) const NO_CLASS: u16 = u16::MAX;

/// Data that the threads of a round share.
pub(crate) struct Shared<'a, S: StateSystem> {
    pub(crate) system: &'a S,
    pub(crate) control: &'a Control<'a>,
    pub(crate) store: Arc<Store>,
    pub(crate) round: Arc<Block<S::State>>,
    pub(crate) symmetry: bool,
    pub(crate) deadlocks: bool,
    pub(crate) graph: bool,
    /// Whether to ask for the updates of transitions.
    pub(crate) updates: bool,
    /// How many response properties the graph is for.
    pub(crate) responses: usize,
    pub(crate) info: Arc<SystemInfo<'a, S>>,
    pub(crate) counters: Counters,
}

/// Counters that the threads of a round share.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) next_unit: AtomicUsize,
    /// Free slots of the table that no thread reserved.
    pub(crate) room: AtomicU64,
    /// The number of successors for which the table had no slot.
    pub(crate) lacking: AtomicU64,
    pub(crate) stopped: AtomicBool,
}

/// The states of a round, in units of work.
pub(crate) struct Block<S> {
    pub(crate) blocks: Vec<Vec<Entry<S>>>,
    /// For each unit: its block, the index of its first state there, its number of states, and the
    /// position of the first.
    units: Vec<(usize, usize, usize, u32)>,
    pub(crate) positions: usize,
}

impl<S> Block<S> {
    pub(crate) fn new(blocks: Vec<Vec<Entry<S>>>) -> Block<S> {
        let mut units = Vec::new();
        let mut positions = 0;
        for (index, block) in blocks.iter().enumerate() {
            for first in (0..block.len()).step_by(UNIT) {
                let count = UNIT.min(block.len() - first);
                units.push((index, first, count, positions as u32));
                positions += count;
            }
        }
        Block { blocks, units, positions }
    }

    /// Returns the states of a unit and the position of the first.
    pub(crate) fn unit(&self, unit: usize) -> Option<(u32, &[Entry<S>])> {
        let (block, first, count, position) = *self.units.get(unit)?;
        Some((position, &self.blocks[block][first..first + count]))
    }
}

impl<'a, S: StateSystem> Shared<'a, S> {
    /// Expands all states, or as many as possible. Returns the results in the order of their units:
    /// all states up to some position are done. Also returns the number of slots that the table
    /// lacked.
    pub(crate) fn run<'scope>(self, pool: &Pool<'scope>) -> (Vec<Chunk<S::State>>, u64)
    where
        'a: 'scope,
        S: 'scope,
    {
        let threads = if self.round.positions < ONE_THREAD_MAX { 1 } else { pool.threads() };
        let shared = Arc::new(self);
        let worker = Arc::clone(&shared);
        let found = pool.everywhere(threads, move || {
            let chunks = Worker::new(&worker).run();
            drop(worker);
            chunks
        });
        let mut chunks: Vec<Chunk<S::State>> = found.into_iter().flatten().collect();
        let order = order_of(chunks.iter().map(|chunk| chunk.unit).collect());
        rearrange(&mut chunks, order);
        (chunks, shared.counters.lacking.load(Ordering::Relaxed))
    }
}

struct Worker<'s, 'a, S: StateSystem> {
    shared: &'s Shared<'a, S>,
    /// The slots of the table that this thread has reserved.
    reserved: u64,
    successors: Vec<Successor<S::State, S::Action>>,
    updates: Updates,
    hashes: Vec<Hash128>,
    encoding: Vec<u8>,
}

impl<'s, 'a, S: StateSystem> Worker<'s, 'a, S> {
    fn new(shared: &'s Shared<'a, S>) -> Self {
        Worker {
            shared,
            reserved: 0,
            successors: Vec::new(),
            updates: Updates::default(),
            hashes: Vec::new(),
            encoding: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<Chunk<S::State>> {
        let _entered = JobWatch::of(self.shared.control).enter();
        let mut chunks = Vec::new();
        while !self.shared.counters.stopped.load(Ordering::Relaxed) {
            let unit = self.shared.counters.next_unit.fetch_add(1, Ordering::Relaxed);
            let Some((start, entries)) = self.shared.round.unit(unit) else { break };
            let mut chunk = Chunk::new(unit, start, self.shared.info.parts.len());
            for (entry, position) in entries.iter().zip(start..) {
                let stopped = self.shared.counters.stopped.load(Ordering::Relaxed)
                    || self.shared.control.check().is_err();
                if stopped || !self.expand(entry, position, &mut chunk) {
                    self.shared.counters.stopped.store(true, Ordering::Relaxed);
                    break;
                }
            }
            chunks.push(chunk);
        }
        chunks
    }

    /// Takes all transitions of one state. Returns false, and takes none, if the table had no room
    /// for their targets, or if the job was stopped: then the system may have returned too little.
    fn expand(
        &mut self,
        entry: &Entry<S::State>,
        position: u32,
        chunk: &mut Chunk<S::State>,
    ) -> bool {
        let system = self.shared.system;
        self.successors.clear();
        if self.shared.updates {
            self.updates.clear();
            system.successors_with_updates(&entry.state, &mut self.successors, &mut self.updates);
        } else {
            system.successors(&entry.state, &mut self.successors);
        }
        let count = self.successors.len();
        let info = &*self.shared.info;
        let offers = Offers::of(self.successors.iter().map(|one| system.is_optional(&one.action)));
        let end = (offers.is_end() && self.shared.deadlocks)
            .then(|| Property::at_end(&info.properties, &entry.state, offers))
            .flatten();
        if self.is_stopped() || !self.reserve(count as u64) || !self.prepare() {
            return false;
        }
        chunk.transitions.push(count as u32);
        chunk.rests.push(offers == Offers::Optional);
        match end {
            Some(Property::Deadlock(_)) => chunk.deadlocks.push(chunk.rests.len() as u32 - 1),
            _ => chunk.ended |= offers.is_end(),
        }
        if let Some(wrong) = end {
            chunk.fault(wrong, position, 0);
        }
        let mut successors = std::mem::take(&mut self.successors);
        for (place, successor) in successors.drain(..).enumerate() {
            if place % POLLED == POLLED - 1 && self.is_stopped() {
                break;
            }
            let place = place as u32;
            info.note_part(&successor.action, &mut chunk.parts);
            let target = if let Some(failure) = successor.failure {
                chunk.fault(Property::Failure(failure), position, place);
                FAILED
            } else {
                let hash = self.hashes[place as usize];
                self.look_up(successor.state, hash, position, place, chunk)
            };
            if self.shared.graph {
                chunk.targets.push(target);
                let class = info.fairness.of(&successor.action);
                chunk.classes.push(class.map_or(NO_CLASS, |class| class as u16));
                if self.shared.updates {
                    let updates = self.updates.of(place as usize);
                    updates.iter().for_each(|update| chunk.updates.push(*update));
                    chunk.updates.end();
                }
            }
        }
        self.successors = successors;
        let stopped = self.is_stopped();
        if stopped {
            chunk.cut(position);
        }
        !stopped
    }

    fn is_stopped(&self) -> bool {
        self.shared.control.check().is_err()
    }

    /// Replaces states by their representatives and hashes them. Prefetches all their slots of the
    /// table at once. Returns false if the job was stopped.
    fn prepare(&mut self) -> bool {
        let system = self.shared.system;
        self.hashes.clear();
        for successor in &mut self.successors {
            if self.shared.symmetry
                && successor.failure.is_none()
                && let Some(state) = system.representative(&successor.state)
            {
                if self.shared.control.check().is_err() {
                    return false;
                }
                successor.state = state;
            }
            self.hashes.push(system.fingerprint(&successor.state));
        }
        if let Some(table) = self.shared.store.table() {
            let touched =
                self.hashes.iter().fold(0, |sum, hash| sum ^ table.touch(Key::from(*hash)));
            black_box(touched);
        }
        true
    }

    /// Looks a state up. Returns its target value in the graph.
    fn look_up(
        &mut self,
        state: S::State,
        hash: Hash128,
        position: u32,
        place: u32,
        chunk: &mut Chunk<S::State>,
    ) -> u32 {
        let flags = UNCHECKED;
        let candidate =
            |slot, status, state| Candidate { slot, position, place, status, flags, state };
        match &*self.shared.store {
            Store::Fingerprints(table) => {
                let (slot, status) = match self.visit(table, hash, position) {
                    Visit::Known(number) => return number,
                    Visit::New(slot) | Visit::Lowered(slot) => (slot, Status::First),
                    Visit::Behind(_) if !self.shared.graph => return FAILED,
                    Visit::Behind(slot) => (slot, Status::Later),
                };
                chunk.candidates.push(candidate(slot, status, state));
            }
            Store::Exact(exact) => {
                self.encoding.clear();
                self.shared.system.encode(&state, &mut self.encoding);
                let (slot, status) = match self.visit(&exact.table, hash, position) {
                    Visit::Known(holder) => match exact.find(holder, &self.encoding) {
                        Some(number) => return number,
                        None => (NO_SLOT, Status::Aside),
                    },
                    Visit::New(slot) | Visit::Lowered(slot) => (slot, Status::First),
                    Visit::Behind(slot) => (slot, Status::Later),
                };
                chunk.encodings.extend_from_slice(&self.encoding);
                chunk.ends.push(chunk.encodings.len());
                chunk.candidates.push(candidate(slot, status, state));
            }
            Store::Bitstate(bits) => {
                if bits.contains(hash) {
                    return FAILED;
                }
                chunk.hashes.push(hash);
                chunk.candidates.push(candidate(NO_SLOT, Status::Aside, state));
            }
        }
        let index = chunk.candidates.len() - 1;
        // Most of the others turn out to be known.
        if chunk.candidates[index].status != Status::Later {
            chunk.check(index, &self.shared.info.properties, self.shared.responses);
        }
        PENDING | index as u32
    }

    fn visit(&mut self, table: &FingerprintTable, hash: Hash128, position: u32) -> Visit {
        let visit = table.visit(Key::from(hash), position);
        if let Visit::New(_) = visit {
            self.reserved -= 1;
        }
        visit
    }

    /// Ensures that this thread has `count` slots of the table reserved.
    fn reserve(&mut self, count: u64) -> bool {
        if self.reserved >= count || self.shared.store.table().is_none() {
            return true;
        }
        let missing = count - self.reserved;
        for wanted in [missing.max(RESERVE), missing] {
            let taken = self.shared.counters.room.fetch_update(
                Ordering::Relaxed,
                Ordering::Relaxed,
                |room| room.checked_sub(wanted),
            );
            if taken.is_ok() {
                self.reserved += wanted;
                return true;
            }
        }
        self.shared.counters.lacking.fetch_max(count, Ordering::Relaxed);
        false
    }
}
