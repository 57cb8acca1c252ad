//! Which functions can be memoized.

use super::branching::functions_with;
use super::live::Liveness;
use crate::program::{Event, FuncId, Op, Program};

/// What can be memoized.
#[derive(Debug)]
pub(crate) struct Memoizable {
    /// For each function, as a property.
    pub(crate) functions: Vec<bool>,
    /// For each event.
    pub(crate) events: Vec<bool>,
    /// For each event: whether its guard is memoized separately, because it has the same answer for
    /// all members of a family.
    pub(crate) shared: Vec<bool>,
    /// For each task.
    pub(crate) tasks: Vec<bool>,
    /// Whether anything can be memoized.
    pub(crate) any: bool,
}

impl Memoizable {
    /// Computes the tables. `needs_numbering` and `atomic` are those of the machine.
    pub(crate) fn new(
        program: &Program,
        live: &[Liveness],
        needs_numbering: bool,
        atomic: bool,
    ) -> Memoizable {
        let functions = match needs_numbering {
            true => vec![false; program.functions.len()],
            // Functions that access only globals, arguments, flags and mailboxes do the same
            // whenever they read the same.
            false => {
                functions_with(program, prevents_memoizing).iter().map(|found| !found).collect()
            }
        };
        let of = |func: FuncId| functions[func.index()];
        let events = program.events.iter();
        let events = events.map(|e| atomic && of(e.body) && e.guard.is_none_or(of)).collect();
        let ignores = |func: FuncId| !live[func.index()].is_live(0, 0);
        let shared = |e: &Event| e.family.is_some() && e.guard.is_some_and(ignores);
        let shared = program.events.iter().map(shared).collect();
        let tasks = program.tasks.iter().map(|task| atomic && of(task.body)).collect();
        let any = functions.contains(&true);
        Memoizable { functions, events, shared, tasks, any }
    }
}

/// Returns whether an instruction accesses anything else.
fn prevents_memoizing(op: &Op) -> bool {
    match op {
        Op::Post { dst, .. } => dst.some().is_some(),
        Op::New { .. }
        | Op::GetField { .. }
        | Op::SetField { .. }
        | Op::GetFieldAt { .. }
        | Op::SetFieldAt { .. }
        | Op::Cancel { .. }
        | Op::Enabled { .. }
        | Op::Acquire { .. }
        | Op::Release { .. }
        | Op::Wait { .. }
        | Op::Notify { .. }
        | Op::NotifyAll { .. }
        | Op::Fork { .. }
        | Op::Join { .. } => true,
        _ => false,
    }
}
