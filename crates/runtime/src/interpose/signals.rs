//! Signal handlers. Each handler of the program is called by one of ours, which makes the
//! interrupted thread ready for more events, and writes the begin and the end of the handler.

use crate::block::{Block, HANDLERS, RECORDED, block};
use crate::emit::{Interrupted, leave_sequence, note, sync};
use crate::hooks::atomics;
use crate::kind::{
    ACQUIRE, ERRNO, EXPECTED, FAILURE, RELEASE, SIGNAL, SIGNAL_BEGIN, SIGNAL_END, arg,
};
use crate::{c, maps, record, thread};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `struct sigaction` of the C library.
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// The default action.
const EMPTY: Action = Action { handler: DEFAULT, mask: [0; 16], flags: 0, restorer: 0 };
const DEFAULT: usize = 0;
const IGNORE: usize = 1;
const FAILED: usize = usize::MAX;
const SA_SIGINFO: c_int = 4;
const SA_ONSTACK: c_int = 0x0800_0000;
const SA_RESTART: c_int = 0x1000_0000;
const SA_NODEFER: c_int = 0x4000_0000;
const SA_RESETHAND: c_int = i32::MIN;

const SIGNALS: usize = 65;
/// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
const FAILURES: [c_int; 5] = [4, 6, 7, 8, 11];

/// What the processor notices at an instruction: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV.
const FAULTS: [c_int; 5] = [4, 5, 7, 8, 11];

/// The program's handlers and their flags.
static OF_PROGRAM: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
static FLAGS: [AtomicU32; SIGNALS] = [const { AtomicU32::new(0) }; SIGNALS];
/// Whether handlers are replaced: set once, before the program runs.
static WATCHED: AtomicU32 = AtomicU32::new(0);

type Real = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;

fn real_sigaction() -> Real {
    real!(sigaction(c_int, *const Action, *mut Action) -> c_int)
}

fn on_signal() -> usize {
    handle as *const () as usize
}

fn on_failure() -> usize {
    fail as *const () as usize
}

/// Puts our handler in the place of the default action of a failure.
fn watch_failure(signal: c_int) {
    let ours = Action {
        handler: on_failure(),
        mask: [0; 16],
        flags: SA_SIGINFO | SA_ONSTACK,
        restorer: 0,
    };
    // SAFETY: the action is valid, and the handler does what the default action does.
    unsafe { real_sigaction()(signal, &raw const ours, core::ptr::null_mut()) };
}

/// Writes failures of the process, where the program has no handler of its own.
pub(crate) fn watch_failures() {
    WATCHED.store(1, Ordering::Relaxed);
    for signal in FAILURES {
        let mut now = EMPTY;
        // SAFETY: there is room for an action.
        let known = unsafe { real_sigaction()(signal, core::ptr::null(), &raw mut now) } == 0;
        if known && now.handler == DEFAULT {
            watch_failure(signal);
        }
    }
}

/// The registers of the interrupted thread in a `ucontext_t`, by number.
const REGISTERS_AT: usize = 40;
const RAX: usize = 13;
const RIP: usize = 16;

/// Makes the interrupted code ready for more events. Returns where it was.
fn interrupt(context: *mut c_void) -> usize {
    let registers = context.wrapping_byte_add(REGISTERS_AT).cast::<usize>();
    // SAFETY: the kernel gives a context, and this thread's block is not in use below it.
    unsafe {
        let rip = registers.add(RIP);
        let was = rip.read();
        let mut at = Interrupted { rip: was, rax: registers.add(RAX).read() };
        leave_sequence(&mut at, &mut *block());
        rip.write(at.rip);
        was
    }
}

/// Stands for all handlers of the program.
unsafe extern "C" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let place = interrupt(context).wrapping_add(1);
    let number = signal as usize;
    let handler = OF_PROGRAM.get(number).map_or(0, |handler| handler.load(Ordering::Acquire));
    let flags = FLAGS.get(number).map_or(0, |flags| flags.load(Ordering::Relaxed));
    if flags & SA_RESETHAND as u32 != 0 && FAILURES.contains(&signal) {
        watch_failure(signal);
    }
    let block = block();
    let here = (&raw const place) as usize;
    // SAFETY: the block is this thread's, and the references do not outlive the call.
    let depth = unsafe { enter(&mut *block, here) };
    // SAFETY: the kernel gives the information about the signal, and the C library the address of
    // this thread's own `errno`.
    let (is_fault, errno) = unsafe {
        let code = info.cast::<c_int>().add(2).read();
        (FAULTS.contains(&signal) && code > 0, *c::__errno_location())
    };
    // SAFETY: the block is this thread's.
    let is_expected = is_fault || unsafe { (*block).awaits_signals != 0 };
    note(SIGNAL_BEGIN | arg(if is_expected { EXPECTED } else { 0 }), number, place);
    sync(ACQUIRE | arg(SIGNAL), number, place);
    if handler > IGNORE {
        // SAFETY: the program has given this handler for this signal. One with a single argument
        // does not look at the others.
        unsafe {
            let handler: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) =
                core::mem::transmute(handler);
            handler(signal, info, context);
        }
    }
    // SAFETY: the C library gives the address of this thread's own `errno`.
    let is_spoiled = unsafe { *c::__errno_location() != errno };
    note(SIGNAL_END | arg(if is_spoiled { ERRNO } else { 0 }), number, place);
    // SAFETY: as above.
    unsafe {
        (*block).handlers = (*block).handlers.saturating_sub(1);
        (*block).depth = depth;
    }
}

