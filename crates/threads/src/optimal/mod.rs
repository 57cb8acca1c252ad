//! Exploration of one execution for each Mazurkiewicz trace.
//!
//! **Problem.** Two executions are equivalent if one becomes the other by swaps of neighbouring
//! events of different threads that are independent ([`label`]). Of each class of equivalent
//! executions that end or get stuck, run exactly one, and begin no other one.
//!
//! **Source.** P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Source sets: a foundation for
//! optimal dynamic partial order reduction", JACM 2017: optimal DPOR with wakeup trees. At the end
//! of each execution, for each two events in a race, what does not happen after the first one,
//! and then the second one, becomes a sequence of the wakeup tree of the state before the first
//! one, unless a thread that sleeps there can begin it, or a sequence that is there stands for it.
//!
//! **Guarantee.** One execution for each trace of a program that ends, and none that is blocked
//! since all its threads sleep: tests compare with all interleavings.
//!
//! **Example.** Thread 1 writes `x`; thread 2 reads `y`, then `x`. The first execution is `w r(y)
//! r(x)`. The race `w`, `r(x)` puts the sequence `r(y) r(x)` before `w`. When that is run, `w`
//! sleeps until `r(x)`, which is dependent on it. No race is left that leads elsewhere: there are
//! two executions, for three interleavings.
//!
//! **Deviations.** 1. Operations make others wait, as a lock does. One that may wait is in a race
//! with the latest event before which it need not wait; threads that wait in the end are in
//! races, too. If it is made to wait by several events that are independent of each other (shared
//! holders of a lock), those after the first are left out of the sequence. 2. What an event touches
//! is a matter of its result (a failed exchange reads), so that of the event that is moved is found
//! out on the objects as they are then. 3. An operation with several ways (a choice, a waiter to be
//! notified) has all of them as branches where it is run. 4. Owners that go away commute as long as
//! another one is left, which depends on how many were there. 5. An invocation is the operations
//! within it. 6. Threads that spin where nothing else can go on take turns; if they do something
//! else then, the exploration is not complete.
//!
//! Several cores explore one tree together, with the same counts: [`cores`].
//!
//! **Cost.** Each execution is run from its start, and each race in it costs its length. Memory is
//! that of the wakeup trees, which can be exponential in the length of an execution.

pub use cores::explore_optimal_on;
pub use outcome::{DporExplored, DporOptions};

use crate::execution::{Ending, Event};
use crate::program::ThreadProgram;
#[cfg(test)]
pub(crate) use cores::explore_in_turns;
#[cfg(test)]
pub(crate) use forest::Meetings;
pub(crate) use sabotage::Sabotage;

use search::Search;

mod cores;
mod ending;
mod forest;
mod label;
mod outcome;
mod path;
mod sabotage;
mod search;
mod tree;

/// Explores a program by one execution for each Mazurkiewicz trace.
pub fn explore_optimal<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
) -> DporExplored {
    explore_optimal_with(program, options, &mut |_, _| {})
}

/// Explores a program by one execution for each Mazurkiewicz trace, and shows each one.
pub fn explore_optimal_with<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
    visit: &mut dyn FnMut(&[Event], Ending),
) -> DporExplored {
    explore_with_fault(program, options, visit, Sabotage::None)
}

pub(crate) fn explore_with_fault<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
    visit: &mut dyn FnMut(&[Event], Ending),
    sabotage: Sabotage,
) -> DporExplored {
    Search::new(program, options, visit, sabotage).explore()
}
