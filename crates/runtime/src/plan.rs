//! Second runs: threads are held where a plan says so, until other events have happened.
//!
//! The plan is a file that is shared with the front end (`docs/formats/plan.md`). Every hook asks
//! here while there is one, and nothing is recorded. An operation of the plan is known by its
//! thread's path, its place, and how often the thread was there before. A thread that comes to it
//! says so, waits for what the plan says, goes on, and says at its next hook that it has passed.

use crate::block::{Block, RECORDED, block};
use crate::c;
use crate::kind::{
    ATOMIC_LOAD, ATOMIC_RMW, BARRIER_LEAVE, COND_WAIT, COND_WAKE, FREE, LOCK, LOCK_REFUSED,
    LOCK_REQUEST, READ, SEM_REFUSED, SEM_REQUEST, SEM_WAIT, SIGNAL_BEGIN, SIGNAL_END, THREAD_BEGIN,
    THREAD_JOIN, VPTR_WRITE,
};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

const EVENTS_AT: usize = 256;
const EVENTS_MAX: usize = 4_096;
const HOLDS_MAX: usize = 16_384;
/// Places by their code addresses: twice as many as there can be.
const SLOTS: usize = 2 * EVENTS_MAX;
const FILTER_BITS: usize = 1024;
/// How long a thread sleeps between two looks, in nanoseconds.
const LOOK: u64 = 5_000_000;
/// The kind of an event, without its argument and address.
const KIND: u64 = 0xff << 48;

const REACHED: u32 = 1;
const WAITING: u32 = 2;
const PASSED: u32 = 3;

/// Roles of events.
const FIRST: u32 = 1;
const SECOND: u32 = 2;
const ENDS: u32 = 3;

/// Outcomes.
const USED_AFTER_END: u32 = 1;
const MET: u32 = 2;
const NO_MODULE: u32 = 8;

/// The beginning of the file.
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    events: u32,
    holds: u32,
    give_up: AtomicU32,
    alive: AtomicU32,
    blocked: AtomicU32,
    held: AtomicU32,
    activity: AtomicU32,
    outcome: AtomicU32,
    exit_delay_ms: u32,
    /// The process that keeps the plan: the first one.
    owner: AtomicU32,
}

/// An event of the file.
#[repr(C)]
struct Planned {
    path: u64,
    module: u64,
    offset: u64,
    number: u32,
    role: u32,
    state: AtomicU32,
    thread: AtomicU32,
    address: AtomicU64,
    size: AtomicU64,
    _rest: u64,
}

/// A hold of the file.
#[repr(C)]
struct Hold {
    event: u32,
    other: u32,
    state: u32,
    _rest: u32,
}

/// What is computed from the file: all zero at first.
#[repr(C)]
struct Tables {
    /// Code addresses, and the first event there, plus 1.
    slots: [(AtomicUsize, AtomicU32); SLOTS],
    /// By event: the next one of the same place, plus 1.
    next: [AtomicU32; EVENTS_MAX],
    filter: [AtomicU8; FILTER_BITS],
}

/// How often a thread was at a place, and the synchronisation before the last access there.
#[repr(C)]
#[derive(Clone, Copy)]
struct Count {
    count: u32,
    epoch: u32,
}

/// The plan's file in memory, or 0.
static PLAN: AtomicUsize = AtomicUsize::new(0);
static TABLES: AtomicUsize = AtomicUsize::new(0);

/// Returns whether there is a plan.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    PLAN.load(Ordering::Relaxed) != 0
}

fn header() -> &'static Header {
    // SAFETY: callers have seen that there is a plan; it is never unmapped, and has a header.
    unsafe { &*(PLAN.load(Ordering::Relaxed) as *const Header) }
}

fn planned(event: usize) -> &'static Planned {
    let at = PLAN.load(Ordering::Relaxed) + EVENTS_AT + event * size_of::<Planned>();
    // SAFETY: callers have compared the number with that of the header, and `start` has compared
    // the size of the file with it.
    unsafe { &*(at as *const Planned) }
}

