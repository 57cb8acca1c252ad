//! Loads of atomics that are no atomic loads: nothing may store at the same time.
//!
//! For the engine such a load is a relaxed one. Whether it races with a store is a matter of what
//! happens before what, so each execution with such loads is examined when it ends. A race is found
//! where an execution shows it, not proved absent.
//!
//! Two stores are no race. So each thread has a place of its own for each atomic: a store of the
//! thread writes there, and the load reads all of these places.

use super::core::{self, State};
use super::leaks::Log;
use super::lifetimes::{MEMORY, Misuse, MisuseKind, Story};
use anyorder_threads::{Act, MemoryOrder, ObjectId, Op, SiteId, ThreadId, races_of};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Notes that the last operation was such a load.
#[cold]
pub(crate) fn note_unsync_load() {
    core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        let current = state.current;
        // What is not performed by the engine, as while a thread unwinds, is not in the log.
        if let Some((thread, op, _)) = state.log.last()
            && *thread == current
            && matches!(op.act, Act::Load(_))
        {
            state.unsync_loads.push(state.log.len() - 1);
        }
    });
}

/// Whether an operation writes to an atomic, with this result.
fn writes(op: &Op, result: u64) -> bool {
    match op.act {
        Act::Store(..) => true,
        Act::Update { change, .. } => change.writes(result),
        _ => false,
    }
}

impl State {
    /// Looks for races of these loads in the execution that ends.
    pub(super) fn end_unsync_loads(&mut self) {
        let loads: FxHashSet<usize> = self.unsync_loads.drain(..).collect();
        if loads.is_empty() || self.leaks.is_excused() {
            return;
        }
        for (load, store) in races(&self.log, &loads) {
            let misuse = Misuse {
                kind: MisuseKind::UnsynchronisedLoad,
                object: Some(self.log[load].1.object),
                user: (self.log[load].0, load),
                other: Some((self.log[store].0, store + 1)),
                log: Log::new(),
            };
            self.lifetimes.note_found(misuse, &self.log);
        }
    }
}

/// The loads with the stores that nothing orders with them, by their numbers in the log.
fn races(log: &Log, loads: &FxHashSet<usize>) -> Vec<(usize, usize)> {
    let loaded: FxHashSet<ObjectId> = loads.iter().map(|at| log[*at].1.object).collect();
    let is_store =
        |(_, op, result): &&(ThreadId, Op, u64)| loaded.contains(&op.object) && writes(op, *result);
    let stores: BTreeSet<(ObjectId, ThreadId)> =
        log.iter().filter(is_store).map(|(thread, op, _)| (op.object, *thread)).collect();
    let places: FxHashMap<(ObjectId, ThreadId), ObjectId> =
        stores.iter().copied().zip((MEMORY..).map(ObjectId)).collect();
    let mut story = Story::default();
    for (at, (thread, op, result)) in log.iter().enumerate() {
        let site = SiteId(at as u32);
        if loads.contains(&at) {
            for place in stores.iter().filter(|store| store.0 == op.object) {
                story.push(*thread, Op::new(places[place], Act::Access { write: false }), 0, site);
            }
        } else if let Some(place) = places.get(&(op.object, *thread))
            && writes(op, *result)
        {
            // What an update reads comes before what it writes.
            if let Act::Update { success, .. } = op.act {
                let read = Op::new(op.object, Act::Load(read_order(success)));
                story.push(*thread, read, *result, SiteId::NONE);
            }
            story.push(*thread, Op::new(*place, Act::Access { write: true }), 0, site);
        }
        story.operation(*thread, op, *result);
    }
    let races = races_of(story.events()).into_iter();
    let ours = races.filter(|race| race.object.0 & MEMORY != 0).map(|race| {
        let (first, second) = (race.first.site.0 as usize, race.second.site.0 as usize);
        if race.first.write { (second, first) } else { (first, second) }
    });
    ours.collect()
}

/// The order of the read of an update.
fn read_order(order: MemoryOrder) -> MemoryOrder {
    if order.acquires() { MemoryOrder::Acquire } else { MemoryOrder::Relaxed }
}
