//! Runs in a random order: one thread has the turn, and gives it away where a seed says so.
//!
//! The front end asks for such a run by a file that is shared with it, as
//! `docs/formats/native-schedule.md` says. The functions of `interpose` and the atomic operations
//! of `hooks` come here before and after what they do. A thread that has to wait for others does so
//! here, not in the C library: it tries, and gives its turn away until an object that it waits for
//! has changed. So the scheduler knows who can go on, and a run depends on nothing but its seed, as
//! far as the program does not.
//!
//! A thread that waits in a call that is not known here keeps the turn until `watch` takes it away.
//! Nothing is allocated. All state but a thread's own word is read and changed under one lock.

mod choice;
pub(crate) mod quarantine;
mod slots;
mod wait;
mod watch;

use crate::block::block;
use crate::{c, maps};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use slots::{DEAD, FREE, NOBODY, OUTSIDE, READY, RUNNING, Slot, TIMED, WATCHING, slot};
pub(crate) use wait::{Waited, cancelled, cond_wake, wake};

/// The beginning of the shared file.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    strategy: u32,
    seed: u64,
    depth: u32,
    /// The process that is scheduled: the first one.
    owner: AtomicU32,
    /// The number of steps that is expected.
    length: u64,
    /// What follows is for the front end: the steps, the changes of the turn, a hash of the order.
    steps: AtomicU64,
    switches: AtomicU64,
    hash: AtomicU64,
    /// How often the turn was taken away from a thread.
    taken: AtomicU32,
    outcome: AtomicU32,
    threads: AtomicU32,
    /// How often a call that may wait for something outside gave the turn away.
    outside: AtomicU32,
}

/// All threads wait for each other.
const HANG: u32 = 1;
/// A block was given back twice.
const FREED_TWICE: u32 = 2;
/// A block was written after it was given back.
const WRITTEN_AFTER_FREE: u32 = 4;
const FILE_BYTES: usize = 4096;

/// Kinds of steps, for the hash of the order. Public functions say which one a step is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Lock = 1,
    Unlock,
    Wait,
    Signal,
    Semaphore,
    Barrier,
    Create,
    Join,
    Load,
    Store,
    Free,
    Destroy,
    Exit,
    Sleep,
    Once,
    Call,
}

/// The shared file in memory, or 0.
static FILE: AtomicUsize = AtomicUsize::new(0);
static LOCK: AtomicU32 = AtomicU32::new(0);
/// The slot of the thread that has the turn, or `NOBODY`.
static TURN: AtomicUsize = AtomicUsize::new(NOBODY);
/// Changes with each wake: who has tried before one tries again.
static WAKES: AtomicU64 = AtomicU64::new(0);
/// A signal handler has changed something while its thread was in here.
static POKED: AtomicU32 = AtomicU32::new(0);
/// Threads for which there was no slot.
static UNKNOWN: AtomicU32 = AtomicU32::new(0);
/// The code of the C library and of the loader, from and up to.
static LIBRARIES: [[AtomicUsize; 2]; 2] = [const { [const { AtomicUsize::new(0) }; 2] }; 2];

/// Returns whether this run is scheduled.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    FILE.load(Ordering::Relaxed) != 0
}

fn header() -> &'static Header {
    // SAFETY: callers have seen that the run is scheduled; the file is never unmapped.
    unsafe { &*(FILE.load(Ordering::Relaxed) as *const Header) }
}

/// Maps the file of a path that ends with a zero byte, and gives the first thread the turn.
pub(crate) fn start(path: &[u8]) {
    let Some((base, _)) = c::map_shared(path, FILE_BYTES) else { return };
    // SAFETY: so many bytes were mapped.
    let header = unsafe { &*(base as *const Header) };
    if header.magic != *b"ANYSCHD\n" || header.version != 1 {
        return;
    }
    // A program that this one starts has the same variable, and is not meant.
    let own = c::call(c::SYS_GETPID, &[]) as u32;
    let owner = header.owner.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst);
    if owner.is_err_and(|owner| owner != own) {
        return;
    }
    let of_loader: unsafe extern "C" fn(*mut usize) -> *mut core::ffi::c_void = c::__tls_get_addr;
    let inside = [c::pthread_self as *const () as usize, of_loader as *const () as usize];
    for ([from, to], inside) in LIBRARIES.iter().zip(inside) {
        let (start, end) = maps::mapping_of(inside);
        from.store(start, Ordering::Relaxed);
        to.store(end, Ordering::Relaxed);
    }
    FILE.store(base, Ordering::Release);
    choice::start(header.seed, header.length);
    let Some(first) = slots::take(0) else { return };
    let slot = slot(first);
    slot.set_state(RUNNING);
    slot.thread_id.store(c::thread_id(), Ordering::Relaxed);
    TURN.store(first, Ordering::Relaxed);
    // SAFETY: the block is this thread's.
    unsafe { (*block()).schedule_slot = first as u32 + 1 };
}

