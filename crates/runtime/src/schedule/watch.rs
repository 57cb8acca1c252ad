//! How a thread waits for its turn, and takes it from one that is stuck.

use super::slots::{BLOCKED, OUTSIDE, READY, TIMED, has_turn, slot};
use super::{NOBODY, TURN, alone, dispatch, header};
use crate::{c, maps};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How long a thread that can go on waits between two looks, in nanoseconds.
const LOOK: u64 = 5_000_000;
/// How long one waits that cannot.
const LONG_LOOK: u64 = 40_000_000;
/// So many looks in a row find a thread asleep before it loses the turn.
const LOOKS: u32 = 2;
/// One that computes loses the turn after this time without a step.
const COMPUTES: u64 = 1_000_000_000;

/// When somebody looked last; what was seen, and since when; how often it was asleep.
static LOOKED: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(u64::MAX);
static SINCE: AtomicU64 = AtomicU64::new(0);
static ASLEEP: AtomicU32 = AtomicU32::new(0);

/// Waits for the turn.
pub(super) fn wait(own: usize) {
    let slot = slot(own);
    while slot.word.swap(0, Ordering::Acquire) == 0 {
        let length = if slot.state() == BLOCKED { LONG_LOOK } else { LOOK };
        let time = [0_u64, length];
        let (at, time) = (slot.word.as_ptr() as usize, (&raw const time) as usize);
        let result = c::call(c::SYS_FUTEX, &[at, c::FUTEX_WAIT_PRIVATE, 0, time]);
        if result == -(c::ETIMEDOUT as isize) {
            look(own);
        }
    }
}

fn now() -> u64 {
    let mut now = [0_u64; 2];
    c::call(c::SYS_CLOCK_GETTIME, &[1, (&raw mut now) as usize]);
    now[0].wrapping_mul(1_000_000_000).wrapping_add(now[1])
}

/// Looks whether the thread that has the turn is stuck, or nobody has it.
fn look(own: usize) {
    let now = now();
    let mut holder = NOBODY;
    alone(|| {
        holder = TURN.load(Ordering::Relaxed);
        let state = slot(own).state();
        if holder == NOBODY && state == TIMED {
            // Somebody is in a call of the system: time passes.
            slot(own).timed_out.store(1, Ordering::Relaxed);
            slot(own).set_state(READY);
        }
        if holder == NOBODY && matches!(slot(own).state(), READY) {
            dispatch();
        }
        if !matches!(state, READY | TIMED)
            || now.saturating_sub(LOOKED.load(Ordering::Relaxed)) < LOOK / 2
        {
            holder = NOBODY;
        }
        if holder != NOBODY {
            LOOKED.store(now, Ordering::Relaxed);
        }
    });
    if holder == NOBODY || has_turn(own) {
        return;
    }
    let header = header();
    let key = header.steps.load(Ordering::Relaxed).wrapping_mul(0x9e37_79b9)
        ^ header.switches.load(Ordering::Relaxed) << 16
        ^ holder as u64;
    if SEEN.swap(key, Ordering::Relaxed) != key {
        SINCE.store(now, Ordering::Relaxed);
        ASLEEP.store(0, Ordering::Relaxed);
        return;
    }
    let thread = slot(holder).thread_id.load(Ordering::Relaxed);
    let looks = match state_of(thread) {
        // It has the turn, and has not woken up yet.
        _ if slot(holder).word.load(Ordering::Relaxed) != 0 => {
            SEEN.store(u64::MAX, Ordering::Relaxed);
            return;
        }
        b'S' if slot(holder).is_sure.load(Ordering::Relaxed) != 0 => 0,
        b'S' => ASLEEP.fetch_add(1, Ordering::Relaxed) + 1,
        b'R' => {
            ASLEEP.store(0, Ordering::Relaxed);
            0
        }
        _ => return,
    };
    if looks < LOOKS && now.saturating_sub(SINCE.load(Ordering::Relaxed)) < COMPUTES {
        return;
    }
    alone(|| {
        if has_turn(holder) && slot(holder).word.load(Ordering::Relaxed) == 0 {
            header.taken.fetch_add(1, Ordering::Relaxed);
            slot(holder).set_state(OUTSIDE);
            dispatch();
        }
    });
}

/// Returns the letter of the state of a thread: `S` where it sleeps. 0 if it is not known.
fn state_of(thread: u32) -> u8 {
    if thread == 0 {
        return 0;
    }
    let mut path = core::mem::MaybeUninit::<[u8; 48]>::uninit();
    let at: *mut u8 = path.as_mut_ptr().cast();
    let mut length = 0;
    let mut add = |byte: u8| {
        // SAFETY: the path has 16 bytes, at most 10 digits, 5 bytes and a zero.
        unsafe { at.add(length).write_volatile(byte) };
        length += 1;
    };
    b"/proc/self/task/".iter().for_each(|byte| add(*byte));
    let mut unit = 1_000_000_000;
    while unit > 0 {
        if thread >= unit {
            add(b'0' + (thread / unit % 10) as u8);
        }
        unit /= 10;
    }
    b"/stat\0".iter().for_each(|byte| add(*byte));
    let mut state = 0;
    let mut is_after = 0;
    maps::read(at as usize, |part| {
        // The name of the thread is in parentheses, and may have some itself.
        for byte in part {
            match *byte {
                b')' => is_after = 1,
                b' ' if is_after == 1 => is_after = 2,
                letter if is_after == 2 => {
                    state = letter;
                    is_after = 0;
                }
                _ => {}
            }
        }
        true
    });
    state
}
