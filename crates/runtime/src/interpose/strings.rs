//! Functions that read and write ranges of memory.
//!
//! Calls from all modules are recorded, not only those from code that was built with hooks: the
//! libraries between (strings and containers of C++, say) do them for the program, and the calls
//! that were recorded say for which part of it. Calls inside of the C library do not come here.

use crate::hooks::accesses::range;
use crate::kind::{ALLOC, READ_RANGE, WRITE_RANGE};
use crate::{c, emit, record};
use core::ffi::{c_char, c_int, c_void};

/// Returns the length of a string.
pub(super) fn length(string: *const c_char) -> usize {
    // SAFETY: the program passes it as a string.
    unsafe { real!(strlen(*const c_char) -> usize)(string) }
}

fn length_up_to(string: *const c_char, max: usize) -> usize {
    // SAFETY: the program passes it as a string, or at least so many bytes.
    unsafe { real!(strnlen(*const c_char, usize) -> usize)(string, max) }
}

fn reads<T>(address: *const T, size: usize, place: usize) {
    range(READ_RANGE, address as usize, size, place);
}

pub(super) fn writes<T>(address: *mut T, size: usize, place: usize) {
    range(WRITE_RANGE, address as usize, size, place);
}

/// Notes the comparison of two strings: as far as they are equal, and one byte more.
fn compares(left: *const c_char, right: *const c_char, max: usize, place: usize) {
    if !record::is_on() {
        return;
    }
    let size = length_up_to(left, max).min(length_up_to(right, max)).saturating_add(1).min(max);
    let mut equal = 0;
    // SAFETY: both strings have so many bytes.
    while equal + 1 < size && unsafe { left.add(equal).read() == right.add(equal).read() } {
        equal += 1;
    }
    let size = size.min(equal + 1);
    reads(left, size, place);
    reads(right, size, place);
}

macro_rules! copies {
    ($($count:tt fn $name:ident($($limit:ident: $ty:ty)?);)*) => {
        interpose! {$(
            $count fn $name(to: *mut c_void, from: *const c_void, size: usize $(, $limit: $ty)?) -> *mut c_void, |place, real| {
                reads(from, size, place);
                writes(to, size, place);
                // SAFETY: as the program calls it.
                unsafe { real(to, from, size $(, $limit)?) }
            }
        )*}
    };
}

copies! {
    3 fn memcpy();
    3 fn memmove();
    3 fn mempcpy();
    4 fn __memcpy_chk(limit: usize);
    4 fn __memmove_chk(limit: usize);
    4 fn __mempcpy_chk(limit: usize);
}

interpose! {
    3 fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void, |place, real| {
        writes(to, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, byte, size) }
    }

    4 fn __memset_chk(to: *mut c_void, byte: c_int, size: usize, limit: usize) -> *mut c_void, |place, real| {
        writes(to, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, byte, size, limit) }
    }

    3 fn memcmp(left: *const c_void, right: *const c_void, size: usize) -> c_int, |place, real| {
        reads(left, size, place);
        reads(right, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(left, right, size) }
    }

    3 fn memchr(at: *const c_void, byte: c_int, size: usize) -> *mut c_void, |place, real| {
        // SAFETY: as the program calls it.
        let found = unsafe { real(at, byte, size) };
        let seen = if found.is_null() { size } else { found as usize - at as usize + 1 };
        reads(at, seen, place);
        found
    }

    1 fn strlen(string: *const c_char) -> usize, |place, real| {
        // SAFETY: as the program calls it.
        let length = unsafe { real(string) };
        reads(string, length + 1, place);
        length
    }

    2 fn strnlen(string: *const c_char, max: usize) -> usize, |place, real| {
        // SAFETY: as the program calls it.
        let length = unsafe { real(string, max) };
        reads(string, length.saturating_add(1).min(max), place);
        length
    }

    2 fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char, |place, real| {
        string_copied(to, from, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from) }
    }

    2 fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char, |place, real| {
        string_copied(to, from, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from) }
    }

    3 fn __strcpy_chk(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char, |place, real| {
        string_copied(to, from, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from, limit) }
    }

    3 fn strncpy(to: *mut c_char, from: *const c_char, size: usize) -> *mut c_char, |place, real| {
        part_copied(to, from, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from, size) }
    }

    4 fn __strncpy_chk(to: *mut c_char, from: *const c_char, size: usize, limit: usize) -> *mut c_char, |place, real| {
        part_copied(to, from, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from, size, limit) }
    }

    2 fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char, |place, real| {
        string_added(to, from, usize::MAX, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from) }
    }

    3 fn __strcat_chk(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char, |place, real| {
        string_added(to, from, usize::MAX, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from, limit) }
    }

    3 fn strncat(to: *mut c_char, from: *const c_char, size: usize) -> *mut c_char, |place, real| {
        string_added(to, from, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(to, from, size) }
    }

    2 fn strcmp(left: *const c_char, right: *const c_char) -> c_int, |place, real| {
        compares(left, right, usize::MAX, place);
        // SAFETY: as the program calls it.
        unsafe { real(left, right) }
    }

    3 fn strncmp(left: *const c_char, right: *const c_char, size: usize) -> c_int, |place, real| {
        compares(left, right, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(left, right, size) }
    }

    2 fn strchr(string: *const c_char, byte: c_int) -> *mut c_char, |place, real| {
        // SAFETY: as the program calls it.
        let found = unsafe { real(string, byte) };
        searched(string, found, place);
        found
    }

    2 fn strrchr(string: *const c_char, byte: c_int) -> *mut c_char, |place, real| {
        searched(string, core::ptr::null_mut(), place);
        // SAFETY: as the program calls it.
        unsafe { real(string, byte) }
    }

    2 fn strstr(string: *const c_char, part: *const c_char) -> *mut c_char, |place, real| {
        searched(string, core::ptr::null_mut(), place);
        searched(part, core::ptr::null_mut(), place);
        // SAFETY: as the program calls it.
        unsafe { real(string, part) }
    }
}

