//! Races on plain data: which accesses happen before which, by the orderings that the program asks
//! for.
//!
//! Happens-before is that of C++20 and Rust on sequentially consistent interleavings: an acquiring
//! read synchronises with the release sequence that it reads from (a releasing write and the
//! read-modify-writes that follow it), fences included; locks, tokens, queues, barriers,
//! semaphores, owners, spawns and joins synchronise as the standard library says.
//!
//! Instead of vector clocks, each thread and each object has the set of *accesses* that it knows,
//! among those that a later access can still race with: of each object the last write, and of each
//! thread the last read since. So states in which the same accesses are known are equal, however
//! much happened before.

use crate::execution::Event;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::learn::{Point, Sabotage};
use crate::op::{Act, LockMode, MemoryOrder, Op, received, sent};
use anyorder_common::bits;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// One access of a race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaceSide {
    /// The thread.
    pub thread: ThreadId,
    /// Whether it writes.
    pub write: bool,
    /// Its position in the source.
    pub site: SiteId,
}

/// Two accesses of one object that nothing orders, one of them a write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Race {
    /// The object.
    pub object: ObjectId,
    /// The access that came first in the execution.
    pub first: RaceSide,
    /// The other one.
    pub second: RaceSide,
}

impl Race {
    /// The same with its sides in an order that does not depend on the execution.
    #[must_use]
    pub fn normal(self) -> Race {
        let Race { object, first, second } = self;
        Race { object, first: first.min(second), second: first.max(second) }
    }
}

/// Returns the races that an execution shows, in the order of their second accesses.
#[must_use]
pub fn races_of(events: &[Event]) -> Vec<Race> {
    let (mut views, mut slots) = (Views::new(Sabotage::None), Slots::default());
    let note = |event: &Event| {
        let seen = (event.step.thread, &event.op, event.site);
        views.note(seen, event.result, &mut slots)
    };
    events.iter().flat_map(note).collect()
}

/// Numbers of the accesses that can be known: the last write of an object, the last read of an
/// object by a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    ids: FxHashMap<(ObjectId, Option<ThreadId>), u32>,
    of: FxHashMap<ObjectId, Vec<u32>>,
}

impl Slots {
    fn id(&mut self, object: ObjectId, reader: Option<ThreadId>) -> u32 {
        let next = self.ids.len() as u32;
        let id = *self.ids.entry((object, reader)).or_insert(next);
        if id == next {
            self.of.entry(object).or_default().push(id);
        }
        id
    }

    /// What has numbers, in their order.
    pub(crate) fn list(&self) -> Vec<(ObjectId, Option<ThreadId>)> {
        let mut list: Vec<_> = self.ids.iter().collect();
        list.sort_unstable_by_key(|entry| entry.1);
        list.into_iter().map(|entry| *entry.0).collect()
    }

    /// Gives numbers in the order of a list.
    pub(crate) fn of_list(list: &[(ObjectId, Option<ThreadId>)]) -> Slots {
        let mut slots = Slots::default();
        for (object, reader) in list {
            slots.id(*object, *reader);
        }
        slots
    }

    /// All numbers of an object.
    pub(crate) fn of(&self, object: ObjectId) -> &[u32] {
        self.of.get(&object).map_or(&[], Vec::as_slice)
    }
}

/// A set of accesses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Known(Vec<u64>);

impl Known {
    fn insert(&mut self, slot: u32) {
        let width = bits::width(slot as usize + 1);
        if self.0.len() < width {
            self.0.resize(width, 0);
        }
        bits::set(&mut self.0, slot);
    }

    fn remove(&mut self, slot: u32) {
        if self.contains(slot) {
            bits::unset(&mut self.0, slot);
        }
    }

    pub(crate) fn contains(&self, slot: u32) -> bool {
        bits::has(&self.0, slot)
    }

    fn join(&mut self, other: &Known) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        bits::join(&mut self.0, &other.0);
    }
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// What happens before its next operation.
    pub(crate) now: Known,
    /// What would, after an acquire fence.
    pub(crate) with_fence: Known,
    /// What happened before its last release fence.
    pub(crate) at_fence: Known,
}

