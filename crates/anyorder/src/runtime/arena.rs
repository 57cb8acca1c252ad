//! Memory whose addresses have names.
//!
//! While a check runs, each of its threads takes memory from chunks of its own, one allocation
//! after another, and nothing is used twice in one execution. So the place of an allocation in the
//! memory of its thread is a function of what the thread did before, and names what lies there. The
//! chunks are used again in the next execution, from the same address on. A chunk in which
//! something outlives the execution (a buffer of the standard library, a leak) is replaced.
//!
//! All chunks lie in one range of addresses, reserved once: two comparisons tell whether an address
//! is one of them, on any thread and at any time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The size of a chunk, and its alignment.
const CHUNK: usize = 1 << 16;

/// Allocations above this size are not taken from chunks.
const LARGE: usize = CHUNK / 4;

/// What is freed is noted by so many bytes: no two allocations share a unit.
const UNIT: usize = 8;

/// The first offset in a chunk that is given out.
const FIRST: usize = 64 + CHUNK / UNIT / 8;

/// How many chunks one thread may have. What it allocates beyond has no name.
const CHUNKS_MAX: u32 = 1 << 12;

/// Positions of large allocations begin here: behind those in chunks.
const LARGE_FROM: u64 = 1 << 34;

/// The range of addresses.
static BASE: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// How many chunks of it were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Chunks that nobody uses any more.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// What stands at the start of a chunk.
#[repr(C)]
struct Header {
    /// How many allocations are alive.
    live: AtomicU32,
    /// The number of the program.
    program: AtomicU32,
    /// The thread of the program.
    owner: AtomicU32,
    /// The number of the chunk among those of the thread.
    ordinal: AtomicU32,
    /// 1 if the chunk is not used any more, but for what still lives in it.
    retired: AtomicU32,
    /// 1 if something in it was freed in this execution.
    has_freed: AtomicU32,
    /// By unit, whether it was freed in this execution.
    freed: [AtomicU64; CHUNK / UNIT / 64],
}

thread_local! {
    /// Where the running thread of a check takes memory; null outside of its code.
    static BUMP: Cell<*mut Bump> = const { Cell::new(ptr::null_mut()) };
}

/// The memory of one thread of a check.
#[derive(Debug)]
pub(crate) struct Bump {
    at: usize,
    end: usize,
    program: u32,
    owner: u32,
    /// How many chunks are in use in this execution.
    used: usize,
    /// Those of all executions; 0 for one that was replaced.
    chunks: Vec<usize>,
    /// Large allocations of this execution: address, size and position.
    large: Vec<(usize, usize, u64)>,
    large_end: u64,
}

/// Makes the code that follows on this thread of the system take its memory from `bump`; from the
/// system if it is null. Returns what held before.
#[inline]
pub(crate) fn activate(bump: *mut Bump) -> *mut Bump {
    BUMP.with(|current| current.replace(bump))
}

/// Returns whether memory comes from chunks now. What is kept over executions must not: the
/// thread's own things would have other places in an execution in which a table of ours grows.
pub(crate) fn is_active() -> bool {
    BUMP.with(|current| !current.get().is_null())
}

/// Returns whether an address is in a chunk.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(BASE.load(Ordering::Relaxed)) < SIZE.load(Ordering::Relaxed)
}

/// Returns whether an address is in a chunk of a program.
pub(crate) fn is_of(address: usize, program: u32) -> bool {
    contains(address) && header(address).program.load(Ordering::Relaxed) == program
}

/// Returns whether an address is in a chunk, in memory that outlived the execution that took it.
pub(crate) fn is_of_earlier_execution(address: usize) -> bool {
    contains(address) && header(address).retired.load(Ordering::Relaxed) == 1
}

/// Returns the owner of an address in a chunk, and the position in the memory of that thread.
pub(crate) fn position(address: usize) -> (u32, u64) {
    let header = header(address);
    let ordinal = header.ordinal.load(Ordering::Relaxed);
    let offset = (address % CHUNK) as u64;
    (header.owner.load(Ordering::Relaxed), u64::from(ordinal) * CHUNK as u64 + offset)
}

/// Returns whether an address is in a chunk, in memory that was freed in this execution.
#[inline]
pub(crate) fn is_freed(address: usize) -> bool {
    contains(address) && header(address).is_freed(address)
}

/// Notes that memory in a chunk is freed. Returns whether it was already.
fn note_freed(address: usize, size: usize) -> bool {
    let header = header(address);
    if header.is_freed(address) {
        return true;
    }
    header.has_freed.store(1, Ordering::Relaxed);
    let mut from = address % CHUNK / UNIT;
    let to = from + size.div_ceil(UNIT);
    while from < to {
        let (word, first) = (&header.freed[from / 64], from % 64);
        let count = (to - from).min(64 - first);
        let bits = (u64::MAX >> (64 - count)) << first;
        // Only the system's thread whose program has the chunk writes here.
        word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        from += count;
    }
    false
}

