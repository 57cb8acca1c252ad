//! Which programs can be run thread by thread.

use crate::machine::{INIT_FLAG, Machine};
use crate::program::{FuncId, Op, Program};
use crate::state::{Origin, State};
use std::fmt;

/// Why a program cannot be run thread by thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Misfit {
    /// It has no threads.
    NoThreads,
    /// It has events.
    Events,
    /// It posts tasks.
    Posts,
    /// It has invariants, which look at several variables at once.
    Invariants,
    /// It has responses.
    Responses,
    /// It has components.
    Components,
    /// `init` may end in several ways, or leaves threads.
    Init,
    /// Some threads are unfair.
    Unfair,
    /// It has `final` or daemons, and forks threads.
    Forks,
    /// It has `final` and daemons.
    Daemons,
    /// Threads make objects.
    Objects,
    /// Threads keep or pass on handles of other threads, or compare them.
    Handles,
    /// A section takes locks, forks or notifies.
    Sections,
    /// The job was stopped.
    Stopped,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misfit::NoThreads => "the model has no threads",
            Misfit::Events => "the model has events",
            Misfit::Posts => "the model posts tasks",
            Misfit::Invariants => "invariants look at all variables at once",
            Misfit::Responses => "the model has response properties",
            Misfit::Components => "the model has components",
            Misfit::Init => "`init` may end in several ways, or starts threads",
            Misfit::Unfair => "the model has unfair threads",
            Misfit::Forks => "the model forks threads, and has `final` or daemons",
            Misfit::Daemons => "the model has `final` and daemons",
            Misfit::Objects => "threads make objects",
            Misfit::Handles => "threads share, keep or compare handles of threads",
            Misfit::Sections => "a locking, forking or notifying statement is in a section",
            Misfit::Stopped => "the job was stopped",
        })
    }
}

/// Fails unless a program is of threads alone, and has only properties that threads see.
pub(super) fn check(machine: &Machine, start: &State) -> Result<(), Misfit> {
    let program = machine.program();
    let all = || code_of_threads(program);
    let forks = all().any(|op| matches!(op, Op::Fork { .. }));
    let daemons = &program.daemons;
    let has_daemons = !daemons.threads.is_empty() || !daemons.functions.is_empty();
    let declared = |state: &State| {
        state.threads().iter().all(|thread| matches!(thread.origin, Origin::Declared(_)))
    };
    let posts = |op: &Op| {
        matches!(op, Op::Post { .. } | Op::Cancel { .. } | Op::Enable { .. } | Op::Disable { .. })
    };
    let misfits = [
        (program.threads.is_empty(), Misfit::NoThreads),
        (!program.events.is_empty(), Misfit::Events),
        (all().any(posts), Misfit::Posts),
        (!program.invariants.is_empty(), Misfit::Invariants),
        (!program.responses.is_empty(), Misfit::Responses),
        (!program.components.is_empty(), Misfit::Components),
        (start.flag(INIT_FLAG) || !declared(start) || !start.locks().is_empty(), Misfit::Init),
        (start.queues().next().is_some(), Misfit::Posts),
        (program.threads.iter().any(|thread| !thread.fair), Misfit::Unfair),
        (forks && (program.final_.is_some() || has_daemons), Misfit::Forks),
        (has_daemons && program.final_.is_some(), Misfit::Daemons),
        (all().any(|op| matches!(op, Op::New { .. })), Misfit::Objects),
    ];
    match misfits.iter().find(|(applies, _)| *applies) {
        Some((_, misfit)) => Err(*misfit),
        None => Ok(()),
    }
}

/// Returns the code that threads can reach, as far as calls name functions.
pub(super) fn code_of_threads(program: &Program) -> impl Iterator<Item = &Op> {
    let functions = program.functions.iter().zip(0..);
    let own = move |number: u16| program.init != Some(FuncId(number));
    functions.filter(move |(_, number)| own(*number)).flat_map(|(function, _)| &function.code)
}
