//! The file of a recording: a header and chunks, in memory that is shared with the file, so that
//! nothing is lost when the process is killed.
//!
//! No descriptor stays open: programs close those that they do not know. The file is opened again
//! by its path whenever it grows. Address space is taken in windows, and the file grows in smaller
//! steps, by `fallocate`: a full file system is noticed here, and is no SIGBUS later.

use crate::{c, cells};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(crate) const CHUNK: usize = 65_536;
const CHUNKS_IN_WINDOW: usize = 256;
const CHUNKS_IN_STEP: usize = 16;
const WINDOWS: usize = 4096;
const MAGIC: u64 = 0x4b4e_4843;
/// A chunk of packed events.
const MAGIC_PACKED: u64 = 0x4b43_4150;
/// A chunk that no thread has at present.
const MAGIC_FREE: u64 = 0x4545_5246;
/// The words before packed events: their size and thread, their number and that of their words.
const PIECE_HEADER: usize = 16;
/// Where events begin in a chunk.
pub(crate) const CHUNK_HEADER: usize = 64;
const COMMAND_AT: usize = 256;
const COMMAND_BYTES: usize = CHUNK - COMMAND_AT - 2;
const PATH_BYTES: usize = 4096;
const DEFAULT_MAX_BYTES: u64 = 4 << 30;

/// The size limit was reached, or memory or disk was not to be had: events are missing.
pub(crate) const INCOMPLETE: u32 = 1;
/// The process ended by `exit`.
pub(crate) const ENDED: u32 = 2;
/// The process was forked from a recorded one.
pub(crate) const FORKED: u32 = 4;
/// The program used a part of the interface that is not understood: fibers, Java, tags.
pub(crate) const NOT_UNDERSTOOD: u32 = 8;

// The assembler code compares with 0.
const FORWARDING: u32 = 0;
const RECORDING: u32 = 1;

pub(crate) static STATE: AtomicU32 = AtomicU32::new(FORWARDING);
static GROWING: AtomicU32 = AtomicU32::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// The chunk that takes packed events, 0 if there is none, and what of it is used.
static PACKED_CHUNK: AtomicUsize = AtomicUsize::new(0);
static PACKED_USED: AtomicUsize = AtomicUsize::new(0);
/// The first chunk that no thread has, or 0; each has the next one in its third word.
static FREE: AtomicUsize = AtomicUsize::new(0);
static MAX_BYTES: AtomicU64 = AtomicU64::new(DEFAULT_MAX_BYTES);
static PROCESS: AtomicI32 = AtomicI32::new(0);
static BASES: [AtomicUsize; WINDOWS] = [const { AtomicUsize::new(0) }; WINDOWS];
static FOLDER: Text = Text::new();
static FILE: Text = Text::new();
static MAPS: Text = Text::new();

/// A path, written while there is one thread.
struct Text {
    bytes: core::cell::UnsafeCell<[u8; PATH_BYTES]>,
    length: AtomicUsize,
}

// SAFETY: bytes are written by `init` and in the child of a fork, where there is one thread.
unsafe impl Sync for Text {}

impl Text {
    const fn new() -> Text {
        Text { bytes: core::cell::UnsafeCell::new([0; PATH_BYTES]), length: AtomicUsize::new(0) }
    }

    fn address(&self) -> usize {
        self.bytes.get() as usize
    }

    fn clear(&self) {
        self.length.store(0, Ordering::Relaxed);
    }

    fn bytes(&self) -> &[u8] {
        let length = self.length.load(Ordering::Relaxed);
        // SAFETY: so many bytes were written, and nothing writes while there are threads.
        unsafe { core::slice::from_raw_parts(self.bytes.get().cast(), length) }
    }

    /// Appends text and a zero byte behind it. Returns whether there was room.
    fn append(&self, text: &[u8]) -> bool {
        let length = self.length.load(Ordering::Relaxed);
        if length + text.len() + 1 > PATH_BYTES {
            return false;
        }
        let at: *mut u8 = self.bytes.get().cast();
        for (offset, byte) in text.iter().enumerate() {
            // SAFETY: there is room for all of them, as was just compared.
            unsafe { at.add(length + offset).write_volatile(*byte) };
        }
        // SAFETY: as above.
        unsafe { at.add(length + text.len()).write_volatile(0) };
        self.length.store(length + text.len(), Ordering::Relaxed);
        true
    }

    fn append_number(&self, mut number: u64) -> bool {
        let mut digits = [0_u8; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return self.append(&digits[first..]);
            }
        }
    }
}

