//! Memory that comes from the kernel. Addresses that are given back are used again, so what other
//! threads did with them before must not meet what is done with them later.

use crate::emit::sync_sized;
use crate::kind::{ALLOC, FREE, MAPPED, arg};
use crate::record;
use core::ffi::{c_int, c_void};

/// Larger mappings are reserves that a program gives out in pieces, by means of its own.
const SIZE_MAX: usize = 1 << 30;
const FIXED: c_int = 16;
const PAGE: usize = 4096;

const fn whole_pages(size: usize) -> usize {
    size.wrapping_add(PAGE - 1) & !(PAGE - 1)
}

fn mapped(at: *mut c_void, size: usize, flags: c_int, place: usize) {
    let size = whole_pages(size);
    if at as isize != -1 && flags & FIXED == 0 && size <= SIZE_MAX && record::is_on() {
        sync_sized(ALLOC | arg(MAPPED), at as usize, place, size as u64);
    }
}

interpose! {
    2 fn munmap(at: *mut c_void, size: usize) -> c_int, |place, real| {
        let pages = whole_pages(size);
        if pages > 0 && pages <= SIZE_MAX && (at as usize).is_multiple_of(PAGE) && record::is_on() {
            sync_sized(FREE | arg(MAPPED), at as usize, place, pages as u64);
        }
        // SAFETY: as the program calls it.
        unsafe { real(at, size) }
    }
}

type Map = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;

unsafe extern "C" fn mmap_at(
    wanted: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
    place: usize,
) -> *mut c_void {
    let real: Map = real!(mmap(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void);
    // SAFETY: as the program calls it.
    let at = unsafe { real(wanted, size, protection, flags, descriptor, offset) };
    mapped(at, size, flags, place);
    at
}

macro_rules! maps {
    ($($name:ident;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // It has six arguments. The place is the seventh, which stands above the return address
            // of the call.
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push qword ptr [rsp]",
                ".cfi_adjust_cfa_offset 8",
                "call {}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "ret",
                ".cfi_endproc",
                sym mmap_at,
            )
        }
    )*};
}

maps! {
    mmap;
    mmap64;
}
