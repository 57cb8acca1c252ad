//! Random runs of small programs of threads with nested locks.

use super::barriers;
use super::monitors::{Pattern, add_accesses, wait};
use super::objects;
use super::record::{Step, Thread, record};
use super::semaphores::Use;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Mode, Trace};

/// What the programs of a trace contain, besides nested locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Family {
    Locks,
    Data,
    Forks,
    Readers,
    Reentrant,
    Tries,
    Conditions,
    /// Few waits and few signals, so that who misses one waits for ever.
    Waiters,
    /// The same, with data, and with tests of it: reads on which no test depends are free.
    Branches,
    /// Semaphores and locks.
    Semaphores,
    /// Channels, wait groups, futures and contexts, with locks.
    Objects,
    /// Barriers, with locks and channels.
    Barriers,
    /// Threads say what they ask for, and may end there.
    Requests,
    /// Sections of one lock that read and write one variable, with waits and signals. No deadlock
    /// has a single lock, so this family is of use for pairs only.
    Sections,
    Mixed,
}

impl Family {
    /// All but those with calls and barriers, which have tests of their own.
    pub(super) const ALL: [Family; 11] = [
        Family::Locks,
        Family::Data,
        Family::Forks,
        Family::Readers,
        Family::Reentrant,
        Family::Tries,
        Family::Conditions,
        Family::Waiters,
        Family::Branches,
        Family::Requests,
        Family::Mixed,
    ];

    fn has(self, part: Family) -> bool {
        self == part || self == Family::Mixed
    }
}

/// Returns a random run with at most `most` events.
pub(super) fn run(rng: &mut RandomSource, family: Family, most: usize) -> Trace {
    let semaphores = family == Family::Semaphores;
    let meets = semaphores || matches!(family, Family::Objects | Family::Barriers);
    let waiters = meets || matches!(family, Family::Waiters | Family::Branches);
    let threads = if waiters { 3 } else { 2 + rng.below(3) };
    let locks = match family {
        Family::Objects | Family::Barriers => 3,
        _ if waiters => 2,
        _ => 2 + rng.below(3) as u32,
    };
    let pattern = Pattern::random(rng);
    let of_permits = semaphores.then(|| Use::random(rng));
    let permits = of_permits.map_or([0; 2], |of| of.permits(rng));
    let (mut at_objects, mut at_barriers) = (None, None);
    if family == Family::Objects {
        at_objects = Some(objects::Meeting::random(rng));
    } else if family == Family::Barriers {
        at_barriers = Some(barriers::Meeting::random(rng));
    }
    let mut all: Vec<Thread> = Vec::new();
    let length = (most / threads).max(4);
    for number in 0..threads {
        let length = 3 + rng.below(length - 2);
        let mut steps = match (of_permits, waiters && rng.chance(85)) {
            (Some(of), _) => of.steps(rng, number),
            (None, _) if at_objects.is_some() => {
                at_objects.map_or_else(Vec::new, |of| of.steps(rng, number))
            }
            (None, _) if at_barriers.is_some() => {
                at_barriers.map_or_else(Vec::new, |of| of.steps(rng, number))
            }
            (None, true) => pattern.steps(rng, number),
            (None, false) if family == Family::Sections => sections(rng, length),
            (None, false) => body(rng, family, locks, length),
        };
        if family == Family::Branches {
            add_accesses(rng, number, &mut steps);
        }
        all.push(Thread::new(steps));
    }
    if family == Family::Branches {
        let first = &mut all[rng.below(threads)].steps;
        first.insert(0, Step::Branch);
    }
    let forks: Vec<usize> =
        all.iter().flat_map(|thread| &thread.steps).filter_map(forked).collect();
    forks.iter().for_each(|child| all[*child].begun = false);
    if forks.is_empty() && (family.has(Family::Forks) || meets && rng.chance(25)) {
        fork(rng, &mut all);
    }
    let has_more = meets && !semaphores && rng.chance(25);
    let room = [1 + i64::from(has_more), 1];
    record(rng, &mut all, locks, most, (family.has(Family::Requests), permits, room))
}

const fn forked(step: &Step) -> Option<usize> {
    match step {
        Step::Fork(child) => Some(*child),
        _ => None,
    }
}

/// Lets threads start others, and wait for their ends.
fn fork(rng: &mut RandomSource, all: &mut [Thread]) {
    for child in 1..all.len() {
        if rng.chance(30) {
            continue;
        }
        all[child].begun = false;
        let parent = rng.below(child);
        let steps = &mut all[parent].steps;
        let at = rng.below(steps.len() + 1).min(rng.below(steps.len() + 1));
        steps.insert(at, Step::Fork(child));
        if rng.chance(60) {
            let others = (0..all.len()).filter(|other| *other != child && rng.chance(15));
            let who = others.last().unwrap_or(parent);
            let steps = &mut all[who].steps;
            let first = if who == parent { at + 1 } else { 0 };
            let at = first + rng.below(steps.len() + 1 - first);
            steps.insert(at, Step::Join(child));
        }
    }
}

