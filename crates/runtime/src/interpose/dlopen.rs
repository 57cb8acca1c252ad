//! Libraries that are loaded later.

use crate::block::block;
use core::arch::naked_asm;

/// Makes the next call or access of this thread copy the list of modules. A call of `malloc` inside
/// of `dlopen` does not.
extern "C" fn modules_change() {
    let block = block();
    // SAFETY: the block is this thread's. A thread that does not record has limits of 0 anyway.
    unsafe {
        (*block).modules_changed = 1;
        (*block).access_limit = 0;
        (*block).call_limit = 0;
    }
}

/// Functions that search from the module of their caller, which they know by the return address: so
/// no frame of ours may be between.
macro_rules! loaders {
    ($($name:ident = $find:ident;)*) => {$(
        extern "C" fn $find() -> usize {
            modules_change();
            real!($name() -> usize) as *const () as usize
        }

        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
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

loaders! {
    dlopen = find_dlopen;
    dlmopen = find_dlmopen;
}
