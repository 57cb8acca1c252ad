//! Objects in memory that is freed too early, or handed over before it is there.
//!
//! The engine sees neither allocations nor frees at first. Each execution is examined when it ends,
//! and what is found is found where an execution shows it. Whether all is found is up to `watch`,
//! which makes executions that show it.
//!
//! - A use of memory that was freed before is seen when its operation was performed: the arena
//!   gives nothing out twice in one execution and knows what was freed.
//! - A use that nothing orders *before* the free may come after it in another execution. That is a
//!   candidate, until such an execution was run: owners may be counted by what the engine does not
//!   see, as in the `Arc` of the standard library.
//! - A use that nothing orders *after* the allocation finds memory as it was before.

use super::arena;
use super::core::{self, Core, State};
use super::leaks::Log;
use super::watch::Watch;
use anyorder_threads::{Act, Event, ObjectId, Op, SiteId, Step, ThreadId, races_of};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The most executions of one check that are examined.
const LOOKS_MAX: u64 = 20_000;

/// The most operations of an execution that is examined.
pub(super) const OPERATIONS_MAX: usize = 5_000;

/// Numbers from here on stand for the memory of objects.
pub(super) const MEMORY: u32 = 1 << 30;

/// How memory is misused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MisuseKind {
    /// It is used after it was freed.
    UsedAfterFree,
    /// It is freed a second time.
    FreedTwice,
    /// Nothing orders its use after its allocation: what was written there may not be seen.
    UsedBeforeMade,
    /// An atomic is loaded by `unsync_load`, and nothing orders that with a store.
    UnsynchronisedLoad,
}

/// A misuse that an execution shows.
#[derive(Clone, Debug)]
pub(crate) struct Misuse {
    pub(crate) kind: MisuseKind,
    /// None for memory without objects.
    pub(crate) object: Option<ObjectId>,
    /// The thread that uses it, and the number of its next operation then.
    pub(crate) user: (ThreadId, usize),
    /// The thread that freed or allocated it, and how many operations there were before.
    pub(crate) other: Option<(ThreadId, usize)>,
    /// The execution, without the ends of threads.
    pub(crate) log: Log,
}

/// Memory with objects that was freed.
pub(super) struct Free {
    pub(super) by: ThreadId,
    /// How many operations were before.
    pub(super) at: usize,
    owner: ThreadId,
    from: u64,
    to: u64,
}

impl Free {
    /// Whether what is at a position of a thread's memory was freed.
    pub(super) fn is_of(&self, place: (ThreadId, u64)) -> bool {
        place.0 == self.owner && self.from <= place.1 && place.1 < self.to
    }
}

/// What two misuses have in common that are reported once.
pub(crate) type Key = (MisuseKind, Option<ObjectId>, ThreadId, Option<ThreadId>);

impl Misuse {
    pub(crate) fn key(&self) -> Key {
        (self.kind, self.object, self.user.0, self.other.map(|other| other.0))
    }
}

#[derive(Default)]
pub(super) struct Lifetimes {
    /// The objects on the heap, in this execution.
    pub(super) named: BTreeMap<(ThreadId, u64), ObjectId>,
    pub(super) frees: Vec<Free>,
    found: Vec<Misuse>,
    /// Those that another execution may show.
    candidates: Vec<Misuse>,
    known: FxHashSet<Key>,
    /// The candidates that are known.
    suspected: FxHashSet<Key>,
    pub(super) watch: Watch,
    looks: u64,
    /// How many executions are examined at most.
    looks_max: u64,
    /// Whether this execution misuses memory.
    is_misused: bool,
    /// Whether this execution is a trial, in which nothing is found.
    pub(super) is_trial: bool,
}

impl Lifetimes {
    /// One of several programs that share the executions examines all of its.
    pub(super) fn new(is_one_of_many: bool) -> Lifetimes {
        let looks_max = if is_one_of_many { u64::MAX } else { LOOKS_MAX };
        Lifetimes { looks_max, ..Lifetimes::default() }
    }

    /// Returns how many misuses were noted, and whether no more are looked for.
    pub(super) fn counted(&self) -> (usize, bool) {
        (self.known.len() + self.suspected.len(), self.looks >= self.looks_max)
    }

    pub(super) fn name(&mut self, thread: ThreadId, position: u64, object: ObjectId) {
        self.named.insert((thread, position), object);
    }

    fn is_new(&mut self, misuse: &Misuse) -> bool {
        self.known.insert(misuse.key())
    }

    pub(super) fn note_counted(&mut self, address: usize) {
        self.watch.note_counted(address);
    }

    /// Notes what an execution shows, once.
    pub(super) fn note_found(&mut self, misuse: Misuse, log: &Log) {
        if self.is_new(&misuse) {
            self.found.push(Misuse { log: log.clone(), ..misuse });
        }
    }

    fn end(&mut self) {
        self.is_trial = false;
        self.named.clear();
        self.frees.clear();
    }

