//! Frees that the engine sees, where the order of frees and uses may matter.
//!
//! An exploration by learning covers what each thread can do, and not in which combinations: the
//! thread that frees and the one that uses may never do so in one execution that is run. So each
//! position in memory with an object that may be used after a free has a register. A free sets it,
//! and each use reads it before: what they find are results, and the exploration covers them.
//!
//! It is not known before the first exploration what is used and freed by whom. So this one takes
//! notes, and a second one watches what may go wrong: an object is let alone if whoever frees it
//! has joined all others that ever use or free it. The operations on the registers are in no log
//! and no history, so that executions are run again without them.
//!
//! Who frees the memory of a counted value is a matter of two counts. Nobody reaches it then but by
//! pointers of his own, and it is not watched.

use super::arena;
use super::core::{Core, Phase, State};
use super::lifetimes::OPERATIONS_MAX;
use super::names::Place;
use anyorder_threads::{Act, Change, MemoryOrder, Object, ObjectId, Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::thread;

/// The most different frees of which notes are taken.
const FREES_MAX: usize = 100_000;

/// A set of threads. The last bit stands for all with high numbers.
type Threads = u64;

/// That bit.
const HIGH: Threads = 1 << 63;

fn bit(thread: ThreadId) -> Threads {
    1 << thread.0.min(63)
}

/// A free, in all executions in which it is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Free {
    owner: ThreadId,
    from: u64,
    to: u64,
    by: ThreadId,
    /// Those that had ended for sure, and who freed.
    joined: Threads,
}

#[derive(Default)]
pub(super) struct Watch {
    /// Who uses the object at a position.
    users: BTreeMap<(ThreadId, u64), Threads>,
    /// Empty but while an execution ends: its objects, by number.
    users_now: Vec<(ObjectId, (ThreadId, u64), Threads)>,
    /// To be used again.
    joined: Joined,
    frees: BTreeSet<Free>,
    /// The frees of this execution, and how many operations were before.
    now: Vec<(Free, usize)>,
    /// The addresses of counted values in this execution.
    counted: BTreeSet<usize>,
    watched: BTreeMap<(ThreadId, u64), ObjectId>,
}

/// Whom each thread has joined, and whom those had.
#[derive(Default)]
struct Joined {
    /// By thread.
    by: Vec<Threads>,
    /// The object at which a thread is joined, who spawned it, and in which operation.
    children: Vec<(ObjectId, ThreadId, ThreadId, usize)>,
}

impl Joined {
    fn of(&self, thread: ThreadId) -> Threads {
        (self.by.get(thread.index()).copied().unwrap_or_default() | bit(thread)) & !HIGH
    }

    fn clear(&mut self) {
        self.by.clear();
        self.children.clear();
    }

    /// Whether spawns order all that a thread does after what another did before operation `at`.
    fn is_spawned_after(&self, mut thread: ThreadId, (other, at): (ThreadId, usize)) -> bool {
        while thread != other {
            let born = self.children.iter().rev().find(|child| child.1 == thread);
            match born {
                Some((.., by, spawn)) if *by == other => return at <= *spawn,
                Some((.., by, _)) => thread = *by,
                None => return false,
            }
        }
        true
    }

    #[inline]
    fn note(&mut self, thread: ThreadId, op: &Op, at: usize) {
        match op.act {
            Act::Spawn(child) => self.children.push((op.object, child, thread, at)),
            Act::Join => {
                let child = self.children.iter().rev().find(|child| child.0 == op.object);
                let joined = child.map_or(0, |child| self.of(child.1));
                if self.by.len() <= thread.index() {
                    self.by.resize(thread.index() + 1, 0);
                }
                self.by[thread.index()] |= joined;
            }
            _ => {}
        }
    }
}

impl Watch {
    /// Notes that a counted value is at an address.
    pub(super) fn note_counted(&mut self, address: usize) {
        if arena::contains(address) {
            self.counted.insert(address);
        }
    }