/// Notes that a handler begins. Returns the depth before it.
fn enter(block: &mut Block, here: usize) -> usize {
    let depth = block.depth;
    if let Some(frame) = block.handler_frames.get_mut(block.handlers as usize) {
        *frame = [depth, here];
    }
    block.handlers += 1;
    depth
}

/// Ends the handlers that a jump to a stack pointer leaves.
pub(super) fn leave_handlers(block: &mut Block, target: usize) {
    let mut stack = [0_usize; 3];
    c::call(c::SYS_SIGALTSTACK, &[0, (&raw mut stack) as usize]);
    let is_on_it = |address: usize| stack[1] & 1 != 0 && address.wrapping_sub(stack[0]) < stack[2];
    let mut left = false;
    while block.handlers > 0 {
        let number = block.handlers as usize;
        let Some([depth, frame]) = block.handler_frames.get(number - 1).copied() else { break };
        let leaves =
            if is_on_it(frame) == is_on_it(target) { target > frame } else { is_on_it(frame) };
        if number > HANDLERS || !leaves {
            break;
        }
        block.handlers -= 1;
        block.depth = depth;
        left = true;
        note(SIGNAL_END, 0, 0);
    }
    if left {
        atomics::let_go_of_interrupted();
    }
}

/// Writes that the process fails, and lets the default action follow.
unsafe extern "C" fn fail(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let place = interrupt(context).wrapping_add(1);
    note(FAILURE, signal as usize, place);
    let block = block();
    c::without_signals(|| {
        // SAFETY: the block is this thread's, and no handler runs meanwhile.
        let block = unsafe { &mut *block };
        if block.state == RECORDED {
            thread::report_left_out(block);
            maps::copy();
        }
    });
    let default = EMPTY;
    // SAFETY: the action is valid. `si_code`, the third number of the information, is positive if
    // the kernel noticed a fault, which then happens again.
    let is_sent = unsafe {
        real_sigaction()(signal, &raw const default, core::ptr::null_mut());
        info.cast::<c_int>().add(2).read() <= 0
    };
    if is_sent {
        let process = c::call(c::SYS_GETPID, &[]) as usize;
        c::call(c::SYS_TGKILL, &[process, c::thread_id() as usize, signal as usize]);
    }
}

/// Sets and reads an action as the program sees it.
fn set(signal: c_int, new: *const Action, old: *mut Action, place: usize) -> c_int {
    let number = signal as usize;
    let real = real_sigaction();
    let is_ours = WATCHED.load(Ordering::Relaxed) != 0 && (1..SIGNALS).contains(&number);
    if !is_ours {
        // SAFETY: as the program calls it.
        return unsafe { real(signal, new, old) };
    }
    let before = OF_PROGRAM[number].load(Ordering::Acquire);
    let flags_before = FLAGS[number].load(Ordering::Relaxed);
    let mut unasked = EMPTY;
    let found = if old.is_null() { &raw mut unasked } else { old };
    let result = if new.is_null() {
        // SAFETY: there is room for an action.
        unsafe { real(signal, new, found) }
    } else {
        // Field by field: the compiler would call the `memcpy` that the program calls.
        // SAFETY: the program gives a valid action.
        let (wanted, flags, mask) = unsafe { ((*new).handler, (*new).flags, (*new).mask) };
        let mut ours = Action { handler: wanted, mask, flags, restorer: 0 };
        if wanted > IGNORE {
            // What was done before a handler is there comes before all calls of it.
            sent(signal, place);
            FLAGS[number].store(flags as u32, Ordering::Relaxed);
            OF_PROGRAM[number].store(wanted, Ordering::Release);
            ours.handler = on_signal();
            ours.flags |= SA_SIGINFO;
        } else if wanted == DEFAULT && FAILURES.contains(&signal) {
            ours.handler = on_failure();
            ours.flags = SA_SIGINFO | SA_ONSTACK;
        }
        // SAFETY: both actions are valid.
        unsafe { real(signal, &raw const ours, found) }
    };
    if result != 0 {
        OF_PROGRAM[number].store(before, Ordering::Release);
        FLAGS[number].store(flags_before, Ordering::Relaxed);
        return result;
    }
    // SAFETY: the call has written the action.
    let found = unsafe { &mut *found };
    if found.handler == on_signal() {
        found.handler = before;
        found.flags = flags_before as c_int;
    } else if found.handler == on_failure() {
        found.handler = DEFAULT;
        found.flags = 0;
    }
    result
}

