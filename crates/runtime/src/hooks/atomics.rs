//! Atomic operations.
//!
//! Each is done and written under a lock of its location, so that the order of the times in the
//! recording is the order in which the operations took place. A signal handler that interrupts a
//! thread with such a lock does without one, and a thread that waits too long takes it over: the
//! operation is atomic without the lock, only the order of the events is not certain.

use crate::block::block;
use crate::c;
use crate::emit::sync;
use crate::kind::{ATOMIC_LOAD, ATOMIC_RMW, ATOMIC_STORE, FENCE, arg};
use crate::record;
use crate::schedule::{self, Step};
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence,
};

mod wide;

const LOCKS: usize = 256;
const SPINS: u32 = 1_000;
const YIELDS: u32 = 20_000;

/// One lock to a line of the cache.
#[repr(align(64))]
struct Lock(AtomicU32);

static TABLE: [Lock; LOCKS] = [const { Lock(AtomicU32::new(0)) }; LOCKS];

/// The lock of a location, held by this thread.
struct Held {
    lock: Option<&'static AtomicU32>,
    /// What may be changed, in a scheduled run: others may go on after it, too.
    changed: Option<usize>,
}

/// Takes the lock of a location, if this thread may wait and something is recorded.
#[inline(always)]
fn hold(step: Step, location: usize, place: usize) -> Held {
    crate::plan::before(location, place);
    schedule::point(step, location);
    let lock = if record::is_on() { take(location) } else { None };
    Held { lock, changed: (schedule::is_on() && step == Step::Store).then_some(location) }
}

fn take(location: usize) -> Option<&'static AtomicU32> {
    let block = block();
    // SAFETY: the block is this thread's.
    if unsafe { (*block).held } != 0 {
        return None;
    }
    let hash = (location >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    let lock = &TABLE[hash].0;
    // It is noted before it is taken: a handler that comes in between does without.
    // SAFETY: the block is this thread's.
    unsafe { (*block).held = lock.as_ptr() as usize };
    compiler_fence(Ordering::SeqCst);
    let mut tries = 0;
    while lock.swap(1, Ordering::Acquire) != 0 {
        tries += 1;
        if tries < SPINS {
            core::hint::spin_loop();
        } else if tries < SPINS + YIELDS {
            c::call(c::SYS_SCHED_YIELD, &[]);
        } else {
            // Its holder is gone, by a cancellation, say: the lock goes on with this thread.
            break;
        }
    }
    Some(lock)
}