impl Header {
    #[inline]
    fn is_freed(&self, address: usize) -> bool {
        let unit = address % CHUNK / UNIT;
        self.has_freed.load(Ordering::Relaxed) == 1
            && self.freed[unit / 64].load(Ordering::Relaxed) >> (unit % 64) & 1 == 1
    }

    /// Forgets what was freed.
    fn forget_freed(&self) {
        if self.has_freed.load(Ordering::Relaxed) == 1 {
            self.has_freed.store(0, Ordering::Relaxed);
            self.freed.iter().for_each(|units| units.store(0, Ordering::Relaxed));
        }
    }
}

fn header(address: usize) -> &'static Header {
    // SAFETY: each chunk in the range begins with a header, which lives as long as the process.
    unsafe { &*((address & !(CHUNK - 1)) as *const Header) }
}

/// Takes a chunk for a thread; `None` if there is no memory for it.
fn take_chunk((program, owner): (u32, u32), ordinal: usize) -> Option<usize> {
    static RESERVED: Once = Once::new();
    RESERVED.call_once(reserve);
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let chunk = free.or_else(|| {
        let index = USED.fetch_add(1, Ordering::Relaxed);
        let fits = (index + 1) * CHUNK <= SIZE.load(Ordering::Relaxed);
        fits.then(|| BASE.load(Ordering::Relaxed) + index * CHUNK)
    })?;
    let header = Header {
        live: AtomicU32::new(0),
        program: AtomicU32::new(program),
        owner: AtomicU32::new(owner),
        ordinal: AtomicU32::new(ordinal as u32),
        retired: AtomicU32::new(0),
        has_freed: AtomicU32::new(0),
        freed: [const { AtomicU64::new(0) }; CHUNK / UNIT / 64],
    };
    // SAFETY: the chunk is in the range, writable, and nobody else uses it.
    unsafe { ptr::write(chunk as *mut Header, header) };
    Some(chunk)
}

/// Reserves addresses, as many as the system gives. Pages are taken when they are touched.
#[cfg(unix)]
fn reserve() {
    let mut size: usize = if usize::BITS >= 64 { 1 << 34 } else { 1 << 28 };
    while size >= 1 << 24 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh private mapping, wherever the system likes.
        let base = unsafe { libc::mmap(ptr::null_mut(), size, access, kind, -1, 0) };
        if base != libc::MAP_FAILED {
            let aligned = (base as usize).next_multiple_of(CHUNK);
            BASE.store(aligned, Ordering::Relaxed);
            SIZE.store(size - CHUNK, Ordering::Relaxed);
            return;
        }
        size /= 2;
    }
}

#[cfg(not(unix))]
fn reserve() {}

impl Bump {
    pub(crate) fn new(program: u32, owner: u32) -> Bump {
        let (chunks, large) = (Vec::new(), Vec::new());
        Bump { at: 0, end: 0, program, owner, used: 0, chunks, large, large_end: LARGE_FROM }
    }

    /// Returns a number for how far the memory of the thread was given out.
    pub(crate) fn position_reached(&self) -> u64 {
        let offset = (self.at % CHUNK) as u64;
        (self.used as u64 * CHUNK as u64 + offset) ^ self.large_end << 20
    }

    /// Returns the first position in chunks that was not given out.
    #[inline]
    pub(crate) fn end_of_chunks(&self) -> u64 {
        (self.used.saturating_sub(1) * CHUNK + self.at % CHUNK) as u64
    }

    /// Ends an execution: everything is free again. Chunks in which something still lives go to
    /// `retired`.
    pub(crate) fn reset(&mut self, retired: &mut Vec<usize>) {
        for chunk in &mut self.chunks[..self.used] {
            if *chunk != 0 {
                header(*chunk).forget_freed();
            }
            if *chunk != 0 && header(*chunk).live.load(Ordering::Acquire) > 0 {
                header(*chunk).retired.store(1, Ordering::Relaxed);
                retired.push(*chunk);
                *chunk = 0;
            }
        }
        (self.at, self.end, self.used) = (0, 0, 0);
        self.large.clear();
        self.large_end = LARGE_FROM;
    }

    /// Returns the address at a position; `None` if nothing was allocated there.
    pub(crate) fn address(&self, position: u64) -> Option<usize> {
        if position >= LARGE_FROM {
            let holds = |(_, size, from): &&(usize, usize, u64)| {
                position.checked_sub(*from).is_some_and(|inner| inner < *size as u64)
            };
            let (address, _, from) = self.large.iter().find(holds)?;
            return Some(address + (position - from) as usize);
        }
        let chunk = *self.chunks[..self.used].get(position as usize / CHUNK)?;
        (chunk != 0).then_some(chunk + position as usize % CHUNK)
    }

    /// Returns the position of an address in a large allocation.
    pub(crate) fn large_position(&self, address: usize) -> Option<u64> {
        // The newest one: memory that was freed may be used again.
        let inner = |(from, size, position): &(usize, usize, u64)| {
            let inner = address.checked_sub(*from).filter(|inner| inner < size)?;
            Some(position + inner as u64)
        };
        self.large.iter().rev().find_map(inner)
    }