/// Sets a handler as the short forms do. Returns the one before.
fn set_short(signal: c_int, handler: usize, flags: c_int, place: usize) -> usize {
    let mut mask = [0; 16];
    if flags & SA_NODEFER == 0 && (1..SIGNALS as c_int).contains(&signal) {
        mask[0] = 1 << (signal - 1);
    }
    let new = Action { handler, mask, flags, restorer: 0 };
    let mut old = EMPTY;
    if set(signal, &raw const new, &raw mut old, place) == 0 { old.handler } else { FAILED }
}

export! {
    3 fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int, |place| {
        set(signal, new, old, place)
    }

    2 fn signal(signal: c_int, handler: usize) -> usize, |place| {
        set_short(signal, handler, SA_RESTART, place)
    }

    2 fn bsd_signal(signal: c_int, handler: usize) -> usize, |place| {
        set_short(signal, handler, SA_RESTART, place)
    }

    2 fn sysv_signal(signal: c_int, handler: usize) -> usize, |place| {
        set_short(signal, handler, SA_RESETHAND | SA_NODEFER, place)
    }

    2 fn __sysv_signal(signal: c_int, handler: usize) -> usize, |place| {
        set_short(signal, handler, SA_RESETHAND | SA_NODEFER, place)
    }
}

fn sent(signal: c_int, place: usize) {
    if signal > 0 && record::is_on() {
        sync(RELEASE | arg(SIGNAL), signal as usize, place);
    }
}

/// Calls a function in which a handler may run, and disturbs nothing.
fn awaiting<T>(function: impl FnOnce() -> T) -> T {
    let block = block();
    // SAFETY: the block is this thread's. A jump out of a handler leaves the number too high, and
    // then calls of handlers are not judged.
    unsafe { (*block).awaits_signals = (*block).awaits_signals.wrapping_add(1) };
    let result = function();
    // SAFETY: as above.
    unsafe { (*block).awaits_signals = (*block).awaits_signals.wrapping_sub(1) };
    result
}

/// Calls a function that opens signals for its time if it has a mask: it waits for them.
pub(super) fn under_mask<T>(mask: *const c_void, function: impl FnOnce() -> T) -> T {
    if mask.is_null() { function() } else { awaiting(function) }
}

fn taken(signal: c_int, place: usize) {
    if signal > 0 && record::is_on() {
        sync(ACQUIRE | arg(SIGNAL), signal as usize, place);
    }
}

interpose! {
    2 fn kill(process: c_int, signal: c_int) -> c_int, |place, real| {
        sent(signal, place);
        // SAFETY: as the program calls it.
        unsafe { real(process, signal) }
    }

    1 fn raise(signal: c_int) -> c_int, |place, real| {
        sent(signal, place);
        // SAFETY: as the program calls it.
        awaiting(|| unsafe { real(signal) })
    }

    1 fn sigsuspend(mask: *const c_void) -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        awaiting(|| unsafe { real(mask) })
    }

    0 fn pause() -> c_int, |_place, real| {
        // SAFETY: as the program calls it.
        awaiting(|| unsafe { real() })
    }

    2 fn pthread_kill(thread: c::Pthread, signal: c_int) -> c_int, |place, real| {
        sent(signal, place);
        // SAFETY: as the program calls it.
        unsafe { real(thread, signal) }
    }

    3 fn sigqueue(process: c_int, signal: c_int, value: usize) -> c_int, |place, real| {
        sent(signal, place);
        // SAFETY: as the program calls it.
        unsafe { real(process, signal, value) }
    }

    3 fn pthread_sigqueue(thread: c::Pthread, signal: c_int, value: usize) -> c_int, |place, real| {
        sent(signal, place);
        // SAFETY: as the program calls it.
        unsafe { real(thread, signal, value) }
    }

    2 fn sigwait(set: *const c_void, signal: *mut c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(set, signal) };
        if result == 0 {
            // SAFETY: it was written, as the call did not fail.
            taken(unsafe { *signal }, place);
        }
        result
    }

    2 fn sigwaitinfo(set: *const c_void, info: *mut c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let signal = unsafe { real(set, info) };
        taken(signal, place);
        signal
    }

    3 fn sigtimedwait(set: *const c_void, info: *mut c_void, time: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let signal = unsafe { real(set, info, time) };
        taken(signal, place);
        signal
    }
}