    /// Whether memory holds a counted value. It is forgotten: the memory is freed.
    fn take_counted(&mut self, address: usize, size: usize) -> bool {
        let counted = self.counted.range(address..address + size).next().copied();
        counted.is_some_and(|counted| self.counted.remove(&counted))
    }

    /// The objects to watch in some memory.
    fn watched_in(&self, owner: ThreadId, from: u64, to: u64) -> Vec<ObjectId> {
        self.watched.range((owner, from)..(owner, to)).map(|watched| *watched.1).collect()
    }

    /// Adds the notes of another program in which all has the same numbers, and takes them.
    pub(super) fn append(&mut self, other: &mut Watch) {
        for (place, threads) in std::mem::take(&mut other.users) {
            *self.users.entry(place).or_default() |= threads;
        }
        self.frees.append(&mut other.frees);
    }

    /// Whether there is something to watch.
    pub(super) fn has_dangers(&self) -> bool {
        !self.frees.is_empty() && !self.in_danger().is_empty()
    }

    /// The positions at which a use or another free may come after a free.
    fn in_danger(&self) -> BTreeSet<(ThreadId, u64)> {
        let mut all = self.users.clone();
        for free in &self.frees {
            let within = all.range_mut((free.owner, free.from)..(free.owner, free.to));
            within.for_each(|(_, threads)| *threads |= bit(free.by));
        }
        let mut in_danger = BTreeSet::new();
        for free in &self.frees {
            let within = all.range((free.owner, free.from)..(free.owner, free.to));
            in_danger.extend(within.filter(|one| one.1 & !free.joined != 0).map(|one| *one.0));
        }
        in_danger
    }
}

impl State {
    /// Notes a free, and returns what is to be set.
    pub(super) fn watch_free(&mut self, address: usize, size: usize) -> Vec<ObjectId> {
        let (owner, from) = arena::position(address);
        let (owner, to) = (ThreadId(owner), from + size as u64);
        let watch = &mut self.lifetimes.watch;
        if watch.take_counted(address, size) {
            return Vec::new();
        }
        if watch.watched.is_empty() {
            let free = Free { owner, from, to, by: self.current, joined: 0 };
            watch.now.push((free, self.log.len()));
            return Vec::new();
        }
        watch.watched_in(owner, from, to)
    }

    /// Takes notes of who used and freed memory in the execution that ends.
    pub(super) fn end_watch(&mut self) {
        let lifetimes = &mut self.lifetimes;
        let (watch, named) = (&mut lifetimes.watch, &lifetimes.named);
        watch.counted.clear();
        let mut frees = std::mem::take(&mut watch.now);
        let is_plain = self.alive.len() < 2 || (frees.is_empty() && named.is_empty());
        let is_much = self.log.len() > OPERATIONS_MAX || watch.frees.len() > FREES_MAX;
        if watch.watched.is_empty() && !is_plain && !is_much && !lifetimes.is_trial {
            let mut users = std::mem::take(&mut watch.users_now);
            users.extend(named.iter().map(|(place, object)| (*object, *place, 0)));
            users.sort_unstable_by_key(|user| user.0);
            let mut joined = std::mem::take(&mut watch.joined);
            joined.clear();
            let mut next = frees.iter().copied().peekable();
            for at in 0..=self.log.len() {
                while let Some((free, _)) = next.next_if(|free| free.1 <= at) {
                    watch.frees.insert(Free { joined: joined.of(free.by), ..free });
                }
                let Some((thread, op, _)) = self.log.get(at) else { break };
                joined.note(*thread, op, at);
                if let Ok(at) = users.binary_search_by_key(&op.object, |user| user.0) {
                    users[at].2 |= bit(*thread);
                }
            }
            for (_, place, threads) in users.drain(..).filter(|user| user.2 != 0) {
                *watch.users.entry(place).or_default() |= threads;
            }
            watch.users_now = users;
            watch.joined = joined;
        }
        frees.clear();
        watch.now = frees;
    }

