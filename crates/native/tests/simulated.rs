//! Random runs of a machine with locks, conditions, barriers, semaphores and threads, as they
//! happen, one event after the other.

use crate::synthetic::pc;
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::{Event, kind};
use std::collections::BTreeMap;

pub(crate) const LOCKS: u64 = 0x1000;
pub(crate) const CONDITIONS: u64 = 0x2000;
pub(crate) const BARRIER: u64 = 0x3000;
pub(crate) const SEMAPHORE: u64 = 0x4000;
const DATA: u64 = 0x9000;

/// The threads that meet at the barrier.
pub(crate) const MEET: u64 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotBegun,
    Created,
    Runs,
    Waits { condition: u64, mutex: u64, woken: bool },
    AtBarrier { round: u64 },
    Ended,
}

#[derive(Default)]
struct Machine {
    states: Vec<State>,
    /// By lock: who holds it, and whether shared.
    holders: BTreeMap<u64, Vec<(usize, bool)>>,
    arrived: u64,
    round: u64,
    permits: u64,
    joined: Vec<usize>,
    /// In how many of 100 steps a thread with a lock gives it back.
    gives: u32,
    /// In how many of 100 steps a thread with a lock begins to wait with it.
    waits: u32,
}

/// An event with its thread.
pub(crate) type Done = (u32, Event);

/// Runs at random. Times are the order in which things happen, one apart.
pub(crate) fn run(seed: u64, steps: u64) -> Vec<Done> {
    run_giving(seed, steps, 15, 0)
}

/// Runs at random. A thread with a lock begins to wait with it in `waits` of 100 steps, and else
/// gives it back in `gives`.
pub(crate) fn run_giving(seed: u64, steps: u64, gives: u32, waits: u32) -> Vec<Done> {
    let mut rng = Rng::new(seed);
    let threads = 3 + rng.index(4);
    let states = vec![State::NotBegun; threads];
    let mut machine = Machine { states, permits: 1, gives, waits, ..Machine::default() };
    machine.states[0] = State::Created;
    let mut run = Vec::new();
    let init = |object, kind, third| Event { kind, address: object, third, ..Event::default() };
    let begin = [
        (
            0,
            Event {
                kind: kind::THREAD_BEGIN,
                address: 0x7000_0000,
                third: 0x1000,
                ..init(0, 0, 0)
            },
        ),
        (0, init(BARRIER, kind::BARRIER_INIT, MEET)),
        (0, init(SEMAPHORE, kind::SEM_INIT, 1)),
    ];
    machine.states[0] = State::Runs;
    run.extend(begin);
    for _ in 0..steps {
        let thread = rng.index(threads);
        if let Some(event) = machine.step(thread, &mut rng) {
            run.push((thread as u32, event));
        }
    }
    for (time, (_, event)) in (1..).zip(&mut run) {
        event.time = time * 10;
        event.pc = pc(event.pc % 50);
    }
    run
}

impl Machine {
    fn is_free(&self, lock: u64, thread: usize, shared: bool) -> bool {
        let holders = self.holders.get(&lock).map_or(&[][..], Vec::as_slice);
        holders.iter().all(|(holder, is_shared)| *holder != thread && shared && *is_shared)
    }

    fn step(&mut self, thread: usize, rng: &mut Rng) -> Option<Event> {
        let event = |kind, address, third| {
            Some(Event { kind, address, third, pc: kind.into(), ..Event::default() })
        };
        match self.states[thread] {
            State::NotBegun | State::Ended => None,
            State::Created => {
                self.states[thread] = State::Runs;
                event(kind::THREAD_BEGIN, 0x7000_0000 + 0x1_0000 * thread as u64, 0x1000)
            }
            State::Waits { condition, mutex, woken } => {
                let timed_out = !woken && rng.percent(3);
                if !(woken || timed_out) || !self.is_free(mutex, thread, false) {
                    return None;
                }
                self.holders.entry(mutex).or_default().push((thread, false));
                self.states[thread] = State::Runs;
                let wake = event(kind::COND_WAKE, condition, mutex)?;
                Some(Event { arg: timed_out.into(), ..wake })
            }
            State::AtBarrier { round } => {
                if round == self.round {
                    return None;
                }
                self.states[thread] = State::Runs;
                event(kind::BARRIER_LEAVE, BARRIER, 0)
            }
            State::Runs => self.act(thread, rng),
        }
    }

    fn unlock(&mut self, lock: u64, thread: usize) -> Option<Event> {
        let mut holders = self.holders.get(&lock)?.iter();
        let is_shared = holders.any(|(holder, shared)| *holder == thread && *shared);
        self.give(lock, thread);
        let (kind, arg) = (kind::UNLOCK, is_shared.into());
        Some(Event { kind, arg, address: lock, pc: kind.into(), ..Event::default() })
    }