/// Returns the steps of one thread.
fn body(rng: &mut RandomSource, family: Family, locks: u32, length: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut held: Vec<(u32, Mode)> = Vec::new();
    let waiters = matches!(family, Family::Waiters | Family::Branches);
    let waits = rng.chance(40);
    let mut few = 1 + rng.below(2);
    let conditions = if family == Family::Mixed { 20 } else { 60 };
    while steps.len() < length {
        match rng.below(100) {
            0..45 => acquire(rng, family, locks, (&mut steps, &mut held)),
            45..72 => release(rng, (&mut steps, &mut held)),
            _ if family.has(Family::Conditions) && rng.chance(conditions) => {
                condition(rng, (&mut steps, &mut held));
            }
            // What is waited for comes late, and who waits holds something.
            _ if waiters
                && few > 0
                && if waits { !held.is_empty() } else { 2 * steps.len() >= length } =>
            {
                few -= 1;
                if waits {
                    wait(rng, 0, (&mut steps, &mut held));
                } else {
                    steps.push(Step::Signal(0, EventKind::Signal));
                }
            }
            _ if family.has(Family::Data) || rng.chance(8) => {
                let kind = if rng.chance(50) { EventKind::Read } else { EventKind::Write };
                steps.push(Step::Access(kind, rng.below(2) as u32));
            }
            _ => {}
        }
    }
    if rng.chance(92) {
        while !held.is_empty() {
            release(rng, (&mut steps, &mut held));
        }
    }
    steps
}

/// Returns the steps of one thread with a single lock.
fn sections(rng: &mut RandomSource, length: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let access = |rng: &mut RandomSource, steps: &mut Vec<Step>| {
        let kind = if rng.chance(50) { EventKind::Read } else { EventKind::Write };
        steps.push(Step::Access(kind, u32::from(rng.chance(15))));
    };
    while steps.len() < length {
        let mut held = vec![(0, Mode::EXCLUSIVE)];
        steps.push(Step::Acquire(0, Mode::EXCLUSIVE));
        (0..=rng.below(2)).for_each(|_| access(rng, &mut steps));
        if rng.chance(40) {
            wait(rng, 0, (&mut steps, &mut held));
        }
        release(rng, (&mut steps, &mut held));
        match rng.below(4) {
            0 => access(rng, &mut steps),
            1 | 2 => steps.push(Step::Signal(0, EventKind::Signal)),
            _ => {}
        }
    }
    steps
}

fn acquire(
    rng: &mut RandomSource,
    family: Family,
    locks: u32,
    (steps, held): (&mut Vec<Step>, &mut Vec<(u32, Mode)>),
) {
    let lock = rng.below(locks as usize) as u32;
    let known = held.iter().find(|(other, _)| *other == lock).copied();
    if held.len() >= 3 || known.is_some() && !family.has(Family::Reentrant) {
        return;
    }
    let shared = family.has(Family::Readers) && rng.chance(50);
    let tries = family.has(Family::Tries) && rng.chance(25);
    let mode = match (known, shared, tries) {
        // Whoever has a lock takes it again in the same mode.
        (Some((_, mode)), ..) => Mode::from_bits(mode.bits() & 1),
        (None, false, false) => Mode::EXCLUSIVE,
        (None, true, false) => Mode::SHARED,
        (None, false, true) => Mode::TRY_EXCLUSIVE,
        (None, true, true) => Mode::TRY_SHARED,
    };
    held.push((lock, mode));
    // Few, as each is an event more to reorder.
    if family.has(Family::Requests) && rng.chance(40) {
        steps.push(Step::Request(lock, mode));
    }
    steps.push(Step::Acquire(lock, mode));
}

fn release(rng: &mut RandomSource, (steps, held): (&mut Vec<Step>, &mut Vec<(u32, Mode)>)) {
    if held.is_empty() {
        return;
    }
    let last = held.len() - 1;
    let at = if rng.chance(80) { last } else { rng.below(last + 1) };
    let (lock, mode) = held.remove(at);
    steps.push(Step::Release(lock, Mode::from_bits(mode.bits() & 1)));
}

/// A signal, or a wait.
fn condition(rng: &mut RandomSource, (steps, held): (&mut Vec<Step>, &mut Vec<(u32, Mode)>)) {
    let condition = rng.below(2);
    if rng.chance(50) {
        wait(rng, condition, (steps, held));
        return;
    }
    let all = rng.chance(25);
    let kind = if all { EventKind::Broadcast } else { EventKind::Signal };
    steps.push(Step::Signal(condition, kind));
}
