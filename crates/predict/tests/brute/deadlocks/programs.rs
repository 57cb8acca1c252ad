//! Random runs of small programs of threads with nested locks.

use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Location, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder};

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
    /// Threads say what they ask for, and may end there.
    Requests,
    Mixed,
}

impl Family {
    pub(super) const ALL: [Family; 9] = [
        Family::Locks,
        Family::Data,
        Family::Forks,
        Family::Readers,
        Family::Reentrant,
        Family::Tries,
        Family::Conditions,
        Family::Requests,
        Family::Mixed,
    ];

    fn has(self, part: Family) -> bool {
        self == part || self == Family::Mixed
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Acquire(u32, Mode),
    Request(u32, Mode),
    Release(u32, Mode),
    Access(EventKind, u32),
    Fork(usize),
    Join(usize),
    Signal,
    Wait,
    /// Takes the lock again once a signal has come.
    Retake(u32, Mode),
    Wake,
}

struct Thread {
    steps: Vec<Step>,
    next: usize,
    begun: bool,
    /// The number of signals at its wait.
    waits_since: usize,
}

/// Returns a random run with at most `most` events.
pub(super) fn run(rng: &mut RandomSource, family: Family, most: usize) -> Trace {
    let threads = 2 + rng.below(3);
    let locks = 2 + rng.below(3) as u32;
    let mut all: Vec<Thread> = Vec::new();
    let length = (most / threads).max(4);
    for _ in 0..threads {
        let length = 3 + rng.below(length - 2);
        let steps = body(rng, family, locks, length);
        all.push(Thread { steps, next: 0, begun: true, waits_since: 0 });
    }
    if family.has(Family::Forks) {
        fork(rng, &mut all);
    }
    record(rng, &mut all, locks, most, family.has(Family::Requests))
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
    while steps.len() < length {
        match rng.below(100) {
            0..45 => acquire(rng, family, locks, (&mut steps, &mut held)),
            45..72 => release(rng, (&mut steps, &mut held)),
            _ if family.has(Family::Conditions) && rng.chance(60) => {
                condition(rng, (&mut steps, &mut held));
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

/// A signal, or a wait that gives back the last lock.
fn condition(rng: &mut RandomSource, (steps, held): (&mut Vec<Step>, &mut Vec<(u32, Mode)>)) {
    let last = held.last().copied();
    let once = |lock: u32| held.iter().filter(|(other, _)| *other == lock).count() == 1;
    match last.filter(|(lock, _)| once(*lock) && rng.chance(50)) {
        Some((lock, mode)) => {
            let mode = Mode::from_bits(mode.bits() & 1);
            let again =
                [Step::Wait, Step::Release(lock, mode), Step::Retake(lock, mode), Step::Wake];
            steps.extend(again);
        }
        None => steps.push(Step::Signal),
    }
}

/// Runs the threads in a random order until they end or wait for ever.
fn record(
    rng: &mut RandomSource,
    all: &mut [Thread],
    locks: u32,
    most: usize,
    asks: bool,
) -> Trace {
    let mut b = TraceBuilder::new();
    let tasks: Vec<TaskId> = (0..all.len())
        .map(|i| {
            let handler = b.handler(&format!("T{i}"), Mailbox::None).expect("room");
            b.initial(handler)
        })
        .collect();
    for i in 0..locks {
        let name = b.interner.name(&format!("m{i}")).expect("room");
        b.interner.lock(name).expect("room");
    }
    let places: Vec<u32> = ["x", "y"]
        .map(|name| {
            let name = b.interner.name(name).expect("room");
            b.interner.location(Location::Named(name)).expect("room").0
        })
        .to_vec();
    let mut held: Vec<(usize, u32, bool)> = Vec::new();
    let mut signals = 0;
    // Long pieces of one thread leave more to be reordered.
    let mut last = 0;
    for _ in 0..most {
        let ready: Vec<usize> =
            (0..all.len()).filter(|t| is_ready(all, *t, &held, signals)).collect();
        if ready.is_empty() {
            break;
        }
        let keeps = ready.contains(&last) && rng.chance(60);
        let t = if keeps { last } else { ready[rng.below(ready.len())] };
        last = t;
        let step = all[t].steps[all[t].next];
        all[t].next += 1;
        let task = tasks[t];
        match step {
            Step::Acquire(lock, mode) | Step::Retake(lock, mode) => {
                held.push((t, lock, mode.is_shared()));
                b.push(task, Op::new(EventKind::Acquire, mode), lock);
            }
            Step::Request(lock, mode) => {
                b.push(task, Op::new(EventKind::Request, mode), lock);
            }
            Step::Release(lock, mode) => {
                let at = held.iter().position(|of| (of.0, of.1) == (t, lock)).expect("held");
                held.remove(at);
                b.push(task, Op::new(EventKind::Release, mode), lock);
            }
            Step::Access(kind, at) => {
                b.push(task, kind.into(), places[at as usize]);
            }
            Step::Fork(child) => {
                all[child].begun = true;
                b.push(task, EventKind::Fork.into(), child as u32);
            }
            Step::Join(child) => {
                b.push(task, EventKind::Join.into(), child as u32);
            }
            Step::Signal => {
                signals += 1;
                b.on_condition(task, EventKind::Signal, "c").expect("room");
            }
            Step::Wait => {
                all[t].waits_since = signals;
                b.on_condition(task, EventKind::Wait, "c").expect("room");
            }
            Step::Wake => {
                b.on_condition(task, EventKind::Wake, "c").expect("room");
            }
        }
    }
    if asks {
        end(rng, all, &tasks, &mut b);
    }
    b.finish()
}

/// Lets threads that stand before an acquire ask for it, and some of them exit there.
fn end(rng: &mut RandomSource, all: &[Thread], tasks: &[TaskId], b: &mut TraceBuilder) {
    for (thread, task) in all.iter().zip(tasks) {
        if let Some(Step::Acquire(lock, mode)) = thread.steps.get(thread.next)
            && thread.begun
            && rng.chance(80)
        {
            b.push(*task, Op::new(EventKind::Request, *mode), *lock);
            if rng.chance(30) {
                b.push(*task, EventKind::Exit.into(), 0);
            }
        }
    }
}

fn is_ready(all: &[Thread], t: usize, held: &[(usize, u32, bool)], signals: usize) -> bool {
    let thread = &all[t];
    let is_free = |lock: u32, mode: Mode| {
        let mut others = held.iter().filter(|of| of.0 != t && of.1 == lock);
        others.all(|of| of.2 && mode.is_shared())
    };
    let step = thread.steps.get(thread.next).filter(|_| thread.begun);
    step.is_some_and(|step| match *step {
        Step::Acquire(lock, mode) => is_free(lock, mode),
        Step::Retake(lock, mode) => is_free(lock, mode) && signals > thread.waits_since,
        Step::Join(child) => all[child].next == all[child].steps.len(),
        _ => true,
    })
}
