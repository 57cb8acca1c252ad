//! Threads: how they begin, end, and are waited for.

use crate::block::{Block, PAUSED, UNKNOWN, block, block_of};
use crate::c::{self, Pthread, Start};
use crate::emit::{note_sized, sync, sync_sized};
use crate::kind::{
    DETACHED, THREAD_CREATE, THREAD_DETACH, THREAD_JOIN, THREAD_JOIN_REQUEST, THREAD_NAME, arg,
};
use crate::schedule::{self, Step};
use crate::{plan, record, thread};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

/// What a new thread gets from its creator. It is on the heap: the creator goes on.
struct Birth {
    start: Start,
    argument: *mut c_void,
    /// 0 until the creator has written the creation.
    ready: AtomicU32,
    number: u32,
    signal_mask: u64,
    /// Its path, under a plan.
    path: u64,
    /// Its slot, in a scheduled run.
    slot: u64,
}

unsafe extern "C" fn begin(birth: *mut c_void) -> *mut c_void {
    let birth: *mut Birth = birth.cast();
    let block = block();
    // SAFETY: the block is this thread's.
    unsafe { (*block).state = PAUSED };
    let (low, size) = thread::own_stack();
    // SAFETY: the creator has made it, and leaves it to this thread as soon as it is ready.
    let ready = unsafe { &(*birth).ready };
    while ready.load(Ordering::Acquire) == 0 {
        c::call(c::SYS_FUTEX, &[ready.as_ptr() as usize, c::FUTEX_WAIT_PRIVATE, 0]);
    }
    // SAFETY: as above.
    let (start, argument, number, mask) =
        unsafe { ((*birth).start, (*birth).argument, (*birth).number, (*birth).signal_mask) };
    // SAFETY: as above; the block is this thread's.
    let slot = unsafe {
        (*block).plan_path = (*birth).path;
        (*birth).slot
    };
    // SAFETY: it came from the same heap, and the creator does not use it any more.
    unsafe { c::__libc_free(birth.cast()) };
    // SAFETY: the block is this thread's.
    unsafe { (*block).state = UNKNOWN };
    if record::is_on() {
        thread::begin(number, low, size);
    } else if slot != 0 {
        thread::watch_end();
    }
    schedule::begin(slot);
    let mut now = 0_u64;
    c::call(c::SYS_RT_SIGPROCMASK, &[0, 0, (&raw mut now) as usize, 8]);
    // If the program's attributes have a mask, that one stands already.
    if now | KEPT_SIGNALS == u64::MAX {
        c::call(c::SYS_RT_SIGPROCMASK, &[2, (&raw const mask) as usize, 0, 8]);
    }
    // SAFETY: as the program wants it.
    unsafe { start(argument) }
}

/// Signals that cannot be blocked or that the C library keeps open for itself: 9, 19, 32, 33.
const KEPT_SIGNALS: u64 = 1 << 8 | 1 << 18 | 1 << 31 | 1 << 32;

type Create = unsafe extern "C" fn(*mut Pthread, *const c_void, Start, *mut c_void) -> c_int;

/// Creates a thread.
pub(crate) fn create(
    result: *mut Pthread,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
    place: usize,
) -> c_int {
    let real: Create =
        real!(pthread_create(*mut Pthread, *const c_void, Start, *mut c_void) -> c_int);
    // SAFETY: any size may be asked for.
    let birth: *mut Birth = unsafe { c::__libc_malloc(size_of::<Birth>()) }.cast();
    if !(record::is_on() || schedule::is_on()) || birth.is_null() {
        // SAFETY: as the program calls it.
        return unsafe {
            c::__libc_free(birth.cast());
            real(result, attributes, start, argument)
        };
    }
    let slot = schedule::expect();
    let all = u64::MAX;
    let mut before = 0_u64;
    let (new, old) = (&raw const all as usize, &raw mut before as usize);
    c::call(c::SYS_RT_SIGPROCMASK, &[2, new, old, 8]);
    // SAFETY: there is room for it, and nobody else has it.
    unsafe {
        birth.write(Birth {
            start,
            argument,
            ready: AtomicU32::new(0),
            number: 0,
            signal_mask: before,
            path: 0,
            slot,
        });
    }
    plan::count_alive(1);
    let is_detached = is_detached(attributes);
    if slot != 0 && is_detached {
        schedule::detached(slot);
    }
    // SAFETY: as the program calls it, but for the start, which calls the program's.
    let created = unsafe { real(result, attributes, begin, birth.cast()) };
    if created == 0 {
        let number = record::count_thread();
        // SAFETY: the thread waits until it is ready, and neither its block nor its birth goes away
        // before. The program's variable has its name.
        unsafe {
            (*birth).number = number;
            if plan::is_on() {
                (*birth).path = plan::next_child();
            }
            (*block_of(*result)).number = number;
            (*block_of(*result)).schedule_birth = slot;
        }
        let kind = THREAD_CREATE | arg(if is_detached { DETACHED } else { 0 });
        sync_sized(kind, number as usize, place, start as usize as u64);
        // SAFETY: as above.
        let ready = unsafe { &(*birth).ready };
        let address = ready.as_ptr() as usize;
        ready.store(1, Ordering::Release);
        c::call(c::SYS_FUTEX, &[address, c::FUTEX_WAKE_PRIVATE, 1]);
    } else {
        plan::count_alive(-1);
        schedule::was_not_created(slot);
        // SAFETY: it came from the same heap, and no thread has it.
        unsafe { c::__libc_free(birth.cast()) };
    }
    c::call(c::SYS_RT_SIGPROCMASK, &[2, old, 0, 8]);
    if created == 0 {
        schedule::point(Step::Create, 0);
    }
    created
}