fn hold(number: usize) -> &'static Hold {
    let events = header().events as usize;
    let at = PLAN.load(Ordering::Relaxed)
        + EVENTS_AT
        + events * size_of::<Planned>()
        + number * size_of::<Hold>();
    // SAFETY: as in `planned`.
    unsafe { &*(at as *const Hold) }
}

fn tables() -> &'static Tables {
    // SAFETY: they are mapped before the plan is there, and never unmapped.
    unsafe { &*(TABLES.load(Ordering::Relaxed) as *const Tables) }
}

/// Maps the plan of a path that ends with a zero byte. There is one thread.
pub(crate) fn start(path: &[u8]) {
    let Some((base, size)) = c::map_shared(path, EVENTS_AT) else { return };
    let tables = c::map_anonymous(size_of::<Tables>());
    if tables == 0 {
        return;
    }
    // SAFETY: at least the header was mapped.
    let header = unsafe { &*(base as *const Header) };
    let (events, holds) = (header.events as usize, header.holds as usize);
    let needed = EVENTS_AT + events * size_of::<Planned>() + holds * size_of::<Hold>();
    let is_plan = header.magic == *b"ANYPLAN\n" && header.version == 1;
    if !is_plan || events > EVENTS_MAX || holds > HOLDS_MAX || size < needed {
        return;
    }
    // A program that this one starts has the same variable, and is not meant.
    let own = c::call(c::SYS_GETPID, &[]) as u32;
    let owner = header.owner.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst);
    if owner.is_err_and(|owner| owner != own) {
        return;
    }
    TABLES.store(tables, Ordering::Relaxed);
    PLAN.store(base, Ordering::Release);
    find_modules();
    // SAFETY: the block is this thread's.
    unsafe { (*block()).plan_path = 1 };
}

/// Leaves the plan to the parent, in the child of a fork.
pub(crate) fn forget() {
    PLAN.store(0, Ordering::Relaxed);
}

/// Reads the list of modules, and adds the places of events in those that are there now.
pub(crate) fn find_modules() {
    let mut line = core::mem::MaybeUninit::<[u8; 1024]>::uninit();
    let at: *mut u8 = line.as_mut_ptr().cast();
    let mut length = 0;
    crate::maps::read(c"/proc/self/maps".as_ptr() as usize, |part| {
        for byte in part {
            if *byte == b'\n' {
                // SAFETY: so many bytes were written.
                add_module(unsafe { core::slice::from_raw_parts(at, length) });
                length = 0;
            } else if length < 1024 {
                // SAFETY: it is within the line.
                unsafe { at.add(length).write(*byte) };
                length += 1;
            }
        }
        true
    });
    let is_found = |event: usize| tables().next[event].load(Ordering::Relaxed) != 0;
    if (0..header().events as usize).any(is_found) {
        header().outcome.fetch_and(!NO_MODULE, Ordering::Relaxed);
    } else {
        header().outcome.fetch_or(NO_MODULE, Ordering::Relaxed);
    }
}

/// Adds the places of a module, if a line maps the beginning of its file:
/// `START-END PERMISSIONS OFFSET DEVICE INODE PATH`.
fn add_module(line: &[u8]) {
    let Some(slash) = line.iter().position(|byte| *byte == b'/') else { return };
    let mut path = &line[slash..];
    if path.ends_with(b" (deleted)") {
        path = &path[..path.len() - 10];
    }
    let base = number_at(line, 0);
    let mut field = 0;
    let mut offset_at = 0;
    for (at, byte) in line.iter().enumerate() {
        if *byte == b' ' {
            field += 1;
            if field == 2 {
                offset_at = at + 1;
            }
        }
    }
    if number_at(line, offset_at) != 0 {
        return;
    }
    let module = hash(path);
    for event in 0..header().events as usize {
        let one = planned(event);
        if one.module == module && tables().next[event].load(Ordering::Relaxed) == 0 {
            add_place(base.wrapping_add(one.offset as usize), event);
        }
    }
}

