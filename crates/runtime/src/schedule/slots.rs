//! What the scheduler knows of each thread.

use super::TURN;
use crate::c;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The most threads at a time; others run as they like.
const SLOTS: usize = 4096;
pub(super) const NOBODY: usize = usize::MAX;

/// States of slots.
pub(super) const FREE: u32 = 0;
pub(super) const READY: u32 = 1;
pub(super) const RUNNING: u32 = 2;
/// It waits for an object.
pub(super) const BLOCKED: u32 = 3;
/// It waits for an object, and not for ever.
pub(super) const TIMED: u32 = 4;
/// It is in a call that nothing is known of.
pub(super) const OUTSIDE: u32 = 5;
/// It has ended, and nobody has joined it yet.
pub(super) const DEAD: u32 = 6;

/// A thread.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// 1 if it may go on: what it waits at.
    pub(super) word: AtomicU32,
    state: AtomicU32,
    /// The kernel's number of the thread; 0 before it has begun.
    pub(super) thread_id: AtomicU32,
    /// The number of the thread: a slot is used again.
    pub(super) number: AtomicU32,
    /// What it waits for, or did last.
    pub(super) object: AtomicUsize,
    /// The thread with the highest one goes on.
    pub(super) priority: AtomicU64,
    /// Whether its wait was ended by its time.
    pub(super) timed_out: AtomicU32,
    /// Equal loads one after the other.
    pub(super) repeats: AtomicU32,
    pub(super) sleeps: AtomicU32,
    /// Whether it waits for a condition variable, and not only for a change.
    pub(super) needs_signal: AtomicU32,
    /// Whether nobody joins it.
    pub(super) is_detached: AtomicU32,
    /// Whether it waits for what surely comes soon.
    pub(super) is_sure: AtomicU32,
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            word: AtomicU32::new(0),
            state: AtomicU32::new(FREE),
            thread_id: AtomicU32::new(0),
            number: AtomicU32::new(0),
            object: AtomicUsize::new(0),
            priority: AtomicU64::new(0),
            timed_out: AtomicU32::new(0),
            repeats: AtomicU32::new(0),
            sleeps: AtomicU32::new(0),
            needs_signal: AtomicU32::new(0),
            is_detached: AtomicU32::new(0),
            is_sure: AtomicU32::new(0),
        }
    }

    pub(super) fn state(&self) -> u32 {
        self.state.load(Ordering::Relaxed)
    }

    pub(super) fn set_state(&self, state: u32) {
        self.state.store(state, Ordering::Relaxed);
    }

    /// What threads that join this one wait for.
    pub(super) fn address(&self) -> usize {
        (&raw const *self) as usize
    }

    /// Lets the thread go on.
    pub(super) fn give(&self) {
        self.word.store(1, Ordering::Release);
        c::call(c::SYS_FUTEX, &[self.word.as_ptr() as usize, c::FUTEX_WAKE_PRIVATE, 1]);
    }
}

static TABLE: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];
/// The slots that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn slot(number: usize) -> &'static Slot {
    &TABLE[number % SLOTS]
}

/// Returns the slots that were ever used, with their numbers.
pub(super) fn all() -> impl Iterator<Item = (usize, &'static Slot)> {
    TABLE[..USED.load(Ordering::Relaxed).min(SLOTS)].iter().enumerate()
}

/// Takes a slot for a thread: the first one that is free, or else one whose thread has ended.
pub(super) fn take(number: u32) -> Option<usize> {
    let used = USED.load(Ordering::Relaxed);
    let of = |state: u32| all().find(|(_, slot)| slot.state() == state).map(|(at, _)| at);
    let found = of(FREE).or_else(|| {
        if used == SLOTS {
            return of(DEAD);
        }
        USED.store(used + 1, Ordering::Relaxed);
        Some(used)
    })?;
    let slot = slot(found);
    slot.word.store(0, Ordering::Relaxed);
    slot.thread_id.store(0, Ordering::Relaxed);
    slot.number.store(number, Ordering::Relaxed);
    slot.object.store(0, Ordering::Relaxed);
    slot.timed_out.store(0, Ordering::Relaxed);
    slot.repeats.store(0, Ordering::Relaxed);
    slot.sleeps.store(0, Ordering::Relaxed);
    slot.needs_signal.store(0, Ordering::Relaxed);
    slot.is_detached.store(0, Ordering::Relaxed);
    slot.is_sure.store(0, Ordering::Relaxed);
    Some(found)
}

/// Returns whether there are threads, and each waits for another one.
pub(super) fn all_wait() -> bool {
    let mut is_one = false;
    for (_, slot) in all() {
        match slot.state() {
            FREE | DEAD => {}
            BLOCKED => is_one = true,
            _ => return false,
        }
    }
    is_one
}

/// Returns whether any thread is in a call that nothing is known of.
pub(super) fn is_any_outside() -> bool {
    all().any(|(_, slot)| slot.state() == OUTSIDE)
}

/// Returns whether, besides this one, no thread can go on, and one is in a call that nothing is
/// known of.
pub(super) fn are_outside_only(own: usize) -> bool {
    is_any_outside() && !all().any(|(at, slot)| at != own && slot.state() == READY)
}

/// Returns whether a thread has the turn.
pub(super) fn has_turn(number: usize) -> bool {
    TURN.load(Ordering::Relaxed) == number
}
