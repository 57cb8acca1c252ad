//! Locks that readers share.

use crate::block::block;
use crate::c::{EBUSY, ETIMEDOUT};
use crate::emit::sync;
use crate::kind::{
    BY_TRY, LOCK, LOCK_DESTROY, LOCK_INIT, LOCK_REFUSED, LOCK_REQUEST, SHARED, UNLOCK, arg,
};
use crate::schedule::{self, Step, Waited};
use crate::{plan, record};
use core::ffi::{c_int, c_void};

/// The fields of `pthread_rwlock_t` up to the one that names the thread that writes.
#[repr(C)]
struct RwLock {
    others: [u32; 6],
    writer: u32,
    shared: u32,
}

fn tried(lock: *mut RwLock, result: c_int, flags: u64, place: usize) {
    let kind = if result == 0 { LOCK } else { LOCK_REFUSED };
    sync(kind | arg(flags), lock as usize, place);
}

/// Locks by a function that may block. A lock that is not free at once is requested first.
#[inline(always)]
fn lock(
    lock: *mut RwLock,
    flags: u64,
    has_time: bool,
    place: usize,
    attempt: unsafe extern "C" fn(*mut RwLock) -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(turn) = schedule::turn().filter(|_| !is_shared(lock)) {
        turn.point(Step::Lock, lock as usize);
        let mut is_requested = false;
        let waited = turn.until(lock as usize, has_time, false, || {
            // SAFETY: the program locks it.
            let result = unsafe { attempt(lock) };
            if result == EBUSY {
                if !is_requested {
                    sync(LOCK_REQUEST | arg(flags), lock as usize, place);
                }
                is_requested = true;
                return None;
            }
            Some(result)
        });
        let result = if let Waited::Done(result) = waited { result } else { ETIMEDOUT };
        tried(lock, result, flags, place);
        return result;
    }
    if !record::is_on() {
        return real();
    }
    plan::before(lock as usize, place);
    // SAFETY: the program locks it.
    let mut result = unsafe { attempt(lock) };
    if result == EBUSY {
        sync(LOCK_REQUEST | arg(flags), lock as usize, place);
        result = plan::blocking(real);
    }
    tried(lock, result, flags, place);
    result
}

/// Returns whether processes share a lock.
fn is_shared(lock: *mut RwLock) -> bool {
    // SAFETY: the program locks it.
    unsafe { (*lock).shared != 0 }
}

fn try_read() -> unsafe extern "C" fn(*mut RwLock) -> c_int {
    real!(pthread_rwlock_tryrdlock(*mut RwLock) -> c_int)
}

fn try_write() -> unsafe extern "C" fn(*mut RwLock) -> c_int {
    real!(pthread_rwlock_trywrlock(*mut RwLock) -> c_int)
}

interpose! {
    1 fn pthread_rwlock_rdlock(rwlock: *mut RwLock) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, SHARED, false, place, try_read(), || unsafe { real(rwlock) })
    }

    2 fn pthread_rwlock_timedrdlock(rwlock: *mut RwLock, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, SHARED, true, place, try_read(), || unsafe { real(rwlock, until) })
    }

    3 fn pthread_rwlock_clockrdlock(rwlock: *mut RwLock, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, SHARED, true, place, try_read(), || unsafe { real(rwlock, clock, until) })
    }

    1 fn pthread_rwlock_tryrdlock(rwlock: *mut RwLock) -> c_int, |place, real| {
        schedule::point(Step::Load, rwlock as usize);
        // SAFETY: as the program calls it.
        let result = unsafe { real(rwlock) };
        tried(rwlock, result, SHARED | BY_TRY, place);
        result
    }

    1 fn pthread_rwlock_wrlock(rwlock: *mut RwLock) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, 0, false, place, try_write(), || unsafe { real(rwlock) })
    }

    2 fn pthread_rwlock_timedwrlock(rwlock: *mut RwLock, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, 0, true, place, try_write(), || unsafe { real(rwlock, until) })
    }

    3 fn pthread_rwlock_clockwrlock(rwlock: *mut RwLock, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        lock(rwlock, 0, true, place, try_write(), || unsafe { real(rwlock, clock, until) })
    }

    1 fn pthread_rwlock_trywrlock(rwlock: *mut RwLock) -> c_int, |place, real| {
        schedule::point(Step::Load, rwlock as usize);
        // SAFETY: as the program calls it.
        let result = unsafe { real(rwlock) };
        tried(rwlock, result, BY_TRY, place);
        result
    }

    1 fn pthread_rwlock_unlock(rwlock: *mut RwLock) -> c_int, |place, real| {
        // SAFETY: the block is this thread's, and the program unlocks the lock.
        let writes = unsafe { (*rwlock).writer == (*block()).thread_id };
        let flags = if writes { 0 } else { SHARED };
        sync(UNLOCK | arg(flags), rwlock as usize, place);
        // SAFETY: as the program calls it.
        let result = unsafe { real(rwlock) };
        super::mutex::given(rwlock as usize);
        result
    }

    2 fn pthread_rwlock_init(rwlock: *mut RwLock, attributes: *const c_void) -> c_int, |place, real| {
        sync(LOCK_INIT, rwlock as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(rwlock, attributes) }
    }

    1 fn pthread_rwlock_destroy(rwlock: *mut RwLock) -> c_int, |place, real| {
        schedule::point(Step::Destroy, rwlock as usize);
        sync(LOCK_DESTROY, rwlock as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(rwlock) }
    }
}
