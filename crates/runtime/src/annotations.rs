//! What programs say themselves: synchronisation that no function of the C library does.

use crate::block::block;
use crate::emit::{note_sized, sync};
use crate::hooks::accesses::range;
use crate::kind::{
    ACQUIRE, ANNOTATION, BENIGN, BY_TRY, LOCK, LOCK_DESTROY, LOCK_INIT, LOCK_REFUSED, LOCK_REQUEST,
    READ_RANGE, RECURSIVE, RELEASE, SHARED, STATIC, UNLOCK, WRITE_RANGE, arg,
};
use crate::{c, record, thread};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

/// Ignores plain accesses of this thread until as many calls of [`heed`].
fn ignore() {
    let block = block();
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    block.ignored = block.ignored.saturating_add(1);
    block.access_limit = 0;
}

fn heed() {
    let block = block();
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block };
    block.ignored = block.ignored.saturating_sub(1);
    thread::set_limits(block);
}

fn not_understood() {
    record::add_flags(record::NOT_UNDERSTOOD);
}

// Flags of `__tsan_mutex_*`.
const IS_STATIC: u32 = 1;
const IS_NOT_STATIC: u32 = 1 << 8;
const IS_RECURSIVE: u32 = 1 << 1;
const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;

/// Returns the flags of an event.
fn flags(of_call: u32) -> u64 {
    let mut flags = 0;
    for (bit, flag) in
        [(IS_RECURSIVE, RECURSIVE), (READ_LOCK, SHARED), (TRY_LOCK, BY_TRY), (IS_STATIC, STATIC)]
    {
        if of_call & bit != 0 {
            flags |= flag;
        }
    }
    arg(flags)
}

export! {
    1 fn __tsan_acquire(object: usize), |place| {
        sync(ACQUIRE | arg(ANNOTATION), object, place);
    }

    1 fn __tsan_release(object: usize), |place| {
        sync(RELEASE | arg(ANNOTATION), object, place);
    }

    2 fn __tsan_mutex_create(mutex: usize, of_call: u32), |place| {
        sync(LOCK_INIT | flags(of_call), mutex, place);
    }

    2 fn __tsan_mutex_destroy(mutex: usize, of_call: u32), |place| {
        // One who says so at the end only means that it may be used afterwards.
        let of_call = if of_call & IS_NOT_STATIC == 0 { of_call } else { of_call | IS_STATIC };
        sync(LOCK_DESTROY | flags(of_call), mutex, place);
    }

    // Between the calls before and after, the program's own lock is at work.
    2 fn __tsan_mutex_pre_lock(mutex: usize, of_call: u32), |place| {
        if of_call & TRY_LOCK == 0 {
            sync(LOCK_REQUEST | flags(of_call), mutex, place);
        }
        ignore();
    }

    3 fn __tsan_mutex_post_lock(mutex: usize, of_call: u32, _levels: c_int), |place| {
        heed();
        let kind = if of_call & TRY_LOCK_FAILED == 0 { LOCK } else { LOCK_REFUSED };
        sync(kind | flags(of_call), mutex, place);
    }

    2 fn __tsan_mutex_pre_unlock(mutex: usize, of_call: u32) -> c_int, |place| {
        sync(UNLOCK | flags(of_call), mutex, place);
        ignore();
        0
    }

    3 fn AnnotateHappensBefore(_file: *const c_char, _line: c_int, object: usize), |place| {
        sync(RELEASE | arg(ANNOTATION), object, place);
    }

    3 fn AnnotateHappensAfter(_file: *const c_char, _line: c_int, object: usize), |place| {
        sync(ACQUIRE | arg(ANNOTATION), object, place);
    }

    3 fn WTFAnnotateHappensBefore(_file: *const c_char, _line: c_int, object: usize), |place| {
        sync(RELEASE | arg(ANNOTATION), object, place);
    }

    3 fn WTFAnnotateHappensAfter(_file: *const c_char, _line: c_int, object: usize), |place| {
        sync(ACQUIRE | arg(ANNOTATION), object, place);
    }

    3 fn AnnotateRWLockCreate(_file: *const c_char, _line: c_int, lock: usize), |place| {
        sync(LOCK_INIT, lock, place);
    }

    3 fn AnnotateRWLockCreateStatic(_file: *const c_char, _line: c_int, lock: usize), |place| {
        sync(LOCK_INIT | arg(STATIC), lock, place);
    }

    3 fn AnnotateRWLockDestroy(_file: *const c_char, _line: c_int, lock: usize), |place| {
        sync(LOCK_DESTROY, lock, place);
    }

    4 fn AnnotateRWLockAcquired(_file: *const c_char, _line: c_int, lock: usize, writes: usize), |place| {
        sync(LOCK | arg(if writes == 0 { SHARED } else { 0 }), lock, place);
    }

    4 fn AnnotateRWLockReleased(_file: *const c_char, _line: c_int, lock: usize, writes: usize), |place| {
        sync(UNLOCK | arg(if writes == 0 { SHARED } else { 0 }), lock, place);
    }

    3 fn AnnotateBenignRace(_file: *const c_char, _line: c_int, at: usize), |place| {
        note_sized(BENIGN, at, place, 8);
    }

    4 fn AnnotateBenignRaceSized(_file: *const c_char, _line: c_int, at: usize, size: c_uint), |place| {
        note_sized(BENIGN, at, place, u64::from(size));
    }

    4 fn WTFAnnotateBenignRaceSized(_file: *const c_char, _line: c_int, at: usize, size: c_uint), |place| {
        note_sized(BENIGN, at, place, u64::from(size));
    }

    3 fn __tsan_external_read(object: usize, _caller: usize, _tag: usize), |place| {
        range(READ_RANGE, object, 1, place);
    }

    3 fn __tsan_external_write(object: usize, _caller: usize, _tag: usize), |place| {
        range(WRITE_RANGE, object, 1, place);
    }
}

