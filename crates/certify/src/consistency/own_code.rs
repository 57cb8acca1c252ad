//! The code of a handler between its tasks, as sequences of their own.

use anyorder_trace::{EventKind, HandlerId, TaskDef, TaskId, TaskKind, Trace, TraceOrder};

/// The own code of a handler in a pass over the trace.
#[derive(Clone, Copy, Default)]
struct OwnCode {
    runs_tasks: bool,
    /// The row of its last event.
    last: usize,
    /// Its initial message has ended.
    past_initial: bool,
    /// Its next own event begins a piece.
    cut: bool,
    /// The new task of the current piece.
    piece: Option<TaskId>,
}

/// Returns the trace with a separate task, a burst, for each piece of code that a handler runs
/// after its initial message, and for its exit; `None` if there is none. Certificates of
/// consistency are about this trace.
///
/// In a trace in the order of execution, the initial message of a handler with tasks ends with its
/// first `loop` event, or before its first task that begins with its `get`. A piece begins with the
/// first own event after that, and again where such a task begins in between; and an `exit` that is
/// the last event of the handler is a piece of its own. In other traces, only an `exit` that is the
/// last event of an initial task is a piece, where the handler runs posted tasks. The new tasks
/// have the names of the old ones and the next numbers, in the order of their first events. Events
/// keep their numbers. O(n).
#[must_use]
pub fn split_own_code(trace: &Trace) -> Option<Trace> {
    let tables = trace.tables();
    let observed = tables.meta.order == TraceOrder::Observed;
    let mut handlers = vec![OwnCode::default(); tables.handlers.len()];
    for (task, def) in trace.task_ids().zip(&tables.tasks) {
        let span = trace.span(task);
        if let Some(of) = handlers.get_mut(span.handler.index())
            && !span.first.is_none()
        {
            of.runs_tasks |= def.kind == TaskKind::Posted;
            of.last = of.last.max(span.last.index());
        }
    }
    let mut tasks: Vec<TaskDef> = tables.tasks.clone();
    let mut task_of = trace.columns().tasks.clone();
    for (row, event) in trace.events().enumerate() {
        let span = trace.span(event.task);
        let HandlerId(handler) = span.handler;
        let Some(of) = handlers.get_mut(handler as usize) else { continue };
        let def = tables.tasks[event.task.index()];
        match def.kind {
            TaskKind::Initial if !observed => {
                let is_last = event.kind() == EventKind::Exit && span.last == event.id;
                if is_last && of.runs_tasks {
                    task_of[row] = TaskId::from_index(tasks.len());
                    tasks.push(TaskDef { kind: TaskKind::Burst, handler: span.handler, ..def });
                }
            }
            TaskKind::Posted if observed && span.first == event.id && span.get == span.first => {
                of.cut = true;
                of.past_initial = true;
            }
            TaskKind::Initial => {
                let exits = event.kind() == EventKind::Exit && of.past_initial && of.last == row;
                if of.past_initial {
                    if of.cut || exits || of.piece.is_none() {
                        of.piece = Some(TaskId::from_index(tasks.len()));
                        tasks.push(TaskDef { kind: TaskKind::Burst, handler: span.handler, ..def });
                    }
                    of.cut = false;
                    task_of[row] = of.piece.unwrap_or(event.task);
                }
                if event.kind() == EventKind::Loop && of.runs_tasks {
                    of.cut = true;
                    of.past_initial = true;
                }
            }
            _ => {}
        }
    }
    if tasks.len() == tables.tasks.len() {
        return None;
    }
    let (mut tables, mut columns) = (tables.clone(), trace.columns().clone());
    tables.tasks = tasks;
    columns.tasks = task_of;
    Some(Trace::new(tables, columns))
}