/// What all threads and objects know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views {
    pub(crate) threads: BTreeMap<ThreadId, View>,
    /// What a reader of an object learns. The flag: what readers of a lock leave for writers.
    pub(crate) objects: BTreeMap<(ObjectId, bool), Known>,
    pub(crate) queues: BTreeMap<ObjectId, VecDeque<Known>>,
    /// The accesses that can be known, and where they were.
    accesses: BTreeMap<u32, RaceSide>,
    sabotage: Sabotage,
}

impl Views {
    /// The view of the main thread at the start.
    pub(crate) fn new(sabotage: Sabotage) -> Views {
        let threads = [(ThreadId::MAIN, View::default())].into();
        Views { threads, sabotage, ..Views::default() }
    }

    /// The accesses of an object that a later one can race with.
    pub(crate) fn exists(&self, slot: u32) -> bool {
        self.accesses.contains_key(&slot)
    }

    fn now(&mut self, thread: ThreadId) -> &mut Known {
        &mut self.threads.entry(thread).or_default().now
    }

    fn acquire(&mut self, thread: ThreadId, object: ObjectId, of_readers: bool) {
        if let Some(known) = self.objects.get(&(object, of_readers)) {
            self.threads.entry(thread).or_default().now.join(known);
        }
    }

    /// The object keeps what it knew, and learns what the thread knows.
    fn release(&mut self, thread: ThreadId, object: ObjectId, of_readers: bool) {
        let view = self.threads.entry(thread).or_default();
        self.objects.entry((object, of_readers)).or_default().join(&view.now);
    }

    fn load(&mut self, thread: ThreadId, object: ObjectId, order: MemoryOrder) {
        let Some(known) = self.objects.get(&(object, false)) else { return };
        let view = self.threads.entry(thread).or_default();
        view.with_fence.join(known);
        if order.acquires() || self.sabotage == Sabotage::ReadsAcquire {
            view.now.join(known);
        }
    }

    /// A write. If it does not continue the release sequence, it starts a new one.
    fn store(&mut self, thread: ThreadId, object: ObjectId, order: MemoryOrder, continues: bool) {
        let view = self.threads.entry(thread).or_default();
        let releases = order.releases() || self.sabotage == Sabotage::WritesRelease;
        let left = if releases { &view.now } else { &view.at_fence };
        let known = self.objects.entry((object, false)).or_default();
        match continues {
            true if self.sabotage == Sabotage::SequencesEnd => known.clone_from(left),
            false if self.sabotage == Sabotage::SequencesGoOn => known.join(left),
            true => known.join(left),
            false => known.clone_from(left),
        }
    }

