//! Puts the events of all threads into one order.
//!
//! Problem: each thread has its events in their order, with times; find one order of all events
//! that keeps each thread's own, follows the times, and could have happened. The last is not the
//! same as following the times: clocks of two processors may differ a little, and an event may get
//! its time a moment after it took effect.
//!
//! Method: always the least time next, but an event that cannot come yet waits for the one that
//! allows it. The threads are in a heap by the times of their next events; the one that came last
//! stays beside it as long as it is the least, and gives all its events until then at once, as a
//! [`Run`]. A lock is taken when it is free, a thread begins
//! after its creation, and a join comes after the end of the thread, however long that takes.
//! A wait ends after a signal, a barrier opens after the last arrival, and a permit is taken after
//! it was given, if that comes within [`Slack`]; a waiter may also wake by itself, and a signal may
//! have come from code that was not recorded. Where every thread waits, the least time comes next,
//! and [`Merge::disorders`] counts it.
//!
//! Guarantee: each event once, each thread in its order, and, where the times are exact, the order
//! of the times. Cost: a constant for each event, the logarithm of the number of threads where
//! another thread than the last one is next, and for a lock that many wait for, one more step for
//! each of them at each release.

pub(crate) mod held;
mod objects;

use crate::recording::{Event, kind};
use hashbrown::HashMap;
use held::{Locks, Mode};
use objects::Objects;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// How long, in units of the clock, an event waits for what should have come before it, where it
/// could also come without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slack(pub u64);

impl Default for Slack {
    /// About ten milliseconds of a time stamp counter: far more than clocks of processors differ.
    fn default() -> Slack {
        Slack(30_000_000)
    }
}

/// An event in the merged order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The position of the thread among the given ones.
    pub thread: usize,
    /// The event.
    pub event: Event,
    /// Why it came.
    pub came: Came,
}

/// Why an event came where it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// It could.
    InTurn,
    /// What should have come before it did not come within [`Slack`].
    Alone,
    /// It could not, and nobody else could continue either.
    Forced,
}

/// Events of one thread that follow each other in the merged order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run<'m> {
    /// The position of the thread among the given ones.
    pub thread: usize,
    /// The events; at least one. Of several, none waits, and nobody waits for it.
    pub events: &'m [Event],
    /// Why the first of them came. The others came in turn.
    pub came: Came,
}

/// The most events that are read ahead of a thread.
const AHEAD: usize = 128;

/// Kinds below this one wait for nothing, and nobody waits for them.
const EFFECTS: u8 = kind::LOCK;

/// What an event waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Awaited {
    Lock(u64),
    Creation(u32),
    End(u32),
    Object(u64),
}

/// A thread on its way.
struct Lane<I> {
    number: u32,
    events: I,
    /// Events that were read ahead; the next one is at `at`.
    buffer: Vec<Event>,
    at: usize,
    /// How many events are read at once the next time: more each time, as most threads are short
    /// where there are many.
    portion: usize,
    has_begun: bool,
    /// The number of the thread's turn: entries of the heap with another one are out of date.
    turn: u64,
    awaits: Option<Awaited>,
}

impl<I: Iterator<Item = Event>> Lane<I> {
    fn new(number: u32, events: I) -> Lane<I> {
        let (buffer, at, portion) = (Vec::new(), 0, 1);
        let (has_begun, turn, awaits) = (false, 0, None);
        let mut lane = Lane { number, events, buffer, at, portion, has_begun, turn, awaits };
        lane.read();
        lane
    }

    /// Reads further events where none is left.
    fn read(&mut self) {
        if self.at < self.buffer.len() {
            return;
        }
        self.at = 0;
        self.buffer.clear();
        self.buffer.extend(self.events.by_ref().take(self.portion));
        self.portion = AHEAD.min(2 * self.portion);
        if self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
    }

    fn next(&self) -> Option<&Event> {
        self.buffer.get(self.at)
    }
}

/// What is known of the whole recording before the merge.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The threads that a recorded thread creates: each begins after that.
    pub created: hashbrown::HashSet<u32>,
}

/// The time of a next event, the thread, its turn, and whether this is the end of a wait.
type Entry = (u64, usize, u64, bool);

/// The merged order, one event after the other.
pub struct Merge<I> {
    lanes: Vec<Lane<I>>,
    by_number: HashMap<u32, usize>,
    heap: BinaryHeap<Reverse<Entry>>,
    /// The entry of the thread that came last. It belongs to the heap.
    ahead: Option<Entry>,
    /// The thread that came last, if its events must be read before anything else.
    unread: Option<usize>,
    /// The event that came last by itself.
    last: Event,
    waiting: HashMap<Awaited, Vec<usize>>,
    /// The threads in `waiting`, by the times of their next events.
    by_time: BTreeSet<(u64, usize)>,
    known: Known,
    locks: Locks,
    objects: Objects,
    slack: u64,
    disorders: u64,
}

