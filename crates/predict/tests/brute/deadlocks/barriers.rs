//! Rounds of barriers, for the brute force; and small programs in which a thread that waits at a
//! barrier can be in the way of one that has yet to arrive.

use super::calls::Call;
use super::record::Step;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventId, EventKind, Mode, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The arrivals of the rounds of regular barriers.
pub(super) struct Rounds {
    /// By event of a barrier: the arrivals of its round. Only of regular barriers.
    of: BTreeMap<usize, BTreeSet<usize>>,
    barrier: BTreeMap<usize, u32>,
}

impl Rounds {
    pub(super) fn new(trace: &Trace) -> Rounds {
        let at = |event: usize| trace.event(EventId(event as u32));
        let all: Vec<usize> =
            (0..trace.len()).filter(|e| at(*e).kind() == EventKind::Barrier).collect();
        let arrivals = |event: usize| -> Vec<usize> {
            let task = at(event).task;
            if let Some(last) = (0..event).rev().find(|other| at(*other).task == task) {
                return vec![last];
            }
            let own = trace.handler_of(EventId(event as u32)).0;
            let forks = |e: &usize| at(*e).kind() == EventKind::Fork && at(*e).operand == own;
            (0..event).filter(forks).collect()
        };
        let key = |event: usize| {
            let same = |e: &&usize| {
                **e < event
                    && at(**e).operand == at(event).operand
                    && at(**e).task == at(event).task
            };
            (at(event).operand, all.iter().filter(same).count())
        };
        let mut rounds = Rounds { of: BTreeMap::new(), barrier: BTreeMap::new() };
        for event in &all {
            let of_barrier: Vec<usize> =
                all.iter().copied().filter(|e| at(*e).operand == at(*event).operand).collect();
            let is_regular = of_barrier.iter().all(|x| {
                of_barrier.iter().all(|y| {
                    (key(*x) <= key(*y) || x > y)
                        && (key(*x) != key(*y) || arrivals(*x).iter().all(|a| a < y))
                })
            });
            if is_regular {
                let round = of_barrier.iter().filter(|e| key(**e) == key(*event));
                rounds.of.insert(*event, round.flat_map(|e| arrivals(*e)).collect());
                rounds.barrier.insert(*event, at(*event).operand);
            }
        }
        rounds
    }

    /// Returns the arrivals of the round of an event.
    pub(super) fn arrivals(&self, event: usize) -> Option<&BTreeSet<usize>> {
        self.of.get(&event)
    }

    /// Returns the barriers at which some of these events are arrivals.
    pub(super) fn ahead(&self, events: &BTreeSet<usize>) -> BTreeSet<u32> {
        let of = self.of.iter().filter(|(_, all)| !all.is_disjoint(events));
        of.map(|(event, _)| self.barrier[event]).collect()
    }
}

/// How threads come to a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meeting {
    /// One waits with a lock that another one takes before it arrives.
    Held,
    /// The same, with two rounds: the lock is taken between them.
    Twice,
    /// One waits for the end of a thread that waits at the barrier.
    End,
    /// One waits at a barrier with a lock, another one at a call.
    Call,
    /// Two barriers.
    Two,
    /// In a circle: a barrier and two locks; a third lock must be taken in another order.
    Circle,
    /// One holds a lock and waits for a signal that comes after the barrier.
    Signal,
    /// Locks and barriers in any order.
    Any,
}

impl Meeting {
    pub(super) fn random(rng: &mut RandomSource) -> Meeting {
        match rng.below(13) {
            12 => Meeting::Twice,
            0 | 1 => Meeting::Held,
            10 | 11 => Meeting::Circle,
            2 => Meeting::End,
            3 | 4 => Meeting::Call,
            5 => Meeting::Two,
            6 | 7 => Meeting::Signal,
            _ => Meeting::Any,
        }
    }

    /// Returns the steps of one of three threads.
    pub(super) fn steps(self, rng: &mut RandomSource, number: usize) -> Vec<Step> {
        let (lock, unlock) = ([0, 1].map(take), [0, 1].map(give));
        let (first, second) = (Step::Barrier(0), Step::Barrier(1));
        let call = |call| Step::Call(0, call);
        let mut steps = match (self, number) {
            (Meeting::Held, 0) => vec![lock[0], first, unlock[0]],
            (Meeting::Held, 1) => vec![lock[0], unlock[0], first],
            (Meeting::Twice, 0) => vec![lock[0], first, unlock[0], first],
            (Meeting::Twice, 1) => vec![first, lock[0], unlock[0], first],
            (Meeting::End, 0) => vec![first],
            (Meeting::End, 1) => vec![lock[0], unlock[0], first],
            (Meeting::End, _) => vec![Step::Fork(0), lock[0], Step::Join(0), unlock[0]],
            (Meeting::Call, 0) => vec![lock[0], first, unlock[0]],
            (Meeting::Call, 1) => vec![call(Call::Recv), first],
            (Meeting::Call, _) => vec![lock[0], unlock[0], call(Call::Send)],
            (Meeting::Two, 0) => vec![lock[0], first, unlock[0], second],
            (Meeting::Two, 1) => vec![first, lock[0], unlock[0], second],
            (Meeting::Two, _) => vec![lock[0], unlock[0], second],
            (Meeting::Circle, 0) => vec![lock[0], first, unlock[0]],
            (Meeting::Circle, 1) => vec![take(2), lock[1], unlock[1], give(2), first],
            (Meeting::Circle, _) => {
                vec![take(2), give(2), lock[1], lock[0], unlock[0], unlock[1]]
            }
            (Meeting::Signal, 0) => vec![lock[0], call(Call::Recv), unlock[0]],
            (Meeting::Signal, 1) => vec![first, call(Call::Send)],
            (Meeting::Signal, _) => vec![lock[0], unlock[0], first],
            (Meeting::Any, _) => any(rng),
            (Meeting::Held | Meeting::Twice, _) => match rng.below(4) {
                0 => vec![first],
                1 => vec![lock[1], first, unlock[1]],
                2 => vec![lock[1], lock[0], unlock[0], unlock[1]],
                _ => Vec::new(),
            },
        };
        if number == 1 && rng.chance(15) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, Step::Access(EventKind::Read, 0));
        }
        if number == 0 && rng.chance(15) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, Step::Access(EventKind::Write, 0));
        }
        // A gate.
        if number < 2 && rng.chance(8) {
            steps.insert(0, take(2));
            steps.push(give(2));
        } else if rng.chance(15) {
            steps.splice(0..0, [take(1), give(1)]);
        }
        steps
    }
}

/// Sections, with each barrier at most once.
fn any(rng: &mut RandomSource) -> Vec<Step> {
    let mut steps = Vec::new();
    for pair in 0..2 {
        if rng.chance(60) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, take(pair));
            steps.insert(at + 1 + rng.below(steps.len() - at), give(pair));
        }
    }
    for barrier in 0..2 {
        if rng.chance(60) {
            steps.insert(rng.below(steps.len() + 1), Step::Barrier(barrier));
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
