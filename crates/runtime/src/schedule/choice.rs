//! Which thread goes on: three strategies, all of them decided by the seed alone.
//!
//! - *random*: each time, each thread that can go on is as likely as the others.
//! - *PCT* (Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic
//!   guarantees of finding bugs, 2010): threads have random priorities, and the highest one goes
//!   on. At `depth - 1` random steps, the one that is there gets the lowest priority.
//! - *POS* (Yuan, Yang, Gu: Partial order aware concurrency sampling, 2018): each step has a random
//!   priority, and one that conflicts with a step that was taken gets another one.

use super::header;
use super::slots::{READY, TIMED, all, is_any_outside, slot};
use core::sync::atomic::{AtomicU64, Ordering};

const RANDOM: u32 = 0;
const PCT: u32 = 1;
const POS: u32 = 2;

/// One in so many decisions may end a wait that has a time.
const TIME_OUTS: u64 = 8;
/// One in so many sleeps is over at once.
const SHORT_SLEEPS: u64 = 4;
/// The most changes of priorities in a run.
const CHANGES_MAX: usize = 16;
/// A thread that goes on for so many steps while others could gets a low priority.
const RUN_MAX: u64 = 20_000;

static RANDOM_STATE: AtomicU64 = AtomicU64::new(0);
/// The next low priority; first ones are above all of them.
static LOW: AtomicU64 = AtomicU64::new(1 << 40);
static CHANGES: [AtomicU64; CHANGES_MAX] = [const { AtomicU64::new(0) }; CHANGES_MAX];
/// The thread that went on last, and at which step it began to.
static LAST: AtomicU64 = AtomicU64::new(u64::MAX);
static SINCE: AtomicU64 = AtomicU64::new(0);

/// Splitmix64.
fn random() -> u64 {
    let state = RANDOM_STATE.load(Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    RANDOM_STATE.store(state, Ordering::Relaxed);
    let mut word = state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Begins with a seed, in a run that is expected to have so many steps.
pub(super) fn start(seed: u64, length: u64) {
    RANDOM_STATE.store(seed.wrapping_mul(0xd134_2543_de82_ef95), Ordering::Relaxed);
    let count = (header().depth as usize).saturating_sub(1).min(CHANGES_MAX);
    for change in &CHANGES[..count] {
        change.store(1 + random() % length.max(1), Ordering::Relaxed);
    }
    begin(0);
}

/// A thread begins.
pub(super) fn begin(number: usize) {
    slot(number).priority.store(high(), Ordering::Relaxed);
}

fn high() -> u64 {
    random() >> 1 | 1 << 62
}

/// Makes a thread the last one that goes on by its priority.
pub(super) fn lower(number: usize) {
    let low = LOW.load(Ordering::Relaxed).saturating_sub(1);
    LOW.store(low, Ordering::Relaxed);
    slot(number).priority.store(low, Ordering::Relaxed);
}

/// A thread sleeps. Most of the time, others go on as far as they can.
pub(super) fn sleep(number: usize) {
    if !random().is_multiple_of(SHORT_SLEEPS) {
        lower(number);
    }
}

/// A thread has come to a step.
pub(super) fn step(number: usize, steps: u64) {
    if LAST.swap(number as u64, Ordering::Relaxed) != number as u64 {
        SINCE.store(steps, Ordering::Relaxed);
    }
    let is_long = steps - SINCE.load(Ordering::Relaxed) > RUN_MAX;
    match header().strategy {
        PCT if CHANGES.iter().any(|change| change.load(Ordering::Relaxed) == steps) => {
            lower(number);
        }
        POS => slot(number).priority.store(high(), Ordering::Relaxed),
        _ => {}
    }
    if is_long {
        SINCE.store(steps, Ordering::Relaxed);
        lower(number);
    }
}

/// Returns the thread that goes on, if one can.
pub(super) fn next() -> Option<usize> {
    let count = |state: u32| all().filter(|(_, slot)| slot.state() == state).count();
    let (ready, timed) = (count(READY), count(TIMED));
    let ends =
        timed > 0 && if ready > 0 { random().is_multiple_of(TIME_OUTS) } else { !is_any_outside() };
    if ends || ready == 0 {
        return if ends { pick(TIMED, timed) } else { None };
    }
    if header().strategy == RANDOM {
        return pick(READY, ready);
    }
    let can = || all().filter(|(_, slot)| slot.state() == READY);
    let (number, first) = can().max_by_key(|(_, slot)| slot.priority.load(Ordering::Relaxed))?;
    if header().strategy == POS {
        let object = first.object.load(Ordering::Relaxed);
        let conflicts = |at: usize, other: usize| object != 0 && other == object && at != number;
        for (at, slot) in can() {
            if conflicts(at, slot.object.load(Ordering::Relaxed)) {
                slot.priority.store(high(), Ordering::Relaxed);
            }
        }
    }
    Some(number)
}

/// Picks any of the threads with a state.
fn pick(state: u32, count: usize) -> Option<usize> {
    let at = (random() % count.max(1) as u64) as usize;
    all().filter(|(_, slot)| slot.state() == state).nth(at).map(|(number, _)| number)
}

/// Returns a random number below another one.
pub(super) fn below(count: usize) -> usize {
    (random() % count.max(1) as u64) as usize
}