/// Returns whether a place in the code is not in the C library, which calls its own functions while
/// it has locks that are not known here.
pub(crate) fn is_of_program(place: usize) -> bool {
    let is_in = |[from, to]: &[AtomicUsize; 2]| {
        (from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed)).contains(&place)
    };
    !LIBRARIES.iter().any(is_in)
}

/// Ends the schedule in the child of a fork, which has one thread.
pub(crate) fn forget() {
    FILE.store(0, Ordering::Relaxed);
    // SAFETY: the block is this thread's.
    unsafe {
        (*block()).schedule_slot = 0;
        (*block()).schedule_inside = 0;
    }
    quarantine::forget();
}

/// Runs a function while no other thread is at the state. A signal handler of a thread that is in
/// here never comes here.
fn alone<T>(function: impl FnOnce() -> T) -> T {
    while LOCK.swap(1, Ordering::Acquire) != 0 {
        c::call(c::SYS_SCHED_YIELD, &[]);
    }
    if POKED.swap(0, Ordering::Relaxed) != 0 {
        wait::wake_all();
    }
    let result = function();
    LOCK.store(0, Ordering::Release);
    result
}

/// A thread that is scheduled. Where there is none, nothing is done here.
#[derive(Clone, Copy)]
pub(crate) struct Turn(usize);

/// Returns this thread's turn, if it is scheduled and not in a signal handler that has interrupted
/// a function of this module.
#[inline(always)]
pub(crate) fn turn() -> Option<Turn> {
    if is_on() { known() } else { None }
}

fn known() -> Option<Turn> {
    // SAFETY: the block is this thread's.
    let block = unsafe { &*block() };
    let is_free = block.schedule_slot != 0 && block.schedule_inside == 0;
    is_free.then(|| Turn(block.schedule_slot as usize - 1))
}

/// Waits until a call with a descriptor does not wait, if this thread is scheduled.
#[inline(always)]
pub(crate) fn input(descriptor: i32) {
    if let Some(turn) = turn() {
        turn.descriptor(descriptor, false);
    }
}

/// The same, for output.
#[inline(always)]
pub(crate) fn output(descriptor: i32) {
    if let Some(turn) = turn() {
        turn.descriptor(descriptor, true);
    }
}

/// Calls a function that may wait for something outside of the program.
#[inline(always)]
pub(crate) fn outside<T>(function: impl FnOnce() -> T) -> T {
    match turn() {
        Some(turn) => turn.outside(function),
        None => function(),
    }
}

/// Lets others go on before a step of this thread, if it is scheduled.
#[inline(always)]
pub(crate) fn point(step: Step, object: usize) {
    if let Some(turn) = turn() {
        turn.point(step, object);
    }
}

