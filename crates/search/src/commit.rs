//! The second half of a round: it decides which candidates are new, and numbers them as one thread
//! would.
//!
//! New states get numbers in the order (position of the source state, place among its successors).
//! So numbers, links and counts do not depend on threads. The steps process chunks in parallel,
//! with a prefix sum in between.

use crate::chunk::{Chunk, NO_SLOT, PENDING, Status, UNCHECKED};
use crate::expand::Block;
use crate::frontier::Entry;
use crate::outcome::Limit;
use crate::parallel::Pool;
use crate::search::Search;
use crate::store::{Exact, FingerprintTable, Store};
use anyorder_system::{JobWatch, Properties, StateSystem};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rounds with fewer candidates use one thread: a second one would not pay.
const ONE_THREAD_MAX: usize = 2048;

impl<'s, S: StateSystem> Search<'s, S> {
    /// Removes the results of positions not done, from `cut` on, and beyond counted limits. Returns
    /// the position up to which the round counts, and the limit that it reached.
    pub(crate) fn decide<'scope>(
        &mut self,
        pool: &Pool<'scope>,
        chunks: &mut Vec<Chunk<S::State>>,
        cut: u32,
    ) -> (u32, Option<Limit>)
    where
        's: 'scope,
    {
        let threads = threads_for(pool, chunks);
        let shared = Arc::clone(&self.store);
        pool.for_each(threads, chunks, move |chunk| {
            chunk.cut(cut);
            if let Some(table) = shared.table() {
                decide_owners(chunk, table);
            }
            // Final for fingerprints, so several threads count them. Other storage is counted again
            // below.
            chunk.count_new();
        });
        if let Store::Exact(_) = *self.store {
            decide_exact(pool, threads, chunks, &self.store);
        }
        if let Store::Bitstate(bits) = exclusive(&mut self.store) {
            for chunk in &mut *chunks {
                for (candidate, hash) in chunk.candidates.iter_mut().zip(&chunk.hashes) {
                    if candidate.status == Status::Aside && bits.insert(*hash, candidate.position) {
                        candidate.status = Status::New;
                    }
                }
            }
        }
        if !matches!(*self.store, Store::Fingerprints(_)) {
            chunks.iter_mut().for_each(Chunk::count_new);
        }
        let Some((position, reached)) = self.first_beyond(chunks) else {
            exclusive(&mut self.store).settle(cut);
            return (cut, None);
        };
        exclusive(&mut self.store).settle(position);
        for chunk in &mut *chunks {
            chunk.cut(position);
            chunk.count_new();
        }
        (position, Some(reached))
    }

    /// Returns the first position that would exceed a counted limit.
    fn first_beyond(&self, chunks: &[Chunk<S::State>]) -> Option<(u32, Limit)> {
        let (states_max, transitions_max) =
            (self.states_max(), self.options.transitions_max.unwrap_or(u64::MAX));
        let (mut states, mut transitions) = (self.stats.states, self.stats.transitions);
        for chunk in chunks {
            let moves: u64 = chunk.transitions.iter().map(|count| u64::from(*count)).sum();
            let fits = states + chunk.fresh.count as u64 <= states_max
                && transitions + moves <= transitions_max;
            if fits {
                states += chunk.fresh.count as u64;
                transitions += moves;
                continue;
            }
            let mut new =
                chunk.candidates.iter().filter(|one| one.status == Status::New).peekable();
            for (count, position) in chunk.transitions.iter().zip(chunk.start..) {
                transitions += u64::from(*count);
                while new.next_if(|one| one.position == position).is_some() {
                    states += 1;
                }
                if states > states_max {
                    return Some((position, Limit::States));
                }
                if transitions > transitions_max {
                    return Some((position, Limit::Transitions));
                }
            }
        }
        None
    }

    /// Numbers the new states, evaluates the properties of each, and creates their entries.
    pub(crate) fn number<'scope>(
        &mut self,
        pool: &Pool<'scope>,
        chunks: &mut Vec<Chunk<S::State>>,
        round: &Arc<Block<S::State>>,
    ) where
        's: 'scope,
    {
        let threads = threads_for(pool, chunks);
        let mut base = self.stats.states;
        for chunk in &mut *chunks {
            chunk.fresh.base = base as u32;
            base += chunk.fresh.count as u64;
        }
        let graph = self.graph.is_some();
        let responses = self.flagged();
        // If no step is needed between numbers and entries, one pass makes both.
        let at_once = !matches!(*self.store, Store::Exact(_)) && !graph;
        if !at_once {
            let shared = Arc::clone(&self.store);
            pool.for_each(threads, chunks, move |chunk| give_numbers(chunk, shared.table()));
        }
        if let Store::Exact(exact) = exclusive(&mut self.store) {
            keep_exact(chunks, exact);
        }
        let (shared, round, info) =
            (Arc::clone(&self.store), Arc::clone(round), Arc::clone(&self.info));
        pool.for_each(threads, chunks, move |chunk| {
            if at_once {
                give_numbers(chunk, shared.table());
            }
            if graph {
                resolve_targets(chunk, &shared);
            }
            if let Some((_, parents)) = round.unit(chunk.unit) {
                extract(chunk, parents, (&info.properties, responses));
            }
        });
    }
}

