//! The heap. Blocks come from the C library's own functions, which it has under second names: so a
//! call before the start needs no look-up, which might allocate itself. `new` and `delete` of C++
//! call these functions, or are [`operators`](super::operators).

use crate::c::{self, EINVAL, ENOMEM};
use crate::emit::sync_sized;
use crate::kind::{ALLOC, FREE, IGNORED, arg};
use crate::schedule::{self, Step, quarantine};
use crate::{block, plan, record};
use core::ffi::{c_int, c_void};

fn allocated(block: *mut c_void, size: usize, place: usize) {
    if !block.is_null() {
        sync_sized(ALLOC, block as usize, place, size as u64);
    }
}

/// Writes that a block is given back, before another thread can get it.
fn freed(block: *mut c_void, place: usize) {
    if !block.is_null() && record::is_on() {
        // SAFETY: the program gives the block back, so it is one.
        let size = unsafe { c::malloc_usable_size(block) };
        sync_sized(FREE | ignored(), block as usize, place, size as u64);
    }
}

/// Returns whether accesses of this thread are ignored, as an argument.
fn ignored() -> u64 {
    // SAFETY: the block is this thread's.
    let is_ignored = unsafe { (*block::block()).ignored != 0 };
    arg(if is_ignored { IGNORED } else { 0 })
}

pub(super) fn allocate(size: usize, place: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let block = unsafe { c::__libc_malloc(size) };
    allocated(block, size, place);
    block
}

pub(super) fn aligned(alignment: usize, size: usize, place: usize) -> *mut c_void {
    // SAFETY: the library checks what it is given.
    let block = unsafe { c::__libc_memalign(alignment, size) };
    allocated(block, size, place);
    block
}

const PAGE: usize = 4096;

export! {
    1 fn malloc(size: usize) -> *mut c_void, |place| {
        allocate(size, place)
    }

    2 fn calloc(count: usize, size: usize) -> *mut c_void, |place| {
        // SAFETY: any size may be asked for.
        let block = unsafe { c::__libc_calloc(count, size) };
        allocated(block, count.wrapping_mul(size), place);
        block
    }

    2 fn realloc(block: *mut c_void, size: usize) -> *mut c_void, |place| {
        reallocate(block, size, place)
    }

    3 fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void, |place| {
        if let Some(bytes) = count.checked_mul(size) {
            return reallocate(block, bytes, place);
        }
        // SAFETY: the C library gives the address of this thread's own `errno`.
        unsafe { *c::__errno_location() = ENOMEM };
        core::ptr::null_mut()
    }

    1 fn free(block: *mut c_void), |place| {
        free_at(block, place);
    }

    1 fn cfree(block: *mut c_void), |place| {
        free_at(block, place);
    }

    3 fn posix_memalign(result: *mut *mut c_void, alignment: usize, size: usize) -> c_int, |place| {
        if !alignment.is_power_of_two() || alignment < size_of::<usize>() {
            return EINVAL;
        }
        let block = c::with_errno_kept(|| aligned(alignment, size, place));
        if block.is_null() {
            return ENOMEM;
        }
        // SAFETY: the program gives a valid address for the result.
        unsafe { *result = block };
        0
    }

    2 fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void, |place| {
        aligned(alignment, size, place)
    }

    2 fn memalign(alignment: usize, size: usize) -> *mut c_void, |place| {
        aligned(alignment, size, place)
    }

    1 fn valloc(size: usize) -> *mut c_void, |place| {
        aligned(PAGE, size, place)
    }

    1 fn pvalloc(size: usize) -> *mut c_void, |place| {
        aligned(PAGE, size.wrapping_add(PAGE - 1) & !(PAGE - 1), place)
    }
}

pub(super) fn free_at(block: *mut c_void, place: usize) {
    if schedule::is_on() && schedule::is_of_program(place) {
        schedule::point(Step::Free, block as usize);
    }
    freed(block, place);
    let address = block as usize;
    if !plan::keeps(address) && !quarantine::keeps(address) {
        // SAFETY: as the program calls it.
        unsafe { c::__libc_free(block) }
    }
    plan::after();
}

/// A block that moves or changes its size is given back, and another is taken.
fn reallocate(block: *mut c_void, size: usize, place: usize) -> *mut c_void {
    if !record::is_on() {
        // SAFETY: as the program calls it.
        return unsafe { c::__libc_realloc(block, size) };
    }
    if block.is_null() {
        // SAFETY: any size may be asked for.
        let block = unsafe { c::__libc_malloc(size) };
        allocated(block, size, place);
        return block;
    }
    // Another thread may get the old block as soon as it is given back, so that is written before.
    // SAFETY: the program gives the block back, so it is one.
    let old_size = unsafe { c::malloc_usable_size(block) };
    sync_sized(FREE | ignored(), block as usize, place, old_size as u64);
    // SAFETY: as the program calls it.
    let new = unsafe { c::__libc_realloc(block, size) };
    if !new.is_null() {
        allocated(new, size, place);
    } else if size > 0 {
        // It was refused, and the old block is still there.
        allocated(block, old_size, place);
    }
    new
}
