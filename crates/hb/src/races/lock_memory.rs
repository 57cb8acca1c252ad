//! Locks that lie in memory: uses of a lock that happens-before does not order with the end of its
//! memory, or with a write over it.
//!
//! **Problem.** A lock whose name is an address lies in memory there (`docs/happens-before.md`,
//! section 7). Its acquires and releases are uses. Which of them are unordered with a `free` of
//! that memory, or with a plain write over it by a handler that does not hold the lock?
//!
//! **Idea.** For each such `free` or write, and each other strand, the last use before it and the
//! first one after it stand for all: program order gives the others. One pass takes the clocks of
//! the later events.
//!
//! **Cost.** A pass, only where a lock lies in memory that is freed or written; and the strands
//! that use the lock for each `free` or write, at most [`PAIRS_MAX`] pairs.

use crate::relation::engine::Engine;
use crate::relation::pass::{View, Visitor};
use crate::relation::strands::StrandId;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{
    Event, EventId, EventKind, HandlerId, Location, LockId, OperandKind, Trace, address_of,
    memory_of_lock,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The most pairs that are compared.
const PAIRS_MAX: usize = 1 << 20;

/// What can happen to the memory of a lock while the lock is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMemory {
    /// It is freed.
    Freed,
    /// It is written over.
    Overwritten,
}

/// Uses of a lock that are unordered with what happens to its memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockGroup {
    /// What happens to the memory.
    pub memory: LockMemory,
    /// The lock.
    pub lock: LockId,
    /// Pairs of a use and an event that frees or overwrites the memory, each in trace order. There
    /// is at least one.
    pub pairs: Vec<(EventId, EventId)>,
}

/// A lock in one of the lives of its memory.
type Life = (LockId, u32);

/// The uses of the locks in memory, and what ends or overwrites them.
#[derive(Default)]
struct InMemory {
    /// By address: the size.
    locks: BTreeMap<(u64, LockId), u64>,
    /// For each lock, the life of its memory, and the generation of that, once it was allocated.
    life: FxHashMap<LockId, (u32, u32)>,
    /// How often a handler has a lock.
    held: FxHashMap<(LockId, HandlerId), u32>,
    uses: FxHashMap<Life, Vec<EventId>>,
    ends: Vec<(Life, EventId)>,
}

impl InMemory {
    fn of(trace: &Trace) -> InMemory {
        let tables = trace.tables();
        let mut all = InMemory::default();
        for lock in (0..tables.locks.len() as u32).map(LockId) {
            if let Some((address, size)) = memory_of_lock(tables, lock) {
                all.locks.insert((address, lock), size);
            }
        }
        if !all.locks.is_empty() {
            trace.events().for_each(|event| all.take(trace, &event));
        }
        all
    }

    fn take(&mut self, trace: &Trace, event: &Event) {
        let (kind, handler) = (event.kind(), trace.handler_of(event.id));
        if kind.operand() == OperandKind::Lock {
            let lock = LockId(event.operand);
            let (life, _) = self.life.get(&lock).copied().unwrap_or_default();
            let held = self.held.entry((lock, handler)).or_default();
            match kind {
                EventKind::Acquire => *held = held.saturating_add(1),
                EventKind::Release => *held = held.saturating_sub(1),
                _ => return,
            }
            self.uses.entry((lock, life)).or_default().push(event.id);
            return;
        }
        let plain = !event.mode().is_atomic();
        match kind {
            EventKind::Alloc | EventKind::Free => {}
            EventKind::Write | EventKind::Rmw if plain => {}
            _ => return,
        }
        let (locks, generation) = self.around(trace, event);
        for lock in locks {
            let known = self.life.get(&lock).copied();
            let (life, of_life) = known.unwrap_or_default();
            if kind == EventKind::Alloc {
                self.life.insert(lock, (life + 1, generation));
            } else if known.is_none() || of_life == generation {
                let holds = self.held.get(&(lock, handler)).is_some_and(|times| *times > 0);
                if kind == EventKind::Free || !holds {
                    self.ends.push(((lock, life), event.id));
                }
            }
        }
    }

