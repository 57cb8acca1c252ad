//! Mutexes and spin locks.

use crate::block::block;
use crate::c::{EBUSY, EOWNERDEAD, ETIMEDOUT};
use crate::emit::sync;
use crate::kind::{
    BY_TRY, CHECKED, LOCK, LOCK_DESTROY, LOCK_INIT, LOCK_REFUSED, LOCK_REQUEST, OWNER_DEAD,
    RECURSIVE, SPIN, UNLOCK, arg,
};
use crate::plan;
use crate::schedule::{self, Step, Turn, Waited};
use core::ffi::{c_int, c_void};

/// The fields of `pthread_mutex_t` that tell whether a call is the outermost of its thread.
#[repr(C)]
pub(crate) struct Mutex {
    lock: c_int,
    count: u32,
    owner: u32,
    users: u32,
    kind: c_int,
}

const RECURSIVE_KIND: c_int = 1;
const CHECKING_KIND: c_int = 2;
const KIND_MASK: c_int = 3;
/// Robust mutexes, and those that processes share: others than threads of this one give them away.
const FOREIGN_KINDS: c_int = 16 | 128;

impl Mutex {
    fn is_recursive(&self) -> bool {
        self.kind & KIND_MASK == RECURSIVE_KIND
    }

    fn is_own(&self) -> bool {
        // SAFETY: the block is this thread's.
        let own = unsafe { (*block()).thread_id };
        own != 0 && self.owner == own
    }

    /// Returns whether an unlock is refused, or leaves the mutex locked.
    fn stays_locked(&self) -> bool {
        match self.kind & KIND_MASK {
            RECURSIVE_KIND => !self.is_own() || self.count > 1,
            CHECKING_KIND => !self.is_own(),
            _ => false,
        }
    }

    fn flags(&self) -> u64 {
        match self.kind & KIND_MASK {
            RECURSIVE_KIND => RECURSIVE,
            CHECKING_KIND => CHECKED,
            _ => 0,
        }
    }
}

/// Writes the result of an attempt, unless it is an inner level of a recursive mutex.
fn tried(mutex: *mut Mutex, result: c_int, by_try: u64, place: usize) {
    // SAFETY: the program has locked it, or tried to: it is a mutex.
    let state = unsafe { &*mutex };
    let flags = state.flags() | by_try;
    match result {
        0 if state.is_recursive() && state.count > 1 => {}
        0 => sync(LOCK | arg(flags), mutex as usize, place),
        EOWNERDEAD => sync(LOCK | arg(flags | OWNER_DEAD), mutex as usize, place),
        _ => sync(LOCK_REFUSED | arg(flags), mutex as usize, place),
    }
}

/// Locks by a function that may block. A lock that is not free at once is requested first.
#[inline(always)]
pub(super) fn lock(
    mutex: *mut Mutex,
    has_time: bool,
    place: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(turn) = schedule::turn() {
        return lock_in_turn(turn, mutex, has_time, place, real);
    }
    if !crate::record::is_on() {
        return real();
    }
    plan::before(mutex as usize, place);
    // SAFETY: the program locks it.
    let mut result = unsafe { real!(pthread_mutex_trylock(*mut Mutex) -> c_int)(mutex) };
    if result == EBUSY {
        // SAFETY: as above.
        let flags = unsafe { (*mutex).flags() };
        sync(LOCK_REQUEST | arg(flags), mutex as usize, place);
        result = plan::blocking(real);
    }
    tried(mutex, result, 0, place);
    result
}

/// Locks in a scheduled run.
fn lock_in_turn(
    turn: Turn,
    mutex: *mut Mutex,
    has_time: bool,
    place: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    turn.point(Step::Lock, mutex as usize);
    // SAFETY: the program locks it.
    let state = unsafe { &*mutex };
    let mut result = take_in_turn(turn, mutex, has_time, Some(place));
    if result == EBUSY {
        let is_own_error = state.kind & KIND_MASK == CHECKING_KIND && state.is_own();
        result = if is_own_error { real() } else { turn.outside(real) };
    }
    tried(mutex, result, 0, place);
    result
}

/// Takes a mutex when it is free. A place is where that is requested. Returns `EBUSY` where the
/// scheduler cannot tell when it is.
pub(super) fn take_in_turn(
    turn: Turn,
    mutex: *mut Mutex,
    has_time: bool,
    mut place: Option<usize>,
) -> c_int {
    let attempt = real!(pthread_mutex_trylock(*mut Mutex) -> c_int);
    // SAFETY: the program locks it.
    let state = unsafe { &*mutex };
    let waited = turn.until(mutex as usize, has_time, false, || {
        // SAFETY: as above.
        let result = unsafe { attempt(mutex) };
        if result == EBUSY {
            if let Some(place) = place.take() {
                sync(LOCK_REQUEST | arg(state.flags()), mutex as usize, place);
            }
            let is_checked = state.kind & KIND_MASK == CHECKING_KIND && state.is_own();
            let is_known = state.kind & FOREIGN_KINDS == 0 && !is_checked;
            return if is_known { None } else { Some(EBUSY) };
        }
        Some(result)
    });
    match waited {
        Waited::Done(result) => result,
        Waited::TimedOut => ETIMEDOUT,
    }
}