impl<I: Iterator<Item = Event>> Merge<I> {
    /// Starts to merge threads, each with its number in the recording.
    pub fn new(threads: Vec<(u32, I)>, known: Known, slack: Slack) -> Merge<I> {
        let mut merge = Merge {
            lanes: Vec::with_capacity(threads.len()),
            by_number: HashMap::default(),
            heap: BinaryHeap::new(),
            ahead: None,
            unread: None,
            last: Event::default(),
            waiting: HashMap::default(),
            by_time: BTreeSet::new(),
            known,
            locks: Locks::default(),
            objects: Objects::default(),
            slack: slack.0,
            disorders: 0,
        };
        for (number, events) in threads {
            let lane = merge.lanes.len();
            merge.by_number.insert(number, lane);
            merge.lanes.push(Lane::new(number, events));
            merge.enqueue(lane);
        }
        merge
    }

    /// Returns whether events are left.
    pub fn has_next(&mut self) -> bool {
        self.settle();
        self.lanes.iter().any(|lane| lane.next().is_some())
    }

    /// Returns how often no thread could continue, so that an event came too early.
    pub fn disorders(&self) -> u64 {
        self.disorders
    }

    /// Returns the events of a thread's source, which may count what it could not read.
    pub fn sources(&self) -> impl Iterator<Item = &I> {
        self.lanes.iter().map(|lane| &lane.events)
    }

    /// Returns the entry of a thread's next event.
    fn entry(&self, lane: usize) -> Option<Entry> {
        let one = &self.lanes[lane];
        one.next().map(|event| (event.time, lane, one.turn, false))
    }

    fn enqueue(&mut self, lane: usize) {
        self.heap.extend(self.entry(lane).map(Reverse));
    }

    /// Takes the least entry of the heap.
    fn pop(&mut self) -> Option<Entry> {
        let Some(own) = self.ahead.take() else { return self.heap.pop().map(|Reverse(top)| top) };
        match self.heap.peek_mut() {
            Some(mut top) if top.0 < own => Some(std::mem::replace(&mut *top, Reverse(own)).0),
            _ => Some(own),
        }
    }

    /// Takes the next event of a thread.
    fn take(&mut self, lane: usize, event: Event, came: Came) -> (usize, Came) {
        self.disorders += u64::from(came == Came::Forced);
        self.unlist(lane);
        let one = &mut self.lanes[lane];
        one.has_begun = true;
        one.turn += 1;
        one.at += 1;
        one.read();
        let (ended, number) = (one.next().is_none(), one.number);
        // The heap has no entry of this thread that counts, and nobody else is ahead.
        self.ahead = self.entry(lane);
        if event.kind >= EFFECTS {
            self.apply(lane, &event);
        }
        if ended {
            self.free(Awaited::End(number));
        }
        self.last = event;
        (lane, came)
    }

    /// Ends the wait of a thread without what it waits for.
    fn unlist(&mut self, lane: usize) {
        let Some(awaited) = self.lanes[lane].awaits.take() else { return };
        self.by_time.remove(&self.key(lane));
        if let Some(list) = self.waiting.get_mut(&awaited) {
            list.retain(|one| *one != lane);
        }
    }

    /// Returns the place of a waiting thread in `by_time`.
    fn key(&self, lane: usize) -> (u64, usize) {
        (self.lanes[lane].next().map_or(0, |event| event.time), lane)
    }

    /// Lets those continue who wait for this.
    fn free(&mut self, awaited: Awaited) {
        for lane in self.waiting.remove(&awaited).unwrap_or_default() {
            self.by_time.remove(&self.key(lane));
            self.lanes[lane].awaits = None;
            self.lanes[lane].turn += 1;
            self.enqueue(lane);
        }
    }

    /// Returns what an event waits for, and whether it must.
    fn blocked(&self, lane: usize, event: &Event) -> Option<(Awaited, bool)> {
        let one = &self.lanes[lane];
        if !one.has_begun && self.known.created.contains(&one.number) {
            return Some((Awaited::Creation(one.number), true));
        }
        match event.kind {
            ..EFFECTS => None,
            kind::LOCK => self.blocked_by_lock(lane, event.address, Mode::of(event.arg)),
            kind::COND_WAKE => {
                let lock = self.blocked_by_lock(lane, event.third, Mode::Exclusive);
                let signal = || {
                    let is_free = event.arg & 1 != 0 || self.objects.may_wake(event.address, lane);
                    (!is_free).then_some((Awaited::Object(event.address), false))
                };
                lock.or_else(signal)
            }
            kind::THREAD_JOIN => {
                let child = self.by_number.get(&(event.address as u32))?;
                let runs = self.lanes[*child].next().is_some() && *child != lane;
                runs.then_some((Awaited::End(event.address as u32), true))
            }
            kind::BARRIER_LEAVE if !self.objects.may_leave(event.address, lane) => {
                Some((Awaited::Object(event.address), false))
            }
            kind::SEM_WAIT if !self.objects.has_permit(event.address) => {
                Some((Awaited::Object(event.address), false))
            }
            _ => None,
        }
    }

