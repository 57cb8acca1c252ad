//! Condition variables. A wait gives the mutex away and takes it again: its two events stand for
//! that, too.

use super::mutex::{Mutex, take_in_turn};
use crate::c::{self, CleanupBuffer, ETIMEDOUT};
use crate::emit::{address, sync, sync_sized};
use crate::kind::{
    COND_BROADCAST, COND_DESTROY, COND_INIT, COND_SIGNAL, COND_WAIT, COND_WAKE, arg,
};
use crate::plan;
use crate::schedule::{self, Step, Turn};
use core::ffi::{c_int, c_void};

/// A wait that has begun.
struct Wait {
    cond: usize,
    mutex: usize,
    place: usize,
}

impl Wait {
    fn wake(&self, flags: u64) {
        sync_sized(COND_WAKE | arg(flags), self.cond, self.place, address(self.mutex));
    }
}

/// A thread that is cancelled while it waits has the mutex again, and unlocks it in a handler.
unsafe extern "C" fn cancelled(wait: *mut c_void) {
    // SAFETY: the wait is in a frame that has not been left.
    unsafe { (*wait.cast::<Wait>()).wake(0) };
}

/// Waits by a function that takes the mutex again however it ends.
#[inline(always)]
pub(super) fn wait(
    cond: *mut c_void,
    mutex: *mut Mutex,
    has_time: bool,
    place: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let mut wait = Wait { cond: cond as usize, mutex: mutex as usize, place };
    sync_sized(COND_WAIT, wait.cond, place, address(wait.mutex));
    let mut buffer = CleanupBuffer::new();
    // SAFETY: the buffer and the wait outlive the call between.
    unsafe { c::_pthread_cleanup_push(&raw mut buffer, cancelled, (&raw mut wait).cast()) };
    let result = match schedule::turn() {
        Some(turn) if !is_shared(cond) => wait_in_turn(turn, cond, mutex, has_time),
        Some(turn) => turn.outside(real),
        None => real(),
    };
    // SAFETY: it was pushed last by this thread.
    unsafe { c::_pthread_cleanup_pop(&raw mut buffer, 0) };
    wait.wake(u64::from(result == ETIMEDOUT));
    result
}

/// Returns whether processes share a condition variable: a bit of its ninth word says so.
fn is_shared(cond: *mut c_void) -> bool {
    // SAFETY: the program waits for it, and it has 48 bytes.
    unsafe { cond.cast::<u32>().add(9).read_volatile() & 1 != 0 }
}

/// Waits in a scheduled run.
fn wait_in_turn(turn: Turn, cond: *mut c_void, mutex: *mut Mutex, has_time: bool) -> c_int {
    let unlock = real!(pthread_mutex_unlock(*mut Mutex) -> c_int);
    turn.point(Step::Wait, cond as usize);
    // SAFETY: the program calls a function that may be cancelled.
    unsafe { c::pthread_testcancel() };
    let mut error = 0;
    let timed_out = turn.wait_for_signal(
        (cond as usize, mutex as usize),
        has_time,
        // SAFETY: the program waits with it.
        || error = unsafe { unlock(mutex) },
        || {
            take_in_turn(turn, mutex, false, None);
        },
    );
    // SAFETY: as above.
    unsafe { c::pthread_testcancel() };
    if error != 0 {
        error
    } else if timed_out {
        ETIMEDOUT
    } else {
        0
    }
}

/// Wakes those that wait in a scheduled run.
pub(super) fn signalled(cond: *mut c_void, is_for_all: bool) {
    if schedule::is_on() {
        schedule::cond_wake(cond as usize, is_for_all);
        schedule::point(Step::Signal, cond as usize);
    }
}

interpose! {
    2 fn pthread_cond_wait(cond: *mut c_void, mutex: *mut Mutex) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(cond, mutex, false, place, || plan::blocking(|| unsafe { real(cond, mutex) }))
    }

    3 fn pthread_cond_timedwait(cond: *mut c_void, mutex: *mut Mutex, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(cond, mutex, true, place, || unsafe { real(cond, mutex, until) })
    }

    4 fn pthread_cond_clockwait(cond: *mut c_void, mutex: *mut Mutex, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(cond, mutex, true, place, || unsafe { real(cond, mutex, clock, until) })
    }

    1 fn pthread_cond_signal(cond: *mut c_void) -> c_int, |place, real| {
        sync(COND_SIGNAL, cond as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(cond) };
        plan::after();
        signalled(cond, false);
        result
    }

    1 fn pthread_cond_broadcast(cond: *mut c_void) -> c_int, |place, real| {
        sync(COND_BROADCAST, cond as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(cond) };
        plan::after();
        signalled(cond, true);
        result
    }

    // Without it, the version of 1999 might be called beside ours.
    2 fn pthread_cond_init(cond: *mut c_void, attributes: *const c_void) -> c_int, |place, real| {
        sync(COND_INIT, cond as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(cond, attributes) }
    }

    1 fn pthread_cond_destroy(cond: *mut c_void) -> c_int, |place, real| {
        schedule::point(Step::Destroy, cond as usize);
        sync(COND_DESTROY, cond as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(cond) }
    }
}