#[inline(always)]
fn let_go(held: &Held) {
    if let Some(lock) = held.lock {
        lock.store(0, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the block is this thread's.
        unsafe { (*block()).held = 0 };
    }
    if let Some(location) = held.changed {
        schedule::point(Step::Store, location);
    }
}

/// Gives away the lock that this thread holds, if any: a handler has left the operation for good.
pub(crate) fn let_go_of_interrupted() {
    let block = block();
    // SAFETY: the block is this thread's, and a lock's address was noted in it.
    unsafe {
        let held = (*block).held as *mut u32;
        if !held.is_null() {
            AtomicU32::from_ptr(held).store(0, Ordering::Release);
            (*block).held = 0;
        }
    }
}

/// Gives away all locks, in the child of a fork: their holders are not there.
pub(crate) fn release_all() {
    for lock in &TABLE {
        lock.0.store(0, Ordering::Relaxed);
    }
}

/// Returns the argument of an event: the size of the location, and the memory order.
const fn sized(size: u64, order: c_int) -> u64 {
    // Higher bits are hints of the compiler.
    let order = order as u64 & 7;
    arg(size | if order > 5 { 5 } else { order } << 5)
}

/// Operations of one size on the standard library's atomics, with the strongest order.
macro_rules! atomics {
    ($($size:literal, $int:ty, $atomic:ty: $load:ident $store:ident $exchange:ident $strong:ident $weak:ident $val:ident
        [$($fetch:ident = $method:ident),*];)*) => {$(
        export! {
            2 fn $load(location: *mut $int, order: c_int) -> $int, |place| {
                let held = hold(Step::Load, location as usize, place);
                // SAFETY: the program reads it atomically.
                let value = unsafe { <$atomic>::from_ptr(location) }.load(Ordering::SeqCst);
                sync(ATOMIC_LOAD | sized($size, order), location as usize, place);
                let_go(&held);
                value
            }

            3 fn $store(location: *mut $int, value: $int, order: c_int), |place| {
                let held = hold(Step::Store, location as usize, place);
                sync(ATOMIC_STORE | sized($size, order), location as usize, place);
                // SAFETY: the program writes it atomically.
                let location = unsafe { <$atomic>::from_ptr(location) };
                // A weaker order than this last one is served by it.
                if order & 7 == 5 {
                    location.store(value, Ordering::SeqCst);
                } else {
                    location.store(value, Ordering::Release);
                }
                let_go(&held);
            }

            3 fn $exchange(location: *mut $int, value: $int, order: c_int) -> $int, |place| {
                let held = hold(Step::Store, location as usize, place);
                sync(ATOMIC_RMW | sized($size, order), location as usize, place);
                // SAFETY: the program changes it atomically.
                let old = unsafe { <$atomic>::from_ptr(location) }.swap(value, Ordering::SeqCst);
                let_go(&held);
                old
            }

            5 fn $strong(location: *mut $int, expected: *mut $int, value: $int, order: c_int, failed: c_int) -> bool, |place| {
                // SAFETY: the program reads and writes what it expects by itself.
                let before = unsafe { expected.read() };
                let held = hold(Step::Store, location as usize, place);
                // SAFETY: the program changes it atomically.
                let old = unsafe { <$atomic>::from_ptr(location) }
                    .compare_exchange(before, value, Ordering::SeqCst, Ordering::SeqCst);
                compared($size, location as usize, old.is_ok(), order, failed, place);
                let_go(&held);
                if let Err(old) = old {
                    // SAFETY: as above.
                    unsafe { expected.write(old) };
                }
                old.is_ok()
            }

            5 fn $weak(location: *mut $int, expected: *mut $int, value: $int, order: c_int, failed: c_int) -> bool, |place| {
                // SAFETY: the program reads and writes what it expects by itself.
                let before = unsafe { expected.read() };
                let held = hold(Step::Store, location as usize, place);
                // SAFETY: the program changes it atomically.
                let old = unsafe { <$atomic>::from_ptr(location) }
                    .compare_exchange(before, value, Ordering::SeqCst, Ordering::SeqCst);
                compared($size, location as usize, old.is_ok(), order, failed, place);
                let_go(&held);
                if let Err(old) = old {
                    // SAFETY: as above.
                    unsafe { expected.write(old) };
                }
                old.is_ok()
            }

            5 fn $val(location: *mut $int, before: $int, value: $int, order: c_int, failed: c_int) -> $int, |place| {
                let held = hold(Step::Store, location as usize, place);
                // SAFETY: the program changes it atomically.
                let old = unsafe { <$atomic>::from_ptr(location) }
                    .compare_exchange(before, value, Ordering::SeqCst, Ordering::SeqCst);
                compared($size, location as usize, old.is_ok(), order, failed, place);
                let_go(&held);
                match old {
                    Ok(old) | Err(old) => old,
                }
            }

            $(
                3 fn $fetch(location: *mut $int, value: $int, order: c_int) -> $int, |place| {
                    let held = hold(Step::Store, location as usize, place);
                    sync(ATOMIC_RMW | sized($size, order), location as usize, place);
                    // SAFETY: the program changes it atomically.
                    let old = unsafe { <$atomic>::from_ptr(location) }.$method(value, Ordering::SeqCst);
                    let_go(&held);
                    old
                }
            )*
        }
    )*};
}

/// Writes a comparison: a change if it was equal, otherwise a load.
fn compared(size: u64, location: usize, equal: bool, order: c_int, failed: c_int, place: usize) {
    if equal {
        sync(ATOMIC_RMW | sized(size, order), location, place);
    } else {
        sync(ATOMIC_LOAD | sized(size, failed), location, place);
    }
}

atomics! {
    1, u8, AtomicU8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
        __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val
        [__tsan_atomic8_fetch_add = fetch_add, __tsan_atomic8_fetch_sub = fetch_sub,
         __tsan_atomic8_fetch_and = fetch_and, __tsan_atomic8_fetch_or = fetch_or,
         __tsan_atomic8_fetch_xor = fetch_xor, __tsan_atomic8_fetch_nand = fetch_nand];
    2, u16, AtomicU16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val
        [__tsan_atomic16_fetch_add = fetch_add, __tsan_atomic16_fetch_sub = fetch_sub,
         __tsan_atomic16_fetch_and = fetch_and, __tsan_atomic16_fetch_or = fetch_or,
         __tsan_atomic16_fetch_xor = fetch_xor, __tsan_atomic16_fetch_nand = fetch_nand];
    4, u32, AtomicU32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val
        [__tsan_atomic32_fetch_add = fetch_add, __tsan_atomic32_fetch_sub = fetch_sub,
         __tsan_atomic32_fetch_and = fetch_and, __tsan_atomic32_fetch_or = fetch_or,
         __tsan_atomic32_fetch_xor = fetch_xor, __tsan_atomic32_fetch_nand = fetch_nand];
    8, u64, AtomicU64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val
        [__tsan_atomic64_fetch_add = fetch_add, __tsan_atomic64_fetch_sub = fetch_sub,
         __tsan_atomic64_fetch_and = fetch_and, __tsan_atomic64_fetch_or = fetch_or,
         __tsan_atomic64_fetch_xor = fetch_xor, __tsan_atomic64_fetch_nand = fetch_nand];
}

export! {
    1 fn __tsan_atomic_thread_fence(order: c_int), |place| {
        sync(FENCE | sized(0, order), 0, place);
        fence(Ordering::SeqCst);
    }
}

/// A fence between a thread and its own handlers is no event: it orders nothing between threads.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
extern "C" fn __tsan_atomic_signal_fence(_order: c_int) {
    compiler_fence(Ordering::SeqCst);
}
