//! Exploration of one sequentially consistent execution for each reads-from class.
//!
//! **Problem.** Two executions are equivalent if their threads do the same and each read reads from
//! the same write. Of each class that has a sequentially consistent execution, visit one.
//!
//! **Source.** The equivalence is that of P. Abdulla, M. Atig, B. Jonsson, M. Lång, T. Ngo, K.
//! Sagonas, "Optimal stateless model checking for reads-from equivalence under sequential
//! consistency", OOPSLA 2019. The exploration is that of graphs ([`explore_weak`](super)), without
//! an order of the writes of registers and data: see [`canonical`](super::canonical) for what a
//! revisit may delete, and [`linear`](super::linear) for which graphs have an execution.
//!
//! **Guarantee.** Each class of a program that ends is visited once. An operation on another object
//! that changes it reads what the change before has left, so that a class knows their order; one
//! that leaves it as it is only reads. Graphs in which a thread
//! waits for what is already there are given up, and counted apart. Memory is polynomial, beside
//! what is known of the threads.
//!
//! **Limits.** A thread that waits in a loop for a change ([`Act::Await`](crate::Act::Await)) is
//! not supported: which write is the last one is not a matter of the class. The exploration ends
//! there, and says so. Loops that give up after some turns are explored turn by turn.

use super::explore::Search;
use super::outcome::{Model, WeakEvent, WeakExecution, WeakOptions};
use super::sabotage::Sabotage;
use crate::execution::{Ending, Event, Step};
use crate::learn::{Fault, Found};
use crate::optimal::{DporExplored, DporOptions};
use crate::program::ThreadProgram;
use rustc_hash::FxHashSet;

/// Explores a program by one execution for each reads-from class.
pub fn explore_reads_from<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
) -> DporExplored {
    explore_reads_from_with(program, options, &mut |_, _| {})
}

/// Explores a program by one execution for each reads-from class, and shows each one.
pub fn explore_reads_from_with<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
    visit: &mut dyn FnMut(&[Event], Ending),
) -> DporExplored {
    explore_classes(program, options, visit, Sabotage::None)
}

pub(crate) fn explore_classes<P: ThreadProgram + ?Sized>(
    program: &mut P,
    options: &DporOptions,
    visit: &mut dyn FnMut(&[Event], Ending),
    sabotage: Sabotage,
) -> DporExplored {
    let options = WeakOptions {
        events_max: options.steps_max.saturating_mul(2),
        executions_max: options.executions_max,
        spins_max: options.spins_max,
        turns_max: options.turns_max,
        cancel: options.cancel.clone(),
        ..WeakOptions::default()
    };
    let mut steps = 0;
    let mut show = |execution: &WeakExecution<'_>| {
        let events = in_order(&execution.events());
        steps += events.len() as u64;
        let ending = match execution.stuck {
            [] => Ending::Completed,
            _ if execution.spins => Ending::Livelock,
            _ => Ending::Deadlock,
        };
        visit(&events, ending);
    };
    let mut search = Search::new(program, &options, &mut show, sabotage);
    search.model = Model::ReadsFrom;
    search.states.has_readers = true;
    search.explored.incomplete = search.run().err();
    let explored = std::mem::take(&mut search.explored);
    let (runs, long_loops) = (search.known.runs, search.known.loops.long.clone());
    drop(search);
    let mut races = FxHashSet::default();
    let mut is_new = |fault: &Fault| match fault {
        Fault::Race(race) => races.insert(race.normal()),
        _ => true,
    };
    let faults = explored.faults.into_iter().filter(|found| is_new(&found.fault)).map(|found| {
        let steps = in_order(&found.events).iter().map(|event| event.step).collect();
        Found { fault: found.fault, steps, is_shortest: false }
    });
    DporExplored {
        executions: explored.executions,
        blocked: explored.blocked,
        steps,
        runs,
        faults: faults.collect(),
        long_loops,
        incomplete: explored.incomplete,
    }
}

/// Events of a sequentially consistent order as those of an interleaving.
pub(super) fn in_order(events: &[WeakEvent]) -> Vec<Event> {
    let event = |event: &WeakEvent| Event {
        step: Step { thread: event.thread, alternative: event.alternative },
        op: event.op.clone(),
        result: event.result,
        site: event.site,
    };
    events.iter().map(event).collect()
}
