//! How messages entered their mailboxes: posts, delays, positions, and idle work.

use super::Kept;
use super::messages::{Layout, Role};
use crate::mailbox::Due;
use anyorder_trace::{EventKind, InputFamily, Mailbox, Position, TaskKind, Trace};

/// Finds the post and the due time of each message.
pub(super) fn fill(trace: &Trace, layout: &mut Layout, kept: &mut Kept) {
    let tables = trace.tables();
    let idle = idle_tasks(trace);
    for (message, role) in layout.messages.iter_mut().zip(&layout.roles) {
        if *role != Role::Posted {
            continue;
        }
        let def = &tables.tasks[message.task.index()];
        let Some(post) = trace.span(message.task).post.some() else {
            kept.without_post += 1;
            message.due = Due::Idle;
            continue;
        };
        message.post = Some(layout.slot_of[post.index()]);
        let mailbox = tables.handlers[message.handler_id.index()].mailbox;
        kept.bag += u64::from(mailbox == Mailbox::Bag);
        message.due = if idle[message.task.index()] {
            kept.idle += 1;
            Due::Idle
        } else if def.position == Position::Front {
            kept.front += 1;
            Due::Front
        } else if def.delay > 0 {
            kept.delayed += 1;
            Due::After(def.delay)
        } else {
            Due::After(0)
        };
    }
    for (task, def) in trace.task_ids().zip(&tables.tasks) {
        let span = trace.span(task);
        if def.kind == TaskKind::Posted && span.first.is_none() && !span.post.is_none() {
            kept.never_begun += 1;
        }
    }
}

/// Returns, by task, whether it ran an idle handler.
pub(super) fn idle_tasks(trace: &Trace) -> Vec<bool> {
    let mut idle = vec![false; trace.tasks_count()];
    let columns = trace.columns();
    for row in 0..columns.len() {
        if columns.ops[row].kind() != EventKind::Trigger {
            continue;
        }
        let input = trace.tables().inputs.get(columns.operands[row] as usize);
        if input.is_some_and(|input| input.family == InputFamily::Idle) {
            idle[columns.tasks[row].index()] = true;
        }
    }
    idle
}
