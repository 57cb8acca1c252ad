//! Pairs of a signal and a wait of which neither order loses anything.
//!
//! A signal after its change of a predicate, given without the lock, may come before or after a
//! wait by the usual code: that alone is no mistake. Two shapes are recognised.
//!
//! - The signal came first, and the wait ended all the same ([`Loss::Woken`]).
//! - The waiting thread had read the predicate, under the lock, after the thread of the signal had
//!   changed it ([`Loss::Informed`]). Where the wait came first, there are several waiting threads,
//!   and another one took what the signal announces. Where the signal came first, the wait is for
//!   something later: it has no end where the program ends, or is no longer recorded, with idle
//!   workers.

use super::category::Category;
use super::facts::Facts;
use super::found::Found;
use anyorder_trace::{Event, EventId, EventKind, LocationId, LockId, TaskId, Trace};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// What is lost if a signal comes before a wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Loss {
    /// Nothing: the signals came first in the trace, and the waits ended.
    Woken,
    /// Nothing: the waiting threads had seen what the signals announce, or the waits ended.
    Informed,
    /// Maybe the signal.
    #[default]
    Possible,
}

/// The most events of a thread that are visited before a wait or a signal.
const VISITED_MAX: usize = 10_000;

/// Marks what the pairs of signals and waits lose. `threads` is made when it is first needed.
pub(super) fn mark_losses<'t>(
    (trace, threads): (&'t Trace, &OnceCell<Threads<'t>>),
    facts: &Facts,
    found: &mut [Found],
) {
    for one in found.iter_mut() {
        let all_known = one.members.len() as u64 == one.total;
        if one.category != Category::LostSignal || !one.is_confirmed() || !all_known {
            continue;
        }
        let threads = threads.get_or_init(|| Threads::new(trace));
        let pairs = one.event_pairs();
        let losses = pairs.into_iter().map(|pair| threads.loss(facts, pair));
        one.loss = losses.max().unwrap_or_default();
    }
}

/// The synchronisation and the accesses of each thread.
#[derive(Debug)]
pub(super) struct Threads<'t> {
    trace: &'t Trace,
    events: HashMap<TaskId, Vec<EventId>>,
}

impl<'t> Threads<'t> {
    fn new(trace: &'t Trace) -> Threads<'t> {
        let mut events: HashMap<TaskId, Vec<EventId>> = HashMap::default();
        for event in trace.events() {
            events.entry(event.task).or_default().push(event.id);
        }
        Threads { trace, events }
    }

    fn loss(&self, facts: &Facts, (first, second): (EventId, EventId)) -> Loss {
        let is_signal = |event: EventId| {
            matches!(self.trace.event(event).kind(), EventKind::Signal | EventKind::Broadcast)
        };
        match () {
            () if is_signal(first) && facts.wait_ends(u64::from(second.0)) => Loss::Woken,
            () if is_signal(first) && self.is_informed(second, first) => Loss::Informed,
            () if !is_signal(first) && is_signal(second) && self.is_informed(first, second) => {
                Loss::Informed
            }
            () => Loss::Possible,
        }
    }

    /// Returns the events of a thread before an event, the last one first.
    fn before(&self, event: Event) -> impl Iterator<Item = Event> + '_ {
        let of_thread = self.events.get(&event.task).map_or(&[][..], Vec::as_slice);
        let at = of_thread.partition_point(|other| *other < event.id);
        of_thread[..at].iter().rev().take(VISITED_MAX).map(|id| self.trace.event(*id))
    }

    /// Returns whether a wait's thread, since it took the lock that the wait gives back, has read
    /// what the thread of a signal had changed under that lock, and the last such change before the
    /// signal came before the lock was taken.
    fn is_informed(&self, wait: EventId, signal: EventId) -> bool {
        let (wait, signal) = (self.trace.event(wait), self.trace.event(signal));
        let Some(lock) = self.given_back(wait) else { return false };
        let Some((taken, read)) = self.read_since(wait, lock) else { return false };
        let (mut is_held, mut has_changed) = (false, false);
        for event in self.before(signal) {
            match event.kind() {
                // What changed between this section and the signal has changed without the lock.
                EventKind::Release if event.operand == lock.0 && has_changed => return false,
                EventKind::Release if event.operand == lock.0 => is_held = true,
                // The signal is given inside of a section. It informs only who waits afterwards.
                EventKind::Acquire if event.operand == lock.0 && !is_held => {
                    return has_changed && event.id < taken && signal.id < wait.id;
                }
                EventKind::Acquire if event.operand == lock.0 => is_held = false,
                _ => {}
            }
            let changed = event.location().filter(|_| event.kind().writes());
            if changed.is_some_and(|location| read.contains(&location)) {
                if is_held {
                    return event.id < taken;
                }
                has_changed = true;
            }
        }
        false
    }

    /// Returns the lock that a wait gives back: its thread's next event.
    fn given_back(&self, wait: Event) -> Option<LockId> {
        let of_thread = self.events.get(&wait.task)?;
        let at = of_thread.partition_point(|other| *other <= wait.id);
        let next = self.trace.event(*of_thread.get(at)?);
        (next.kind() == EventKind::Release).then_some(LockId(next.operand))
    }

    /// Returns where a thread took a lock that it holds at an event, and what it has read since.
    fn read_since(&self, event: Event, lock: LockId) -> Option<(EventId, HashSet<LocationId>)> {
        let mut read = HashSet::default();
        for event in self.before(event) {
            if event.kind() == EventKind::Acquire && event.operand == lock.0 {
                return Some((event.id, read));
            }
            read.extend(event.location().filter(|_| event.kind().reads()));
        }
        None
    }
}
