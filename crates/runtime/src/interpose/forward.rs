//! Functions that do nothing here but lead on.
//!
//! ThreadSanitizer's runtime has them, so a program that is linked with it asks for them without a
//! version, and the loader would give it the oldest one that the C library has: a `realpath` that
//! wants a buffer, or a `sched_getaffinity` of two arguments. The program means the newest.

use core::ffi::c_int;

macro_rules! newest {
    ($($name:ident = $find:ident;)*) => {$(
        extern "C" fn $find() -> usize {
            real!($name() -> c_int) as *const () as usize
        }

        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // None has an argument in a register for floating point. The return address and seven
            // registers: the stack is aligned.
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "call {}",
                "mov r11, rax",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                sym $find,
            )
        }
    )*};
}

newest! {
    fmemopen = find_fmemopen;
    glob = find_glob;
    glob64 = find_glob64;
    posix_spawn = find_posix_spawn;
    posix_spawnp = find_posix_spawnp;
    pthread_attr_getaffinity_np = find_pthread_attr_getaffinity_np;
    realpath = find_realpath;
    regexec = find_regexec;
    sched_getaffinity = find_sched_getaffinity;
}
