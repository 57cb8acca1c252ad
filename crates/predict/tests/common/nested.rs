//! Random traces of threads that hold many locks at once, mostly nested.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventKind, Mode, Op, Trace, TraceBuilder};

/// The options of a random trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nest {
    pub(crate) events: usize,
    pub(crate) threads: usize,
    pub(crate) locks: usize,
    pub(crate) variables: usize,
    /// The most locks that a thread holds.
    pub(crate) depth: usize,
    /// The percentage of acquires that take the free lock with the least number, and of releases
    /// that give the last lock back.
    pub(crate) in_order: u32,
    /// The percentage of the other releases that give the first lock back.
    pub(crate) from_front: u32,
    /// The percentage of steps that access a variable.
    pub(crate) accesses: u32,
    /// The percentage of shared acquires.
    pub(crate) shared: u32,
    /// Whether each section has an access.
    pub(crate) fills: bool,
}

impl Nest {
    /// Returns the options of a small trace.
    pub(crate) fn small(rng: &mut Rng) -> Nest {
        let depth = 3 + rng.index(12);
        Nest {
            events: 40 + rng.index(80),
            threads: 2 + rng.index(3),
            locks: depth + rng.index(4),
            variables: 1 + rng.index(5),
            depth,
            in_order: [0, 50, 90, 100][rng.index(4)],
            from_front: [0, 50, 95][rng.index(3)],
            accesses: [15, 35, 60][rng.index(3)],
            shared: [0, 0, 40][rng.index(3)],
            fills: false,
        }
    }
}

/// Returns a random trace. A thread takes some locks and gives all of them back, with accesses in
/// between; mostly one thread goes on until it holds none.
pub(crate) fn nested(rng: &mut Rng, nest: Nest) -> Trace {
    let mut b = TraceBuilder::new();
    let tasks: Vec<_> = (0..nest.threads)
        .map(|i| {
            let handler = b.handler(&format!("T{i}"), anyorder_trace::Mailbox::None);
            b.initial(handler.expect("room"))
        })
        .collect();
    for i in 0..nest.locks {
        let name = b.interner.name(&format!("m{i}")).expect("room");
        b.interner.lock(name).expect("room");
    }
    let mut held: Vec<Vec<(usize, bool)>> = vec![Vec::new(); nest.threads];
    let mut wanted = vec![0; nest.threads];
    let mut is_empty = vec![false; nest.threads];
    let mut t = 0;
    while b.columns.len() < nest.events {
        if held[t].is_empty() || rng.percent(4) {
            t = rng.index(nest.threads);
        }
        if held[t].is_empty() && wanted[t] == 0 {
            wanted[t] = rng.index(nest.depth + 1);
        }
        if rng.percent(nest.accesses) || (nest.fills && is_empty[t] && wanted[t] == 0) {
            is_empty[t] = false;
            let variable = format!("x{}", rng.index(nest.variables));
            let _ = if rng.percent(50) {
                b.write(tasks[t], &variable)
            } else {
                b.read(tasks[t], &variable)
            };
            continue;
        }
        let mode = |shared| if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
        if wanted[t] > 0 {
            let shared = rng.percent(nest.shared);
            let taken = |lock: &usize| {
                held.iter().flatten().any(|(l, s)| l == lock && !(*s && shared))
                    || held[t].iter().any(|(l, _)| l == lock)
            };
            let free: Vec<usize> = (0..nest.locks).filter(|lock| !taken(lock)).collect();
            wanted[t] -= 1;
            let Some(last) = free.len().checked_sub(1) else { continue };
            let at = if rng.percent(nest.in_order) { 0 } else { rng.index(last + 1) };
            held[t].push((free[at], shared));
            is_empty[t] = true;
            b.push(tasks[t], Op::new(EventKind::Acquire, mode(shared)), free[at] as u32);
        } else if let Some(last) = held[t].len().checked_sub(1) {
            let at = match rng.percent(nest.in_order) {
                true => last,
                false if rng.percent(nest.from_front) => 0,
                false => rng.index(last + 1),
            };
            let (lock, shared) = held[t].remove(at);
            b.push(tasks[t], Op::new(EventKind::Release, mode(shared)), lock as u32);
            // Sometimes take another one, so that sections overlap.
            wanted[t] = usize::from(rng.percent(15) && nest.in_order < 100);
        }
    }
    b.finish()
}