/// The fields of the header. All but the first few change while the program runs.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    chunk_bytes: u32,
    process: u32,
    parent: u32,
    clock: u32,
    flags: AtomicU32,
    chunks: AtomicU64,
    started: u64,
    threads: AtomicU64,
    left_out: AtomicU64,
}

/// Returns whether events are recorded.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    STATE.load(Ordering::Relaxed) == RECORDING
}

/// Returns the address of the path of the file for the list of modules, or 0.
pub(crate) fn maps_path() -> usize {
    if PROCESS.load(Ordering::Relaxed) == 0 { 0 } else { MAPS.address() }
}

/// Takes the folder of recordings, relative to the current one, and the maximum size of a file.
pub(crate) fn set_folder(path: &[u8], max_bytes: Option<u64>) -> bool {
    FOLDER.clear();
    if path.first() != Some(&b'/') {
        let mut here = [0_u8; PATH_BYTES];
        let length = c::call(c::SYS_GETCWD, &[here.as_mut_ptr() as usize, here.len()]);
        // The length has the zero byte in it.
        let length = usize::try_from(length).unwrap_or(0).saturating_sub(1);
        if length == 0 || !FOLDER.append(&here[..length]) || !FOLDER.append(b"/") {
            return false;
        }
    }
    if let Some(max_bytes) = max_bytes {
        MAX_BYTES.store(max_bytes, Ordering::Relaxed);
    }
    FOLDER.append(path) && FOLDER.append(b"/")
}

/// Makes a new file for this process, and starts to record. Only one thread may run.
pub(crate) fn start(flags: u32) -> bool {
    STATE.store(FORWARDING, Ordering::Relaxed);
    GROWING.store(0, Ordering::Relaxed);
    ALLOCATED.store(0, Ordering::Relaxed);
    PACKED_CHUNK.store(0, Ordering::Relaxed);
    FREE.store(0, Ordering::Relaxed);
    for base in &BASES {
        base.store(0, Ordering::Relaxed);
    }
    let process = c::call(c::SYS_GETPID, &[]);
    PROCESS.store(process as i32, Ordering::Relaxed);
    if !cells::start() || !create(process as u64) || !grow(0) {
        PROCESS.store(0, Ordering::Relaxed);
        return false;
    }
    let mut now = [0_u64; 2];
    c::call(c::SYS_CLOCK_GETTIME, &[0, (&raw mut now) as usize]);
    let header = header();
    // SAFETY: the first chunk was mapped, its size is that of a header and more, and no other
    // thread has seen it.
    unsafe {
        (*header).version = 2;
        (*header).chunk_bytes = CHUNK as u32;
        (*header).process = process as u32;
        (*header).parent = c::call(c::SYS_GETPPID, &[]) as u32;
        (*header).flags.store(flags, Ordering::Relaxed);
        (*header).chunks.store(1, Ordering::Relaxed);
        (*header).started = now[0].wrapping_mul(1_000_000_000).wrapping_add(now[1]);
    }
    let command = header as usize + COMMAND_AT;
    let mut at = 0;
    crate::maps::read(c"/proc/self/cmdline".as_ptr() as usize, |part| {
        for byte in part {
            if at < COMMAND_BYTES {
                // SAFETY: the command line ends in the first chunk.
                unsafe { ((command + at) as *mut u8).write_volatile(*byte) };
                at += 1;
            }
        }
        at < COMMAND_BYTES
    });
    // SAFETY: as above. The magic bytes come last: a file that has them has a header.
    unsafe { (*header).magic = *b"ANYOREC\n" };
    STATE.store(RECORDING, Ordering::Release);
    true
}

/// Makes the file `PID-N.rec` with the first `N` that is not there.
fn create(process: u64) -> bool {
    for attempt in 0..10_000 {
        for (text, ending) in [(&FILE, b".rec".as_slice()), (&MAPS, b".maps")] {
            text.clear();
            let fits = text.append(FOLDER.bytes())
                && text.append_number(process)
                && text.append(b"-")
                && text.append_number(attempt)
                && text.append(ending);
            if !fits {
                return false;
            }
        }
        let flags = c::O_RDWR | c::O_CREAT | c::O_EXCL | c::O_CLOEXEC;
        let file = c::call(c::SYS_OPENAT, &[c::AT_FDCWD, FILE.address(), flags, 0o644]);
        if file >= 0 {
            c::call(c::SYS_CLOSE, &[file as usize]);
            return true;
        }
        if file != -c::EEXIST {
            return false;
        }
    }
    false
}

fn header() -> *mut Header {
    BASES[0].load(Ordering::Relaxed) as *mut Header
}

