//! How the recording of a thread begins, goes on to the next chunk, and ends.

use crate::block::{Block, CACHE_ENTRIES, FRAMES, PAUSED, RECORDED, SILENT, UNKNOWN, block};
use crate::c;
use crate::emit::{LONGEST, address, note, note_sized};
use crate::kind::{THREAD_BEGIN, THREAD_END, TIME};
use crate::pack::{PACKED_ROOM, Packer, pack};
use crate::{cells, maps, plan, record, schedule};
use core::arch::x86_64::_rdtsc;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

/// The rounds in which the C library runs key destructors.
const DESTRUCTOR_ROUNDS: u32 = 4;
/// The key whose destructor ends a thread, plus 1.
static KEY: AtomicU32 = AtomicU32::new(0);

/// What a thread needs besides its block: repeats of accesses, stack pointers of calls, and what
/// packs its events. Pages that it does not touch take no memory.
const REGION: usize = PACKED_AT + PACKED_ROOM;
const FRAMES_AT: usize = CACHE_ENTRIES * 16;
const PACKER_AT: usize = FRAMES_AT + FRAMES * 8;
const PACKED_AT: usize = PACKER_AT + size_of::<Packer>().next_multiple_of(64);

/// Makes the key whose destructor ends a thread.
pub(crate) fn make_key() {
    let mut key = 0;
    // SAFETY: the address is valid, and the destructor may run in any thread.
    if unsafe { c::pthread_key_create(&raw mut key, Some(end_in_destructor)) } == 0 {
        KEY.store(key + 1, Ordering::Relaxed);
    }
}

/// Begins the recording of this thread. Its stack's low end and size are 0 if they are unknown.
/// Returns whether it is recorded.
pub(crate) fn begin(number: u32, low: usize, size: usize) -> bool {
    let block = block();
    if plan::is_on() {
        begin_planned(block, number);
        return false;
    }
    let begun = c::without_signals(|| {
        // SAFETY: the block is this thread's, and no handler runs meanwhile.
        let block = unsafe { &mut *block };
        let region = c::map_anonymous(REGION);
        if region == 0 {
            record::add_flags(record::INCOMPLETE);
            block.state = SILENT;
            return false;
        }
        block.cache = region;
        block.frames = region + FRAMES_AT;
        block.packer = region + PACKER_AT;
        block.cells = cells::table();
        block.own = cells::owner(number);
        block.number = number;
        block.thread_id = c::thread_id();
        block.chunks = 0;
        block.chunk_end = 0;
        block.state = RECORDED;
        next_chunk(block)
    });
    if begun {
        note_sized(THREAD_BEGIN, low, 0, size as u64);
        let key = KEY.load(Ordering::Relaxed);
        if key != 0 {
            // SAFETY: the key exists; its value only has to be another than null.
            unsafe { c::pthread_setspecific(key - 1, block.cast()) };
        }
    }
    begun
}

/// Begins this thread under a plan: nothing is recorded of it.
fn begin_planned(block: *mut Block, number: u32) {
    // SAFETY: the block is this thread's.
    unsafe {
        (*block).number = number;
        (*block).thread_id = c::thread_id();
        (*block).state = RECORDED;
    }
    plan::begin_thread();
    let key = KEY.load(Ordering::Relaxed);
    if key != 0 {
        // SAFETY: the key exists; its value only has to be another than null.
        unsafe { c::pthread_setspecific(key - 1, block.cast()) };
    }
}

/// Ends this thread in the last round of destructors, so that those of the program come before.
unsafe extern "C" fn end_in_destructor(value: *mut c_void) {
    let block = block();
    // SAFETY: the block is this thread's.
    unsafe { (*block).rounds += 1 };
    // SAFETY: as above.
    if unsafe { (*block).rounds } < DESTRUCTOR_ROUNDS {
        // SAFETY: the key exists, as its destructor runs.
        unsafe { c::pthread_setspecific(KEY.load(Ordering::Relaxed) - 1, value) };
    } else {
        end();
        schedule::end();
    }
}

/// Has the end of this thread noticed, where nothing is recorded of it.
pub(crate) fn watch_end() {
    let key = KEY.load(Ordering::Relaxed);
    if key != 0 {
        // SAFETY: the key exists; its value only has to be another than null.
        unsafe { c::pthread_setspecific(key - 1, block().cast()) };
    }
}