    /// Returns the locks in the memory of an event, and the generation of that.
    fn around(&self, trace: &Trace, event: &Event) -> (Vec<LockId>, u32) {
        let tables = trace.tables();
        let location = tables.locations.get(event.operand as usize);
        let (start, size, generation) = match location {
            Some(Location::Range { address, size, generation }) => (*address, *size, *generation),
            Some(Location::Named(name)) => match address_of(tables.name(*name)) {
                Some(address) => (address, 1, 0),
                None => return (Vec::new(), 0),
            },
            _ => return (Vec::new(), 0),
        };
        let end = start.saturating_add(u64::from(size.max(1)));
        let largest = self.locks.values().copied().max().unwrap_or(1);
        let near = self.locks.range((start.saturating_sub(largest), LockId(0))..(end, LockId(0)));
        let is_in = |((at, _), size): &(&(u64, LockId), &u64)| at.saturating_add(**size) > start;
        (near.filter(is_in).map(|((_, lock), _)| *lock).collect(), generation)
    }

    /// Returns the pairs to compare, each in trace order, with its lock.
    fn pairs(&self, strand_of: &dyn Fn(EventId) -> StrandId) -> Vec<(LockId, EventId, EventId)> {
        let mut pairs = Vec::new();
        for (life, end) in &self.ends {
            let uses = self.uses.get(life).map_or(&[][..], Vec::as_slice);
            let own = strand_of(*end);
            let mut near: BTreeMap<u32, [Option<EventId>; 2]> = BTreeMap::new();
            for event in uses.iter().filter(|event| strand_of(**event) != own) {
                let [before, after] = near.entry(strand_of(*event).index() as u32).or_default();
                match event < end {
                    true => *before = Some(*event),
                    false => *after = after.or(Some(*event)),
                }
            }
            for [before, after] in near.into_values() {
                pairs.extend(before.map(|event| (life.0, event, *end)));
                pairs.extend(after.map(|event| (life.0, *end, event)));
            }
            if pairs.len() >= PAIRS_MAX {
                break;
            }
        }
        pairs
    }
}

/// Pairs that are asked for, and those that happens-before orders.
struct Asked {
    /// By the later event, the earlier ones.
    pairs: FxHashMap<EventId, Vec<EventId>>,
    ordered: FxHashSet<(EventId, EventId)>,
}

impl Asked {
    fn of(pairs: &[(LockId, EventId, EventId)]) -> Asked {
        let mut asked = Asked { pairs: FxHashMap::default(), ordered: FxHashSet::default() };
        for (_, earlier, later) in pairs {
            asked.pairs.entry(*later).or_default().push(*earlier);
        }
        asked
    }
}

impl Visitor for Asked {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        for earlier in self.pairs.get(&event).into_iter().flatten() {
            let from = view.engine.strand_of(*earlier);
            let bound = || view.bound(strand, view.engine.chains.of(from));
            if from == strand
                || bound() > earlier.0
                || view.is_ended((*earlier, from), (event, strand))
            {
                self.ordered.insert((*earlier, event));
            }
        }
    }
}

/// Finds the uses of locks that are unordered with the end of their memory or a write over it.
///
/// # Errors
///
/// Fails if it was cancelled.
pub(crate) fn lock_memory(
    engine: &mut Engine<'_>,
    cancel: &Cancel,
) -> Result<Vec<LockGroup>, Stopped> {
    let trace = engine.trace;
    let all = InMemory::of(trace);
    let pairs = all.pairs(&|event| engine.strand_of(event));
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked = Asked::of(&pairs);
    engine.visit(&mut asked, cancel, &mut |_| ())?;
    let mut groups: BTreeMap<(LockMemory, LockId), Vec<(EventId, EventId)>> = BTreeMap::new();
    for (lock, a, b) in pairs {
        if !asked.ordered.contains(&(a, b)) {
            let frees = [a, b].iter().any(|event| trace.event(*event).kind() == EventKind::Free);
            let memory = match frees {
                true => LockMemory::Freed,
                false => LockMemory::Overwritten,
            };
            groups.entry((memory, lock)).or_default().push((a, b));
        }
    }
    let found = groups.into_iter().map(|((memory, lock), mut pairs)| {
        pairs.sort_unstable();
        LockGroup { memory, lock, pairs }
    });
    Ok(found.collect())
}