/// Creates entries for the new states, with the flags of some response properties.
fn extract<S>(
    chunk: &mut Chunk<S>,
    parents: &[Entry<S>],
    (properties, responses): (&Properties<'_, S>, usize),
) {
    // The few states that are new against expectation. They are numbered already, so that the job
    // cannot be stopped here; `expand` has polled.
    let _unwatched = JobWatch::default().enter();
    for index in 0..chunk.candidates.len() {
        let one = &chunk.candidates[index];
        if matches!(one.status, Status::Numbered(_)) && one.flags == UNCHECKED {
            chunk.check(index, properties, responses);
        }
    }
    chunk.broken.sort_unstable();
    let mut broken = chunk.broken.iter().peekable();
    let fresh = &mut chunk.fresh;
    fresh.entries.reserve(fresh.count);
    fresh.links.reserve(fresh.count);
    for (candidate, index) in std::mem::take(&mut chunk.candidates).into_iter().zip(0..) {
        let Status::Numbered(number) = candidate.status else { continue };
        // The first successor with this number is the state itself; the others are duplicates of
        // this round.
        if number != fresh.base + fresh.entries.len() as u32 {
            continue;
        }
        let parent = &parents[(candidate.position - chunk.start) as usize];
        while broken.next_if(|(candidate, _)| *candidate < index).is_some() {}
        while let Some((_, invariant)) = broken.next_if(|(candidate, _)| *candidate == index) {
            fresh.broken.entry(*invariant).or_insert(number);
        }
        let at = candidate.flags as usize;
        fresh.flags.extend_from_slice(&chunk.flags[at..at + responses]);
        fresh.links.push((parent.number, candidate.place));
        let depth = parent.depth.saturating_add(1);
        fresh.entries.push(Entry { number, depth, state: candidate.state });
    }
    debug_assert_eq!(fresh.entries.len(), fresh.count, "every new state is found again");
}

/// Returns the store to write to, when no thread uses it.
pub(crate) fn exclusive(store: &mut Arc<Store>) -> &mut Store {
    Arc::get_mut(store).expect("threads give the store up before they report")
}

fn threads_for<S>(pool: &Pool<'_>, chunks: &[Chunk<S>]) -> usize {
    let candidates: usize = chunks.iter().map(|chunk| chunk.candidates.len()).sum();
    if candidates < ONE_THREAD_MAX { 1 } else { pool.threads() }
}

fn decide_owners<S>(chunk: &mut Chunk<S>, table: &FingerprintTable) {
    for candidate in &mut chunk.candidates {
        if candidate.status == Status::First {
            let owns = table.owner(candidate.slot) == Some(candidate.position);
            candidate.status = if owns { Status::New } else { Status::Later };
        }
    }
}

/// Calls [`decide_owners`], then compares whole states: candidates with the fingerprint of another
/// state are set aside and decided one by one.
fn decide_exact<'scope, S: Send + Sync + 'scope>(
    pool: &Pool<'scope>,
    threads: usize,
    chunks: &mut Vec<Chunk<S>>,
    store: &Arc<Store>,
) {
    let mut collisions: Vec<(usize, Vec<usize>)> =
        (0..chunks.len()).map(|at| (at, Vec::new())).collect();
    let all = Arc::new(std::mem::take(chunks));
    let (shared, table_of) = (Arc::clone(&all), Arc::clone(store));
    pool.for_each(threads, &mut collisions, move |(at, found)| {
        let Some(table) = table_of.table() else { return };
        let chunk = &shared[*at];
        for (index, candidate) in chunk.candidates.iter().enumerate() {
            let collides = match candidate.status {
                Status::Aside => true,
                Status::Later => {
                    owner_encoding(&shared, table, candidate.slot) != Some(chunk.encoding(index))
                }
                _ => false,
            };
            if collides {
                found.push(index);
            }
        }
    });
    *chunks = Arc::into_inner(all).expect("threads give the chunks up before they report");
    let Store::Exact(exact) = &**store else { return };
    let aside = collisions.iter().flat_map(|(at, found)| found.iter().map(|index| (*at, *index)));
    let mut first: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (chunk, index) in aside {
        let encoding = chunks[chunk].encoding(index);
        let status = match exact.aside.get(encoding) {
            Some(number) => Status::Numbered(*number),
            None if first.insert(encoding.to_vec()) => Status::New,
            None => Status::Aside,
        };
        let candidate = &mut chunks[chunk].candidates[index];
        candidate.slot = NO_SLOT;
        candidate.status = status;
    }
}

/// Returns the encoding of the candidate that owns a slot in this round.
fn owner_encoding<'c, S>(
    chunks: &'c [Chunk<S>],
    table: &FingerprintTable,
    slot: usize,
) -> Option<&'c [u8]> {
    let position = table.owner(slot)?;
    let chunk = &chunks[chunks.partition_point(|chunk| chunk.start <= position).checked_sub(1)?];
    let from = chunk.candidates.partition_point(|one| one.position < position);
    let here = chunk.candidates[from..].iter().take_while(|one| one.position == position);
    let (index, _) =
        (from..).zip(here).find(|(_, one)| one.slot == slot && one.status == Status::New)?;
    Some(chunk.encoding(index))
}