    /// Takes what was found, and what else another execution may show.
    pub(super) fn take(&mut self) -> (Vec<Misuse>, Vec<Misuse>) {
        self.candidates.retain(|misuse| !self.known.contains(&misuse.key()));
        self.known.clear();
        self.suspected.clear();
        (std::mem::take(&mut self.found), std::mem::take(&mut self.candidates))
    }
}

/// Notes that the code of the program frees memory of a chunk.
pub(super) fn freed(address: usize, size: usize, was_freed: bool) {
    core::with(|core| {
        // Who has it borrowed is no code of the program.
        let watched = core.state.try_borrow_mut().map(|mut state| {
            state.note_freed(address, size, was_freed);
            state.watch_free(address, size)
        });
        if let Ok(watched) = watched
            && !watched.is_empty()
        {
            core.set_watched(&watched);
        }
    });
}

impl Core {
    /// Notes that the last operation used an object in memory that was freed.
    #[cold]
    pub(super) fn note_used(&self, object: ObjectId) {
        let state = &mut *self.state.borrow_mut();
        let at = state.log.len().saturating_sub(1);
        let named = state.lifetimes.named.iter().find(|named| *named.1 == object);
        let place = named.map(|named| *named.0);
        let free = place.and_then(|(owner, position)| {
            let is_it = |free: &&Free| free.owner == owner && free.from <= position;
            state.lifetimes.frees.iter().find(|free| is_it(free) && position < free.to)
        });
        let other = free.map(|free| (free.by, free.at));
        state.note_misuse(MisuseKind::UsedAfterFree, Some(object), at, other);
    }
}

impl State {
    fn note_freed(&mut self, address: usize, size: usize, was_freed: bool) {
        let (owner, from) = arena::position(address);
        let (owner, to) = (ThreadId(owner), from + size as u64);
        let known = |free: &&Free| free.owner == owner && free.from == from;
        if was_freed {
            let other = self.lifetimes.frees.iter().find(known).map(|free| (free.by, free.at));
            let object = self.lifetimes.named.range((owner, from)..(owner, to)).next();
            let object = object.map(|named| *named.1);
            self.note_misuse(MisuseKind::FreedTwice, object, self.log.len(), other);
        } else if self.lifetimes.named.range((owner, from)..(owner, to)).next().is_some() {
            let free = Free { by: self.current, at: self.log.len(), owner, from, to };
            self.lifetimes.frees.push(free);
        }
    }

    fn note_misuse(
        &mut self,
        kind: MisuseKind,
        object: Option<ObjectId>,
        at: usize,
        other: Option<(ThreadId, usize)>,
    ) {
        // What unwinds leaves things as they never are.
        if self.leaks.is_excused() {
            return;
        }
        let (user, log) = ((self.current, at), Log::new());
        let misuse = Misuse { kind, object, user, other, log };
        self.lifetimes.is_misused = true;
        if self.lifetimes.is_new(&misuse) {
            self.lifetimes.found.push(misuse);
        }
    }

    /// What comes from now on in this execution is no finding.
    pub(super) fn begin_trial(&mut self) {
        for misuse in self.lifetimes.found.iter_mut().filter(|misuse| misuse.log.is_empty()) {
            misuse.log.clone_from(&self.log);
        }
        self.lifetimes.is_trial = true;
        self.leaks.excuse();
    }

    /// Looks at the execution that ends.
    pub(super) fn end_lifetimes(&mut self) {
        self.end_unsync_loads();
        self.end_watch();
        for misuse in self.lifetimes.found.iter_mut().filter(|misuse| misuse.log.is_empty()) {
            misuse.log.clone_from(&self.log);
        }
        if !self.leaks.is_excused()
            && self.log.len() <= OPERATIONS_MAX
            && self.lifetimes.looks < self.lifetimes.looks_max
        {
            // As a rule, threads use what was made before they were spawned, and they are joined
            // before it is freed. Then there is nothing to look for.
            let is_ordered = if self.alive.len() < 2 { None } else { self.is_ordered() };
            self.lifetimes.looks += u64::from(is_ordered.is_some());
            if is_ordered == Some(false) {
                self.look(&self.shared_objects());
            } else if cfg!(debug_assertions) {
                let misuses = self.story(&self.shared_objects()).misuses();
                assert!(misuses.is_empty(), "{misuses:?}");
            }
        }
        // What it leaves behind is no leak.
        if std::mem::take(&mut self.lifetimes.is_misused) {
            self.leaks.excuse();
        }
        self.lifetimes.end();
    }

    /// The objects on the heap that others use than the thread that allocated them, with the
    /// positions of their memory.
    fn shared_objects(&self) -> FxHashMap<ObjectId, (ThreadId, u64)> {
        let named = &self.lifetimes.named;
        if named.is_empty() || self.alive.len() < 2 {
            return FxHashMap::default();
        }
        let places: FxHashMap<ObjectId, (ThreadId, u64)> =
            named.iter().map(|(place, object)| (*object, *place)).collect();
        let mut shared = FxHashMap::default();
        for (thread, op, _) in &self.log {
            if let Some(place) = places.get(&op.object)
                && place.0 != *thread
            {
                shared.insert(op.object, *place);
            }
        }
        shared
    }

