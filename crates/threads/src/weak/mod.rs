//! Exploration under weak memory: every consistent execution graph of RC11, each exactly once.
//!
//! **Problem.** Given a program whose threads are functions of the results of their operations,
//! list its execution graphs (program order, reads-from `rf`, modification order `mo`) that RC11
//! allows (O. Lahav and others, "Repairing sequential consistency in C/C++11", PLDI 2017), with the
//! release sequences of C++20 (a releasing write and the read-modify-writes that follow).
//!
//! **Source.** M. Kokologiannakis, I. Marmanis, V. Gladstein, V. Vafeiadis, "Truly stateless,
//! optimal dynamic partial order reduction", POPL 2022. Events are added one at a time, always to
//! the first thread that can go on. A read branches over the writes that it may read from; a write
//! over its places in the modification order, and over the reads that it may *revisit*. A revisit
//! deletes what came after the read and what the write does not depend on, if all of that was added
//! in the one way that is chosen to stand for all others: see [`revisit`].
//!
//! **Guarantee.** Each consistent graph of a program that ends is visited once, and no other one.
//! Graphs in which a thread waits for something that is already there are given up, and counted
//! apart: locks and spinning loops make such graphs. Memory is linear in the events of an
//! execution, times the revisits that led to it, beside what is known of the threads. The real
//! program is run only where a thread gets results after which it was never seen.
//!
//! **Deviations.** 1. A read-modify-write's halves are added together, also where the first one is
//! revisited. 2. Operations on objects other than registers are read-modify-writes of the object's
//! state; one that would wait reads only from the last state, and waits to be revisited. 3. A
//! thread that spins ([`Act::Await`](crate::Act::Await)) waits for one of its reads to be
//! revisited, unless its loop gives up after some turns in vain: then these are explored one by
//! one.
//!
//! **Cost.** An event costs the square of the events where there are sequentially consistent
//! fences, and is linear in them otherwise.

pub use outcome::{WeakEvent, WeakExecution, WeakExplored, WeakFound, WeakOptions};
pub use reads_from::{explore_reads_from, explore_reads_from_with};

#[cfg(test)]
pub(crate) use reads_from::explore_classes;
pub(crate) use sabotage::Sabotage;

use crate::program::ThreadProgram;
use explore::Search;

mod behaviour;
mod canonical;
mod consistency;
mod cores;
mod ending;
mod explore;
mod graph;
mod linear;
mod outcome;
mod races;
mod reading;
mod reads_from;
mod revisit;
mod sabotage;
mod spinning;
mod states;

/// Explores a program under RC11.
pub fn explore_weak<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &WeakOptions,
) -> WeakExplored {
    explore_on_cores(program, options, &mut |_| {}, Sabotage::None)
}

/// Explores a program under RC11, and shows each execution.
pub fn explore_weak_with<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &WeakOptions,
    visit: &mut dyn FnMut(&WeakExecution<'_>),
) -> WeakExplored {
    explore_with_fault(program, options, visit, Sabotage::None)
}

pub(crate) fn explore_with_fault<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &WeakOptions,
    visit: &mut dyn FnMut(&WeakExecution<'_>),
    sabotage: Sabotage,
) -> WeakExplored {
    let options = WeakOptions { cores: 1, ..options.clone() };
    explore_on_cores(program, &options, visit, sabotage)
}

/// As the others. On several cores, executions are shown only as far as one has explored alone.
pub(crate) fn explore_on_cores<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &WeakOptions,
    visit: &mut dyn FnMut(&WeakExecution<'_>),
    sabotage: Sabotage,
) -> WeakExplored {
    let mut search = Search::new(program, options, visit, sabotage);
    search.explored.incomplete = search.run().err();
    search.explored.behaviours = search.known.len() as u64;
    search.explored.runs = search.known.runs;
    search.explored.long_loops = search.known.loops.long.clone();
    search.explored
}
