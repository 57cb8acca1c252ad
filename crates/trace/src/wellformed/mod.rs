//! Checks whether a trace is one that a program could have left: locks released by who holds them,
//! tasks begun after they were posted, reads that read from a write.
//!
//! Readers check that a file keeps to its format; this checks that what it says makes sense,
//! whatever format it came in. An *error* means that no engine can trust the trace. A *warning*
//! means that something is odd, as happens in good recordings of programs that were running
//! already, or of which a part was not watched.
//!
//! | rule | severity |
//! | --- | --- |
//! | an event belongs to a task of the trace | error |
//! | a lock is released by a handler that holds it (locks may be taken again by who has them) | error |
//! | a lock is not taken while another handler has it | warning |
//! | a posted task is posted before it begins, and only once | error |
//! | a posted task begins with its get, and only once | error |
//! | nothing of a task comes behind its end | error |
//! | a task is on one handler | error |
//! | a task does not begin while its handler runs another one | error |
//! | a cancelled task does not begin | error |
//! | tasks of one poster begin in the order of their posts, in a fifo or delayed mailbox, where none is delayed | warning |
//! | nothing of a handler comes before its fork | error |
//! | nothing of a handler comes behind a join with it | error |
//! | a wake has a signal or broadcast before it | warning |
//! | what a wake refers to is a signal or broadcast of its condition | error |
//! | what a read refers to is an earlier write of its location | error |
//! | a return has its invocation before it, in the same task | error |
//! | what is freed was allocated | warning |
//! | an input that is triggered was enabled before (plain inputs, views, windows, idle handlers) | warning |
//!
//! Traces whose order is [`TraceOrder::Partial`] say nothing about before and behind between tasks;
//! only what holds in any order is checked of them. Logs of DroidRacer's runtime watch only part of
//! the program (library code, native threads), and drop what they cannot follow: there, the errors
//! of locks, posts, cancels, forks, joins, and of tasks that overlap or run elsewhere are warnings.

use crate::error::Problems;
use crate::event::EventKind;
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
    let mut report = Report::new(trace);
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
        match event.kind() {
            EventKind::Acquire | EventKind::Release | EventKind::Destroy => {
                locks.event(&event, &mut report);
            }
            EventKind::Fork
            | EventKind::Join
            | EventKind::Signal
            | EventKind::Broadcast
            | EventKind::Wake => handlers.event(&event, &mut report),
            EventKind::Read
            | EventKind::Rmw
            | EventKind::Alloc
            | EventKind::Free
            | EventKind::Invoke
            | EventKind::Return => accesses.event(&event, &mut report),
            EventKind::Enable | EventKind::Trigger => inputs.event(&event, &mut report),
            _ => {}
        }
    }
    report.finish()
}
