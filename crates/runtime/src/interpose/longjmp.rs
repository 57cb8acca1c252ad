//! Jumps out of functions, which then have no end.

use super::signals;
use crate::block::{Block, FRAMES, RECORDED, block};
use crate::emit::note_word;
use crate::kind::UNWIND;
use core::arch::asm;
use core::ffi::{c_int, c_void};

/// Returns the stack pointer that a jump goes to. It is the seventh word of a `jmp_buf`, mixed with
/// a secret of the thread that the C library keeps behind its control block.
fn target(buffer: *const c_void) -> usize {
    // SAFETY: the program gives a buffer that was filled, which has eight words.
    let mixed = unsafe { buffer.cast::<usize>().add(6).read() };
    let secret: usize;
    // SAFETY: this reads a word of the thread's control block.
    unsafe { asm!("mov {}, qword ptr fs:[0x30]", out(reg) secret, options(nostack, readonly)) };
    mixed.rotate_right(17) ^ secret
}

/// Forgets the calls that a jump leaves: those whose frames are below the target.
fn leave_calls(block: &mut Block, target: usize) {
    let frames = block.frames as *const usize;
    let mut depth = block.depth;
    if depth > FRAMES {
        return;
    }
    while depth > 0 {
        // SAFETY: so many stack pointers were kept.
        let frame = unsafe { frames.add(depth - 1).read() };
        if frame >= target {
            break;
        }
        depth -= 1;
    }
    block.depth = depth;
}

fn unwind(buffer: *const c_void) {
    let block = block();
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    if block.state != RECORDED {
        return;
    }
    let target = target(buffer);
    signals::leave_handlers(block, target);
    leave_calls(block, target);
    let depth = block.depth;
    note_word(UNWIND, depth);
}

interpose! {
    2 fn longjmp(buffer: *mut c_void, value: c_int), |_place, real| {
        unwind(buffer);
        // SAFETY: as the program calls it.
        unsafe { real(buffer, value) }
    }

    2 fn _longjmp(buffer: *mut c_void, value: c_int), |_place, real| {
        unwind(buffer);
        // SAFETY: as the program calls it.
        unsafe { real(buffer, value) }
    }

    2 fn siglongjmp(buffer: *mut c_void, value: c_int), |_place, real| {
        unwind(buffer);
        // SAFETY: as the program calls it.
        unsafe { real(buffer, value) }
    }

    2 fn __longjmp_chk(buffer: *mut c_void, value: c_int), |_place, real| {
        unwind(buffer);
        // SAFETY: as the program calls it.
        unsafe { real(buffer, value) }
    }
}