    fn act(&mut self, thread: usize, rng: &mut Rng) -> Option<Event> {
        let event = |kind, address, third| {
            Some(Event { kind, address, third, pc: kind.into(), ..Event::default() })
        };
        let object = LOCKS + 0x100 * rng.below(3);
        let condition = CONDITIONS + 0x100 * rng.below(2);
        if self.waits > 0
            && let Some(lock) = self.lock_of(thread)
            && self.is_only(lock, thread)
            && rng.percent(self.waits)
        {
            return self.wait(lock, thread, condition);
        }
        // Now and then everything is given back, or most runs would soon be stuck.
        if rng.percent(self.gives)
            && let Some(lock) = self.lock_of(thread)
        {
            return self.unlock(lock, thread);
        }
        let held = self.holders.get(&object).and_then(|holders| {
            holders.iter().find(|(holder, _)| *holder == thread).map(|(_, shared)| *shared)
        });
        match rng.below(13) {
            0..3 | 8 => {
                let kind = rng.pick(&[kind::READ, kind::WRITE]);
                let access = event(kind, DATA + 8 * rng.below(6), 0)?;
                Some(Event { arg: 8, ..access })
            }
            3..6 if held.is_none() => {
                let shared = rng.percent(30);
                if !self.is_free(object, thread, shared) {
                    return None;
                }
                self.holders.entry(object).or_default().push((thread, shared));
                Some(Event { arg: shared.into(), ..event(kind::LOCK, object, 0)? })
            }
            3..6 if held == Some(false) && rng.percent(40) => self.wait(object, thread, condition),
            3..6 => self.unlock(object, thread),
            6 | 7 => {
                let all = rng.percent(30);
                let waits = |state: &&mut State| matches!(state, State::Waits { condition: on, woken: false, .. } if *on == condition);
                let most = if all { usize::MAX } else { 1 };
                for state in self.states.iter_mut().filter(waits).take(most) {
                    if let State::Waits { woken, .. } = state {
                        *woken = true;
                    }
                }
                event(if all { kind::COND_BROADCAST } else { kind::COND_SIGNAL }, condition, 0)
            }
            12 if self.arrived > 0 || rng.percent(25) => {
                self.states[thread] = State::AtBarrier { round: self.round };
                self.arrived += 1;
                if self.arrived == MEET {
                    (self.arrived, self.round) = (0, self.round + 1);
                }
                event(kind::BARRIER_ARRIVE, BARRIER, 0)
            }
            9 if rng.percent(50) || self.permits == 0 => {
                self.permits += 1;
                event(kind::SEM_POST, SEMAPHORE, 0)
            }
            9 => {
                self.permits -= 1;
                event(kind::SEM_WAIT, SEMAPHORE, 0)
            }
            10 => {
                let child = self.states.iter().position(|state| *state == State::NotBegun)?;
                self.states[child] = State::Created;
                event(kind::THREAD_CREATE, child as u64, 0)
            }
            _ => {
                let ended = |(at, state): (usize, &State)| {
                    (*state == State::Ended && !self.joined.contains(&at)).then_some(at)
                };
                if let Some(child) = self.states.iter().enumerate().find_map(ended) {
                    self.joined.push(child);
                    return event(kind::THREAD_JOIN, child as u64, 0);
                }
                if thread == 0 || rng.percent(30) {
                    return None;
                }
                // Who ends gives back what it holds: one lock an event, before its end.
                if let Some(lock) = self.lock_of(thread) {
                    return self.unlock(lock, thread);
                }
                self.states[thread] = State::Ended;
                event(kind::THREAD_END, 0, 0)
            }
        }
    }

    fn wait(&mut self, mutex: u64, thread: usize, condition: u64) -> Option<Event> {
        self.give(mutex, thread);
        self.states[thread] = State::Waits { condition, mutex, woken: false };
        let kind = kind::COND_WAIT;
        let pc = kind.into();
        Some(Event { kind, address: condition, third: mutex, pc, ..Event::default() })
    }

    /// Returns whether a thread holds a lock for itself alone.
    fn is_only(&self, lock: u64, thread: usize) -> bool {
        self.holders.get(&lock).is_some_and(|holders| holders.contains(&(thread, false)))
    }

    /// Returns a lock that a thread holds.
    fn lock_of(&self, thread: usize) -> Option<u64> {
        let is_own = |holders: &[(usize, bool)]| holders.iter().any(|one| one.0 == thread);
        self.holders.iter().find(|(_, holders)| is_own(holders)).map(|(lock, _)| *lock)
    }

    fn give(&mut self, lock: u64, thread: usize) {
        self.holders.entry(lock).or_default().retain(|(holder, _)| *holder != thread);
    }
}