    /// Notes an operation with its result. Returns the races that an access is in: with the last
    /// write, or with reads since.
    pub(crate) fn note(
        &mut self,
        (thread, op, site): (ThreadId, &Op, SiteId),
        result: u64,
        slots: &mut Slots,
    ) -> Vec<Race> {
        let object = op.object;
        match &op.act {
            Act::Load(order) => self.load(thread, object, *order),
            Act::Store(_, order) => self.store(thread, object, *order, false),
            Act::Update { change, success, failure, .. } => {
                let writes = change.writes(result);
                self.load(thread, object, if writes { *success } else { *failure });
                if writes {
                    self.store(thread, object, *success, true);
                }
            }
            Act::Fence(_) if self.sabotage == Sabotage::NoFences => {}
            Act::Fence(order) => {
                let view = self.threads.entry(thread).or_default();
                if order.acquires() {
                    let View { now, with_fence, .. } = view;
                    now.join(with_fence);
                }
                if order.releases() {
                    view.at_fence.clone_from(&view.now);
                }
            }
            Act::Lock(mode, _) if result & 1 == 1 => self.lock(thread, object, *mode),
            Act::Convert { to, .. } if result == 1 => {
                self.lock(thread, object, *to);
                if *to != LockMode::Exclusive {
                    self.release(thread, object, false);
                }
            }
            Act::Unlock(mode) => self.unlock(thread, object, *mode),
            Act::Wait { lock, mode } => self.unlock(thread, *lock, *mode),
            Act::Park(_) if result == 1 => self.acquire(thread, object, false),
            Act::Acquire(..) if result != 0 => self.acquire(thread, object, false),
            Act::Join => self.acquire(thread, object, false),
            // Odd and even generations apart: some may arrive again before all have passed.
            Act::Arrive => {
                self.release(thread, object, result >> 1 & 1 == 1);
                if result & 1 == 1 {
                    self.acquire(thread, object, result >> 1 & 1 == 1);
                }
            }
            Act::Pass(generation) => self.acquire(thread, object, generation & 1 == 1),
            Act::IsFinished | Act::TakeSole | Act::Upgrade if result == 1 => {
                self.acquire(thread, object, false);
            }
            Act::Unpark | Act::Release(_) | Act::Close | Act::Exit(_) => {
                self.release(thread, object, false);
            }
            Act::Drop => {
                self.release(thread, object, false);
                if result == 1 {
                    self.acquire(thread, object, false);
                }
            }
            Act::Spawn(child) => {
                let now = self.now(thread).clone();
                self.threads.insert(*child, View { now, ..View::default() });
            }
            Act::Send(..) if result == sent::DONE => {
                let now = self.now(thread).clone();
                self.queues.entry(object).or_default().push_back(now);
            }
            Act::Receive(_) if result >= received::FIRST => {
                let known = self.queues.entry(object).or_default().pop_front();
                self.now(thread).join(&known.unwrap_or_default());
            }
            Act::Access { write } => {
                let side = RaceSide { thread, write: *write, site };
                return self.access(object, side, slots);
            }
            _ => {}
        }
        Vec::new()
    }

    /// Notes the begin or the end of an invocation: it knows what those knew that came before and
    /// do not commute with it.
    pub(crate) fn note_call(&mut self, thread: ThreadId, op: &Op, points: &[Point]) {
        let is_off = self.sabotage == Sabotage::CallsDoNotSynchronise;
        for point in points.iter().filter(|_| !is_off) {
            match op.act {
                Act::Invoke(_) => {
                    if self.sabotage == Sabotage::SidesSynchronise {
                        self.acquire(thread, point.object, point.sides().0);
                    }
                    self.acquire(thread, point.object, point.sides().1);
                }
                _ => self.release(thread, point.object, point.sides().0),
            }
        }
    }

    fn lock(&mut self, thread: ThreadId, object: ObjectId, mode: LockMode) {
        self.acquire(thread, object, false);
        if mode == LockMode::Exclusive || self.sabotage == Sabotage::ReadersLearn {
            self.acquire(thread, object, true);
        }
    }

    fn unlock(&mut self, thread: ThreadId, object: ObjectId, mode: LockMode) {
        self.release(thread, object, mode != LockMode::Exclusive);
    }

    fn access(&mut self, object: ObjectId, second: RaceSide, slots: &mut Slots) -> Vec<Race> {
        let own = slots.id(object, (!second.write).then_some(second.thread));
        let now = &self.threads.entry(second.thread).or_default().now;
        let mut races = Vec::new();
        for slot in slots.of(object) {
            if let Some(first) = self.accesses.get(slot)
                && (first.write || second.write)
                && !now.contains(*slot)
            {
                races.push(Race { object, first: *first, second });
            }
        }
        // A write is all that later accesses need to know; a read replaces the last one.
        let gone = if second.write { slots.of(object) } else { &[own][..] };
        for slot in gone {
            if self.accesses.remove(slot).is_some() && self.sabotage != Sabotage::WritesInherit {
                self.forget(*slot);
            }
        }
        self.accesses.insert(own, second);
        self.now(second.thread).insert(own);
        races
    }

    fn forget(&mut self, slot: u32) {
        for view in self.threads.values_mut() {
            view.now.remove(slot);
            view.with_fence.remove(slot);
            view.at_fence.remove(slot);
        }
        self.objects.values_mut().for_each(|known| known.remove(slot));
        self.queues.values_mut().flatten().for_each(|known| known.remove(slot));
    }
}