/// Returns whether attributes say that nobody joins a thread.
fn is_detached(attributes: *const c_void) -> bool {
    let mut state = 0;
    // SAFETY: the program has made them, and there is room for the state.
    !attributes.is_null()
        && unsafe { c::pthread_attr_getdetachstate(attributes, &raw mut state) } == 0
        && state == 1
}

/// Returns the number of a thread that can be joined, if it is recorded.
fn number_of(thread: Pthread) -> Option<usize> {
    if thread == 0 || !record::is_on() {
        return None;
    }
    let block: *const Block = block_of(thread);
    // SAFETY: a thread that can be joined has its block. What was written at its creation and at
    // its begin does not change any more.
    unsafe {
        ((*block).state != UNKNOWN || (*block).number != 0).then_some((*block).number as usize)
    }
}

fn joined(number: Option<usize>, result: c_int, place: usize) {
    if let (Some(number), 0) = (number, result) {
        sync(THREAD_JOIN, number, place);
    }
}

/// Joins a thread by a function that may block.
pub(crate) fn join(thread: Pthread, place: usize, real: impl FnOnce() -> c_int) -> c_int {
    let number = number_of(thread);
    if let Some(number) = number {
        sync(THREAD_JOIN_REQUEST, number, place);
    }
    let result = match schedule::turn() {
        Some(turn) if turn.join(thread) => turn.surely(real),
        Some(turn) => turn.outside(real),
        None => plan::blocking(real),
    };
    joined(number, result, place);
    result
}

pub(crate) fn detach(thread: Pthread, place: usize) -> c_int {
    if let Some(number) = number_of(thread) {
        sync(THREAD_DETACH, number, place);
    }
    // SAFETY: a thread that can be detached has its block.
    schedule::detached(unsafe { (*block_of(thread)).schedule_birth });
    // SAFETY: as the program calls it.
    unsafe { real!(pthread_detach(Pthread) -> c_int)(thread) }
}

/// The option of `prctl` by which a thread names itself.
const NAME_SELF: c_int = 15;
/// The bytes that the kernel keeps of a name.
const NAME_BYTES: usize = 15;

/// Writes the name of a thread, eight bytes in an event.
fn named(number: usize, name: *const c_char, place: usize) {
    let mut bytes = [[0_u8; 8]; 2];
    for at in 0..NAME_BYTES {
        // SAFETY: the kernel has read the name up to its zero byte, or so many bytes of it.
        let byte = unsafe { name.add(at).read() } as u8;
        if byte == 0 {
            break;
        }
        bytes[at / 8][at % 8] = byte;
    }
    for (piece, bytes) in bytes.into_iter().enumerate() {
        let kind = THREAD_NAME | arg(piece as u64);
        note_sized(kind, number, place, u64::from_le_bytes(bytes));
    }
}

interpose! {
    2 fn pthread_setname_np(thread: Pthread, name: *const c_char) -> c_int, |place, real| {
        let number = number_of(thread);
        // SAFETY: as the program calls it.
        let result = unsafe { real(thread, name) };
        if let (Some(number), 0) = (number, result) {
            named(number, name, place);
        }
        result
    }

    5 fn prctl(option: c_int, first: usize, second: usize, third: usize, fourth: usize) -> c_int, |place, real| {
        // SAFETY: as the program calls it: arguments that it does not give are not looked at.
        let result = unsafe { real(option, first, second, third, fourth) };
        if option == NAME_SELF && result == 0 && record::is_on() {
            // SAFETY: the block is this thread's.
            named(unsafe { (*block()).number } as usize, first as *const c_char, place);
        }
        result
    }

    2 fn pthread_join(thread: Pthread, value: *mut *mut c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        join(thread, place, || unsafe { real(thread, value) })
    }

    2 fn pthread_tryjoin_np(thread: Pthread, value: *mut *mut c_void) -> c_int, |place, real| {
        let number = number_of(thread);
        // SAFETY: as the program calls it.
        let result = unsafe { real(thread, value) };
        joined(number, result, place);
        result
    }

    3 fn pthread_timedjoin_np(thread: Pthread, value: *mut *mut c_void, until: *const c_void) -> c_int, |place, real| {
        let number = number_of(thread);
        // SAFETY: as the program calls it.
        let result = unsafe { real(thread, value, until) };
        joined(number, result, place);
        result
    }

    4 fn pthread_clockjoin_np(thread: Pthread, value: *mut *mut c_void, clock: c_int, until: *const c_void) -> c_int, |place, real| {
        let number = number_of(thread);
        // SAFETY: as the program calls it.
        let result = unsafe { real(thread, value, clock, until) };
        joined(number, result, place);
        result
    }
}

export! {
    4 fn pthread_create(result: *mut Pthread, attributes: *const c_void, start: Start, argument: *mut c_void) -> c_int, |place| {
        create(result, attributes, start, argument, place)
    }

    1 fn pthread_detach(thread: Pthread) -> c_int, |place| {
        detach(thread, place)
    }
}
