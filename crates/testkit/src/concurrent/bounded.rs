//! All that a program can do with few preemptions, state by state, with who ran last and how often
//! a thread was preempted.

use super::follow::{Next, follow};
use super::naive::{Outcome, State, perform, seen, successors};
use super::{Concurrent, Do, Waits};
use std::collections::BTreeSet;

/// Searches all that a program can do with at most so many preemptions; `None` if there are more
/// states than this. A preemption is a switch away from a thread that can go on and neither gives
/// way nor waits for the end of a time.
#[must_use]
pub fn everything_within(
    program: &Concurrent,
    preemptions: u32,
    states_max: usize,
    fruitless_max: u32,
) -> Option<Outcome> {
    let start = (State::start(program), None, 0);
    let mut outcome = Outcome::default();
    let mut known: BTreeSet<(State, Option<usize>, u32)> = BTreeSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some((state, last, used)) = todo.pop() {
        if known.len() > states_max {
            return None;
        }
        outcome.seen.extend(seen(program, &state));
        let held = last.filter(|last| can_go_on(program, &state, *last));
        // Failures count only if they are within the bound.
        let mut all = Outcome::default();
        for after in successors(program, &state, fruitless_max, &mut all) {
            let thread = who_ran(&state, &after);
            let used = used + u32::from(held.is_some_and(|held| held != thread));
            if used > preemptions {
                continue;
            }
            let history = &state.histories[&thread];
            if let Next::Fail(number) = follow(&program.threads[thread], history).next {
                outcome.failures.insert(number);
            }
            let after = (after, Some(thread), used);
            if known.insert(after.clone()) {
                todo.push(after);
            }
        }
        outcome.ends.extend(all.ends);
    }
    outcome.states = known.len();
    Some(outcome)
}

/// The thread that made the step between two states.
fn who_ran(before: &State, after: &State) -> usize {
    let ran = before.histories.iter().find(|(thread, history)| {
        after.histories[*thread].len() > history.len()
            || after.ended.contains(*thread) != before.ended.contains(*thread)
    });
    *ran.expect("a step is of a thread").0
}

/// Whether a thread can go on, and neither gives way nor waits for the end of a time.
pub(super) fn can_go_on(program: &Concurrent, state: &State, thread: usize) -> bool {
    if state.ended.contains(&thread) {
        return false;
    }
    match follow(&program.threads[thread], &state.histories[&thread]).next {
        Next::GiveWay(..) | Next::Yield => false,
        Next::Op(op) => !perform(state.clone(), thread, without_time(op)).is_empty(),
        Next::Fail(_) | Next::Begin(_) | Next::Return(_) | Next::End => true,
    }
}

/// The operation if time were never over.
fn without_time(op: Do) -> Do {
    let of = |waits| if waits == Waits::Some { Waits::Ever } else { waits };
    match op {
        Do::Lock(n, hold, waits) => Do::Lock(n, hold, of(waits)),
        Do::Upgrade(n, waits) => Do::Upgrade(n, of(waits)),
        Do::Wake(n, waits) => Do::Wake(n, of(waits)),
        Do::Park(waits) => Do::Park(of(waits)),
        Do::Send(n, item, waits) => Do::Send(n, item, of(waits)),
        Do::Receive(n, waits) => Do::Receive(n, of(waits)),
        Do::Acquire(n, count, waits) => Do::Acquire(n, count, of(waits)),
        op => op,
    }
}
