//! Barriers.

use crate::emit::{sync, sync_sized};
use crate::kind::{BARRIER_ARRIVE, BARRIER_INIT, BARRIER_LEAVE, LOCK_DESTROY};
use crate::schedule::{self, Step};
use core::ffi::{c_int, c_uint, c_void};

/// What the last thread at a barrier gets: `PTHREAD_BARRIER_SERIAL_THREAD`.
const LAST: c_int = -1;

interpose! {
    3 fn pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, count: c_uint) -> c_int, |place, real| {
        sync_sized(BARRIER_INIT, barrier as usize, place, u64::from(count));
        // SAFETY: as the program calls it.
        unsafe { real(barrier, attributes, count) }
    }

    1 fn pthread_barrier_wait(barrier: *mut c_void) -> c_int, |place, real| {
        sync(BARRIER_ARRIVE, barrier as usize, place);
        let result = match schedule::turn() {
            Some(turn) => {
                // SAFETY: the program waits at it.
                let [_, _, count, shared, _] = unsafe { barrier.cast::<[u32; 5]>().read() };
                if shared == 0 {
                    turn.point(Step::Barrier, barrier as usize);
                    if turn.barrier(barrier as usize, count as usize) { LAST } else { 0 }
                } else {
                    // SAFETY: as the program calls it.
                    turn.outside(|| unsafe { real(barrier) })
                }
            }
            // SAFETY: as the program calls it.
            None => crate::plan::blocking(|| unsafe { real(barrier) }),
        };
        sync(BARRIER_LEAVE, barrier as usize, place);
        result
    }

    1 fn pthread_barrier_destroy(barrier: *mut c_void) -> c_int, |place, real| {
        schedule::point(Step::Destroy, barrier as usize);
        sync(LOCK_DESTROY, barrier as usize, place);
        // SAFETY: as the program calls it.
        unsafe { real(barrier) }
    }
}