/// Writes the end of this thread. Nothing is recorded of it from now on.
pub(crate) fn end() {
    let block = block();
    // SAFETY: the block is this thread's.
    if unsafe { (*block).state } != RECORDED {
        return;
    }
    note(THREAD_END, 0, 0);
    c::without_signals(|| {
        // SAFETY: the block is this thread's, and no handler runs meanwhile.
        let block = unsafe { &mut *block };
        be_silent(block);
        if plan::is_on() {
            plan::end_thread(block);
        } else if block.chunk_end != 0 && pack_chunk(block) {
            record::give_chunk(block.chunk_end - record::CHUNK, block.cursor);
            block.chunk_end = 0;
        }
        let region = block.cache;
        block.cache = 0;
        if region != 0 {
            c::call(c::SYS_MUNMAP, &[region, REGION]);
        }
    });
}

fn be_silent(block: &mut Block) {
    block.state = SILENT;
    block.limit = 0;
    block.call_limit = 0;
    block.access_limit = 0;
    report_left_out(block);
}

/// Adds the accesses that were left out to those of the header.
pub(crate) fn report_left_out(block: &mut Block) {
    record::count_left_out(block.left_out);
    block.left_out = 0;
}

/// Leaves out the events of this thread until [`resume`]. Returns whether it was recorded.
pub(crate) fn pause() -> bool {
    let block = block();
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    if block.state != RECORDED {
        return false;
    }
    block.state = PAUSED;
    block.limit = 0;
    block.call_limit = 0;
    block.access_limit = 0;
    true
}

/// Records the events of this thread again.
pub(crate) fn resume() {
    let block = block();
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    if block.state == PAUSED {
        block.state = RECORDED;
        set_limits(block);
    }
}

/// Sets where the next events may begin.
pub(crate) fn set_limits(block: &mut Block) {
    if block.state != RECORDED || block.chunk_end == 0 {
        return;
    }
    block.limit = block.chunk_end - LONGEST + 1;
    block.call_limit = if block.modules_changed == 0 { block.limit } else { 0 };
    block.access_limit = if block.ignored == 0 { block.call_limit } else { 0 };
}

/// Packs the events of the chunk. Returns whether they need the chunk no longer. A chunk that does
/// not become smaller stays, and nothing of it is remembered.
fn pack_chunk(block: &mut Block) -> bool {
    let chunk = block.chunk_end - record::CHUNK;
    let (from, to) = (chunk + record::CHUNK_HEADER, block.packer - PACKER_AT + PACKED_AT);
    // SAFETY: the packer is in this thread's region, all zero or as the last call left it. Whole
    // events are before the cursor, and there is room for what becomes of them.
    let bytes = unsafe {
        let packer = &mut *(block.packer as *mut Packer);
        pack(packer, from as *const u64, block.cursor as *const u64, to)
    };
    if bytes == 0 {
        // SAFETY: as above.
        unsafe { c::clear(block.packer, size_of::<Packer>() / 8) };
        return false;
    }
    let words = (block.cursor - from) / 8;
    record::add_packed(block.number, block.chunks - 1, words, [to, bytes])
}

/// Goes on to the next chunk, which may be the same one. Returns whether there is one.
fn next_chunk(block: &mut Block) -> bool {
    report_left_out(block);
    let mut chunk = block.chunk_end.saturating_sub(record::CHUNK);
    if chunk != 0 && pack_chunk(block) {
        record::reuse_chunk(chunk, block.cursor, block.chunks);
    } else {
        chunk = record::take_chunk(block.number, block.chunks);
    }
    if chunk == 0 {
        be_silent(block);
        return false;
    }
    block.chunks += 1;
    block.chunk_end = chunk + record::CHUNK;
    block.cursor = chunk + record::CHUNK_HEADER;
    block.last_call = 0;
    write_time(block);
    set_limits(block);
    true
}

/// Writes the whole time. There is room for it.
fn write_time(block: &mut Block) {
    // SAFETY: every processor that this is built for has the instruction.
    let now = unsafe { _rdtsc() };
    let words = block.cursor as *mut u64;
    // SAFETY: the cursor is in this thread's chunk, and the event fits.
    unsafe {
        words.add(1).write_volatile(now);
        words.write_volatile(TIME);
    }
    block.time_high = now >> 32;
    block.stamp = now << 32;
    block.stamp_in_cell = cells::in_cell(now);
    block.cursor += 16;
}