/// Returns the hexadecimal number at a place.
fn number_at(line: &[u8], from: usize) -> usize {
    let digits = line.iter().skip(from).map_while(|byte| (*byte as char).to_digit(16));
    digits.fold(0, |number, digit| number << 4 | digit as usize)
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The path of the next child of a thread.
pub(crate) fn next_child() -> u64 {
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block() };
    let number = block.plan_children;
    block.plan_children += 1;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for word in [block.plan_path, number] {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

const LAST: u32 = u32::MAX;

fn slot_of(place: usize) -> usize {
    place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 13)
}

/// Adds an event to those of its place.
fn add_place(place: usize, event: usize) {
    let tables = tables();
    let mut slot = slot_of(place);
    loop {
        let (at, first) = &tables.slots[slot % SLOTS];
        let known = at.load(Ordering::Relaxed);
        if known == 0 || known == place {
            let before = first.swap(event as u32 + 1, Ordering::Relaxed);
            let next = if before == 0 { LAST } else { before };
            tables.next[event].store(next, Ordering::Relaxed);
            at.store(place, Ordering::Release);
            tables.filter[place % FILTER_BITS].store(1, Ordering::Relaxed);
            return;
        }
        slot += 1;
    }
}

/// Returns the number of a place, and its first event.
fn find(place: usize) -> Option<(usize, usize)> {
    let tables = tables();
    if tables.filter[place % FILTER_BITS].load(Ordering::Relaxed) == 0 {
        return None;
    }
    let mut slot = slot_of(place);
    loop {
        let (at, first) = &tables.slots[slot % SLOTS];
        match at.load(Ordering::Acquire) {
            0 => return None,
            known if known == place => {
                let first = first.load(Ordering::Relaxed);
                return Some((slot % SLOTS, first as usize - 1));
            }
            _ => slot += 1,
        }
    }
}

/// A thread is about to be created, or was not created after all. The first thread counts itself.
pub(crate) fn count_alive(change: i32) {
    if is_on() {
        header().alive.fetch_add(change as u32, Ordering::Relaxed);
        header().activity.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thread begins; its block has its path.
pub(crate) fn begin_thread() {
    header().activity.fetch_add(1, Ordering::Relaxed);
    let counts = c::map_anonymous(SLOTS * size_of::<Count>());
    // SAFETY: the block is this thread's.
    unsafe { (*block()).plan_counts = counts };
}

/// A thread ends.
pub(crate) fn end_thread(block: &mut Block) {
    pass(block);
    header().alive.fetch_sub(1, Ordering::Relaxed);
    header().activity.fetch_add(1, Ordering::Relaxed);
    if block.plan_counts != 0 {
        c::call(c::SYS_MUNMAP, &[block.plan_counts, SLOTS * size_of::<Count>()]);
        block.plan_counts = 0;
    }
}

/// A thread is about to call a function that may wait. Its event comes after that.
#[inline(always)]
pub(crate) fn before(object: usize, place: usize) {
    if is_on() {
        announce(object, place);
    }
}

#[cold]
fn announce(object: usize, place: usize) {
    // SAFETY: the block is this thread's.
    let block = unsafe { &mut *block() };
    if block.state != RECORDED || block.plan_counts == 0 {
        return;
    }
    pass(block);
    header().activity.fetch_add(1, Ordering::Relaxed);
    block.plan_place = place;
    come_to(block, LOCK, object, 1, place);
}

/// The function that a thread has called last is over.
#[inline(always)]
pub(crate) fn after() {
    if is_on() {
        // SAFETY: the block is this thread's.
        pass(unsafe { &mut *block() });
    }
}

/// Calls a function that may wait for others for as long as it takes.
#[inline(always)]
pub(crate) fn blocking<T>(function: impl FnOnce() -> T) -> T {
    if !is_on() {
        return function();
    }
    header().blocked.fetch_add(1, Ordering::Relaxed);
    let result = function();
    // After a fork the plan is the parent's.
    if is_on() {
        header().blocked.fetch_sub(1, Ordering::Relaxed);
        header().activity.fetch_add(1, Ordering::Relaxed);
    }
    result
}

/// Takes an event in the place of recording it.
pub(crate) fn event(block: *mut Block, first: u64, place: usize, third: u64) {
    // SAFETY: the block is this thread's: its own code calls this.
    let block = unsafe { &mut *block };
    let kind = first & KIND;
    if block.state != RECORDED || block.plan_counts == 0 || block.handlers > 0 || place == 0 {
        return;
    }
    if matches!(kind, SIGNAL_BEGIN | SIGNAL_END | THREAD_BEGIN) {
        return;
    }
    if !(READ..=VPTR_WRITE).contains(&kind) {
        header().activity.fetch_add(1, Ordering::Relaxed);
    }
    let address = (first & ((1 << 48) - 1)) as usize;
    match kind {
        LOCK_REQUEST | SEM_REQUEST if block.plan_place == place => return,
        LOCK | LOCK_REFUSED | SEM_WAIT | SEM_REFUSED | COND_WAKE | BARRIER_LEAVE | THREAD_JOIN => {
            block.plan_place = 0;
            pass(block);
            return;
        }
        ATOMIC_LOAD..=ATOMIC_RMW if block.plan_place == place => {
            block.plan_place = 0;
            return;
        }
        _ => pass(block),
    }
    let size = match kind {
        READ..=VPTR_WRITE if third != 0 => third,
        READ..=VPTR_WRITE => first >> 56 & 31,
        _ => third.max(1),
    };
    come_to(block, kind, address, size, place);
    if kind == COND_WAIT && block.plan_open != 0 {
        let one = planned(block.plan_open as usize - 1);
        raise(&one.state, WAITING);
    }
}

/// Counts an operation, and takes it if it is one of the plan.
fn come_to(block: &mut Block, kind: u64, address: usize, size: u64, place: usize) {
    let Some((slot, first)) = find(place) else { return };
    let counts = block.plan_counts as *mut Count;
    // SAFETY: the table is this thread's, and has an entry for each slot.
    let count = unsafe { &mut *counts.add(slot) };
    let epoch = (block.epoch >> 35) as u32 + 1;
    let is_access = (READ..=VPTR_WRITE).contains(&kind);
    if is_access && count.count > 0 && count.epoch == epoch {
        return;
    }
    count.count += 1;
    count.epoch = if is_access { epoch } else { 0 };
    let number = count.count - 1;
    let mut event = first;
    loop {
        let one = planned(event);
        if one.path == block.plan_path && one.number == number {
            return reach(block, (event, one), kind, address, size);
        }
        match tables().next[event].load(Ordering::Relaxed) {
            0 | LAST => return,
            next => event = next as usize - 1,
        }
    }
}

/// A thread has come to an event of the plan.
fn reach(
    block: &mut Block,
    (event, one): (usize, &'static Planned),
    kind: u64,
    address: usize,
    size: u64,
) {
    one.thread.store(block.thread_id, Ordering::Relaxed);
    one.address.store(address as u64, Ordering::Relaxed);
    one.size.store(size, Ordering::Relaxed);
    // The other thread may go on as soon as this one has come, so it is looked for before, too.
    let may_meet = matches!(one.role, FIRST | SECOND) && (READ..=VPTR_WRITE).contains(&kind);
    if may_meet {
        meet(event, one);
    }
    raise(&one.state, REACHED);
    if may_meet {
        meet(event, one);
    }
    wait(event);
    if one.role == FIRST {
        use_after(one);
    }
    if one.role == ENDS && kind == FREE {
        block.plan_kept = address;
    }
    block.plan_open = event as u32 + 1;
}

/// Notes that two threads are at both accesses of a race.
fn meet(event: usize, one: &Planned) {
    for other in (0..header().events as usize).filter(|other| *other != event) {
        let other = planned(other);
        let is_there = other.state.load(Ordering::SeqCst) == REACHED;
        if matches!(other.role, FIRST | SECOND) && is_there && overlap(one, other) {
            header().outcome.fetch_or(MET, Ordering::Relaxed);
        }
    }
}

/// Notes that an event uses what another one has ended.
fn use_after(one: &Planned) {
    for other in (0..header().events as usize).map(planned) {
        let is_over = other.state.load(Ordering::SeqCst) == PASSED;
        if other.role == ENDS && is_over && overlap(one, other) {
            header().outcome.fetch_or(USED_AFTER_END, Ordering::Relaxed);
        }
    }
}

fn overlap(one: &Planned, other: &Planned) -> bool {
    let range = |of: &Planned| {
        let start = of.address.load(Ordering::SeqCst);
        (start, start.wrapping_add(of.size.load(Ordering::SeqCst).max(1)))
    };
    let ((a, b), (x, y)) = (range(one), range(other));
    a < y && x < b
}

/// Waits until the plan lets an event happen.
fn wait(event: usize) {
    let header = header();
    let mut is_held = false;
    'again: loop {
        if header.give_up.load(Ordering::Relaxed) != 0 {
            break;
        }
        for number in 0..header.holds as usize {
            let one = hold(number);
            if one.event as usize != event || one.other >= header.events {
                continue;
            }
            let state = &planned(one.other as usize).state;
            let now = state.load(Ordering::SeqCst);
            if now < one.state {
                if !is_held {
                    is_held = true;
                    header.held.fetch_add(1, Ordering::Relaxed);
                }
                let time = [0_u64, LOOK];
                let at = state.as_ptr() as usize;
                let time = (&raw const time) as usize;
                c::call(c::SYS_FUTEX, &[at, c::FUTEX_WAIT, now as usize, time]);
                continue 'again;
            }
        }
        break;
    }
    if is_held {
        header.held.fetch_sub(1, Ordering::Relaxed);
        header.activity.fetch_add(1, Ordering::Relaxed);
    }
}

/// Marks the last event of a thread as over.
fn pass(block: &mut Block) {
    let open = core::mem::take(&mut block.plan_open);
    if open != 0 {
        raise(&planned(open as usize - 1).state, PASSED);
        header().activity.fetch_add(1, Ordering::Relaxed);
    }
}

fn raise(state: &AtomicU32, to: u32) {
    if state.fetch_max(to, Ordering::SeqCst) < to {
        c::call(c::SYS_FUTEX, &[state.as_ptr() as usize, c::FUTEX_WAKE, i32::MAX as usize]);
    }
}

/// Returns whether a block that is given back stays, as the plan is about its use after that.
pub(crate) fn keeps(address: usize) -> bool {
    if !is_on() {
        return false;
    }
    // SAFETY: the block is this thread's.
    let kept = core::mem::take(unsafe { &mut (*block()).plan_kept });
    kept != 0 && kept == address
}

/// Gives the first action some time before the process ends, if the second one has happened.
pub(crate) fn before_exit() {
    if !is_on() {
        return;
    }
    after();
    let events = header().events as usize;
    let is_open = || {
        let mut all = (0..events).map(planned);
        let has = |one: &Planned, role: bool, over: bool| {
            let state = one.state.load(Ordering::SeqCst);
            (one.role == FIRST) == role && one.role != 0 && (state == PASSED) == over
        };
        all.clone().any(|one| has(one, false, true)) && all.any(|one| has(one, true, false))
    };
    let mut left = header().exit_delay_ms.min(10_000) / 5;
    while left > 0 && is_open() && header().give_up.load(Ordering::Relaxed) == 0 {
        let time = [0_u64, LOOK];
        c::call(c::SYS_NANOSLEEP, &[(&raw const time) as usize, 0]);
        left -= 1;
    }
}
