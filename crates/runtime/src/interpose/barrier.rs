//! Barriers.

use crate::emit::{sync, sync_sized};
use crate::kind::{BARRIER_ARRIVE, BARRIER_INIT, BARRIER_LEAVE, LOCK_DESTROY};
use core::ffi::{c_int, c_uint, c_void};

interpose! {
    3 fn pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, count: c_uint) -> c_int, |place, real| {
        sync_sized(BARRIER_INIT, barrier as usize, place, u64::from(count));
        // SAFETY: as the program calls it.
        unsafe { real(barrier, attributes, count) }
    }

    1 fn pthread_barrier_wait(barrier: *mut c_void) -> c_int, |place, real| {
        sync(BARRIER_ARRIVE, barrier as usize, place);
        // SAFETY: as the program calls it.
        let result = crate::plan::blocking(|| unsafe { real(barrier) });
        sync(BARRIER_LEAVE, barrier as usize, place);
        result
    }

    1 fn pthread_barrier_destroy(barrier: *mut c_void) -> c_int, |place, real| {
        sync(LOCK_DESTROY, barrier as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(barrier) }
    }
}