    #[inline]
    fn allocate(&mut self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(UNIT);
        let at = (self.at + align - 1) & !(align - 1);
        match at.checked_add(layout.size()) {
            Some(end) if end <= self.end => {
                self.at = end;
                header(at).live.fetch_add(1, Ordering::Relaxed);
                at as *mut u8
            }
            _ => self.allocate_elsewhere(layout),
        }
    }

    #[cold]
    fn allocate_elsewhere(&mut self, layout: Layout) -> *mut u8 {
        let before = activate(ptr::null_mut());
        let is_large = layout.size() > LARGE || layout.align() > LARGE;
        let address = match !is_large && self.next_chunk() {
            true => self.allocate(layout),
            // SAFETY: the caller's layout.
            false => unsafe { System.alloc(layout) },
        };
        if is_large && !address.is_null() {
            self.large.push((address as usize, layout.size(), self.large_end));
            self.large_end += (layout.size() as u64).next_multiple_of(64);
        }
        activate(before);
        address
    }

    fn next_chunk(&mut self) -> bool {
        if self.used >= CHUNKS_MAX as usize {
            return false;
        }
        if self.chunks.len() == self.used {
            self.chunks.push(0);
        }
        if self.chunks[self.used] == 0 {
            let Some(chunk) = take_chunk((self.program, self.owner), self.used) else {
                return false;
            };
            self.chunks[self.used] = chunk;
        }
        let chunk = self.chunks[self.used];
        (self.at, self.end) = (chunk + FIRST, chunk + CHUNK);
        self.used += 1;
        true
    }
}

impl Drop for Bump {
    fn drop(&mut self) {
        let mut retired = Vec::new();
        self.reset(&mut retired);
        let free = self.chunks.iter().copied().filter(|chunk| *chunk != 0);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).extend(free);
    }
}

/// Gives retired chunks in which nothing lives any more to whoever wants one. Looks at a few.
pub(crate) fn recycle(retired: &mut Vec<usize>) {
    for at in (0..retired.len().min(4)).rev() {
        if header(retired[at]).live.load(Ordering::Acquire) == 0 {
            let chunk = retired.swap_remove(at);
            FREE.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        }
    }
    let steps = retired.len().min(4);
    retired.rotate_left(steps);
}

/// Frees memory of a chunk. Returns whether it was freed before.
#[inline]
fn free(address: usize, size: usize) -> bool {
    let bump = BUMP.with(Cell::get);
    if bump.is_null() {
        return false;
    }
    // SAFETY: whoever activates a bump keeps it until it is replaced, and it is used by this thread
    // alone.
    let program = unsafe { (*bump).program };
    let header = self::header(address);
    // What outlives its execution is freed by nobody's program, and what another program made that
    // runs at the same time is freed by that one alone.
    let is_own = header.program.load(Ordering::Relaxed) == program;
    if !is_own || is_of_earlier_execution(address) {
        return false;
    }
    let was_freed = note_freed(address, size);
    super::lifetimes::freed(address, size, was_freed);
    was_freed
}

/// The allocator of a process with checks: that of the system, but for the code in checks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

// SAFETY: memory from a chunk is disjoint from all other memory that is alive: chunks are given out
// once, positions in them grow, and a chunk is used again only when nothing in it lives. All else
// goes to the allocator of the system, which the range of addresses tells apart.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bump = BUMP.with(Cell::get);
        if bump.is_null() {
            // SAFETY: the caller's layout.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: whoever activates a bump keeps it until it is replaced, and it is used by this
        // thread alone.
        unsafe { (*bump).allocate(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if BUMP.with(Cell::get).is_null() {
            // SAFETY: the caller's layout.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as above; the memory has the size that is cleared.
        unsafe {
            let address = self.alloc(layout);
            if !address.is_null() {
                ptr::write_bytes(address, 0, layout.size());
            }
            address
        }
    }

    #[inline]
    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        if contains(address as usize) {
            // What is freed a second time is not counted again.
            if !free(address as usize, layout.size()) {
                header(address as usize).live.fetch_sub(1, Ordering::Release);
            }
        } else {
            // SAFETY: the caller's layout, and not from a chunk.
            unsafe { System.dealloc(address, layout) };
        }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !contains(address as usize) {
            // SAFETY: the caller's layout, and not from a chunk.
            return unsafe { System.realloc(address, layout, size) };
        }
        // What outlived its execution leaves the chunks for good, so that it grows there no more.
        let is_retired = is_of_earlier_execution(address as usize);
        let before = if is_retired { activate(ptr::null_mut()) } else { BUMP.with(Cell::get) };
        // SAFETY: the layout is the caller's with a size that it vouches for; both places have the
        // smaller size.
        let new = unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(address, new, layout.size().min(size));
                self.dealloc(address, layout);
            }
            new
        };
        activate(before);
        new
    }
}

#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;