interpose! {
    1 fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(mutex, false, place, || unsafe { real(mutex) })
    }

    2 fn pthread_mutex_timedlock(mutex: *mut Mutex, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(mutex, true, place, || unsafe { real(mutex, until) })
    }

    3 fn pthread_mutex_clocklock(mutex: *mut Mutex, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(mutex, true, place, || unsafe { real(mutex, clock, until) })
    }

    2 fn pthread_mutex_init(mutex: *mut Mutex, attributes: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(mutex, attributes) };
        if result == 0 {
            // SAFETY: it was just made.
            let flags = unsafe { (*mutex).flags() };
            sync(LOCK_INIT | arg(flags), mutex as usize, place);
        }
        result
    }

    1 fn pthread_mutex_destroy(mutex: *mut Mutex) -> c_int, |place, real| {
        schedule::point(Step::Destroy, mutex as usize);
        sync(LOCK_DESTROY, mutex as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(mutex) };
        plan::after();
        result
    }

    1 fn pthread_spin_lock(lock: *mut c_int) -> c_int, |place, real| {
        let attempt = real!(pthread_spin_trylock(*mut c_int) -> c_int);
        let turn = schedule::turn();
        if let Some(turn) = turn {
            turn.point(Step::Lock, lock as usize);
        }
        // SAFETY: the program locks it.
        let mut result = unsafe { attempt(lock) };
        if result != 0 {
            sync(LOCK_REQUEST | arg(SPIN), lock as usize, place);
            if let Some(turn) = turn {
                turn.until(lock as usize, false, false, || {
                    // SAFETY: as above.
                    (unsafe { attempt(lock) } == 0).then_some(())
                });
                spin_tried(lock, 0, SPIN, place);
                return 0;
            }
            // SAFETY: as the program calls it.
            result = unsafe { real(lock) };
        }
        spin_tried(lock, result, SPIN, place);
        result
    }

    1 fn pthread_spin_trylock(lock: *mut c_int) -> c_int, |place, real| {
        schedule::point(Step::Load, lock as usize);
        // SAFETY: as the program calls it.
        let result = unsafe { real(lock) };
        spin_tried(lock, result, SPIN | BY_TRY, place);
        result
    }

    1 fn pthread_spin_unlock(lock: *mut c_int) -> c_int, |place, real| {
        sync(UNLOCK | arg(SPIN), lock as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(lock) };
        given(lock as usize);
        result
    }

    2 fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int, |place, real| {
        sync(LOCK_INIT | arg(SPIN), lock as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(lock, shared) }
    }

    1 fn pthread_spin_destroy(lock: *mut c_int) -> c_int, |place, real| {
        sync(LOCK_DESTROY | arg(SPIN), lock as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(lock) }
    }
}

fn spin_tried(lock: *mut c_int, result: c_int, flags: u64, place: usize) {
    let kind = if result == 0 { LOCK } else { LOCK_REFUSED };
    sync(kind | arg(flags), lock as usize, place);
}

export! {
    1 fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int, |place| {
        try_at(mutex, place)
    }

    1 fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int, |place| {
        unlock_at(mutex, place)
    }
}

/// Locks a mutex, called from a place of the program.
pub(super) fn lock_at(mutex: *mut Mutex, place: usize) -> c_int {
    let real = real!(pthread_mutex_lock(*mut Mutex) -> c_int);
    // SAFETY: the program locks it.
    lock(mutex, false, place, || unsafe { real(mutex) })
}

/// Tries to lock a mutex, called from a place of the program.
pub(super) fn try_at(mutex: *mut Mutex, place: usize) -> c_int {
    let real = real!(pthread_mutex_trylock(*mut Mutex) -> c_int);
    plan::before(mutex as usize, place);
    schedule::point(Step::Load, mutex as usize);
    // SAFETY: the program tries to lock it.
    let result = unsafe { real(mutex) };
    tried(mutex, result, BY_TRY, place);
    result
}

/// Unlocks a mutex, called from a place of the program.
pub(super) fn unlock_at(mutex: *mut Mutex, place: usize) -> c_int {
    let real = real!(pthread_mutex_unlock(*mut Mutex) -> c_int);
    // SAFETY: the program unlocks it.
    let state = unsafe { &*mutex };
    if !state.stays_locked() {
        sync(UNLOCK | arg(state.flags()), mutex as usize, place);
    }
    // SAFETY: as the program calls it.
    let result = unsafe { real(mutex) };
    plan::after();
    given(mutex as usize);
    result
}

/// Lets those go on that wait for a lock, in a scheduled run.
pub(super) fn given(lock: usize) {
    if schedule::is_on() {
        schedule::wake(lock);
        schedule::point(Step::Unlock, lock);
    }
}
