//! Makes tasks of a handler's own code between its tasks.

use super::messages::{Layout, Role};
use super::{FromTraceError, Kept};
use anyorder_trace::{TaskDef, TaskId, TaskKind, Trace};

/// Returns the trace with a separate task, a burst, for each piece of code that a handler with a
/// mailbox runs between its posted tasks; `None` if there is no such piece.
///
/// In the trace, all own code of a handler is one task, so code between tasks looks like code
/// before them all. [`PartialTrace::from_trace`](crate::PartialTrace::from_trace) gives the same
/// orders for both traces. An engine that reads tasks, such as a checker of witnesses, needs this
/// one. Events keep their numbers. Takes linear time.
///
/// # Errors
///
/// Fails when a task with events has no handler.
pub fn split_own_code(trace: &Trace) -> Result<Option<Trace>, FromTraceError> {
    let layout = Layout::new(trace, &mut Kept::default())?;
    let def_of = |task: TaskId| trace.tables().tasks[task.index()];
    let mut new: Option<(Vec<TaskDef>, Vec<TaskId>)> = None;
    for (id, message) in layout.messages.iter().enumerate() {
        let apart = matches!(layout.roles[id], Role::Alone | Role::Exit);
        if !apart || def_of(message.task).kind != TaskKind::Initial {
            continue;
        }
        let (tasks, of_event) = new
            .get_or_insert_with(|| (trace.tables().tasks.clone(), trace.columns().tasks.clone()));
        let task = TaskId::from_index(tasks.len());
        tasks.push(TaskDef {
            kind: TaskKind::Burst,
            handler: message.handler_id,
            ..def_of(message.task)
        });
        for event in layout.events_of(id as u32) {
            of_event[event.index()] = task;
        }
    }
    Ok(new.map(|(tasks, of_event)| {
        let mut tables = trace.tables().clone();
        tables.tasks = tasks;
        let mut columns = trace.columns().clone();
        columns.tasks = of_event;
        Trace::new(tables, columns)
    }))
}
