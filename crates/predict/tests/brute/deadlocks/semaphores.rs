//! Small programs in which a thread that waits for a permit of a semaphore can be in the way of the
//! one that gives it.

use super::calls::Call;
use super::record::Step;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Mode};

/// What a call of a semaphore does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PermitKind {
    /// Takes a permit, and waits for one.
    Waits,
    /// Takes a permit, if there is one.
    Takes,
    /// Found none.
    Fails,
    Gives,
}

/// How the threads of a program with semaphores wait for one another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// One takes a lock and then a permit, another one the other way round.
    Crossed,
    /// One waits for a permit with a lock that the one who gives it must take first.
    HandOver,
    /// The same as `Crossed`, with two semaphores.
    Both,
    /// In a circle: a lock, a permit and a lock.
    Circle,
    /// One keeps a permit while it waits for a signal, which the other one gives after it had one.
    Signal,
    /// One keeps a permit while it waits for the end of another one, which needs one.
    End,
    /// Locks and permits in any order.
    Any,
}

impl Use {
    pub(super) fn random(rng: &mut RandomSource) -> Use {
        match rng.below(12) {
            0 => Use::Crossed,
            1 => Use::HandOver,
            2 => Use::Both,
            3 | 4 => Use::Circle,
            5 | 6 | 8 | 9 => Use::Signal,
            7 => Use::End,
            _ => Use::Any,
        }
    }

    /// Returns how many permits the semaphores have in the beginning.
    pub(super) fn permits(self, rng: &mut RandomSource) -> [i64; 2] {
        let more = i64::from(rng.chance(15));
        match self {
            Use::HandOver => [more, 1],
            _ => [1 + more, 1],
        }
    }

    /// Returns the steps of one of three threads.
    pub(super) fn steps(self, rng: &mut RandomSource, number: usize) -> Vec<Step> {
        let (lock, unlock) = ([0, 1].map(take), [0, 1].map(give));
        let mut steps = match (self, number) {
            (Use::Crossed, 0) => within(&[lock[0], wait(0)], &[gives(0), unlock[0]], rng),
            (Use::Crossed, 1) => within(&[wait(0), lock[0]], &[unlock[0], gives(0)], rng),
            (Use::HandOver, 0) => within(&[lock[0], wait(0)], &[unlock[0]], rng),
            (Use::HandOver, 1) => within(&[lock[0]], &[unlock[0], gives(0)], rng),
            (Use::Both, 0) => within(&[wait(0), wait(1)], &[gives(1), gives(0)], rng),
            (Use::Both, 1) => within(&[wait(1), wait(0)], &[gives(0), gives(1)], rng),
            (Use::Circle, 0) => within(&[lock[0], wait(0)], &[gives(0), unlock[0]], rng),
            (Use::Circle, 1) => within(&[wait(0), lock[1]], &[unlock[1], gives(0)], rng),
            (Use::Circle, _) => within(&[lock[1], lock[0]], &[unlock[0], unlock[1]], rng),
            (Use::Signal, 0) => {
                let waits = [wait(0), Step::Wait(0), Step::Wake(0)];
                within(&waits, &[gives(0)], rng)
            }
            (Use::Signal, 1) => {
                within(&[wait(0)], &[gives(0), Step::Signal(0, EventKind::Signal)], rng)
            }
            (Use::End, 0) => within(&[Step::Fork(1), wait(0), Step::Join(1)], &[gives(0)], rng),
            (Use::End, 1) => within(&[wait(0)], &[gives(0)], rng),
            (Use::Any, _) => any(rng),
            (Use::Signal | Use::End, _) if rng.chance(60) => Vec::new(),
            // A third one takes and gives, or only one of the two.
            _ => match rng.below(6) {
                5 => vec![lock[0], unlock[0], gives(0)],
                0 => vec![gives(0)],
                1 => vec![wait(0)],
                2 => vec![lock[0], wait(0), unlock[0], gives(0)],
                3 => vec![attempt(0), gives(0)],
                _ => vec![wait(0), gives(0)],
            },
        };
        if rng.chance(25) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, attempt(rng.below(2)));
        }
        // Whoever had a permit before may have to come first.
        if number < 2 && !matches!(self, Use::Signal | Use::End) && rng.chance(35) {
            steps.splice(0..0, [wait(0), gives(0)]);
        }
        steps
    }
}

/// Puts an access into the innermost part, sometimes; may exchange the last two steps.
fn within(first: &[Step], last: &[Step], rng: &mut RandomSource) -> Vec<Step> {
    let mut steps = first.to_vec();
    if rng.chance(25) {
        let kind = if rng.chance(50) { EventKind::Read } else { EventKind::Write };
        steps.push(Step::Access(kind, 0));
    }
    steps.extend(last);
    if last.len() > 1 && rng.chance(25) {
        let end = steps.len();
        steps.swap(end - 2, end - 1);
    }
    steps
}

/// Some steps that take and give, each lock and each permit at most once.
fn any(rng: &mut RandomSource) -> Vec<Step> {
    let pairs = [
        (take(0), give(0)),
        (take(1), give(1)),
        (wait(0), gives(0)),
        (wait(1), gives(1)),
        (attempt(0), gives(0)),
    ];
    let mut steps = Vec::new();
    for (first, last) in pairs {
        if rng.chance(45) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, first);
            if rng.chance(85) {
                steps.insert(at + 1 + rng.below(steps.len() - at), last);
            }
        }
    }
    steps
}

fn take(lock: u32) -> Step {
    Step::Acquire(lock, Mode::EXCLUSIVE)
}

fn give(lock: u32) -> Step {
    Step::Release(lock, Mode::EXCLUSIVE)
}

fn wait(semaphore: usize) -> Step {
    Step::Call(semaphore, Call::Permit(PermitKind::Waits))
}

fn gives(semaphore: usize) -> Step {
    Step::Call(semaphore, Call::Permit(PermitKind::Gives))
}

fn attempt(semaphore: usize) -> Step {
    Step::Call(semaphore, Call::Permit(PermitKind::Takes))
}