    /// Whether spawns and joins alone order all uses of objects on the heap by others after their
    /// allocation, and all uses before a free before that: then nothing is misused in the execution
    /// that ends, nor in one that differs in the order of what is not ordered. `None` if no thread
    /// uses what another one allocated.
    pub(super) fn is_ordered(&mut self) -> Option<bool> {
        let mut users = std::mem::take(&mut self.lifetimes.watch.users_now);
        let mut joined = std::mem::take(&mut self.lifetimes.watch.joined);
        let lifetimes = &self.lifetimes;
        joined.clear();
        users.extend(lifetimes.named.iter().map(|(place, object)| (*object, *place, 0)));
        users.sort_unstable_by_key(|user| user.0);
        let (mut frees, mut is_shared, mut is_ordered) = (0, false, true);
        for at in 0..=self.log.len() {
            while let Some(free) = lifetimes.frees.get(frees).filter(|free| free.at <= at) {
                let known = joined.of(free.by);
                let is_late = |user: &(_, _, Threads)| free.is_of(user.1) && user.2 & !known != 0;
                is_ordered &= !users.iter().any(is_late);
                frees += 1;
            }
            let Some((thread, op, _)) = self.log.get(at) else { break };
            joined.note(*thread, op, at);
            let Ok(user) = users.binary_search_by_key(&op.object, |user| user.0) else { continue };
            let (_, (owner, position), threads) = &mut users[user];
            let is_new = *threads & bit(*thread) & !HIGH == 0;
            if is_new && thread != owner {
                is_shared = true;
                let made = self.made_at(*owner, *position);
                is_ordered &= joined.is_spawned_after(*thread, (*owner, made));
            }
            *threads |= bit(*thread);
        }
        users.clear();
        (self.lifetimes.watch.users_now, self.lifetimes.watch.joined) = (users, joined);
        is_shared.then_some(is_ordered)
    }

    /// Begins to watch what may go wrong. Returns whether anything may.
    pub(super) fn begin_watch(&mut self) -> bool {
        let in_danger = self.lifetimes.watch.in_danger();
        let names = &mut self.names;
        self.lifetimes.watch = Watch {
            watched: in_danger
                .into_iter()
                .map(|place| {
                    let at = Place::Watched(place.0, place.1);
                    (place, names.only_object(at, Object::Register(0)))
                })
                .collect(),
            ..Watch::default()
        };
        !self.lifetimes.watch.watched.is_empty()
    }

    pub(super) fn end_watching(&mut self) {
        self.lifetimes.watch = Watch::default();
    }
}

impl Core {
    /// Before a use of what is at an address.
    #[cold]
    pub(super) fn read_watched(&self, address: usize, at: &'static Location<'static>) {
        if !arena::contains(address) {
            return;
        }
        let (owner, position) = arena::position(address);
        let place = (ThreadId(owner), position);
        let watched = self.state.borrow().lifetimes.watch.watched.get(&place).copied();
        if let Some(object) = watched {
            self.send_aside(Op::new(object, Act::Load(MemoryOrder::Relaxed)), at);
        }
    }

    /// After a free.
    #[cold]
    pub(super) fn set_watched(&self, objects: &[ObjectId]) {
        if self.phase() != Phase::Running || !self.is_inside() || thread::panicking() {
            return;
        }
        for object in objects {
            let (success, failure) = (MemoryOrder::Relaxed, MemoryOrder::Relaxed);
            let act = Act::Update { change: Change::Swap(1), bits: 8, success, failure };
            self.send_aside(Op::new(*object, act), Location::caller());
        }
    }

    /// Performs an operation that is not the program's.
    fn send_aside(&self, op: Op, at: &'static Location<'static>) {
        self.with_current(|strand| strand.is_aside = true);
        self.send(op, at);
    }
}