/// Makes the file long enough for a chunk, and maps its window. Returns whether that worked.
fn grow(chunk: usize) -> bool {
    let window = chunk / CHUNKS_IN_WINDOW;
    let first = chunk / CHUNKS_IN_STEP * CHUNKS_IN_STEP;
    let end = (first + CHUNKS_IN_STEP) * CHUNK;
    let max = MAX_BYTES.load(Ordering::Relaxed).min(c::soft_limit(c::RLIMIT_FSIZE));
    if window >= WINDOWS || end as u64 > max {
        return false;
    }
    let flags = c::O_RDWR | c::O_CLOEXEC;
    let file = c::call(c::SYS_OPENAT, &[c::AT_FDCWD, FILE.address(), flags, 0]);
    if file < 0 {
        return false;
    }
    let file = file as usize;
    let mut grown;
    loop {
        grown = c::call(c::SYS_FALLOCATE, &[file, 0, first * CHUNK, end - first * CHUNK]);
        if grown != -c::EINTR {
            break;
        }
    }
    if grown == -c::EOPNOTSUPP || grown == -(c::ENOSYS as isize) {
        grown = c::call(c::SYS_FTRUNCATE, &[file, end]);
    }
    if grown == 0 && BASES[window].load(Ordering::Relaxed) == 0 {
        let bytes = CHUNKS_IN_WINDOW * CHUNK;
        let offset = window * bytes;
        let base =
            c::call(c::SYS_MMAP, &[0, bytes, c::PROT_READ_WRITE, c::MAP_SHARED, file, offset]);
        if (-4095..0).contains(&base) {
            grown = base;
        } else {
            BASES[window].store(base as usize, Ordering::Relaxed);
        }
    }
    c::call(c::SYS_CLOSE, &[file]);
    if grown == 0 {
        ALLOCATED.store(first + CHUNKS_IN_STEP, Ordering::Relaxed);
    }
    grown == 0
}

/// Runs a function while no other thread changes which chunks there are. Signals must be blocked:
/// the lock is not one that a handler could wait for.
fn alone<T>(function: impl FnOnce() -> T) -> T {
    while GROWING.swap(1, Ordering::Acquire) != 0 {
        c::call(c::SYS_SCHED_YIELD, &[]);
    }
    let result = function();
    GROWING.store(0, Ordering::Release);
    result
}

/// Adds a chunk, with the first two words of it. Returns its address, or 0 if recording has ended.
/// Only one thread may be here.
fn add_chunk(first: u64, second: u64) -> usize {
    if !is_on() {
        return 0;
    }
    // SAFETY: recording has started, so the header is mapped, and it stays so.
    let chunks = unsafe { &(*header()).chunks };
    let index = chunks.load(Ordering::Relaxed) as usize;
    if index >= ALLOCATED.load(Ordering::Relaxed) && !grow(index) {
        stop();
        return 0;
    }
    let base = BASES[index / CHUNKS_IN_WINDOW].load(Ordering::Relaxed);
    let address = base + index % CHUNKS_IN_WINDOW * CHUNK;
    let words = address as *mut u64;
    // SAFETY: the chunk is mapped, and no thread has it yet.
    unsafe {
        words.add(1).write(second);
        words.write(first);
    }
    chunks.store(index as u64 + 1, Ordering::Release);
    address
}

/// Makes all pages of a chunk in one call, which costs less than 16 faults. Old kernels refuse.
fn populate(chunk: usize) {
    c::call(c::SYS_MADVISE, &[chunk, CHUNK, c::MADV_POPULATE_WRITE]);
}

/// Takes a chunk for a thread. Returns its address, or 0 if recording has ended. Signals must be
/// blocked.
pub(crate) fn take_chunk(thread: u32, number: u32) -> usize {
    let first = MAGIC | u64::from(thread) << 32;
    let address = alone(|| {
        let free = FREE.load(Ordering::Relaxed);
        if free == 0 || !is_on() {
            return add_chunk(first, u64::from(number));
        }
        let words = free as *mut u64;
        // SAFETY: the chunk stays mapped, and no thread has it.
        unsafe {
            FREE.store(words.add(2).read() as usize, Ordering::Relaxed);
            words.add(2).write(0);
            words.add(1).write(u64::from(number));
            AtomicU64::from_ptr(words).store(first, Ordering::Release);
        }
        free
    });
    if address != 0 && number > 0 {
        // Most threads never fill their first chunk.
        populate(address);
    }
    address
}

