//! Semaphores.

use crate::emit::{sync, sync_sized};
use crate::kind::{LOCK_DESTROY, SEM_INIT, SEM_POST, SEM_REFUSED, SEM_REQUEST, SEM_WAIT};
use crate::{c, plan, record};
use core::ffi::{c_int, c_uint, c_void};

fn tried(semaphore: *mut c_void, result: c_int, place: usize) {
    let kind = if result == 0 { SEM_WAIT } else { SEM_REFUSED };
    sync(kind, semaphore as usize, place);
}

/// Waits by a function that may block. A semaphore that is not free at once is requested first.
#[inline(always)]
fn wait(semaphore: *mut c_void, place: usize, real: impl FnOnce() -> c_int) -> c_int {
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

interpose! {
    1 fn sem_wait(semaphore: *mut c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, place, || unsafe { real(semaphore) })
    }

    2 fn sem_timedwait(semaphore: *mut c_void, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, place, || unsafe { real(semaphore, until) })
    }

    3 fn sem_clockwait(semaphore: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        wait(semaphore, place, || unsafe { real(semaphore, clock, until) })
    }

    1 fn sem_trywait(semaphore: *mut c_void) -> c_int, |place, real| {
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
        result
    }

    3 fn sem_init(semaphore: *mut c_void, shared: c_int, value: c_uint) -> c_int, |place, real| {
        sync_sized(SEM_INIT, semaphore as usize, place, u64::from(value));
        // SAFETY: as the program calls it.
        unsafe { real(semaphore, shared, value) }
    }

    1 fn sem_destroy(semaphore: *mut c_void) -> c_int, |place, real| {
        sync(LOCK_DESTROY, semaphore as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(semaphore) }
    }
}
