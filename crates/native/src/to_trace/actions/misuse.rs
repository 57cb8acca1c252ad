//! What a thread does to an object that no program may do, whatever the order: [`Misuse`]. And the
//! lives of objects that synchronise: to initialise one is a write of a location that stands for
//! it, to use one is a read, to destroy one is a free. So the analyses of the trace find a use that
//! nothing orders with the begin or the end of the object.
//!
//! Of a lock, only the first use of each other thread after the initialisation is a read: the later
//! ones come after it. The end of a lock is an event of its own.

use super::Maker;
use crate::merge::held::Mode as Held;
use crate::recording::{Event, kind};
use crate::to_trace::files_with_accesses;
use anyorder_trace::{EventKind, Location, LocationId, Mode, NameId, Op, SiteId, TableFull};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The most misuses of one trace.
const MISUSES_MAX: usize = 1_000;

/// A rule that a thread breaks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// Gives back a lock that it does not hold.
    BadUnlock,
    /// Asks for a lock that it holds.
    DoubleLock,
    /// Destroys a lock that is held.
    DestroyedHeld,
    /// Initialises a lock that is held.
    InitialisedHeld,
    /// Uses an object that was destroyed.
    UsedDestroyed,
    /// Waits on a condition without the mutex.
    WaitUnlocked,
    /// Gives back a lock in another mode than it was taken in.
    WrongMode,
    /// Creates a thread that ends, and that nobody joins or detaches.
    ThreadLeak,
    /// A signal handler calls what it must not call.
    UnsafeInHandler,
    /// A signal handler changes `errno`.
    ErrnoInHandler,
}

/// A place where a rule is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// The rule.
    pub rule: Rule,
    /// What it is about: a lock, a condition, a thread, a function, a signal.
    pub object: String,
    /// The events of the trace: the wrong one, then the one that makes it wrong, where that is in
    /// the trace.
    pub events: Vec<u32>,
    /// How often it happened at the same places.
    pub times: u64,
}

/// What an object that synchronises is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Lock,
    Condition,
    Barrier,
    Semaphore,
}

impl What {
    const fn word(self) -> &'static str {
        match self {
            What::Lock => "lock",
            What::Condition => "condition",
            What::Barrier => "barrier",
            What::Semaphore => "semaphore",
        }
    }
}

/// The life of an object that was initialised.
#[derive(Clone, Debug)]
struct Life {
    what: What,
    /// How often there was an object at this address.
    round: u64,
    generation: u32,
    /// Who has used it since.
    users: Vec<usize>,
    /// The location that stands for it, in this trace.
    location: Option<LocationId>,
    /// The event that destroyed it, in this trace.
    destroyed: Option<u32>,
    is_over: bool,
}

/// A signal handler that runs.
#[derive(Clone, Copy, Debug)]
struct Handler {
    signal: u64,
    /// It interrupts nothing that it could disturb.
    is_expected: bool,
}

/// What is known of misuses.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    pub(super) found: Vec<Misuse>,
    /// The misuses by rule and places.
    known: FxHashMap<(Rule, SiteId, SiteId), usize>,
    /// Where each thread has taken a lock.
    taken: FxHashMap<(u64, usize), u32>,
    /// Locks with an event that did not fit: what is known of them may be wrong.
    doubtful: FxHashSet<u64>,
    lives: FxHashMap<u64, Life>,
    /// Locks that the program declares to be there all the time.
    statics: FxHashSet<u64>,
    handlers: FxHashMap<usize, Vec<Handler>>,
    /// The files with code of which accesses were recorded, once somebody has asked.
    files: Option<BTreeSet<String>>,
    /// By the low half of a code address, whether its file is one of them.
    instrumented: FxHashMap<u32, bool>,
}

impl Watch {
    /// Takes what was found, and forgets the events of this trace.
    pub(super) fn take(&mut self) -> Vec<Misuse> {
        self.known.clear();
        self.taken.clear();
        self.lives.retain(|_, life| {
            (life.location, life.destroyed) = (None, None);
            true
        });
        std::mem::take(&mut self.found)
    }

    /// An event of a lock does not fit.
    pub(super) fn doubt(&mut self, lock: u64) {
        self.doubtful.insert(lock);
    }
}

