//! Atomic operations on 16 bytes, by `cmpxchg16b`.

use super::{compared, hold, let_go, sized};
use crate::emit::sync;
use crate::kind::{ATOMIC_LOAD, ATOMIC_RMW, ATOMIC_STORE};
use crate::schedule::Step;
use core::arch::asm;
use core::ffi::c_int;

/// Writes a value if the old one is as expected. Returns the old one.
///
/// # Safety
/// The location is valid, and a multiple of 16.
unsafe fn exchange_if(location: *mut u128, expected: u128, value: u128) -> u128 {
    let (low, high);
    // SAFETY: the caller gives a valid location. The compiler keeps `rbx` for itself, so it is put
    // back.
    unsafe {
        asm!(
            "xchg rbx, {new_low}",
            "lock cmpxchg16b xmmword ptr [rdi]",
            "mov rbx, {new_low}",
            new_low = inout(reg) value as u64 => _,
            in("rdi") location,
            in("rcx") (value >> 64) as u64,
            inout("rax") expected as u64 => low,
            inout("rdx") (expected >> 64) as u64 => high,
            options(nostack),
        );
    }
    let (low, high): (u64, u64) = (low, high);
    u128::from(high) << 64 | u128::from(low)
}

/// Changes a value. Returns the old one.
///
/// # Safety
/// As of [`exchange_if`].
unsafe fn update(location: *mut u128, change: impl Fn(u128) -> u128) -> u128 {
    let mut old = 0;
    loop {
        // SAFETY: as the caller promises.
        let found = unsafe { exchange_if(location, old, change(old)) };
        if found == old {
            return old;
        }
        old = found;
    }
}

export! {
    2 fn __tsan_atomic128_load(location: *mut u128, order: c_int) -> u128, |place| {
        let held = hold(Step::Load, location as usize, place);
        // SAFETY: the program reads it atomically. Memory that cannot be written has no such load.
        let value = unsafe { exchange_if(location, 0, 0) };
        sync(ATOMIC_LOAD | sized(16, order), location as usize, place);
        let_go(&held);
        value
    }

    4 fn __tsan_atomic128_store(location: *mut u128, value: u128, order: c_int), |place| {
        let held = hold(Step::Store, location as usize, place);
        sync(ATOMIC_STORE | sized(16, order), location as usize, place);
        // SAFETY: the program writes it atomically.
        unsafe { update(location, |_| value) };
        let_go(&held);
    }
}

macro_rules! updates {
    ($($name:ident: |$old:ident, $value:ident| $change:expr;)*) => {
        export! {$(
            4 fn $name(location: *mut u128, $value: u128, order: c_int) -> u128, |place| {
                let held = hold(Step::Store, location as usize, place);
                sync(ATOMIC_RMW | sized(16, order), location as usize, place);
                // SAFETY: the program changes it atomically.
                let old = unsafe { update(location, |$old| $change) };
                let_go(&held);
                old
            }
        )*}
    };
}

updates! {
    __tsan_atomic128_exchange: |_old, value| value;
    __tsan_atomic128_fetch_add: |old, value| old.wrapping_add(value);
    __tsan_atomic128_fetch_sub: |old, value| old.wrapping_sub(value);
    __tsan_atomic128_fetch_and: |old, value| old & value;
    __tsan_atomic128_fetch_or: |old, value| old | value;
    __tsan_atomic128_fetch_xor: |old, value| old ^ value;
    __tsan_atomic128_fetch_nand: |old, value| !(old & value);
}

/// Compares and exchanges, and returns the old value.
///
/// # Safety
/// The location is valid, and a multiple of 16.
#[inline(always)]
unsafe fn compare_exchange(
    location: *mut u128,
    before: u128,
    value: u128,
    orders: (c_int, c_int),
    place: usize,
) -> u128 {
    let held = hold(Step::Store, location as usize, place);
    // SAFETY: as the caller promises.
    let old = unsafe { exchange_if(location, before, value) };
    compared(16, location as usize, old == before, orders.0, orders.1, place);
    let_go(&held);
    old
}

macro_rules! comparisons {
    ($($name:ident)*) => {$(
        // The arguments take all six registers, so the place is found on the stack.
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            _location: *mut u128,
            _expected: *mut u128,
            _value: u128,
            _order: c_int,
            _failed: c_int,
        ) -> bool {
            core::arch::naked_asm!(
                "push qword ptr [rsp]",
                "call {}",
                "add rsp, 8",
                "ret",
                sym compare_exchange_in_memory,
            )
        }
    )*};
}

comparisons! {
    __tsan_atomic128_compare_exchange_strong
    __tsan_atomic128_compare_exchange_weak
}

unsafe extern "C" fn compare_exchange_in_memory(
    location: *mut u128,
    expected: *mut u128,
    value: u128,
    order: c_int,
    failed: c_int,
    place: usize,
) -> bool {
    // SAFETY: the program reads and writes what it expects by itself.
    let before = unsafe { expected.read() };
    // SAFETY: the program changes it atomically.
    let old = unsafe { compare_exchange(location, before, value, (order, failed), place) };
    if old == before {
        return true;
    }
    // SAFETY: as above.
    unsafe { expected.write(old) };
    false
}

/// Seven words of arguments: the last is on the stack, and the place is not known.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_val(
    location: *mut u128,
    before: u128,
    value: u128,
    order: c_int,
    failed: c_int,
) -> u128 {
    // SAFETY: the program changes it atomically.
    unsafe { compare_exchange(location, before, value, (order, failed), 0) }
}
