//! Small programs in which a thread that waits for a signal can be in the way of the one that gives
//! it.

use super::record::Step;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Mode};

/// How the threads of a program wait for one another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    /// One waits for a signal while it holds a lock that another one needs before it gives the
    /// signal. A third one may give a signal without a lock.
    Monitor,
    /// Two wait for a signal of each other. A third one gives both signals.
    Exchange,
    /// The one that gives the signal needs a lock that a third one holds, and that needs the lock
    /// of the waiting one.
    Circle,
}

impl Pattern {
    pub(super) fn random(rng: &mut RandomSource) -> Pattern {
        match rng.below(10) {
            0..5 => Pattern::Monitor,
            5..7 => Pattern::Exchange,
            _ => Pattern::Circle,
        }
    }

    /// Returns the steps of one of three threads.
    pub(super) fn steps(self, rng: &mut RandomSource, number: usize) -> Vec<Step> {
        match self {
            Pattern::Monitor => monitor(rng, number),
            Pattern::Exchange => exchange(rng, number),
            Pattern::Circle => circle(rng, number),
        }
    }
}

fn take(lock: u32) -> Step {
    Step::Acquire(lock, Mode::EXCLUSIVE)
}

fn give(lock: u32) -> Step {
    Step::Release(lock, Mode::EXCLUSIVE)
}

fn signal(condition: usize) -> Step {
    Step::Signal(condition, EventKind::Signal)
}

fn exchange(rng: &mut RandomSource, number: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    if number > 1 {
        let first = rng.below(2);
        return vec![signal(first), signal(1 - first)];
    }
    let mut held = Vec::new();
    if rng.chance(30) {
        steps.push(take(number as u32));
        held.push((number as u32, Mode::EXCLUSIVE));
    }
    wait(rng, number, (&mut steps, &mut held));
    steps.extend(held.into_iter().map(|(lock, _)| give(lock)));
    steps.push(signal(1 - number));
    steps
}

fn circle(rng: &mut RandomSource, number: usize) -> Vec<Step> {
    match number {
        0 => {
            let mut steps = vec![take(0)];
            // Not given back in the wait.
            let nothing = &mut Vec::new();
            wait(rng, 0, (&mut steps, nothing));
            steps.push(give(0));
            steps
        }
        1 => match rng.chance(50) {
            true => vec![take(1), give(1), signal(0)],
            false => vec![take(1), signal(0), give(1)],
        },
        _ => vec![take(1), take(0), give(0), give(1)],
    }
}

fn monitor(rng: &mut RandomSource, number: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut held = Vec::new();
    match number {
        0 => {
            let outer = rng.below(2) as u32;
            steps.push(take(outer));
            held.push((outer, Mode::EXCLUSIVE));
            if rng.chance(50) {
                steps.push(take(1 - outer));
                held.push((1 - outer, Mode::EXCLUSIVE));
            }
            wait(rng, 0, (&mut steps, &mut held));
            steps.extend(held.into_iter().rev().map(|(lock, _)| give(lock)));
            steps.extend(rng.chance(40).then_some(signal(1)));
        }
        1 => {
            let lock = rng.below(2) as u32;
            if rng.chance(30) {
                steps.extend([Step::Wait(1), Step::Wake(1)]);
            }
            steps.push(take(lock));
            let nested = rng.chance(30);
            steps.extend(nested.then_some(take(1 - lock)));
            steps.extend(nested.then_some(give(1 - lock)));
            let inside = rng.chance(20);
            steps.extend(inside.then_some(signal(0)));
            steps.push(give(lock));
            let kind = if rng.chance(20) { EventKind::Broadcast } else { EventKind::Signal };
            steps.push(Step::Signal(0, kind));
        }
        _ => {
            let conditions = [rng.below(2), rng.below(2)];
            let count = 1 + rng.below(2);
            steps.extend(conditions.into_iter().take(count).map(signal));
        }
    }
    steps
}

/// Puts reads and writes before some steps of a thread, and tests of what was read. Often the third
/// thread reads what the first one writes after its wait.
pub(super) fn add_accesses(rng: &mut RandomSource, number: usize, steps: &mut Vec<Step>) {
    let wake = steps.iter().position(|step| matches!(step, Step::Wake(_)));
    match (number, wake) {
        (0, Some(wake)) => steps.insert(wake + 1, Step::Access(EventKind::Write, 0)),
        (2, None) if rng.chance(70) => steps.insert(0, Step::Observe(0)),
        _ => {}
    }
    for _ in 0..rng.below(3) {
        let kind = if rng.chance(55) { EventKind::Read } else { EventKind::Write };
        steps.insert(rng.below(steps.len() + 1), Step::Access(kind, rng.below(2) as u32));
    }
    if rng.chance(30) {
        steps.insert(rng.below(steps.len() + 1), Step::Branch);
    }
}

/// A wait that gives back the last lock, or none.
pub(super) fn wait(
    rng: &mut RandomSource,
    condition: usize,
    (steps, held): (&mut Vec<Step>, &mut Vec<(u32, Mode)>),
) {
    let once = |lock: u32| held.iter().filter(|(other, _)| *other == lock).count() == 1;
    let last = held.last().copied().filter(|(lock, _)| once(*lock) && rng.chance(60));
    let Some((lock, mode)) = last else {
        steps.extend([Step::Wait(condition), Step::Wake(condition)]);
        return;
    };
    let mode = Mode::from_bits(mode.bits() & 1);
    let retake = Step::Retake(lock, mode, condition);
    let (wait, wake) = (Step::Wait(condition), Step::Wake(condition));
    steps.extend([wait, Step::Release(lock, mode), retake, wake]);
}
