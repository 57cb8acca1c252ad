//! `new` and `delete` of C++, as functions that lead on.
//!
//! ThreadSanitizer's runtime has them. So a program that is linked with it, and with the library of
//! C++ in it (`-static-libstdc++`), has none itself, and asks the runtime for them. In all other
//! programs, those of the library or of the program are the next ones. All call `malloc` and
//! `free`, which see the block.

use super::memory::{aligned, allocate, free_at};
use crate::c;
use crate::symbol::Symbol;
use core::ffi::c_void;

/// Calls what follows the operator of a name; without one, the function behind the arrow, which
/// takes the same arguments, or the first of them.
macro_rules! operators {
    ($($name:ident = $find:ident => $instead:path;)*) => {$(
        extern "C" fn $find() -> usize {
            static SYMBOL: Symbol = Symbol::new(
                match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            SYMBOL.address_or($instead as *const () as usize)
        }

        #[allow(non_snake_case, reason = "the names that C++ gives")]
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // At most three arguments. With the return address, the stack is aligned.
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "call {}",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                sym $find,
            )
        }
    )*};
}

operators! {
    _Znwm = find_new => anyorder_new;
    _Znam = find_new_array => anyorder_new;
    _ZnwmRKSt9nothrow_t = find_new_nothrow => anyorder_new_nothrow;
    _ZnamRKSt9nothrow_t = find_new_array_nothrow => anyorder_new_nothrow;
    _ZnwmSt11align_val_t = find_new_aligned => anyorder_new_aligned;
    _ZnamSt11align_val_t = find_new_array_aligned => anyorder_new_aligned;
    _ZnwmSt11align_val_tRKSt9nothrow_t = find_new_aligned_nothrow => anyorder_new_aligned_nothrow;
    _ZnamSt11align_val_tRKSt9nothrow_t = find_new_array_aligned_nothrow => anyorder_new_aligned_nothrow;
    _ZdlPv = find_delete => anyorder_delete;
    _ZdaPv = find_delete_array => anyorder_delete;
    _ZdlPvm = find_delete_sized => anyorder_delete;
    _ZdaPvm = find_delete_array_sized => anyorder_delete;
    _ZdlPvRKSt9nothrow_t = find_delete_nothrow => anyorder_delete;
    _ZdaPvRKSt9nothrow_t = find_delete_array_nothrow => anyorder_delete;
    _ZdlPvSt11align_val_t = find_delete_aligned => anyorder_delete;
    _ZdaPvSt11align_val_t = find_delete_array_aligned => anyorder_delete;
    _ZdlPvmSt11align_val_t = find_delete_aligned_sized => anyorder_delete;
    _ZdaPvmSt11align_val_t = find_delete_array_aligned_sized => anyorder_delete;
    _ZdlPvSt11align_val_tRKSt9nothrow_t = find_delete_aligned_nothrow => anyorder_delete;
    _ZdaPvSt11align_val_tRKSt9nothrow_t = find_delete_array_aligned_nothrow => anyorder_delete;
}

export! {
    1 fn anyorder_new(size: usize) -> *mut c_void, |place| {
        or_end(allocate(size, place))
    }

    1 fn anyorder_new_nothrow(size: usize) -> *mut c_void, |place| {
        allocate(size, place)
    }

    2 fn anyorder_new_aligned(size: usize, alignment: usize) -> *mut c_void, |place| {
        or_end(aligned(alignment, size, place))
    }

    2 fn anyorder_new_aligned_nothrow(size: usize, alignment: usize) -> *mut c_void, |place| {
        aligned(alignment, size, place)
    }

    1 fn anyorder_delete(block: *mut c_void), |place| {
        free_at(block, place);
    }
}

/// An exception of the program's own library cannot be thrown from here: without memory, the
/// program ends, as with ThreadSanitizer's runtime.
fn or_end(block: *mut c_void) -> *mut c_void {
    if block.is_null() {
        // SAFETY: it takes nothing, and does not return.
        unsafe { c::abort() }
    }
    block
}
