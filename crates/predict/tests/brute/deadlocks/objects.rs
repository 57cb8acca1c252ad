//! Small programs in which a thread that waits at a channel, a wait group, a future or a context
//! can be in the way of the one that it waits for.

use super::calls::Call;
use super::record::Step;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Mode};

/// How the threads of a program wait for one another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meeting {
    /// One receives with a lock that another one takes before it sends, or closes.
    Receive,
    /// One sends more than there is room for, with a lock that the receiver takes.
    Send,
    /// One waits for the end of some work with a lock that a worker takes.
    Work,
    /// One waits for a value with a lock that the one who sets it takes.
    Value,
    /// Two wait for each other at two channels, in a changing order.
    Both,
    /// In a circle: a channel, a lock, and a channel or a lock.
    Circle,
    /// In a circle: a channel and two locks; a third lock must be taken in another order.
    Swapped,
    /// One waits for the end of a thread that waits at a channel.
    End,
    /// Calls and locks in any order.
    Any,
}

impl Meeting {
    pub(super) fn random(rng: &mut RandomSource) -> Meeting {
        match rng.below(17) {
            14..17 => Meeting::Swapped,
            0 | 1 => Meeting::Receive,
            2 | 3 => Meeting::Send,
            4 | 5 => Meeting::Work,
            6..9 => Meeting::Value,
            9 => Meeting::Both,
            10 => Meeting::Circle,
            11 => Meeting::End,
            _ => Meeting::Any,
        }
    }

    /// Returns the steps of one of three threads.
    pub(super) fn steps(self, rng: &mut RandomSource, number: usize) -> Vec<Step> {
        let (lock, unlock) = ([0, 1].map(take), [0, 1].map(give));
        let send = |of| Step::Call(of, Call::Send);
        let recv = |of| Step::Call(of, Call::Recv);
        let call = |call| Step::Call(0, call);
        let mut steps = match (self, number) {
            (Meeting::Receive, 0) => vec![lock[0], recv(0), unlock[0]],
            (Meeting::Receive, 1) => {
                let gives = if rng.chance(30) { call(Call::Close) } else { send(0) };
                vec![lock[0], unlock[0], gives]
            }
            (Meeting::Receive, _) => match rng.below(5) {
                0 => vec![send(0)],
                1 => vec![recv(0)],
                2 => vec![lock[0], send(0), unlock[0]],
                _ => vec![lock[1], unlock[1]],
            },
            (Meeting::Send, 0) => vec![lock[0], send(0), send(0), unlock[0]],
            (Meeting::Send, 1) => vec![lock[0], unlock[0], recv(0), recv(0)],
            (Meeting::Send, _) => match rng.below(4) {
                0 => vec![recv(0)],
                1 => vec![send(0)],
                2 => vec![call(Call::Close)],
                _ => vec![lock[0], unlock[0]],
            },
            (Meeting::Work, 0) => {
                vec![call(Call::Add), Step::Fork(1), lock[0], call(Call::Wait), unlock[0]]
            }
            (Meeting::Work, 1) => vec![lock[0], unlock[0], call(Call::Done)],
            (Meeting::Work, _) => match rng.below(4) {
                0 => vec![call(Call::Add), call(Call::Done)],
                1 => vec![call(Call::Add), lock[0], unlock[0], call(Call::Done)],
                2 => vec![lock[0], call(Call::Wait), unlock[0]],
                _ => vec![lock[0], unlock[0]],
            },
            (Meeting::Value, 0) => {
                let waits = [Call::Get, Call::Cancelled][rng.below(2)];
                vec![lock[0], call(waits), unlock[0]]
            }
            (Meeting::Value, 1) => vec![lock[0], unlock[0], call(Call::Set), call(Call::Cancel)],
            (Meeting::Value, _) => match rng.below(8) {
                0 => vec![call(Call::Cancel)],
                1 => vec![call(Call::Get)],
                _ => vec![lock[0], unlock[0]],
            },
            (Meeting::Both, 0) => vec![recv(0), send(1)],
            (Meeting::Both, 1) => vec![recv(1), send(0)],
            (Meeting::Both, _) => vec![send(rng.below(2)), send(0), send(1)],
            (Meeting::Circle, 0) => vec![lock[0], recv(0), unlock[0]],
            (Meeting::Circle, 1) => vec![recv(1), send(0)],
            (Meeting::Circle, _) => vec![lock[0], unlock[0], send(1)],
            (Meeting::Swapped, 0) => vec![lock[0], recv(0), unlock[0]],
            (Meeting::Swapped, 1) => vec![take(2), lock[1], unlock[1], give(2), send(0)],
            (Meeting::Swapped, _) => {
                vec![take(2), give(2), lock[1], lock[0], unlock[0], unlock[1]]
            }
            (Meeting::End, 0) => vec![Step::Fork(1), lock[0], Step::Join(1), unlock[0]],
            (Meeting::End, 1) => vec![recv(0)],
            (Meeting::End, _) => vec![lock[0], unlock[0], send(0)],
            (Meeting::Any, _) => any(rng),
        };
        if rng.chance(20) {
            let all = [Call::Send, Call::Recv, Call::Add, Call::Set, Call::Close];
            let at = rng.below(steps.len() + 1);
            steps.insert(at, Step::Call(rng.below(2), all[rng.below(all.len())]));
        }
        if rng.chance(20) {
            let kind = if rng.chance(50) { EventKind::Read } else { EventKind::Write };
            steps.insert(rng.below(steps.len() + 1), Step::Access(kind, 0));
        }
        // A gate; or a section that someone may need before.
        if number < 2 && rng.chance(8) {
            steps.insert(0, take(2));
            steps.push(give(2));
        } else if rng.chance(12) {
            steps.splice(0..0, [take(0), give(0)]);
        }
        steps
    }
}

/// Sections, with calls in between.
fn any(rng: &mut RandomSource) -> Vec<Step> {
    let mut steps = Vec::new();
    for pair in 0..2 {
        if rng.chance(60) {
            let at = rng.below(steps.len() + 1);
            steps.insert(at, take(pair));
            steps.insert(at + 1 + rng.below(steps.len() - at), give(pair));
        }
    }
    let all = [
        Call::Send,
        Call::Recv,
        Call::Close,
        Call::Add,
        Call::Done,
        Call::Wait,
        Call::Set,
        Call::Get,
        Call::Cancel,
        Call::Cancelled,
    ];
    let of = [0, 0, 0, 3, 3, 3, 6, 6, 8, 8];
    let kind = of[rng.below(of.len())];
    for _ in 0..1 + rng.below(3) {
        let same: Vec<Call> =
            all.iter().zip(of).filter(|(_, k)| *k == kind).map(|(c, _)| *c).collect();
        let call = if rng.chance(70) { same[rng.below(same.len())] } else { all[rng.below(2)] };
        steps.insert(rng.below(steps.len() + 1), Step::Call(usize::from(rng.chance(20)), call));
    }
    steps
}

fn take(lock: u32) -> Step {
    Step::Acquire(lock, Mode::EXCLUSIVE)
}

fn give(lock: u32) -> Step {
    Step::Release(lock, Mode::EXCLUSIVE)
}