    /// A thread without further events gives nothing back, so nobody must wait for it.
    fn blocked_by_lock(&self, lane: usize, lock: u64, mode: Mode) -> Option<(Awaited, bool)> {
        if self.locks.may_take(lock, lane, mode) {
            return None;
        }
        let must = self.locks.holders(lock).any(|holder| self.lanes[holder].next().is_some());
        Some((Awaited::Lock(lock), must))
    }

    /// Applies the effect of an event.
    fn apply(&mut self, lane: usize, event: &Event) {
        let (object, third) = (event.address, event.third);
        match event.kind {
            kind::LOCK => self.locks.take(object, lane, Mode::of(event.arg)),
            kind::UNLOCK => {
                self.locks.give_of_others(object, lane);
                self.locks.give(object, lane);
                self.free(Awaited::Lock(object));
            }
            kind::LOCK_INIT | kind::LOCK_DESTROY => {
                self.locks.forget(object);
                self.free(Awaited::Lock(object));
            }
            kind::COND_WAIT => {
                self.locks.give_of_others(third, lane);
                self.locks.give(third, lane);
                self.objects.wait(object, lane);
                self.free(Awaited::Lock(third));
            }
            kind::COND_WAKE => {
                self.locks.take(third, lane, Mode::Exclusive);
                self.objects.wake(object, lane, event.arg & 1 != 0);
            }
            kind::THREAD_CREATE => {
                let child = object as u32;
                self.known.created.remove(&child);
                self.free(Awaited::Creation(child));
            }
            _ => {
                if self.objects.apply(lane, event) {
                    self.free(Awaited::Object(object));
                }
            }
        }
    }

    /// Makes a thread wait.
    fn park(&mut self, lane: usize, (awaited, must): (Awaited, bool), time: u64) {
        let one = &mut self.lanes[lane];
        one.awaits = Some(awaited);
        one.turn += 1;
        self.by_time.insert((time, lane));
        self.waiting.entry(awaited).or_default().push(lane);
        if !must {
            let until = time.saturating_add(self.slack);
            self.heap.push(Reverse((until, lane, one.turn, true)));
        }
    }

    /// Takes the next events of the thread that came last, at most so many, where they are before
    /// all others, wait for nothing, and nobody waits for them. Returns the thread, and where they
    /// are in its buffer. Most events are taken here.
    #[inline]
    fn quick(&mut self, most: usize) -> Option<(usize, std::ops::Range<usize>)> {
        let (_, lane, turn, _) = self.ahead?;
        let one = self.lanes.get_mut(lane)?;
        if !one.has_begun {
            return None;
        }
        let until = self.heap.peek().map(|top| top.0.0);
        let fits =
            |event: &&Event| event.kind < EFFECTS && until.is_none_or(|until| event.time < until);
        let rest = one.buffer.get(one.at..).unwrap_or_default();
        let count = rest.iter().take(most).take_while(fits).count();
        if count == 0 {
            return None;
        }
        let taken = one.at..one.at + count;
        one.at += count;
        one.turn = turn + 1;
        match one.next() {
            Some(next) => self.ahead = Some((next.time, lane, turn + 1, false)),
            None => self.unread = Some(lane),
        }
        Some((lane, taken))
    }

    /// Reads further events of the thread that came last, where none was left.
    #[inline]
    fn settle(&mut self) {
        if let Some(lane) = self.unread.take() {
            self.lanes[lane].read();
            self.ahead = self.entry(lane);
            if self.ahead.is_none() {
                self.free(Awaited::End(self.lanes[lane].number));
            }
        }
    }

    /// Returns the next events, at most so many, all of one thread; `None` at the end.
    #[inline]
    pub fn next_run(&mut self, most: usize) -> Option<Run<'_>> {
        self.settle();
        if let Some((thread, taken)) = self.quick(most) {
            let events = self.lanes[thread].buffer.get(taken).unwrap_or_default();
            return Some(Run { thread, events, came: Came::InTurn });
        }
        let (thread, came) = self.slow()?;
        Some(Run { thread, events: std::slice::from_ref(&self.last), came })
    }

    #[inline(never)]
    fn slow(&mut self) -> Option<(usize, Came)> {
        while let Some((_, lane, turn, is_end)) = self.pop() {
            if turn != self.lanes[lane].turn {
                continue;
            }
            let Some(event) = self.lanes[lane].next().copied() else { continue };
            match self.blocked(lane, &event) {
                // A signal that was not recorded has woken it, or nobody has.
                Some((_, false)) if is_end => return Some(self.take(lane, event, Came::Alone)),
                Some(blocked) => {
                    self.unlist(lane);
                    self.park(lane, blocked, event.time);
                }
                None => return Some(self.take(lane, event, Came::InTurn)),
            }
        }
        // Nobody can continue: the waiting thread with the least time does.
        let lane = self.by_time.first()?.1;
        let event = *self.lanes[lane].next()?;
        Some(self.take(lane, event, Came::Forced))
    }
}

impl<I: Iterator<Item = Event>> Iterator for Merge<I> {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        let Run { thread, events, came } = self.next_run(1)?;
        events.first().map(|event| Step { thread, event: *event, came })
    }
}
