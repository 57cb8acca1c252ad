//! Calls that return one buffer of the C library, whoever calls them.

use super::strings::{length, writes};
use crate::record;
use core::ffi::{c_char, c_void};

/// The size of `struct tm`.
const PARTS_OF_TIME: usize = 56;

interpose! {
    1 fn gmtime(time: *const c_void) -> *mut c_void, |place, real| {
        // SAFETY: as the program calls it.
        let parts = unsafe { real(time) };
        written(parts, place)
    }

    1 fn localtime(time: *const c_void) -> *mut c_void, |place, real| {
        // SAFETY: as the program calls it.
        let parts = unsafe { real(time) };
        written(parts, place)
    }

    1 fn ctime(time: *const c_void) -> *mut c_char, |place, real| {
        // SAFETY: as the program calls it.
        let text = unsafe { real(time) };
        written_text(text, place)
    }

    1 fn asctime(parts: *const c_void) -> *mut c_char, |place, real| {
        // SAFETY: as the program calls it.
        let text = unsafe { real(parts) };
        written_text(text, place)
    }
}

/// Notes that a call has written its buffer.
fn written(parts: *mut c_void, place: usize) -> *mut c_void {
    if !parts.is_null() {
        writes(parts, PARTS_OF_TIME, place);
    }
    parts
}

fn written_text(text: *mut c_char, place: usize) -> *mut c_char {
    if record::is_on() && !text.is_null() {
        writes(text, length(text) + 1, place);
    }
    text
}
