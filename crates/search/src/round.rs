//! One round: expands a block of states and numbers the new ones.

use crate::chunk::Chunk;
use crate::commit::exclusive;
use crate::expand::{Block, Counters, Shared};
use crate::frontier::Entry;
use crate::options::Order;
use crate::outcome::{Limit, Property};
use crate::parallel::Pool;
use crate::search::{Fault, Search};
use crate::store::POSITIONS_MAX;
use anyorder_system::{Control, StateSystem};
use std::sync::Arc;

/// The states of a round. Breadth-first the size affects no result; depth-first it is part of the
/// order.
const BREADTH_BLOCK: usize = 1 << 15;
const DEPTH_BLOCK: usize = 1 << 12;

/// The table grows by this many entries beyond the missing ones.
const SPARE: usize = 1 << 12;

impl<'s, S: StateSystem> Search<'s, S> {
    /// Runs one round. Returns the limit that ended the search in it.
    pub(crate) fn round<'scope>(
        &mut self,
        pool: &Pool<'scope>,
        control: &'scope Control<'scope>,
    ) -> Option<Limit>
    where
        's: 'scope,
    {
        let order = self.options.order;
        let size = if order == Order::Breadth { BREADTH_BLOCK } else { DEPTH_BLOCK };
        let mut round = Arc::new(Block::new(self.frontier.take(order, size)));
        let positions = round.positions;
        assert!(positions < POSITIONS_MAX, "blocks are cut where they are made");
        let room = self
            .store
            .table()
            .map_or(u64::MAX, |table| (table.room() as u64).saturating_sub(self.stats.states));
        let shared = Shared {
            system: self.system,
            control,
            store: Arc::clone(&self.store),
            round: Arc::clone(&round),
            symmetry: self.options.symmetry,
            deadlocks: self.options.deadlocks,
            graph: self.graph.is_some(),
            updates: self.options.updates,
            responses: self.flagged(),
            info: Arc::clone(&self.info),
            counters: Counters { room: room.into(), ..Counters::default() },
        };
        let (mut chunks, lacking) = shared.run(pool);

        let mut done = done_up_to(&chunks, &round);
        if (done as usize) < positions && order == Order::Depth {
            // A cut within a round must not change the result, because the order depends on the
            // first states.
            done = 0;
        }
        let (cut, reached) = self.decide(pool, &mut chunks, done);
        self.number(pool, &mut chunks, &round);
        self.take_in(&mut chunks, &round);
        let rest = (cut as usize) < positions;
        if let Some(round) = Arc::get_mut(&mut round) {
            self.frontier.put_back(order, std::mem::take(&mut round.blocks), cut as usize);
        }
        self.stale |= rest;
        match reached {
            None if rest && lacking > 0 => self.grow(pool, control, lacking as usize),
            reached => reached,
        }
    }

    /// Grows the table, if memory allows.
    fn grow(&mut self, pool: &Pool<'_>, control: &Control<'_>, lacking: usize) -> Option<Limit> {
        let used = self.bytes();
        let threads = pool.threads();
        let table = exclusive(&mut self.store).table_mut()?;
        let entries =
            (self.stats.states as usize).saturating_add(lacking.saturating_mul(threads)) + SPARE;
        // While it grows, both tables exist.
        if control.limits.memory_exceeded(used, table.bytes_for(entries)) {
            return Some(Limit::Memory);
        }
        if !table.has_memory_for(entries) {
            return Some(Limit::Memory);
        }
        table.grow_with(pool, entries);
        self.stale = false;
        None
    }

    /// Commits the results of the chunks of a round.
    fn take_in(&mut self, chunks: &mut [Chunk<S::State>], round: &Block<S::State>) {
        for chunk in chunks {
            let Some((_, parents)) = round.unit(chunk.unit) else { continue };
            self.note_faults(chunk, parents);
            self.ended |= chunk.ended;
            for (ran, now) in self.parts_ran.iter_mut().zip(&chunk.parts) {
                *ran |= now;
            }
            let moves: u64 = chunk.transitions.iter().map(|count| u64::from(*count)).sum();
            self.stats.transitions += moves;
            for (parent, place) in chunk.fresh.links.drain(..) {
                self.links.push(parent, place);
            }
            if let Some(graph) = &mut self.graph {
                // A checkpoint does not hold them.
                if !self.options.livelocks {
                    chunk.deadlocks.clear();
                }
                graph.add_states(chunk.fresh.entries.len(), &chunk.fresh.flags);
                let numbers = parents.iter().map(|parent| parent.number);
                graph.add_transitions(chunk, numbers, &mut self.update_lists);
            }
            self.stats.states += chunk.fresh.entries.len() as u64;
            let deepest = chunk.fresh.entries.iter().map(|entry| u64::from(entry.depth)).max();
            self.stats.max_depth = self.stats.max_depth.max(deepest.unwrap_or(0));
            self.frontier.push(std::mem::take(&mut chunk.fresh.entries));
        }
    }

    fn note_faults(&mut self, chunk: &Chunk<S::State>, parents: &[Entry<S::State>]) {
        for (key, place) in &chunk.faults {
            let parent = &parents[(place.position - chunk.start) as usize];
            let fault = match key {
                Property::Deadlock(_) | Property::Final => {
                    Fault { length: parent.depth, state: parent.number, place: None }
                }
                _ => Fault {
                    length: parent.depth.saturating_add(1),
                    state: parent.number,
                    place: Some(place.place),
                },
            };
            self.fault(key.clone(), fault);
        }
        for (invariant, number) in &chunk.fresh.broken {
            let entry = &chunk.fresh.entries[(number - chunk.fresh.base) as usize];
            let fault = Fault { length: entry.depth, state: *number, place: None };
            self.fault(Property::Invariant(*invariant), fault);
        }
    }
}

/// Returns the position up to which all states are done.
fn done_up_to<S>(chunks: &[Chunk<S>], round: &Block<S>) -> u32 {
    let mut done = 0;
    for chunk in chunks {
        if chunk.start != done {
            break;
        }
        done = chunk.end();
        if round.unit(chunk.unit).is_none_or(|(_, states)| chunk.transitions.len() < states.len()) {
            break;
        }
    }
    done
}
