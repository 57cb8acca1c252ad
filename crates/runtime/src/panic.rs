//! What a shared object without the standard library has to bring itself.

use core::arch::global_asm;
use core::panic::PanicInfo;

/// No code here panics knowingly. The trap shows a mistake where it is.
#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    // SAFETY: the instruction ends the process.
    unsafe { core::arch::asm!("ud2", options(noreturn)) }
}

// The core library names the function that unwinding asks. Its panics do not unwind here.
global_asm!(
    ".pushsection .text.rust_eh_personality, \"ax\", @progbits",
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    "rust_eh_personality:",
    "ud2",
    ".popsection",
);
