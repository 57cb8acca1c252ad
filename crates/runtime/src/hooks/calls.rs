//! Begins and ends of functions.

use crate::emit::{anyorder_entry, anyorder_exit};
use core::arch::naked_asm;

#[cfg_attr(anyorder_image, unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_func_entry(_caller: usize) {
    naked_asm!("jmp {}", sym anyorder_entry)
}

#[cfg_attr(anyorder_image, unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_func_exit() {
    naked_asm!("jmp {}", sym anyorder_exit)
}
