//! Waits for other threads: for a lock to be free, a signal, the end of a thread.

use super::slots::{BLOCKED, DEAD, FREE, READY, Slot, TIMED, all, slot};
use super::{NOBODY, POKED, Step, TURN, Turn, WAKES, alone, choice, dispatch, is_on, slot_of};
use crate::block::{block, block_of};
use crate::c::{self, Pthread};
use core::sync::atomic::Ordering;

/// What a wait came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// What the thread waited for.
    Done(T),
    /// Its time was over before.
    TimedOut,
}

impl Turn {
    /// Tries until something comes of it, and gives the turn away in between, until an object has
    /// changed. The first attempt is at once.
    pub(crate) fn until<T>(
        self,
        object: usize,
        has_time: bool,
        can_be_cancelled: bool,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Waited<T> {
        if can_be_cancelled {
            // SAFETY: the program calls a function that may be cancelled.
            unsafe { c::pthread_testcancel() };
        }
        loop {
            let wakes = WAKES.load(Ordering::Acquire);
            if let Some(result) = attempt() {
                return Waited::Done(result);
            }
            let timed_out = self.block_on(object, has_time, wakes);
            if can_be_cancelled {
                // SAFETY: as above.
                unsafe { c::pthread_testcancel() };
            }
            if timed_out {
                return attempt().map_or(Waited::TimedOut, Waited::Done);
            }
        }
    }

    /// Gives the turn away until an object has changed since so many wakes. Returns whether the
    /// time was over before.
    fn block_on(self, object: usize, has_time: bool, wakes: u64) -> bool {
        let slot = self.slot();
        self.change(|| {
            slot.timed_out.store(0, Ordering::Relaxed);
            if WAKES.load(Ordering::Relaxed) != wakes {
                return;
            }
            slot.object.store(object, Ordering::Relaxed);
            slot.set_state(if has_time { TIMED } else { BLOCKED });
            dispatch();
        });
        slot.timed_out.swap(0, Ordering::Relaxed) != 0
    }

    /// Waits for a signal of a condition variable. Returns whether there was none in time. `unlock`
    /// gives the mutex away, and `lock` takes it again.
    pub(crate) fn wait_for_signal(
        self,
        (cond, mutex): (usize, usize),
        has_time: bool,
        unlock: impl FnOnce(),
        lock: impl FnOnce(),
    ) -> bool {
        let slot = self.slot();
        self.change(|| {
            self.count(Step::Wait, cond);
            slot.timed_out.store(0, Ordering::Relaxed);
            slot.needs_signal.store(1, Ordering::Relaxed);
            unlock();
            wake_locked(mutex);
            slot.set_state(if has_time { TIMED } else { BLOCKED });
            dispatch();
        });
        slot.needs_signal.store(0, Ordering::Relaxed);
        let timed_out = slot.timed_out.swap(0, Ordering::Relaxed) != 0;
        lock();
        timed_out
    }

    /// Waits until as many threads as a barrier has are at it. Returns whether this is the last.
    pub(crate) fn barrier(self, barrier: usize, count: usize) -> bool {
        let slot = self.slot();
        let mut is_last = false;
        self.change(|| {
            self.count(Step::Barrier, barrier);
            let waits = |one: &Slot| one.state() == BLOCKED && one.is_at(barrier);
            is_last = all().filter(|(_, one)| waits(one)).count() + 1 >= count;
            if is_last {
                wake_signalled(barrier, usize::MAX);
                slot.set_state(READY);
            } else {
                slot.needs_signal.store(1, Ordering::Relaxed);
                slot.set_state(BLOCKED);
            }
            dispatch();
        });
        slot.needs_signal.store(0, Ordering::Relaxed);
        is_last
    }

    /// Waits for the end of a thread. Returns whether that is scheduled.
    pub(crate) fn join(self, thread: Pthread) -> bool {
        self.point(Step::Join, 0);
        // SAFETY: a thread that can be joined has its block. Its slot was set before it began.
        let birth = unsafe { (*block_of(thread)).schedule_birth };
        if birth == 0 {
            return false;
        }
        let (joined, number) = (slot(slot_of(birth)), (birth >> 32) as u32);
        let is_over = || {
            let is_its = joined.number.load(Ordering::Relaxed) == number;
            (!is_its || joined.state() == DEAD).then_some(is_its)
        };
        let waited = self.until(joined.address(), false, true, is_over);
        if waited == Waited::Done(true) {
            alone(|| {
                if joined.state() == DEAD && joined.number.load(Ordering::Relaxed) == number {
                    joined.set_state(FREE);
                }
            });
        }
        true
    }
}

impl Slot {
    fn is_at(&self, object: usize) -> bool {
        self.object.load(Ordering::Relaxed) == object
    }
}

/// Wakes one thread that waits for a condition variable, or all. Any thread may call it.
pub(crate) fn cond_wake(cond: usize, is_for_all: bool) {
    inside(|| wake_signalled(cond, if is_for_all { usize::MAX } else { 1 }));
}

/// An object has changed: whoever waits for it tries again. Any thread may call it.
pub(crate) fn wake(object: usize) {
    inside(|| wake_locked(object));
}

/// A thread was cancelled: it looks whether that ends its wait.
pub(crate) fn cancelled(thread: Pthread) {
    // SAFETY: the program has just named it: it exists.
    let birth = unsafe { (*block_of(thread)).schedule_birth };
    if birth == 0 {
        return;
    }
    let slot = slot(slot_of(birth));
    inside(|| {
        let is_it = slot.number.load(Ordering::Relaxed) == (birth >> 32) as u32;
        if is_it && matches!(slot.state(), BLOCKED | TIMED) {
            make_ready(slot);
            resume();
        }
    });
}

/// Changes the state, unless this thread is in here already and was interrupted.
fn inside(function: impl FnOnce()) {
    if !is_on() {
        return;
    }
    let block = block();
    // SAFETY: the block is this thread's.
    if unsafe { core::mem::replace(&mut (*block).schedule_inside, 1) } != 0 {
        POKED.store(1, Ordering::Relaxed);
        return;
    }
    alone(function);
    // SAFETY: as above.
    unsafe { (*block).schedule_inside = 0 };
}

fn make_ready(slot: &Slot) {
    slot.set_state(READY);
    slot.needs_signal.store(0, Ordering::Relaxed);
}

/// Goes on where nobody had the turn.
fn resume() {
    WAKES.fetch_add(1, Ordering::Release);
    if TURN.load(Ordering::Relaxed) == NOBODY {
        dispatch();
    }
}

/// As [`wake`], while the state is locked.
pub(super) fn wake_locked(object: usize) {
    for (_, slot) in all() {
        let waits = matches!(slot.state(), BLOCKED | TIMED);
        if waits && slot.is_at(object) && slot.needs_signal.load(Ordering::Relaxed) == 0 {
            make_ready(slot);
        }
    }
    resume();
}

/// Wakes all that wait for a change of anything.
pub(super) fn wake_all() {
    for (_, slot) in all() {
        let waits = matches!(slot.state(), BLOCKED | TIMED);
        if waits && slot.needs_signal.load(Ordering::Relaxed) == 0 {
            make_ready(slot);
        }
    }
    resume();
}

/// Wakes so many of those that wait for a signal of an object, in any order.
fn wake_signalled(object: usize, most: usize) {
    let waits = |slot: &Slot| {
        matches!(slot.state(), BLOCKED | TIMED)
            && slot.is_at(object)
            && slot.needs_signal.load(Ordering::Relaxed) != 0
    };
    let mut left = all().filter(|(_, slot)| waits(slot)).count();
    let mut wanted = most.min(left);
    for (_, slot) in all() {
        if wanted == 0 {
            break;
        }
        if waits(slot) {
            if wanted == left || choice::below(left) < wanted {
                make_ready(slot);
                wanted -= 1;
            }
            left -= 1;
        }
    }
    resume();
}