impl Turn {
    fn slot(self) -> &'static Slot {
        slot(self.0)
    }

    /// Runs a function with the state while this thread has the turn, then waits for the next one
    /// if it has given that away.
    fn change(self, function: impl FnOnce()) {
        let block = block();
        // SAFETY: the block is this thread's.
        unsafe { (*block).schedule_inside = 1 };
        // A cancellation may have ended what was sure.
        self.slot().is_sure.store(0, Ordering::Relaxed);
        let has_it = alone(|| {
            if TURN.load(Ordering::Relaxed) == self.0 {
                return true;
            }
            self.come_back();
            false
        });
        if !has_it {
            watch::wait(self.0);
        }
        alone(|| {
            function();
            if TURN.load(Ordering::Relaxed) == self.0 {
                self.slot().word.store(1, Ordering::Relaxed);
            }
        });
        watch::wait(self.0);
        // SAFETY: as above.
        unsafe { (*block).schedule_inside = 0 };
    }

    /// A thread that has lost its turn wants one again.
    fn come_back(self) {
        self.slot().set_state(READY);
        if TURN.load(Ordering::Relaxed) == NOBODY {
            dispatch();
        }
    }

    /// Lets others go on before a step.
    pub(crate) fn point(self, step: Step, object: usize) {
        self.change(|| {
            self.count(step, object);
            self.slot().set_state(READY);
            dispatch();
        });
    }

    /// Lets others go on, as this thread polls or has asked for it.
    pub(crate) fn give_way(self, step: Step, object: usize) {
        self.change(|| {
            self.count(step, object);
            choice::lower(self.0);
            self.slot().set_state(READY);
            dispatch();
        });
    }

    /// Counts a step. A thread that does the same again and again waits for something.
    fn count(self, step: Step, object: usize) {
        let header = header();
        let number = header.steps.load(Ordering::Relaxed) + 1;
        header.steps.store(number, Ordering::Relaxed);
        let word = (self.0 as u64) << 8 | step as u64;
        let hash = (header.hash.load(Ordering::Relaxed) ^ word).wrapping_mul(0x0100_0000_01b3);
        header.hash.store(hash, Ordering::Relaxed);
        let slot = self.slot();
        let is_same = slot.object.swap(object, Ordering::Relaxed) == object
            && matches!(step, Step::Load | Step::Store);
        let repeats = if is_same { slot.repeats.load(Ordering::Relaxed) + 1 } else { 0 };
        slot.repeats.store(repeats, Ordering::Relaxed);
        choice::step(self.0, number);
        if repeats >= REPEATS_MAX {
            slot.repeats.store(0, Ordering::Relaxed);
            choice::lower(self.0);
        }
    }

    /// Calls a function that waits for what a thread does that has given its turn away for good.
    pub(crate) fn surely<T>(self, function: impl FnOnce() -> T) -> T {
        self.slot().is_sure.store(1, Ordering::Relaxed);
        let result = function();
        self.slot().is_sure.store(0, Ordering::Relaxed);
        result
    }

    /// Calls a function that may wait for something outside of the program, without the turn.
    pub(crate) fn outside<T>(self, function: impl FnOnce() -> T) -> T {
        let block = block();
        // SAFETY: the block is this thread's.
        unsafe { (*block).schedule_inside = 1 };
        alone(|| {
            header().outside.fetch_add(1, Ordering::Relaxed);
            self.slot().set_state(OUTSIDE);
            if TURN.load(Ordering::Relaxed) == self.0 {
                dispatch();
            }
        });
        // SAFETY: as above.
        unsafe { (*block).schedule_inside = 0 };
        let result = function();
        // After a fork there is no schedule.
        if is_on() {
            self.change(|| ());
        }
        result
    }

    /// Waits until a call with a descriptor does not wait, if it would: for input, or for output.
    pub(crate) fn descriptor(self, descriptor: i32, is_output: bool) {
        let events = if is_output { watch::OUTPUT } else { watch::INPUT };
        let object = events << 32 | descriptor as u32 as usize;
        if watch::is_ready(object, 0) || watch::never_waits(descriptor) {
            return;
        }
        self.change(|| {
            self.count(Step::Call, 0);
            self.slot().object.store(object, Ordering::Relaxed);
            self.slot().set_state(WATCHING);
            dispatch();
        });
        // SAFETY: the program calls a function that may be cancelled.
        unsafe { c::pthread_testcancel() };
    }

    /// Passes the time of a sleep: others go on for as long as they can.
    pub(crate) fn sleep<T>(self, skipped: T, function: impl FnOnce() -> T) -> T {
        let (mut is_alone, mut is_idle) = (false, false);
        self.change(|| {
            self.count(Step::Sleep, 0);
            let slot = self.slot();
            let sleeps = slot.sleeps.fetch_add(1, Ordering::Relaxed);
            is_alone = sleeps >= SLEEPS_MAX;
            is_idle = slots::are_outside_only(self.0);
            if !is_alone && !is_idle {
                choice::sleep(self.0);
                slot.set_state(READY);
                dispatch();
            }
        });
        if is_alone {
            return self.outside(function);
        }
        if is_idle {
            let time = [0_usize, NAP];
            let nap = [(&raw const time) as usize, 0];
            self.outside(|| c::call(c::SYS_NANOSLEEP, &nap));
        }
        skipped
    }
}

