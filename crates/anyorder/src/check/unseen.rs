//! Programs whose threads share data that is not seen, as atomics of the standard library, under
//! locks.
//!
//! What a thread does after it took a lock then depends on more than its results, and exploration
//! ends by a divergence. Programs that look at clocks or random numbers diverge, too; those that
//! share data do so in the same way each time. They are explored once more, with locks that hand
//! over all that their holders had seen, as if the data were in them.

use crate::runtime::Program;
use anyorder_threads::{Incomplete, LearnOptions, Learnt, explore_by_learning};

/// Explores a program by learning.
pub(super) fn explore(program: &mut Program, options: &LearnOptions) -> Learnt {
    let learnt = explore_by_learning(program, options);
    if !has_diverged(&learnt) {
        return learnt;
    }
    let executions_max = options.executions_max.saturating_sub(learnt.executions);
    let (keeps_journal, resume) = (false, None);
    let left = LearnOptions { executions_max, keeps_journal, resume, ..options.clone() };
    let again = explore_by_learning(program, &left);
    if (&again.incomplete, again.executions, again.steps)
        != (&learnt.incomplete, learnt.executions, learnt.steps)
    {
        return learnt;
    }
    let executions_max = executions_max.saturating_sub(again.executions);
    program.set_guards_unseen(true);
    let mut guarded = explore_by_learning(program, &LearnOptions { executions_max, ..left });
    if has_diverged(&guarded) {
        program.set_guards_unseen(false);
        return learnt;
    }
    guarded.executions += learnt.executions + again.executions;
    guarded.confirmations += learnt.confirmations + again.confirmations;
    guarded
}

fn has_diverged(learnt: &Learnt) -> bool {
    matches!(learnt.incomplete, Some(Incomplete::Diverged(_)))
}
