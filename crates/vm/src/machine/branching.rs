//! What is known of a program's code before it runs.

use crate::program::{Function, Op, PostTarget, Program};

/// Returns whether an instruction can multiply or drop the transitions of a step. Ignores calls of
/// known functions.
fn branches_itself(op: &Op) -> bool {
    matches!(
        op,
        Op::Choose { .. }
            | Op::ChooseFrom { .. }
            | Op::ChooseInt { .. }
            | Op::Assume { .. }
            | Op::Notify { .. }
            | Op::CallValue { .. }
            | Op::CallMember { .. }
    )
}

/// Returns for each position of each function whether the code from there to the return can still
/// multiply or drop the transitions of a step.
pub(crate) fn may_branch(program: &Program, branches: &[bool]) -> Vec<Vec<bool>> {
    let of = |function: &Function| {
        let mut open: Vec<bool> = function
            .code
            .iter()
            .map(|op| {
                branches_itself(op) || matches!(op, Op::Call { func, .. } if branches[func.index()])
            })
            .collect();
        loop {
            let mut changed = false;
            for (pc, op) in function.code.iter().enumerate().rev() {
                let next = op.falls_through().then_some(pc + 1);
                let mut targets = next.into_iter().chain(op.target().map(|t| t as usize));
                let reaches = targets.any(|target| open.get(target) == Some(&true));
                if reaches && !open[pc] {
                    open[pc] = true;
                    changed = true;
                }
            }
            if !changed {
                return open;
            }
        }
    };
    program.functions.iter().map(of).collect()
}

/// Returns for each function whether a run of it can have zero or several transitions: whether it,
/// or a function that it calls, chooses or assumes. Calls of unknown functions count.
pub(crate) fn branches(program: &Program) -> Vec<bool> {
    functions_with(program, branches_itself)
}

/// Returns for each function whether it, or a function that it may call, has an instruction.
pub(crate) fn functions_with(program: &Program, has: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut found: Vec<bool> =
        program.functions.iter().map(|function| function.code.iter().any(&has)).collect();
    loop {
        // A call of a function value may call any closure.
        let mut all = program.functions.iter().flat_map(|function| &function.code);
        let closures = all.any(|op| matches!(op, Op::Closure { func, .. } if found[func.index()]));
        let calls = |op: &Op| match op {
            Op::Call { func, .. } => found[func.index()],
            Op::CallValue { .. } => closures,
            _ => false,
        };
        let functions = program.functions.iter().zip(&found);
        let next: Vec<bool> =
            functions.map(|(f, found)| *found || f.code.iter().any(calls)).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

/// Returns whether objects, handles or dynamic threads can exist.
pub(crate) fn needs_numbering(program: &Program, atomic: bool) -> bool {
    let creates = |op: &Op| match op {
        Op::New { .. } | Op::Fork { .. } => true,
        Op::Post { dst, post, .. } => {
            let any = program.posts[post.index()].target == PostTarget::Any;
            dst.some().is_some() || (any && !atomic)
        }
        _ => false,
    };
    program.functions.iter().any(|f| f.code.iter().any(creates))
}