/// So many atomic operations on one location are a loop that waits.
const REPEATS_MAX: u32 = 32;
/// So many sleeps take no time.
const SLEEPS_MAX: u32 = 1_000;
/// How long a sleep is while all others wait for something outside, in nanoseconds.
const NAP: usize = 1_000_000;

/// Gives the turn to a thread that can go on. The state is locked.
fn dispatch() {
    let before = TURN.load(Ordering::Relaxed);
    let next = choice::next();
    TURN.store(next.unwrap_or(NOBODY), Ordering::Relaxed);
    let header = header();
    match next {
        Some(next) => {
            let slot = slot(next);
            if slot.state() == TIMED {
                slot.timed_out.store(1, Ordering::Relaxed);
            }
            slot.set_state(RUNNING);
            header.outcome.fetch_and(!HANG, Ordering::Relaxed);
            if next != before {
                header.switches.fetch_add(1, Ordering::Relaxed);
                slot.give();
            }
        }
        None if UNKNOWN.load(Ordering::Relaxed) == 0 && slots::all_wait() => {
            header.outcome.fetch_or(HANG, Ordering::Relaxed);
        }
        None => {}
    }
}

/// Makes a slot for a thread that this one is about to create. Returns its number and 1, with the
/// number of the thread above it; or 0.
pub(crate) fn expect() -> u64 {
    if !is_on() {
        return 0;
    }
    let mut found = 0;
    let block = block();
    // SAFETY: the block is this thread's.
    let was = unsafe { core::mem::replace(&mut (*block).schedule_inside, 1) };
    alone(|| {
        let thread = header().threads.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(number) = slots::take(thread) else {
            UNKNOWN.fetch_add(1, Ordering::Relaxed);
            return;
        };
        choice::begin(number);
        slot(number).set_state(READY);
        found = u64::from(thread) << 32 | (number as u64 + 1);
    });
    // SAFETY: as above.
    unsafe { (*block).schedule_inside = was };
    found
}

/// Begins a thread with the slot that its creator has made: it waits for its first turn.
pub(crate) fn begin(birth: u64) {
    if !is_on() || birth == 0 {
        return;
    }
    let block = block();
    let number = slot_of(birth);
    slot(number).thread_id.store(c::thread_id(), Ordering::Relaxed);
    // SAFETY: the block is this thread's.
    unsafe {
        (*block).schedule_slot = number as u32 + 1;
        (*block).schedule_inside = 1;
    }
    watch::wait(number);
    // SAFETY: as above.
    unsafe { (*block).schedule_inside = 0 };
}

/// Ends this thread: it gives the turn away for good, and whoever joins it can go on.
pub(crate) fn end() {
    let Some(turn) = turn() else { return };
    let block = block();
    // SAFETY: the block is this thread's.
    unsafe { (*block).schedule_inside = 1 };
    alone(|| {
        let slot = turn.slot();
        let is_detached = slot.is_detached.load(Ordering::Relaxed) != 0;
        slot.set_state(if is_detached { FREE } else { DEAD });
        slot.thread_id.store(0, Ordering::Relaxed);
        wait::wake_locked(slot.address());
        let now = TURN.load(Ordering::Relaxed);
        if now == turn.0 || now == NOBODY {
            dispatch();
        }
    });
    // SAFETY: as above.
    unsafe {
        (*block).schedule_slot = 0;
        (*block).schedule_inside = 0;
    }
}

fn slot_of(birth: u64) -> usize {
    (birth as u32 as usize).wrapping_sub(1)
}

/// Notes that nobody will join a thread.
pub(crate) fn detached(birth: u64) {
    if is_on() && birth != 0 {
        let slot = slot(slot_of(birth));
        slot.is_detached.store(1, Ordering::Relaxed);
    }
}

/// Takes the slot back of a thread that was not created after all.
pub(crate) fn was_not_created(birth: u64) {
    if is_on() && birth != 0 {
        alone(|| slot(slot_of(birth)).set_state(FREE));
    }
}

/// Notes that the program has used a block wrongly, and that the run has shown it.
fn harm(what: u32) {
    header().outcome.fetch_or(what, Ordering::Relaxed);
}
