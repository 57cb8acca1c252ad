//! Code that runs once: `pthread_once`, and C++'s local static variables.

use crate::c;
use crate::emit::sync;
use crate::kind::{ACQUIRE, ATOMIC_STORE, GUARD, ONCE, RELEASE, arg};
use crate::record;
use crate::schedule::{self, Step};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

type Routine = unsafe extern "C" fn();

/// Runs a routine once. The C library's function takes a routine without an argument, so the one
/// that runs is found by the thread that calls.
pub(super) fn once(control: *mut c_int, routine: Routine, place: usize) -> c_int {
    let real = real!(pthread_once(*mut c_int, Routine) -> c_int);
    if !record::is_on() {
        // SAFETY: as the program calls it.
        return unsafe { real(control, routine) };
    }
    // The C library's states: 0 nothing, 2 done, others while it runs.
    // SAFETY: the program gives a valid control, which its library changes atomically.
    let before = unsafe { AtomicU32::from_ptr(control.cast()) }.load(Ordering::Acquire);
    if before & DONE != 0 {
        sync(ACQUIRE | arg(ONCE), control as usize, place);
        // SAFETY: as the program calls it.
        return unsafe { real(control, routine) };
    }
    if let Some(turn) = schedule::turn() {
        turn.point(Step::Once, control as usize);
        turn.until(control as usize, false, false, || {
            // SAFETY: as above.
            let now = unsafe { AtomicU32::from_ptr(control.cast()) }.load(Ordering::Acquire);
            (now & RUNS == 0 || now & DONE != 0).then_some(())
        });
    }
    let outer = CURRENT.get();
    let call = OnceCall { control: control as usize, routine, place };
    CURRENT.set(&raw const call as usize);
    // SAFETY: as the program calls it, but for the routine, which calls the program's.
    let result = unsafe { real(control, run_current) };
    CURRENT.set(outer);
    schedule::wake(control as usize);
    sync(ACQUIRE | arg(ONCE), control as usize, place);
    result
}

/// The bit of a control whose routine has returned.
const DONE: u32 = 2;
/// The bit of one whose routine runs.
const RUNS: u32 = 1;

struct OnceCall {
    control: usize,
    routine: Routine,
    place: usize,
}

/// The call that this thread is in: its address is in the block.
struct Current;

static CURRENT: Current = Current;

impl Current {
    fn get(&self) -> usize {
        // SAFETY: the block is this thread's.
        unsafe { (*crate::block::block()).once }
    }

    fn set(&self, call: usize) {
        // SAFETY: the block is this thread's.
        unsafe { (*crate::block::block()).once = call }
    }
}

unsafe extern "C" fn run_current() {
    let call = CURRENT.get() as *const OnceCall;
    // SAFETY: the call is in a frame of this thread that waits for the return of this function.
    let (control, routine, place) = unsafe { ((*call).control, (*call).routine, (*call).place) };
    // SAFETY: the program wants it run.
    unsafe { routine() };
    sync(RELEASE | arg(ONCE), control, place);
}

export! {
    2 fn pthread_once(control: *mut c_int, routine: Routine) -> c_int, |place| {
        once(control, routine, place)
    }

    1 fn __cxa_guard_acquire(guard: *mut u32) -> c_int, |place| {
        // SAFETY: the compiler gives a guard of 8 bytes.
        let state = unsafe { AtomicU32::from_ptr(guard) };
        schedule::point(Step::Once, guard as usize);
        if begin_guarded(state) {
            return 1;
        }
        sync(ACQUIRE | arg(GUARD), guard as usize, place);
        0
    }

    1 fn __cxa_guard_release(guard: *mut u32), |place| {
        sync(RELEASE | arg(GUARD), guard as usize, place);
        // Inlined code reads the first byte before it calls: for that, this is an atomic store.
        sync(ATOMIC_STORE | arg(1 | 3 << 5), guard as usize, place);
        // SAFETY: as above.
        end_guarded(unsafe { AtomicU32::from_ptr(guard) }, INITIALIZED);
    }

    1 fn __cxa_guard_abort(guard: *mut u32), |_place| {
        // SAFETY: as above.
        end_guarded(unsafe { AtomicU32::from_ptr(guard) }, 0);
    }
}

// A guard has the states of GCC's library, whose code may meet ours: the first byte says whether
// the variable is initialized, the second whether a thread is at it, the third whether others wait.
const INITIALIZED: u32 = 1;
const PENDING: u32 = 1 << 8;
const WAITED_FOR: u32 = 1 << 16;

/// Returns whether this thread has to initialize the variable; waits for another that does.
fn begin_guarded(state: &AtomicU32) -> bool {
    loop {
        let now = match state.compare_exchange(0, PENDING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => now,
        };
        if now & 0xff != 0 {
            return false;
        }
        let waited = now | WAITED_FOR;
        let marked = state.compare_exchange(now, waited, Ordering::AcqRel, Ordering::Acquire);
        if now == waited || marked.is_ok() {
            let address = state.as_ptr() as usize;
            if let Some(turn) = schedule::turn() {
                let is_over = || (state.load(Ordering::Acquire) != waited).then_some(());
                turn.until(address, false, false, is_over);
                continue;
            }
            c::call(c::SYS_FUTEX, &[address, c::FUTEX_WAIT, waited as usize]);
        }
    }
}

fn end_guarded(state: &AtomicU32, end: u32) {
    if state.swap(end, Ordering::AcqRel) & WAITED_FOR != 0 {
        let address = state.as_ptr() as usize;
        c::call(c::SYS_FUTEX, &[address, c::FUTEX_WAKE, i32::MAX as usize]);
        schedule::wake(address);
    }
}
