//! Exploration by learning: what each thread does is learnt from executions, and all ways in which
//! the threads can meet are explored on what was learnt.
//!
//! What a thread does next is a function of the results that it got. So the trees of the threads,
//! by result, describe the whole program, and the search needs no program: its states are the
//! places of the threads in their trees, and the objects. Where the search meets a result after
//! which a thread was never seen, the program runs, along the way found and on to its end, and all
//! threads' trees grow. Every execution begins with something never seen: no two are equal in what
//! their threads saw. The executions are as many as there is to learn about single threads, not as
//! many as there are ways in which threads can meet.
//!
//! The search forgets what can no longer matter: two states are one if their threads have equal
//! futures and the objects that these futures touch are equal. It tries only a persistent set of
//! threads in each state. Both rest on the futures known so far, so the search is repeated until it
//! learns nothing: then they rested on everything. There are no cycles, since places in trees only
//! go down.

pub use behaviour::Divergence;
pub use journal::Journal;
pub use journal_text::JournalError;
pub use outcome::{Blocked, Fault, Found, Incomplete, LearnOptions, Learnt, Unseen};

pub(crate) use calls::Point;
pub(crate) use kind::conflict;
pub(crate) use sabotage::Sabotage;

use crate::program::ThreadProgram;
use learner::Learner;

mod behaviour;
mod calls;
mod classes;
mod confirm;
mod footprint;
mod hash;
mod journal;
mod journal_text;
mod kind;
mod learner;
mod memo;
mod outcome;
mod persistent;
mod rising;
mod runs;
mod sabotage;
mod settle;
mod shortest;
mod state;
mod turns;
mod walks;

/// Explores a program by learning.
///
/// Complete: every result that a thread can get in any execution, it got, and with `classes` every
/// combination; every failure and every deadlock is among the faults. Exponential in the number of
/// threads at worst. Memory: 16 bytes and more for each state with a choice, and the trees.
pub fn explore_by_learning<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &LearnOptions,
) -> Learnt {
    explore_with_fault(program, options, Sabotage::None)
}

pub(crate) fn explore_with_fault<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &LearnOptions,
    sabotage: Sabotage,
) -> Learnt {
    let mut learner = Learner::new(program, options);
    learner.sabotage = sabotage;
    learner.known.sabotage = sabotage;
    learner.execution.set_sabotage(sabotage);
    learner.learnt.incomplete = learner.explore().err();
    if learner.learnt.incomplete == Some(Incomplete::OtherProgram) {
        return Learnt { incomplete: learner.learnt.incomplete, ..Learnt::default() };
    }
    learner.note_loops();
    learner.confirm();
    learner.spot_check();
    // Where the trees are wrong, a shorter way on them may be none.
    if !matches!(learner.learnt.incomplete, Some(Incomplete::Diverged(_))) {
        learner.shorten();
    }
    learner.learnt.behaviours = learner.known.len() as u64;
    learner.learnt.trials = learner.execution.loops().trials;
    learner.learnt
}
