//! Blocks that were given back stay for a while, with bytes in them that are no good address. So
//! their use does harm at once, and a second free or a write after the first one is noticed.

use super::{FREED_TWICE, WRITTEN_AFTER_FREE, harm, is_on};
use crate::c;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The most blocks that are kept, and the greatest one.
const KEPT: usize = 1024;
const GREATEST: usize = 64 << 10;
/// What stands in a block that was given back.
const FILLING: u8 = 0xdd;
const FILLING_WORD: u64 = u64::from_ne_bytes([FILLING; 8]);
const ABORT: usize = 6;

static LOCK: AtomicU32 = AtomicU32::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: [AtomicUsize; KEPT] = [const { AtomicUsize::new(0) }; KEPT];

/// What becomes of a block.
enum Fate {
    /// It stays, and this one, if there is one, leaves.
    Kept(usize),
    /// It was here already.
    Again,
    /// It goes the usual way.
    Given,
}

/// Takes a block that is given back. Returns whether it stays.
pub(crate) fn keeps(block: usize) -> bool {
    if !is_on() || block == 0 {
        return false;
    }
    // SAFETY: the program gives the block back, so it is one, or was one and is kept here.
    let size = unsafe { c::malloc_usable_size(block as *mut c_void) };
    match take(block, size) {
        Fate::Given => false,
        Fate::Kept(0) => true,
        Fate::Kept(old) => {
            check(old);
            // SAFETY: it was given back, and nobody else gives it to the library.
            unsafe { c::__libc_free(old as *mut c_void) };
            true
        }
        Fate::Again => {
            harm(FREED_TWICE);
            let process = c::call(c::SYS_GETPID, &[]) as usize;
            c::call(c::SYS_TGKILL, &[process, c::thread_id() as usize, ABORT]);
            true
        }
    }
}

fn take(block: usize, size: usize) -> Fate {
    if size > GREATEST || LOCK.swap(1, Ordering::Acquire) != 0 {
        return Fate::Given;
    }
    let is_here = BLOCKS.iter().any(|one| one.load(Ordering::Relaxed) == block);
    let fate = if is_here {
        Fate::Again
    } else {
        // SAFETY: nobody may use the block any more, and it has so many bytes.
        unsafe { fill(block, size) };
        let at = NEXT.fetch_add(1, Ordering::Relaxed) % KEPT;
        Fate::Kept(BLOCKS[at].swap(block, Ordering::Relaxed))
    };
    LOCK.store(0, Ordering::Release);
    fate
}

/// # Safety
///
/// So many bytes may be written.
unsafe fn fill(block: usize, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            "rep stosb",
            inout("rdi") block => _,
            inout("rcx") bytes => _,
            in("al") FILLING,
            options(nostack, preserves_flags),
        );
    }
}

/// Notes whether somebody has written a block since it was given back.
fn check(block: usize) {
    // SAFETY: the block is the library's still, and has so many bytes, in whole words.
    let size = unsafe { c::malloc_usable_size(block as *mut c_void) };
    let words = block as *const u64;
    let is_whole = |at: usize| {
        // SAFETY: as above.
        unsafe { words.add(at).read_volatile() == FILLING_WORD }
    };
    if !(0..size / 8).all(is_whole) {
        harm(WRITTEN_AFTER_FREE);
    }
}

/// Looks at all blocks that are kept, as the process ends.
pub(crate) fn check_all() {
    if !is_on() || LOCK.swap(1, Ordering::Acquire) != 0 {
        return;
    }
    for block in &BLOCKS {
        let block = block.load(Ordering::Relaxed);
        if block != 0 {
            check(block);
        }
    }
    LOCK.store(0, Ordering::Release);
}

/// Leaves the blocks alone, in the child of a fork.
pub(super) fn forget() {
    LOCK.store(0, Ordering::Relaxed);
}