impl Maker<'_> {
    /// Returns the event that was appended last, if there is one after `before` events.
    fn row_after(&self, before: usize) -> Option<u32> {
        (self.columns.len() > before).then(|| self.columns.len() as u32 - 1)
    }

    /// Appends an event that orders nothing, and stands for a misuse.
    fn stand_in(
        &mut self,
        lane: usize,
        event: &Event,
        name: &str,
    ) -> Result<Option<u32>, TableFull> {
        let name = self.interner.name(name)?;
        let location = self.interner.location(Location::Named(name))?;
        let before = self.columns.len();
        self.push(lane, event, Op::new(EventKind::Read, Mode::RELAXED), location.0)?;
        Ok(self.row_after(before))
    }

    /// Notes a misuse.
    fn misuse(&mut self, rule: Rule, object: String, event: Option<u32>, other: Option<u32>) {
        let Some(event) = event else { return };
        let site = |row: Option<u32>| {
            row.and_then(|row| self.columns.sites.get(row as usize).copied())
                .unwrap_or(SiteId::UNKNOWN)
        };
        let key = (rule, site(Some(event)), site(other));
        if let Some(known) = self.watch.known.get(&key) {
            self.watch.found[*known].times += 1;
        } else if self.watch.found.len() < MISUSES_MAX {
            self.watch.known.insert(key, self.watch.found.len());
            let events = [event].into_iter().chain(other).collect();
            self.watch.found.push(Misuse { rule, object, events, times: 1 });
        }
    }

    /// Returns the name of a lock or condition as text.
    fn name_of(&mut self, address: u64) -> Result<String, TableFull> {
        let name: NameId = self.variable(address)?;
        Ok(self.interner.tables.name(name).to_owned())
    }

    /// Where a lock was taken by one of those who hold it.
    fn taken_by(&self, lock: u64) -> Option<u32> {
        let holder = self.locks.holders(lock).next()?;
        self.watch.taken.get(&(lock, holder)).copied()
    }

    /// Returns whether what is known of a lock can be relied upon. A forked process begins with
    /// locks that its parent has taken.
    fn is_certain(&self, lock: u64) -> bool {
        !self.recording.header.is_fork && !self.watch.doubtful.contains(&lock)
    }

    /// Returns whether an initialisation or the end of a lock is none, as the program says.
    pub(super) fn is_static(&mut self, event: &Event) -> bool {
        const STATIC: u8 = 64;
        let says_so = event.arg & STATIC != 0;
        if says_so && event.kind == kind::LOCK_INIT {
            self.watch.statics.insert(event.address);
        }
        says_so || self.watch.statics.contains(&event.address)
    }

    /// A lock was taken.
    pub(super) fn was_taken(&mut self, lane: usize, lock: u64) {
        if let Some(row) = self.columns.len().checked_sub(1) {
            self.watch.taken.insert((lock, lane), row as u32);
        }
    }

    /// A lock was given back.
    pub(super) fn was_given_back(&mut self, lane: usize, lock: u64) {
        self.watch.taken.remove(&(lock, lane));
    }

    /// Looks at an unlock before it is done. Returns whether it is one that can be done.
    pub(super) fn before_unlock(
        &mut self,
        lane: usize,
        event: &Event,
        lock: u64,
    ) -> Result<bool, TableFull> {
        self.uses(lane, event, lock, What::Lock)?;
        let is_shared = event.arg & 1 != 0;
        match self.locks.held(lock, lane) {
            None if !self.is_certain(lock) => {
                self.stats.odd += 1;
                Ok(false)
            }
            None => {
                let name = self.name_of(lock)?;
                let other = self.taken_by(lock);
                let row = self.stand_in(lane, event, &format!("lock {name}"))?;
                self.misuse(Rule::BadUnlock, name, row, other);
                // It is free then.
                let holders: Vec<usize> = self.locks.holders(lock).collect();
                for holder in holders {
                    self.release(holder, &Event::default(), lock)?;
                }
                Ok(false)
            }
            Some(held) => {
                if is_shared != (held == Held::Shared) && self.is_certain(lock) {
                    let name = self.name_of(lock)?;
                    let other = self.watch.taken.get(&(lock, lane)).copied();
                    let row = self.stand_in(lane, event, &format!("lock {name}"))?;
                    self.misuse(Rule::WrongMode, name, row, other);
                }
                Ok(true)
            }
        }
    }

    /// Looks at the last event, which asks for a lock.
    pub(super) fn has_requested(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        const BY_TRY_RECURSIVE_OR_CHECKED: u8 = 2 | 4 | 32;
        let lock = event.address;
        let is_shared = event.arg & 1 != 0;
        let waits_for_itself = match self.locks.held(lock, lane) {
            None => false,
            Some(Held::Exclusive) => true,
            Some(Held::Shared) => !is_shared,
        };
        if !waits_for_itself || event.arg & BY_TRY_RECURSIVE_OR_CHECKED != 0 {
            return Ok(());
        }
        let row = self.columns.len().checked_sub(1).map(|row| row as u32);
        let other = self.watch.taken.get(&(lock, lane)).copied();
        if self.is_certain(lock) {
            let name = self.name_of(lock)?;
            self.misuse(Rule::DoubleLock, name, row, other);
        }
        Ok(())
    }

    /// Looks at the end of a lock before it is forgotten. The event of it is the last one.
    pub(super) fn was_destroyed(&mut self, event: &Event) -> Result<(), TableFull> {
        let row = self.columns.len().checked_sub(1).map(|row| row as u32);
        let lock = event.address;
        let other = self.taken_by(lock);
        if other.is_some() && self.is_certain(lock) {
            let name = self.name_of(lock)?;
            self.misuse(Rule::DestroyedHeld, name, row, other);
        }
        self.end_life(lock, row);
        Ok(())
    }

    fn end_life(&mut self, object: u64, row: Option<u32>) {
        if let Some(life) = self.watch.lives.get_mut(&object) {
            (life.destroyed, life.is_over) = (row, true);
        }
    }

    /// Returns whether an address is on a stack.
    pub(super) fn is_on_stack(&self, address: u64) -> bool {
        let mut stacks = self.threads.iter().filter_map(|thread| thread.stack);
        stacks.any(|(low, size)| address.wrapping_sub(low) < size)
    }

    /// Returns whether the accesses around a place are recorded. How code without instrumentation
    /// tells others of an object that it has made is not seen.
    fn is_instrumented(&mut self, pc: u32) -> bool {
        let (recording, survey) = (self.recording, self.survey);
        let Watch { files, instrumented, .. } = &mut self.watch;
        *instrumented.entry(pc).or_insert_with(|| {
            let files = files.get_or_insert_with(|| {
                files_with_accesses(recording, survey).into_iter().map(str::to_owned).collect()
            });
            let modules = &recording.modules;
            let mut pieces = modules.complete(pc.wrapping_sub(1)).filter_map(|at| modules.find(at));
            pieces.all(|piece| files.contains(&piece.path))
        })
    }

    /// An object is initialised: its life begins.
    pub(super) fn begins(
        &mut self,
        lane: usize,
        event: &Event,
        what: What,
    ) -> Result<(), TableFull> {
        let address = event.address;
        if !self.is_instrumented(event.pc) {
            self.watch.lives.remove(&address);
            return Ok(());
        }
        let generation = self.memory.generation(address);
        let before = self.watch.lives.get(&address);
        let is_new = before.map_or(generation > 1, |life| life.generation != generation);
        let round = before.map_or(0, |life| life.round + 1);
        let other = if what == What::Lock { self.taken_by(address) } else { None };
        // A frame that was left takes its locks with it, whether they were free or not.
        let is_held = other.is_some() && !self.is_on_stack(address);
        let life = Life {
            what,
            round,
            generation,
            users: vec![lane],
            location: None,
            destroyed: None,
            is_over: false,
        };
        self.watch.lives.insert(address, life);
        if let Some(location) = self.stands_for(address)? {
            // The end of a lock is no free.
            if what != What::Lock {
                self.push(lane, event, EventKind::Alloc, location.0)?;
            }
            self.push(lane, event, EventKind::Write, location.0)?;
        }
        if is_held && !is_new && self.is_certain(address) {
            let name = self.name_of(address)?;
            let row = self.stand_in(lane, event, &format!("lock {name}"))?;
            self.misuse(Rule::InitialisedHeld, name, row, other);
        }
        Ok(())
    }

    /// Returns the location that stands for an object that was initialised, if several threads use
    /// it. A static lock is one object however often that happens; else each time begins another.
    fn stands_for(&mut self, address: u64) -> Result<Option<LocationId>, TableFull> {
        let Some(life) = self.watch.lives.get(&address) else { return Ok(None) };
        if life.location.is_some() || !self.survey.common.contains(&address) {
            return Ok(life.location);
        }
        let (what, round) = (life.what, life.round);
        let name = self.name_of(address)?;
        let is_one = what == What::Lock && !name.starts_with("0x");
        let word = what.word();
        let name = match round {
            0 => format!("{word} {name}"),
            _ if is_one => format!("{word} {name}"),
            round => format!("{word} {name}, the {} at this address", ordinal(round + 1)),
        };
        let name = self.interner.name(&name)?;
        let location = self.interner.location(Location::Named(name))?;
        if let Some(life) = self.watch.lives.get_mut(&address) {
            life.location = Some(location);
        }
        Ok(Some(location))
    }

    /// An object is used.
    pub(super) fn uses(
        &mut self,
        lane: usize,
        event: &Event,
        object: u64,
        what: What,
    ) -> Result<(), TableFull> {
        let Some(life) = self.watch.lives.get_mut(&object) else { return Ok(()) };
        if life.what != what {
            return Ok(());
        }
        let (is_over, destroyed, generation) = (life.is_over, life.destroyed, life.generation);
        let is_first = !life.users.contains(&lane);
        if is_first {
            life.users.push(lane);
        }
        if is_over {
            let is_same = generation == self.memory.generation(object);
            if is_same && destroyed.is_some() && !self.is_on_stack(object) {
                let name = self.name_of(object)?;
                let row = self.stand_in(lane, event, &format!("{} {name}", what.word()))?;
                self.misuse(Rule::UsedDestroyed, name, row, destroyed);
            }
            return Ok(());
        }
        // All uses matter for the end of an object, but that of a lock is no free.
        let is_ended = what != What::Lock && self.survey.ended.contains(&object);
        if (is_first || is_ended)
            && let Some(location) = self.stands_for(object)?
        {
            self.push(lane, event, Op::new(EventKind::Read, Mode::RELAXED), location.0)?;
        }
        Ok(())
    }

    /// Returns what an object is that was initialised.
    pub(super) fn what_is(&self, object: u64) -> Option<What> {
        self.watch.lives.get(&object).map(|life| life.what)
    }

    /// An object that is no lock is destroyed.
    pub(super) fn ends(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let object = event.address;
        if self.watch.lives.get(&object).is_none_or(|life| life.is_over) {
            return Ok(());
        }
        let Some(location) = self.stands_for(object)? else { return Ok(()) };
        let before = self.columns.len();
        self.push(lane, event, EventKind::Free, location.0)?;
        let row = self.row_after(before);
        self.end_life(object, row);
        Ok(())
    }

    /// A wait on a condition begins; its event is the last one. Returns whether its thread holds
    /// the mutex.
    pub(super) fn waits_with(&mut self, lane: usize, event: &Event) -> Result<bool, TableFull> {
        let mutex = event.third;
        if self.locks.held(mutex, lane).is_some() || !self.is_certain(mutex) {
            return Ok(true);
        }
        let row = self.columns.len().checked_sub(1).map(|row| row as u32);
        let name = self.name_of(mutex)?;
        let other = self.taken_by(mutex);
        self.misuse(Rule::WaitUnlocked, name, row, other);
        let holders: Vec<usize> = self.locks.holders(mutex).collect();
        for holder in holders {
            self.release(holder, &Event::default(), mutex)?;
        }
        Ok(false)
    }

    /// A thread was created; the event is the last one.
    pub(super) fn was_created(&mut self, child: usize) {
        if !self.survey.leaked.contains(&child) {
            return;
        }
        let row = self.columns.len().checked_sub(1).map(|row| row as u32);
        let handler = &self.interner.tables.handlers[child];
        let name = self.interner.tables.name(handler.name).to_owned();
        self.misuse(Rule::ThreadLeak, name, row, None);
    }

    /// A signal handler begins.
    pub(super) fn handler_begins(&mut self, lane: usize, event: &Event) {
        let handler = Handler { signal: event.address, is_expected: event.arg & 1 != 0 };
        self.watch.handlers.entry(lane).or_default().push(handler);
    }

    /// A signal handler ends.
    pub(super) fn handler_ends(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let Some(open) = self.watch.handlers.get_mut(&lane) else { return Ok(()) };
        let handler = open.pop();
        if open.is_empty() {
            // Each event asks whether there are any.
            self.watch.handlers.remove(&lane);
        }
        let Some(handler) = handler else { return Ok(()) };
        if event.arg & 1 != 0 && !handler.is_expected {
            let name = format!("signal {}", handler.signal);
            let row = self.stand_in(lane, event, &name)?;
            self.misuse(Rule::ErrnoInHandler, name, row, None);
        }
        Ok(())
    }

    /// Looks at an event of a thread in which a signal handler may run.
    pub(super) fn in_handler(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        if self.watch.handlers.is_empty() {
            return Ok(());
        }
        let Some(handler) = self.watch.handlers.get(&lane).and_then(|all| all.last()) else {
            return Ok(());
        };
        let is_mapping = event.arg & 1 != 0;
        let what = match event.kind {
            kind::ALLOC if !is_mapping => "an allocation of memory",
            kind::FREE if !is_mapping => "a free of memory",
            kind::LOCK | kind::LOCK_REQUEST if event.arg & 2 == 0 => "a lock",
            kind::COND_WAIT => "a wait on a condition",
            kind::COND_SIGNAL | kind::COND_BROADCAST => "a signal of a condition",
            kind::THREAD_CREATE => "the creation of a thread",
            _ => return Ok(()),
        };
        if handler.is_expected {
            return Ok(());
        }
        let object = format!("{what} in the handler of signal {}", handler.signal);
        let row = self.stand_in(lane, event, &object)?;
        self.misuse(Rule::UnsafeInHandler, object, row, None);
        Ok(())
    }
}

/// Returns a number as the place in a row: `2nd`.
fn ordinal(number: u64) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
