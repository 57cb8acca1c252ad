//! The allocator.
//!
//! **Problem.** A program promises to end with what it found when memory runs out. In Rust, an
//! allocation that fails aborts the process, and between two polls of a guard one allocation can
//! take any amount.
//!
//! **Guarantee.** After [`begin`], an allocation that the system refuses never returns, nor does a
//! large one that would pass the bound. Its thread sleeps for ever, and [`refusal`] tells the guard
//! why. Threads that called [`exempt_this_thread`] may pass the bound; for them, the refusal of the
//! system ends the process with status 3.
//!
//! **What is checked.** Memory counts when it is touched. So only new memory that the program is
//! about to fill is checked against the bound. Zeroed memory is not touched yet, and a buffer that
//! grows is filled step by step; the guard sees both in the resident memory.
//!
//! **Cost.** One relaxed load and one comparison for each allocation. One reading of the resident
//! memory, about a microsecond, for each allocation of [`LARGE_BYTES`] or more, if there is a
//! bound.

use crate::memory::Memory;
use crate::signals::end_at_once;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Smaller allocations are not checked against the bound.
const LARGE_BYTES: usize = 1 << 20;

/// The size of the reserve for the guard: address space that is given back when the system has no
/// more.
const RESERVE: Layout = match Layout::from_size_align(8 << 20, 4096) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u8>(),
};

/// The status of a process that ends because nobody guards it or the guard itself has no memory.
const STATUS_LIMIT: i32 = 3;

/// Allocations of at least this size take the slow path: large ones, or all once frozen.
static CAREFUL_FROM: AtomicUsize = AtomicUsize::new(LARGE_BYTES);
/// The most resident bytes, and `u64::MAX` without a bound.
static BOUND: AtomicU64 = AtomicU64::new(u64::MAX);
static MEMORY: OnceLock<Option<Memory>> = OnceLock::new();
static GUARDED: AtomicBool = AtomicBool::new(false);
static FROZEN: AtomicBool = AtomicBool::new(false);
/// The size of the first refused allocation, or zero.
static REFUSED_BY_BOUND: AtomicUsize = AtomicUsize::new(0);
static REFUSED_BY_SYSTEM: AtomicUsize = AtomicUsize::new(0);
static RESERVED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    static EXEMPT: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the system, which never returns without memory.
#[derive(Clone, Copy, Debug)]
pub struct Heap;

/// Why an allocation does not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It would have passed the bound: the bytes that it asked for.
    Bound(usize),
    /// The system has no more memory: the bytes that it asked for.
    System(usize),
}

/// Promises that a guard watches [`refusal`] from now on. `bound` is the most resident memory in
/// bytes.
pub fn begin(bound: Option<u64>) {
    MEMORY.get_or_init(Memory::open);
    // SAFETY: the layout has a size that is not zero.
    let reserve = unsafe { System.alloc(RESERVE) };
    let before = RESERVED.swap(reserve, Ordering::AcqRel);
    give_back(before);
    BOUND.store(bound.unwrap_or(u64::MAX), Ordering::Relaxed);
    GUARDED.store(true, Ordering::Release);
}

/// Returns the first allocation that does not return, if there is one.
#[must_use]
pub fn refusal() -> Option<Refusal> {
    let sizes = [&REFUSED_BY_SYSTEM, &REFUSED_BY_BOUND].map(|size| size.load(Ordering::Relaxed));
    match sizes {
        [0, 0] => None,
        [0, bound] => Some(Refusal::Bound(bound)),
        [system, _] => Some(Refusal::System(system)),
    }
}

/// Stops every other thread at its next allocation, unless it is exempt. There is no way back.
pub fn freeze() {
    FROZEN.store(true, Ordering::Relaxed);
    CAREFUL_FROM.store(0, Ordering::Relaxed);
}

/// Lets the calling thread allocate beyond the bound, and after [`freeze`].
pub fn exempt_this_thread() {
    EXEMPT.with(|exempt| exempt.set(true));
}

// SAFETY: every method forwards its arguments to the allocator of the system, and returns what that
// returned. The checks before it allocate nothing and touch no memory of the caller. A method that
// does not return breaks no promise of the trait.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= CAREFUL_FROM.load(Ordering::Relaxed) {
            before_filling(layout.size());
        }
        // SAFETY: the caller keeps the contract of this method, which is that of the system's.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= CAREFUL_FROM.load(Ordering::Relaxed) {
            before_any();
        }
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size >= CAREFUL_FROM.load(Ordering::Relaxed) {
            before_any();
        }
        // SAFETY: as above.
        given(unsafe { System.realloc(old, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns memory that the system gave. Does not return if it gave none.
#[inline]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        refused_by_system(size);
    }
    memory
}

/// Checks an allocation of which every byte will be written.
#[cold]
fn before_filling(size: usize) {
    if is_exempt() {
        return;
    }
    if FROZEN.load(Ordering::Relaxed) {
        sleep_for_ever();
    }
    let bound = BOUND.load(Ordering::Relaxed);
    if size < LARGE_BYTES || bound == u64::MAX {
        return;
    }
    let Some(Some(memory)) = MEMORY.get() else { return };
    let Some(now) = memory.resident_bytes() else { return };
    if now.saturating_add(size as u64) > bound {
        let _ = REFUSED_BY_BOUND.compare_exchange(0, size, Ordering::Relaxed, Ordering::Relaxed);
        sleep_for_ever();
    }
}

/// Checks an allocation that touches no new memory.
#[cold]
fn before_any() {
    if FROZEN.load(Ordering::Relaxed) && !is_exempt() {
        sleep_for_ever();
    }
}

#[cold]
fn refused_by_system(size: usize) -> ! {
    give_back(RESERVED.swap(ptr::null_mut(), Ordering::AcqRel));
    let size = size.max(1);
    let _ = REFUSED_BY_SYSTEM.compare_exchange(0, size, Ordering::Relaxed, Ordering::Relaxed);
    if is_exempt() || !GUARDED.load(Ordering::Acquire) {
        let _ = std::io::stderr().write_all(b"error: the system has no more memory\n");
        end_at_once(STATUS_LIMIT);
    }
    sleep_for_ever()
}

fn give_back(reserve: *mut u8) {
    if !reserve.is_null() {
        // SAFETY: only `begin` stores a pointer, which it got with this layout, and every `swap`
        // hands a pointer to one caller.
        unsafe { System.dealloc(reserve, RESERVE) }
    }
}

fn is_exempt() -> bool {
    EXEMPT.try_with(Cell::get).unwrap_or(false)
}

fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

#[cfg(test)]
mod tests;
