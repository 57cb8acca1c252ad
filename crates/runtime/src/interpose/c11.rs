//! The threads of C11. The C library makes them of the same parts as POSIX threads.

use super::mutex::{Mutex, lock_at, try_at, unlock_at};
use super::{cond, once, threads};
use crate::c::{self, EBUSY, ENOMEM, ETIMEDOUT, Pthread, Start};
use crate::emit::sync;
use crate::kind::{
    COND_BROADCAST, COND_DESTROY, COND_SIGNAL, LOCK_DESTROY, LOCK_INIT, RECURSIVE, arg,
};
use core::ffi::{c_int, c_void};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// Returns the C11 status of an error number.
const fn status(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ENOMEM => NO_MEMORY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// A function and its argument, for a thread that returns a pointer.
struct Call {
    function: Function,
    argument: *mut c_void,
}

unsafe extern "C" fn run(call: *mut c_void) -> *mut c_void {
    let call: *mut Call = call.cast();
    // SAFETY: the creator has made it for this thread.
    let (function, argument) = unsafe { ((*call).function, (*call).argument) };
    // SAFETY: it came from the same heap, and only this thread has it.
    unsafe { c::__libc_free(call.cast()) };
    // SAFETY: as the program wants it.
    unsafe { function(argument) as isize as *mut c_void }
}

export! {
    3 fn thrd_create(result: *mut Pthread, function: Function, argument: *mut c_void) -> c_int, |place| {
        // SAFETY: any size may be asked for.
        let call: *mut Call = unsafe { c::__libc_malloc(size_of::<Call>()) }.cast();
        if call.is_null() {
            return NO_MEMORY;
        }
        // SAFETY: there is room for it.
        unsafe { call.write(Call { function, argument }) };
        let error = threads::create(result, core::ptr::null(), run as Start, call.cast(), place);
        if error != 0 {
            // SAFETY: it came from the same heap, and no thread has it.
            unsafe { c::__libc_free(call.cast()) };
        }
        status(error)
    }

    2 fn thrd_join(thread: Pthread, result: *mut c_int) -> c_int, |place| {
        let mut value = core::ptr::null_mut();
        let real = real!(pthread_join(Pthread, *mut *mut c_void) -> c_int);
        // SAFETY: as the program calls it.
        let error = threads::join(thread, place, || unsafe { real(thread, &raw mut value) });
        if error == 0 && !result.is_null() {
            // SAFETY: the program gives a valid address for the result.
            unsafe { *result = value as isize as c_int };
        }
        status(error)
    }

    1 fn thrd_detach(thread: Pthread) -> c_int, |place| {
        status(threads::detach(thread, place))
    }

    1 fn mtx_lock(mutex: *mut Mutex) -> c_int, |place| {
        status(lock_at(mutex, place))
    }

    1 fn mtx_trylock(mutex: *mut Mutex) -> c_int, |place| {
        status(try_at(mutex, place))
    }

    1 fn mtx_unlock(mutex: *mut Mutex) -> c_int, |place| {
        status(unlock_at(mutex, place))
    }

    2 fn mtx_timedlock(mutex: *mut Mutex, until: *const c_void) -> c_int, |place| {
        let real = real!(pthread_mutex_timedlock(*mut Mutex, *const c_void) -> c_int);
        // SAFETY: as the program calls it.
        status(super::mutex::lock(mutex, true, place, || unsafe { real(mutex, until) }))
    }

    1 fn cnd_signal(cond: *mut c_void) -> c_int, |place| {
        sync(COND_SIGNAL, cond as usize, place);
        // SAFETY: as the program calls it.
        let error = unsafe { real!(pthread_cond_signal(*mut c_void) -> c_int)(cond) };
        cond::signalled(cond, false);
        status(error)
    }

    1 fn cnd_broadcast(cond: *mut c_void) -> c_int, |place| {
        sync(COND_BROADCAST, cond as usize, place);
        // SAFETY: as the program calls it.
        let error = unsafe { real!(pthread_cond_broadcast(*mut c_void) -> c_int)(cond) };
        cond::signalled(cond, true);
        status(error)
    }

    2 fn cnd_wait(condition: *mut c_void, mutex: *mut Mutex) -> c_int, |place| {
        let real = real!(pthread_cond_wait(*mut c_void, *mut Mutex) -> c_int);
        // SAFETY: as the program calls it.
        status(cond::wait(condition, mutex, false, place, || unsafe { real(condition, mutex) }))
    }

    3 fn cnd_timedwait(condition: *mut c_void, mutex: *mut Mutex, until: *const c_void) -> c_int, |place| {
        let real = real!(pthread_cond_timedwait(*mut c_void, *mut Mutex, *const c_void) -> c_int);
        // SAFETY: as the program calls it.
        status(cond::wait(condition, mutex, true, place, || unsafe { real(condition, mutex, until) }))
    }

    2 fn call_once(flag: *mut c_int, routine: unsafe extern "C" fn()), |place| {
        once::once(flag, routine, place);
    }
}

interpose! {
    2 fn mtx_init(mutex: *mut Mutex, kind: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(mutex, kind) };
        let flags = if kind & 1 == 0 { 0 } else { RECURSIVE };
        sync(LOCK_INIT | arg(flags), mutex as usize, place);
        result
    }

    1 fn mtx_destroy(mutex: *mut Mutex), |place, real| {
        sync(LOCK_DESTROY, mutex as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(mutex) }
    }

    1 fn cnd_destroy(cond: *mut c_void), |place, real| {
        sync(COND_DESTROY, cond as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(cond) }
    }
}
