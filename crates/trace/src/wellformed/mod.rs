//! Checks whether a program can produce a trace: holders release locks, tasks begin after their
//! posts, reads read from a write.
//!
//! Readers check that a file follows its format. This module checks that the trace makes sense,
//! whatever its format. An *error* means that no engine can trust the trace. A *warning* means that
//! something is odd. Warnings also occur in good recordings, of programs that were already running
//! or were watched only in part.
//!
//! | rule | severity |
//! | --- | --- |
//! | an event belongs to a task of the trace | error |
//! | a lock is released by a handler that holds it (locks are re-entrant) | error |
//! | a lock is not taken while another handler has it | warning |
//! | a posted task is posted before it begins, and only once | error |
//! | a posted task begins with its get, and only once | error |
//! | no event of a task comes after its end | error |
//! | a task is on one handler | error |
//! | a task does not begin while its handler runs another one | error |
//! | a cancelled task does not begin | error |
//! | tasks of one poster begin in the order of their posts, in a fifo or delayed mailbox, where none is delayed | warning |
//! | nothing of a handler comes before its fork | error |
//! | no event of a handler comes after a join with it | error |
//! | a wake has a signal or broadcast before it | warning |
//! | a wake refers to a signal or broadcast of its condition | error |
//! | a read refers to an earlier write of its location | error |
//! | a return has its invocation before it, in the same task | error |
//! | freed memory was allocated | warning |
//! | an input that is triggered was enabled before (plain inputs, views, windows, idle handlers) | warning |
//!
//! A trace with the order [`TraceOrder::Partial`] gives no order between tasks, so only the rules
//! that hold in any order are checked. Logs of DroidRacer's runtime watch only part of the program
//! (not library code or native threads), and omit operations that they cannot follow. There, the
//! errors of locks, posts, cancels, forks, joins, and of tasks that overlap or run elsewhere are
//! warnings.

use crate::error::Problems;
use crate::event::OperandKind;
use crate::trace::Trace;
use accesses::Accesses;
use handlers::Handlers;
use inputs::Inputs;
use locks::Locks;
use report::Report;
use tasks::Tasks;

#[cfg(doc)]
use crate::tables::TraceOrder;

mod accesses;
mod handlers;
mod inputs;
mod locks;
mod report;
mod tasks;

/// Checks a trace, in time linear in its length.
#[must_use]
pub fn check(trace: &Trace) -> Problems {
    check_from(trace, false)
}

/// Checks a trace of the rest of a run: what it frees may have been allocated before it begins.
/// Linear.
#[must_use]
pub fn check_rest(trace: &Trace) -> Problems {
    check_from(trace, true)
}

fn check_from(trace: &Trace, is_rest: bool) -> Problems {
    let mut report = Report::new(trace, is_rest);
    let mut locks = Locks::default();
    let mut tasks = Tasks::new(trace);
    let mut handlers = Handlers::new(trace);
    let mut accesses = Accesses::default();
    let mut inputs = Inputs::default();
    for event in trace.events() {
        if event.task.index() >= trace.tasks_count() {
            report.error(event.id, || "belongs to no task of the trace".to_owned());
            continue;
        }
        tasks.event(&event, &mut report);
        match event.kind().operand() {
            OperandKind::Lock => locks.event(&event, &mut report),
            OperandKind::Handler | OperandKind::Condition => handlers.event(&event, &mut report),
            OperandKind::Location | OperandKind::Invocation => accesses.event(&event, &mut report),
            OperandKind::Input => inputs.event(&event, &mut report),
            _ => {}
        }
    }
    report.finish()
}