/// Functions that begin or end a stretch in which accesses are ignored.
macro_rules! stretches {
    ($($name:ident: $what:ident;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        extern "C" fn $name() {
            $what();
        }
    )*};
}

stretches! {
    __tsan_mutex_post_unlock: heed;
    __tsan_mutex_pre_signal: ignore;
    __tsan_mutex_post_signal: heed;
    __tsan_mutex_pre_divert: heed;
    __tsan_mutex_post_divert: ignore;
    __tsan_ignore_thread_begin: ignore;
    __tsan_ignore_thread_end: heed;
    AnnotateIgnoreReadsBegin: ignore;
    AnnotateIgnoreReadsEnd: heed;
    AnnotateIgnoreWritesBegin: ignore;
    AnnotateIgnoreWritesEnd: heed;
}

/// Functions that change nothing here, with what they return. Those marked are counted as not
/// understood: the recording says less than the program does.
macro_rules! ignored {
    ($($name:ident = $value:expr $(, $count:ident)?;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        extern "C" fn $name() -> usize {
            $($count();)?
            $value
        }
    )*};
}

/// What stands for a fiber.
static FIBER: u8 = 0;

fn fiber() -> usize {
    &raw const FIBER as usize
}

ignored! {
    __tsan_create_fiber = fiber(), not_understood;
    __tsan_get_current_fiber = fiber(), not_understood;
    __tsan_switch_to_fiber = 0, not_understood;
    __tsan_destroy_fiber = 0, not_understood;
    __tsan_set_fiber_name = 0;
    __tsan_external_register_tag = 1, not_understood;
    __tsan_external_register_header = 0;
    __tsan_external_assign_tag = 0;
    __tsan_java_init = 0;
    __tsan_java_fini = 0;
    __tsan_java_move = 0, not_understood;
    __tsan_java_find = 0, not_understood;
    __tsan_java_mutex_lock_rec = 0, not_understood;
    __tsan_java_mutex_unlock_rec = 0, not_understood;
    __tsan_get_report_data = 0;
    __tsan_get_report_loc = 0;
    __tsan_get_report_loc_object_type = 0;
    __tsan_get_report_mop = 0;
    __tsan_get_report_mutex = 0;
    __tsan_get_report_stack = 0;
    __tsan_get_report_tag = 0;
    __tsan_get_report_thread = 0;
    __tsan_get_report_unique_tid = 0;
    __tsan_get_current_report = 0;
    __tsan_get_alloc_stack = 0;
    __tsan_locate_address = 0;
    __tsan_flush_memory = 0;
    __sanitizer_print_stack_trace = 0;
    __sanitizer_set_report_path = 0;
    __sanitizer_set_report_fd = 0;
    __sanitizer_set_death_callback = 0;
    AnnotateCondVarSignal = 0;
    AnnotateCondVarSignalAll = 0;
    AnnotateCondVarWait = 0;
    AnnotateEnableRaceDetection = 0;
    AnnotateExpectRace = 0;
    AnnotateFlushExpectedRaces = 0;
    AnnotateFlushState = 0;
    AnnotateIgnoreSyncBegin = 0;
    AnnotateIgnoreSyncEnd = 0;
    AnnotateMemoryIsInitialized = 0;
    AnnotateMemoryIsUninitialized = 0;
    AnnotateMutexIsNotPHB = 0;
    AnnotateMutexIsUsedAsCondVar = 0;
    AnnotateNewMemory = 0;
    AnnotateNoOp = 0;
    AnnotatePCQCreate = 0;
    AnnotatePCQDestroy = 0;
    AnnotatePCQGet = 0;
    AnnotatePCQPut = 0;
    AnnotatePublishMemoryRange = 0;
    AnnotateThreadName = 0;
    AnnotateTraceMemory = 0;
    AnnotateUnpublishMemoryRange = 0;
}

/// Returns the number of calls that have not returned.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
extern "C" fn __tsan_testonly_shadow_stack_current_size() -> usize {
    // SAFETY: the block is this thread's.
    unsafe { (*block()).depth }
}

/// A barrier that is no event, for tests of ThreadSanitizer: the number of threads in the low 8
/// bits of 4 bytes, that of arrivals above it.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
unsafe extern "C" fn __tsan_testonly_barrier_init(barrier: *mut c_void, threads: u32) {
    // SAFETY: the program gives 4 bytes, which no thread waits at yet.
    unsafe { barrier.cast::<u32>().write(threads.clamp(1, 255)) };
}

#[cfg_attr(anyorder_image, unsafe(no_mangle))]
unsafe extern "C" fn __tsan_testonly_barrier_wait(barrier: *mut c_void) {
    // SAFETY: the program has made the barrier, and threads change it atomically.
    let barrier = unsafe { AtomicU32::from_ptr(barrier.cast()) };
    let round = |state: u32| (state >> 8) / (state & 0xff).max(1);
    let mine = round(barrier.fetch_add(1 << 8, Ordering::SeqCst));
    while round(barrier.load(Ordering::SeqCst)) == mine {
        c::call(c::SYS_SCHED_YIELD, &[]);
    }
}
