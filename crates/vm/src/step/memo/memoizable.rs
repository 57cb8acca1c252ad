//! Which functions can be memoized.

use crate::machine::Liveness;
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
            false => memoizable(program),
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

/// Returns for each function whether it, and everything it calls, accesses only globals, arguments,
/// flags and mailboxes. Such a function does the same whenever it reads the same. The program must
/// have no objects, threads and handles.
fn memoizable(program: &Program) -> Vec<bool> {
    let mut memoizable: Vec<bool> =
        program.functions.iter().map(|f| !f.code.iter().any(prevents_memoizing)).collect();
    loop {
        let mut changed = false;
        // A call of a function value may call any closure.
        let values = program.functions.iter().flat_map(|f| &f.code);
        let values = values
            .filter_map(|op| if let Op::Closure { func, .. } = op { Some(func) } else { None })
            .all(|func| memoizable[func.index()]);
        for (i, function) in program.functions.iter().enumerate() {
            let stays = function.code.iter().all(|op| match op {
                Op::Call { func, .. } => memoizable[func.index()],
                Op::CallValue { .. } => values,
                _ => true,
            });
            if memoizable[i] && !stays {
                memoizable[i] = false;
                changed = true;
            }
        }
        if !changed {
            return memoizable;
        }
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
