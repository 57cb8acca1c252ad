//! The merge as it was first: every event goes through the heap, and where nobody can continue, all
//! threads are passed over. The slow twin of `anyorder_native::merge`.

#[path = "../src/merge/held.rs"]
#[expect(dead_code, reason = "the merge does not ask who holds what")]
mod held;
#[path = "../src/merge/objects.rs"]
mod objects;

use anyorder_native::merge::{Came, Known, Slack, Step};
use anyorder_native::recording::{Event, kind};
use hashbrown::HashMap;
use held::{Locks, Mode};
use objects::Objects;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    next: Option<Event>,
    has_begun: bool,
    /// The number of the thread's turn: entries of the heap with another one are out of date.
    turn: u64,
    awaits: Option<Awaited>,
}

/// The merged order, one event after the other.
pub(crate) struct HeapMerge<I> {
    lanes: Vec<Lane<I>>,
    by_number: HashMap<u32, usize>,
    /// The time of the next event, the thread, its turn, and whether this is the end of a wait.
    heap: BinaryHeap<Reverse<(u64, usize, u64, bool)>>,
    waiting: HashMap<Awaited, Vec<usize>>,
    known: Known,
    locks: Locks,
    objects: Objects,
    slack: u64,
    disorders: u64,
}

impl<I: Iterator<Item = Event>> HeapMerge<I> {
    /// Starts to merge threads, each with its number in the recording.
    pub(crate) fn new(threads: Vec<(u32, I)>, known: Known, slack: Slack) -> HeapMerge<I> {
        let mut merge = HeapMerge {
            lanes: Vec::with_capacity(threads.len()),
            by_number: HashMap::default(),
            heap: BinaryHeap::new(),
            waiting: HashMap::default(),
            known,
            locks: Locks::default(),
            objects: Objects::default(),
            slack: slack.0,
            disorders: 0,
        };
        for (number, mut events) in threads {
            let next = events.next();
            let lane = merge.lanes.len();
            merge.by_number.insert(number, lane);
            let (has_begun, turn, awaits) = (false, 0, None);
            merge.lanes.push(Lane { number, events, next, has_begun, turn, awaits });
            merge.enqueue(lane);
        }
        merge
    }

    /// Returns how often no thread could continue, so that an event came too early.
    pub(crate) fn disorders(&self) -> u64 {
        self.disorders
    }

    fn enqueue(&mut self, lane: usize) {
        let one = &self.lanes[lane];
        if let Some(event) = one.next {
            self.heap.push(Reverse((event.time, lane, one.turn, false)));
        }
    }

    /// Takes the next event of a thread.
    fn take(&mut self, lane: usize, event: Event, came: Came) -> Step {
        self.disorders += u64::from(came == Came::Forced);
        self.unlist(lane);
        let one = &mut self.lanes[lane];
        one.has_begun = true;
        one.turn += 1;
        one.next = one.events.next();
        let (ended, number) = (one.next.is_none(), one.number);
        self.enqueue(lane);
        self.apply(lane, &event);
        if ended {
            self.free(Awaited::End(number));
        }
        Step { thread: lane, event, came }
    }

    /// Ends the wait of a thread without what it waits for.
    fn unlist(&mut self, lane: usize) {
        if let Some(awaited) = self.lanes[lane].awaits.take()
            && let Some(list) = self.waiting.get_mut(&awaited)
        {
            list.retain(|one| *one != lane);
        }
    }

    /// Lets those continue who wait for this.
    fn free(&mut self, awaited: Awaited) {
        for lane in self.waiting.remove(&awaited).unwrap_or_default() {
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
                let runs = self.lanes[*child].next.is_some() && *child != lane;
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
        let must = self.locks.holders(lock).any(|holder| self.lanes[holder].next.is_some());
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
        self.waiting.entry(awaited).or_default().push(lane);
        if !must {
            let until = time.saturating_add(self.slack);
            self.heap.push(Reverse((until, lane, one.turn, true)));
        }
    }

    /// Returns the waiting thread with the least time.
    fn first_waiting(&self) -> Option<usize> {
        let waits = |(_, one): &(usize, &Lane<I>)| one.awaits.is_some();
        let time = |(lane, one): &(usize, &Lane<I>)| (one.next.map(|event| event.time), *lane);
        self.lanes.iter().enumerate().filter(waits).min_by_key(time).map(|(lane, _)| lane)
    }
}

impl<I: Iterator<Item = Event>> Iterator for HeapMerge<I> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        while let Some(Reverse((_, lane, turn, is_end))) = self.heap.pop() {
            if turn != self.lanes[lane].turn {
                continue;
            }
            let Some(event) = self.lanes[lane].next else { continue };
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
        let lane = self.first_waiting()?;
        let event = self.lanes[lane].next?;
        Some(self.take(lane, event, Came::Forced))
    }
}