/// Makes room for an event at the cursor. Returns whether it can be written now. Under a plan none
/// is: the event goes there.
pub(crate) extern "C" fn refill(block: *mut Block, first: u64, place: usize, third: u64) -> bool {
    if plan::is_on() {
        plan::event(block, first, place, third);
        return false;
    }
    make_room(block)
}

fn make_room(block: *mut Block) -> bool {
    if !record::is_on() {
        return stop_writing(block);
    }
    // SAFETY: the block is this thread's: its own code calls this.
    match unsafe { (*block).state } {
        RECORDED => c::without_signals(|| {
            // SAFETY: as above, and no handler runs meanwhile.
            let block = unsafe { &mut *block };
            set_limits(block);
            // SAFETY: every processor that this is built for has the instruction.
            let is_late = unsafe { _rdtsc() } >> 32 != block.time_high;
            if block.cursor >= block.limit {
                next_chunk(block)
            } else {
                if is_late {
                    write_time(block);
                }
                block.cursor < block.limit || next_chunk(block)
            }
        }),
        UNKNOWN => begin(record::count_thread(), 0, 0),
        _ => false,
    }
}

/// As [`refill`], for calls and returns: they copy the list of modules after it has changed.
pub(crate) extern "C" fn refill_call(block: *mut Block) -> bool {
    if plan::is_on() {
        // SAFETY: the block is this thread's.
        if unsafe { core::mem::take(&mut (*block).modules_changed) } != 0 {
            c::with_errno_kept(plan::find_modules);
        }
        return false;
    }
    // SAFETY: the block is this thread's.
    if record::is_on() && unsafe { (*block).modules_changed } != 0 {
        c::without_signals(|| {
            // SAFETY: as above, and no handler runs meanwhile.
            unsafe { (*block).modules_changed = 0 };
            maps::copy();
        });
    }
    make_room(block)
}

/// As [`refill`], for plain accesses, which may be ignored.
pub(crate) extern "C" fn refill_access(
    block: *mut Block,
    kind: u64,
    at: usize,
    place: usize,
) -> bool {
    // SAFETY: the block is this thread's.
    if unsafe { (*block).ignored } != 0 {
        return false;
    }
    if plan::is_on() {
        plan::event(block, kind | address(at), place, 0);
        return false;
    }
    refill_call(block)
}

/// Makes the hooks of this thread short after the recording has ended.
#[cold]
fn stop_writing(block: *mut Block) -> bool {
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    block.limit = 0;
    block.call_limit = 0;
    block.access_limit = 0;
    false
}

/// Begins the first thread of a process, or the only one after a fork.
pub(crate) fn begin_first() {
    let (low, size) = main_stack();
    begin(record::count_thread(), low, size);
}

/// Returns the low end and the size of the stack of the first thread.
fn main_stack() -> (usize, usize) {
    let mut high = 0;
    let mut line = [0_u8; 128];
    let mut length = 0;
    maps::read(c"/proc/self/maps".as_ptr() as usize, |part| {
        for byte in part {
            if *byte != b'\n' {
                if let Some(place) = line.get_mut(length) {
                    *place = *byte;
                    length += 1;
                }
                continue;
            }
            if line[..length].ends_with(b"[stack]") {
                high = second_number(&line[..length]);
                return false;
            }
            length = 0;
        }
        true
    });
    if high == 0 {
        return (0, 0);
    }
    let limit = c::soft_limit(c::RLIMIT_STACK);
    let size = if limit > 1 << 30 { 8 << 20 } else { limit as usize };
    (high - size.min(high), size)
}

/// Returns the hexadecimal number between the first `-` and the blank after it.
fn second_number(line: &[u8]) -> usize {
    let digits = line.iter().skip_while(|byte| **byte != b'-').skip(1);
    let digits = digits.map_while(|byte| (*byte as char).to_digit(16));
    digits.fold(0, |number, digit| number << 4 | digit as usize)
}

/// Returns the low end and the size of this thread's stack, which is not the first one.
pub(crate) fn own_stack() -> (usize, usize) {
    let mut attributes = c::Attributes([0; 64]);
    let attributes = (&raw mut attributes).cast();
    let (mut low, mut size) = (core::ptr::null_mut(), 0);
    // SAFETY: there is room for attributes, which are read only after they were written.
    unsafe {
        if c::pthread_getattr_np(c::pthread_self(), attributes) != 0 {
            return (0, 0);
        }
        c::pthread_attr_getstack(attributes, &raw mut low, &raw mut size);
        c::pthread_attr_destroy(attributes);
    }
    (low as usize, size)
}
