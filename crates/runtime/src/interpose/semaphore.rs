//! Semaphores.

use crate::emit::{sync, sync_sized};
use crate::kind::{LOCK_DESTROY, SEM_INIT, SEM_POST, SEM_REFUSED, SEM_REQUEST, SEM_WAIT};
use crate::schedule::{self, Step, Turn, Waited};
use crate::{c, plan, record};
use core::ffi::{c_int, c_uint, c_void};

fn tried(semaphore: *mut c_void, result: c_int, place: usize) {
    let kind = if result == 0 { SEM_WAIT } else { SEM_REFUSED };
    sync(kind, semaphore as usize, place);
}

/// Waits by a function that may block. A semaphore that is not free at once is requested first.
#[inline(always)]
fn wait(
    semaphore: *mut c_void,
    has_time: bool,
    place: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(turn) = schedule::turn().filter(|_| !is_shared(semaphore)) {
        return wait_in_turn(turn, semaphore, has_time, place);
    }
    if !record::is_on() {
        return real();
    }
    plan::before(semaphore as usize, place);
    let attempt = real!(sem_trywait(*mut c_void) -> c_int);
    // SAFETY: the program waits for it. An attempt that fails sets `errno`, the wait does not.
    let mut result = c::with_errno_kept(|| unsafe { attempt(semaphore) });
    if result != 0 {
        sync(SEM_REQUEST, semaphore as usize, place);
        result = plan::blocking(real);
    }
    tried(semaphore, result, place);
    result
}

/// Returns whether processes share a semaphore: its third word says so.
fn is_shared(semaphore: *mut c_void) -> bool {
    // SAFETY: the program waits for it.
    unsafe { semaphore.cast::<u32>().add(2).read_volatile() != 0 }
}

/// Waits in a scheduled run.
fn wait_in_turn(turn: Turn, semaphore: *mut c_void, has_time: bool, place: usize) -> c_int {
    turn.point(Step::Semaphore, semaphore as usize);
    let attempt = real!(sem_trywait(*mut c_void) -> c_int);
    let mut is_requested = false;
    let waited = turn.until(semaphore as usize, has_time, true, || {
        // SAFETY: the program waits for it.
        if c::with_errno_kept(|| unsafe { attempt(semaphore) }) == 0 {
            return Some(());
        }
        if !is_requested {
            sync(SEM_REQUEST, semaphore as usize, place);
        }
        is_requested = true;
        None
    });
    let result = if waited == Waited::TimedOut { -1 } else { 0 };
    tried(semaphore, result, place);
    if result != 0 {
        // SAFETY: the C library gives the address of this thread's own `errno`.
        unsafe { *c::__errno_location() = c::ETIMEDOUT };
    }
    result
}

interpose! {
    1 fn sem_wait(semaphore: *mut c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, false, place, || unsafe { real(semaphore) })
    }

    2 fn sem_timedwait(semaphore: *mut c_void, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, true, place, || unsafe { real(semaphore, until) })
    }

    3 fn sem_clockwait(semaphore: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, true, place, || unsafe { real(semaphore, clock, until) })
    }

    1 fn sem_trywait(semaphore: *mut c_void) -> c_int, |place, real| {
        schedule::point(Step::Load, semaphore as usize);
        // SAFETY: as the program calls it.
        let result = unsafe { real(semaphore) };
        tried(semaphore, result, place);
        result
    }

    1 fn sem_post(semaphore: *mut c_void) -> c_int, |place, real| {
        sync(SEM_POST, semaphore as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(semaphore) };
        plan::after();
        if schedule::is_on() {
            schedule::wake(semaphore as usize);
            schedule::point(Step::Semaphore, semaphore as usize);
        }
        result
    }

    3 fn sem_init(semaphore: *mut c_void, shared: c_int, value: c_uint) -> c_int, |place, real| {
        sync_sized(SEM_INIT, semaphore as usize, place, u64::from(value));
        // SAFETY: as the program calls it.
        unsafe { real(semaphore, shared, value) }
    }

    1 fn sem_destroy(semaphore: *mut c_void) -> c_int, |place, real| {
        schedule::point(Step::Destroy, semaphore as usize);
        sync(LOCK_DESTROY, semaphore as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(semaphore) }
    }
}
