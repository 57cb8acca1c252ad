//! Who uses which memory: it tells which accesses need a time of their own.
//!
//! To read the clock takes longer than all else about an access, and most accesses are to memory
//! that no other thread uses at that time. Such an access takes the time of the event before it in
//! its thread. That is a lower bound, and the order of accesses that conflict stays what it was.
//!
//! Memory is divided into granules of 64 bytes, and each has a cell, which is one of
//!
//! - `OWNER`: one thread, and after its last access no other thread came;
//! - `TIME << 16`: several threads that read, and nobody has written since that time. Zero is this.
//!
//! An access that finds another cell than it may leave takes the time, and changes the cell: a
//! write makes it the thread's own, a read of another thread's makes it one of readers. So
//!
//! - an access of the owner comes after the time at which it became the owner, and so after all
//!   that others did before; and whoever comes next finds another owner, and takes a later time;
//! - a read by one of several readers comes after all writes if the thread has read the clock since
//!   the time in the cell.
//!
//! Two granules may have the same cell: then more accesses take the time. Two threads that meet
//! between the time and the access may be in either order, as they could have been by their clocks.
//! Atomic operations and locks always take their time: that is what orders all others.

use crate::block::block;
use crate::c;
use crate::kind::{
    ALLOC, ATOMIC_LOAD, ATOMIC_RMW, ATOMIC_STORE, FREE, READ, READ_RANGE, VPTR_WRITE, WRITE,
    WRITE_RANGE,
};
use core::arch::x86_64::_rdtsc;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The bits of an address within a granule.
pub(crate) const GRANULE_SHIFT: usize = 6;
/// The most cells: a table for 4 GiB, of which only what is used takes memory.
const CELLS_MAX: usize = 1 << 26;
/// The fewest cells, where the process may have little address space.
const CELLS_MIN: usize = 1 << 14;
/// The table takes no larger part of the address space that the process may have.
const PART_OF_LIMIT: u64 = 8;
/// Where a time is in a cell: the lowest 4 of its bits are cut, the 16 lowest of the cell are 0.
pub(crate) const STAMP_SHIFT: u32 = 12;
/// Blocks are touched as a whole up to this size: accesses to larger ones that were freed fail.
const BLOCK_MAX: usize = 1 << 20;
const OWNERS: u32 = 0xffff;

static TABLE: AtomicUsize = AtomicUsize::new(0);
/// The number of cells, a power of two, less one.
static MASK: AtomicUsize = AtomicUsize::new(0);

/// Makes the table, or empties it in the child of a fork. Returns whether there is one. A limit of
/// the address space, or a system that promises no memory that it does not have, makes it smaller.
pub(crate) fn start() -> bool {
    let old = TABLE.load(Ordering::Relaxed);
    if old != 0 {
        c::call(c::SYS_MADVISE, &[old, (mask() + 1) * 8, c::MADV_DONTNEED]);
        return true;
    }
    let limit = c::soft_limit(c::RLIMIT_AS);
    let mut cells = CELLS_MAX;
    let table = loop {
        let fits = cells as u64 * 8 <= limit / PART_OF_LIMIT || cells <= CELLS_MIN;
        let table = if fits { c::map_anonymous(cells * 8) } else { 0 };
        if table != 0 || cells <= CELLS_MIN {
            break table;
        }
        cells /= 4;
    };
    if table != 0 {
        c::call(c::SYS_MADVISE, &[table, cells * 8, c::MADV_DONTDUMP]);
    }
    MASK.store(cells - 1, Ordering::Relaxed);
    TABLE.store(table, Ordering::Relaxed);
    table != 0
}

/// Returns which bits of the number of a granule are that of its cell.
pub(crate) fn mask() -> usize {
    MASK.load(Ordering::Relaxed)
}

/// Returns the address of the table.
pub(crate) fn table() -> usize {
    TABLE.load(Ordering::Relaxed)
}

/// Returns what a cell of a thread has. Threads beyond the last number never find a cell of their
/// own: what they compare with has a bit that they do not write.
pub(crate) fn owner(thread: u32) -> u64 {
    if thread < OWNERS - 1 { u64::from(thread) + 1 } else { 1 << 32 | u64::from(OWNERS) }
}

/// Returns a time as it is in cells.
pub(crate) fn in_cell(time: u64) -> u64 {
    time << STAMP_SHIFT & !0xffff
}

/// Changes the cells of the memory that an event is about, which takes its time afterwards.
#[inline(always)]
pub(crate) fn touch(first: u64, at: usize, third: usize) {
    const KIND: u64 = 0xff << 48;
    // Each caller has one kind, so this costs nothing at run time.
    let size = match first & KIND {
        READ | WRITE | VPTR_WRITE | ATOMIC_LOAD | ATOMIC_STORE | ATOMIC_RMW => {
            (first >> 56) as usize & 31
        }
        READ_RANGE | WRITE_RANGE => third,
        ALLOC | FREE => third.min(BLOCK_MAX),
        _ => return,
    };
    let reads = matches!(first & KIND, READ | READ_RANGE | ATOMIC_LOAD);
    if size > 0 {
        touch_all(at, size, reads);
    }
}

fn touch_all(at: usize, size: usize, reads: bool) {
    let block = block();
    // SAFETY: the block is this thread's.
    let (cells, mask, own) = unsafe { ((*block).cells, (*block).cells_mask, (*block).own) };
    if cells == 0 {
        return;
    }
    let last = at.saturating_add(size - 1) >> GRANULE_SHIFT;
    // More would be around the table more than once.
    let last = last.min((at >> GRANULE_SHIFT) + mask);
    for granule in at >> GRANULE_SHIFT..=last {
        let cell = (cells + (granule & mask) * 8) as *mut u64;
        // SAFETY: the cell is in the table, which stays, and is changed by such operations only.
        let cell = unsafe { AtomicU64::from_ptr(cell) };
        let change = |found: u64| {
            if found == own {
                None
            } else if !reads {
                Some(own & u64::from(OWNERS))
            } else if found & u64::from(OWNERS) != 0 {
                // SAFETY: every processor that this is built for has the instruction.
                Some(in_cell(unsafe { _rdtsc() }))
            } else {
                None
            }
        };
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}