/// Makes a chunk whose events were packed one for the next events of its thread. `end` is where its
/// events end. A reader that finds both leaves out the chunk.
pub(crate) fn reuse_chunk(chunk: usize, end: usize, number: u32) {
    // SAFETY: the chunk is the calling thread's. Behind the last event there may be two words of
    // one that was begun.
    unsafe {
        clear_events(chunk, end);
        AtomicU64::from_ptr((chunk as *mut u64).add(1)).store(number.into(), Ordering::Release);
    }
}

/// Gives a chunk whose events were packed back. Signals must be blocked.
pub(crate) fn give_chunk(chunk: usize, end: usize) {
    alone(|| {
        let words = chunk as *mut u64;
        // SAFETY: the chunk is the calling thread's, which does not use it from now on.
        unsafe {
            clear_events(chunk, end);
            AtomicU64::from_ptr(words).store(MAGIC_FREE, Ordering::Release);
            words.add(2).write(FREE.load(Ordering::Relaxed) as u64);
        }
        FREE.store(chunk, Ordering::Relaxed);
    });
}

/// # Safety
///
/// The chunk is the calling thread's.
unsafe fn clear_events(chunk: usize, end: usize) {
    let begin = chunk + CHUNK_HEADER;
    // Behind the last event there may be words of one that was begun, and began again.
    let end = (end + 24).min(chunk + CHUNK);
    // SAFETY: as the caller says.
    unsafe { c::clear(begin, (end - begin) / 8) };
}

/// Adds packed events of a thread, which stand for so many words of its chunk of that number.
/// Returns whether there was room. Signals must be blocked.
pub(crate) fn add_packed(
    thread: u32,
    number: u32,
    words: usize,
    [from, bytes]: [usize; 2],
) -> bool {
    let room = PIECE_HEADER + bytes.next_multiple_of(8);
    let mut full = 0;
    let (at, is_new) = alone(|| {
        let mut chunk = PACKED_CHUNK.load(Ordering::Relaxed);
        let mut used = PACKED_USED.load(Ordering::Relaxed);
        let is_new = chunk == 0 || used + room > CHUNK;
        if is_new {
            full = chunk;
            chunk = add_chunk(MAGIC_PACKED, 0);
            used = CHUNK_HEADER;
            PACKED_CHUNK.store(chunk, Ordering::Relaxed);
        }
        if chunk == 0 || !is_on() {
            return (0, false);
        }
        PACKED_USED.store(used + room, Ordering::Relaxed);
        let words = (chunk + used) as *mut u64;
        // SAFETY: this part of the chunk is nobody else's.
        unsafe { words.write(bytes as u64 | u64::from(thread) << 32) };
        (chunk + used, is_new)
    });
    if at == 0 {
        return false;
    }
    if is_new {
        populate(at - CHUNK_HEADER);
    }
    if full != 0 {
        // The file keeps it. A thread that still writes there gets it again.
        c::call(c::SYS_MADVISE, &[full, CHUNK, c::MADV_DONTNEED]);
    }
    // SAFETY: there is so much room, and this part of the chunk is nobody else's.
    unsafe {
        c::copy(from, at + PIECE_HEADER, bytes);
        let second = AtomicU64::from_ptr((at as *mut u64).add(1));
        second.store(u64::from(number) | (words as u64) << 32, Ordering::Release);
    }
    true
}

/// Ends the recording of this process, of which events are missing from now on.
fn stop() {
    STATE.store(FORWARDING, Ordering::Relaxed);
    add_flags(INCOMPLETE);
}

/// Sets flags of the header.
pub(crate) fn add_flags(flags: u32) {
    if PROCESS.load(Ordering::Relaxed) != 0 {
        // SAFETY: a file was made, so the header is mapped, and it stays so.
        unsafe { (*header()).flags.fetch_or(flags, Ordering::Relaxed) };
    }
}

/// Counts a thread and returns its number.
pub(crate) fn count_thread() -> u32 {
    if PROCESS.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    // SAFETY: as in `add_flags`.
    unsafe { (*header()).threads.fetch_add(1, Ordering::Relaxed) as u32 }
}

/// Counts accesses that were left out.
pub(crate) fn count_left_out(accesses: u64) {
    if accesses > 0 && PROCESS.load(Ordering::Relaxed) != 0 {
        // SAFETY: as in `add_flags`.
        unsafe { (*header()).left_out.fetch_add(accesses, Ordering::Relaxed) };
    }
}

/// Leaves the parent's recording behind, in the child of a fork, and starts one of its own.
pub(crate) fn start_in_child() -> bool {
    for base in &BASES {
        let address = base.load(Ordering::Relaxed);
        if address != 0 {
            c::call(c::SYS_MUNMAP, &[address, CHUNKS_IN_WINDOW * CHUNK]);
        }
    }
    start(FORKED)
}