export! {
    1 fn strdup(string: *const c_char) -> *mut c_char, |place| {
        duplicate(string, length(string), place)
    }

    1 fn __strdup(string: *const c_char) -> *mut c_char, |place| {
        duplicate(string, length(string), place)
    }

    2 fn strndup(string: *const c_char, max: usize) -> *mut c_char, |place| {
        duplicate(string, length_up_to(string, max), place)
    }
}

fn string_copied(to: *mut c_char, from: *const c_char, place: usize) {
    if record::is_on() {
        let size = length(from) + 1;
        reads(from, size, place);
        writes(to, size, place);
    }
}

fn part_copied(to: *mut c_char, from: *const c_char, size: usize, place: usize) {
    if record::is_on() {
        reads(from, length_up_to(from, size).saturating_add(1).min(size), place);
        writes(to, size, place);
    }
}

fn string_added(to: *mut c_char, from: *const c_char, max: usize, place: usize) {
    if record::is_on() {
        let before = length(to);
        let more = length_up_to(from, max);
        reads(to, before + 1, place);
        reads(from, more.saturating_add(1).min(max), place);
        writes(to.wrapping_add(before), more + 1, place);
    }
}

fn searched(string: *const c_char, found: *mut c_char, place: usize) {
    if record::is_on() {
        let size = if found.is_null() { length(string) } else { found as usize - string as usize };
        reads(string, size + 1, place);
    }
}

/// Returns a copy of the first bytes of a string, with a zero byte behind them.
fn duplicate(string: *const c_char, length: usize, place: usize) -> *mut c_char {
    reads(string, length + 1, place);
    // SAFETY: any size may be asked for.
    let copy: *mut c_char = unsafe { c::__libc_malloc(length + 1) }.cast();
    if !copy.is_null() {
        let real = real!(memcpy(*mut c_void, *const c_void, usize) -> *mut c_void);
        // SAFETY: there is room for so many bytes and one more.
        unsafe {
            real(copy.cast(), string.cast(), length);
            copy.add(length).write(0);
        }
        emit::sync_sized(ALLOC, copy as usize, place, length as u64 + 1);
        writes(copy, length + 1, place);
    }
    copy
}

// What newer compilers call in place of these.
export! {
    3 fn __tsan_memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void, |place| {
        reads(from, size, place);
        writes(to, size, place);
        // SAFETY: as the program calls it.
        unsafe { real!(memcpy(*mut c_void, *const c_void, usize) -> *mut c_void)(to, from, size) }
    }

    3 fn __tsan_memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void, |place| {
        reads(from, size, place);
        writes(to, size, place);
        // SAFETY: as the program calls it.
        unsafe { real!(memmove(*mut c_void, *const c_void, usize) -> *mut c_void)(to, from, size) }
    }

    3 fn __tsan_memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void, |place| {
        writes(to, size, place);
        // SAFETY: as the program calls it.
        unsafe { real!(memset(*mut c_void, c_int, usize) -> *mut c_void)(to, byte, size) }
    }
}
