//! What can be known of a program's code before it runs.

use crate::program::{Op, PostTarget, Program};

/// Returns for each function whether running it can give another number of transitions than one: whether it, or what
/// it calls, chooses or assumes. Calls of unknown functions count.
pub(crate) fn branches(program: &Program) -> Vec<bool> {
    let own = |op: &Op| {
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
    };
    let mut branches: Vec<bool> =
        program.functions.iter().map(|f| f.code.iter().any(own)).collect();
    loop {
        let mut changed = false;
        for (i, function) in program.functions.iter().enumerate() {
            let calls = |op: &Op| matches!(op, Op::Call { func, .. } if branches[func.index()]);
            if !branches[i] && function.code.iter().any(calls) {
                branches[i] = true;
                changed = true;
            }
        }
        if !changed {
            return branches;
        }
    }
}

/// Returns whether objects, handles or dynamic threads can exist.
pub(crate) fn numbers(program: &Program, atomic: bool) -> bool {
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
