//! Calls that pass time, give way to other threads, or cancel them. Only a scheduled run needs
//! them.

use crate::c::{self, Pthread};
use crate::schedule::{self, Step};
use core::ffi::{c_int, c_uint, c_void};

/// Sleeps by a function, or lets others go on for as long as they can.
fn pass_time<T>(none_left: T, real: impl FnOnce() -> T) -> T {
    match schedule::turn() {
        Some(turn) => {
            // SAFETY: the program calls a function that may be cancelled.
            unsafe { c::pthread_testcancel() };
            turn.sleep(none_left, real)
        }
        None => real(),
    }
}

interpose! {
    1 fn sleep(seconds: c_uint) -> c_uint, |_place, real| {
        // SAFETY: as the program calls it.
        pass_time(0, || unsafe { real(seconds) })
    }

    1 fn usleep(time: c_uint) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        pass_time(0, || unsafe { real(time) })
    }

    2 fn nanosleep(time: *const c_void, left: *mut c_void) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        pass_time(0, || unsafe { real(time, left) })
    }

    4 fn clock_nanosleep(clock: c_int, flags: c_int, time: *const c_void, left: *mut c_void) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        pass_time(0, || unsafe { real(clock, flags, time, left) })
    }

    2 fn thrd_sleep(time: *const c_void, left: *mut c_void) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        pass_time(0, || unsafe { real(time, left) })
    }

    0 fn sched_yield() -> c_int, |_place, real| {
        give_way();
        // SAFETY: it has no argument.
        unsafe { real() }
    }

    0 fn thrd_yield(), |_place, real| {
        give_way();
        // SAFETY: it has no argument.
        unsafe { real() }
    }

    1 fn pthread_cancel(thread: Pthread) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(thread) };
        if schedule::is_on() {
            schedule::cancelled(thread);
            schedule::point(Step::Signal, 0);
        }
        result
    }
}

fn give_way() {
    if let Some(turn) = schedule::turn() {
        turn.give_way(Step::Sleep, 0);
    }
}