    fn look(&mut self, shared: &FxHashMap<ObjectId, (ThreadId, u64)>) {
        for misuse in self.story(shared).misuses() {
            let lifetimes = &mut self.lifetimes;
            if misuse.kind != MisuseKind::UsedAfterFree {
                lifetimes.note_found(misuse, &self.log);
            } else if lifetimes.suspected.insert(misuse.key()) {
                lifetimes.candidates.push(Misuse { log: self.log.clone(), ..misuse });
            }
        }
    }

    /// The execution that ends, with what happens to the memory of objects.
    fn story(&self, shared: &FxHashMap<ObjectId, (ThreadId, u64)>) -> Story {
        let mut story = Story::default();
        let mut made: Vec<(usize, ThreadId, ObjectId)> = shared
            .iter()
            .map(|(object, (thread, position))| {
                (self.made_at(*thread, *position), *thread, *object)
            })
            .collect();
        made.sort_unstable();
        let (mut made, mut frees) = (made.into_iter().peekable(), self.lifetimes.frees.iter());
        let mut free = frees.next();
        for (at, (thread, op, result)) in self.log.iter().enumerate() {
            while let Some(gone) = free.filter(|free| free.at <= at) {
                story.free(gone, shared);
                free = frees.next();
            }
            while let Some((_, thread, object)) = made.next_if(|made| made.0 <= at) {
                story.memory(thread, object, Moment::Made(at), true);
            }
            // What an operation hands over includes that it was there.
            if shared.contains_key(&op.object) {
                story.memory(*thread, op.object, Moment::Used(at), false);
            }
            story.operation(*thread, op, *result);
        }
        while let Some(gone) = free {
            story.free(gone, shared);
            free = frees.next();
        }
        story
    }

    /// The number of the operation before which a thread allocated what is at a position.
    pub(super) fn made_at(&self, thread: ThreadId, position: u64) -> usize {
        let strand = self.strands[thread.index()].as_ref();
        let marks = strand.map_or(&[][..], |strand| &strand.marks);
        let at = marks.partition_point(|mark| mark.0 <= position);
        marks.get(at).map_or(self.log.len(), |mark| mark.1 as usize)
    }
}

/// What happens to memory, and before which operation.
#[derive(Clone, Copy)]
enum Moment {
    Made(usize),
    Used(usize),
    Freed(usize),
}

/// An execution in which what happens to the memory of objects is an access.
#[derive(Default)]
pub(super) struct Story {
    events: Vec<Event>,
    moments: Vec<Moment>,
    /// By the object at which a thread is joined.
    threads: FxHashMap<ObjectId, ThreadId>,
}

impl Story {
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(super) fn push(&mut self, thread: ThreadId, op: Op, result: u64, site: SiteId) {
        let step = Step { thread, alternative: 0 };
        self.events.push(Event { step, op, result, site });
    }

    pub(super) fn operation(&mut self, thread: ThreadId, op: &Op, result: u64) {
        match op.act {
            Act::Spawn(child) => {
                self.threads.insert(op.object, child);
            }
            // The log has no ends.
            Act::Join => {
                if let Some(child) = self.threads.get(&op.object).copied() {
                    self.push(child, Op::new(op.object, Act::Exit(0)), 0, SiteId::NONE);
                }
            }
            _ => {}
        }
        self.push(thread, op.clone(), result, SiteId::NONE);
    }

    fn memory(&mut self, thread: ThreadId, object: ObjectId, moment: Moment, write: bool) {
        let site = SiteId(self.moments.len() as u32);
        self.moments.push(moment);
        let op = Op::new(ObjectId(MEMORY | object.0), Act::Access { write });
        self.push(thread, op, 0, site);
    }

    fn free(&mut self, free: &Free, shared: &FxHashMap<ObjectId, (ThreadId, u64)>) {
        let inside = shared.iter().filter(|one| free.is_of(*one.1));
        let mut inside: Vec<ObjectId> = inside.map(|one| *one.0).collect();
        inside.sort_unstable();
        for object in inside {
            self.memory(free.by, object, Moment::Freed(free.at), true);
        }
    }

    fn misuses(&self) -> Vec<Misuse> {
        let mut misuses = Vec::new();
        for race in races_of(&self.events).iter().filter(|race| race.object.0 & MEMORY != 0) {
            let (first, second) = (race.first, race.second);
            let moment = |site: SiteId| self.moments[site.0 as usize];
            let (kind, user, other) = match (moment(first.site), moment(second.site)) {
                (Moment::Made(made), Moment::Used(at)) => {
                    (MisuseKind::UsedBeforeMade, (second.thread, at), (first.thread, made))
                }
                (Moment::Used(at), Moment::Freed(freed)) => {
                    (MisuseKind::UsedAfterFree, (first.thread, at), (second.thread, freed))
                }
                _ => continue,
            };
            misuses.push(Misuse {
                kind,
                object: Some(ObjectId(race.object.0 & !MEMORY)),
                user,
                other: Some(other),
                log: Log::new(),
            });
        }
        misuses
    }
}