fn give_numbers<S>(chunk: &mut Chunk<S>, table: Option<&FingerprintTable>) {
    let mut number = chunk.fresh.base;
    for candidate in &mut chunk.candidates {
        if candidate.status != Status::New {
            continue;
        }
        if let (Some(table), true) = (table, candidate.slot != NO_SLOT) {
            table.set_number(candidate.slot, number);
        }
        candidate.status = Status::Numbered(number);
        number += 1;
    }
}

fn keep_exact<S>(chunks: &[Chunk<S>], exact: &mut Exact) {
    for chunk in chunks {
        for (index, candidate) in chunk.candidates.iter().enumerate() {
            if let (Status::Numbered(number), NO_SLOT) = (candidate.status, candidate.slot)
                && !exact.aside.contains_key(chunk.encoding(index))
            {
                exact.set_aside(chunk.encoding(index), number);
            }
        }
        chunk.keep_encodings(&mut exact.arena);
    }
}

/// Replaces candidates by their numbers in the targets of the graph.
fn resolve_targets<S>(chunk: &mut Chunk<S>, store: &Store) {
    let mut targets = std::mem::take(&mut chunk.targets);
    for target in
        targets.iter_mut().filter(|target| **target & PENDING != 0 && **target != u32::MAX)
    {
        let index = (*target & !PENDING) as usize;
        let candidate = &chunk.candidates[index];
        let known = match candidate.status {
            Status::Numbered(number) => Some(number),
            _ if candidate.slot != NO_SLOT => {
                store.table().and_then(|table| table.number(candidate.slot))
            }
            _ => match store {
                Store::Exact(exact) => exact.aside.get(chunk.encoding(index)).copied(),
                _ => None,
            },
        };
        *target = known.unwrap_or(u32::MAX);
    }
    chunk.targets = targets;
}
