//! The lives of tasks: posted, begun, ended, one at a time on each handler, in the order of their
//! mailbox.

use super::report::{Report, handler_name, label, task_name};
use crate::event::{Event, EventKind};
use crate::ids::{EventId, HandlerId, TaskId};
use crate::tables::{Mailbox, Position, TaskKind};
use crate::trace::Trace;
use rustc_hash::FxHashMap;

/// The events of a task so far. Absent events are `NONE`.
#[derive(Clone, Debug, Default)]
struct Life {
    posted: EventId,
    begun: EventId,
    ended: EventId,
    cancelled: EventId,
    /// Whether a problem was reported that would repeat for each event of the task.
    reported: bool,
}

/// The lives of all tasks.
#[derive(Debug)]
pub(super) struct Tasks {
    lives: Vec<Life>,
    /// By handler: the posted task that began last.
    running: Vec<TaskId>,
    /// By poster and handler: among the tasks begun so far, the latest post in the trace.
    last_post_begun: FxHashMap<(TaskId, HandlerId), EventId>,
}

impl Tasks {
    pub(super) fn new(trace: &Trace) -> Tasks {
        Tasks {
            lives: vec![Life::default(); trace.tasks_count()],
            running: vec![TaskId::NONE; trace.tables().handlers.len()],
            last_post_begun: FxHashMap::default(),
        }
    }

    /// Checks an event; its task is in the table.
    pub(super) fn event(&mut self, event: &Event, report: &mut Report<'_>) {
        let (trace, task) = (report.trace, event.task.index());
        let life = &mut self.lives[task];
        if let Some(end) = life.ended.some()
            && !std::mem::replace(&mut life.reported, true)
        {
            report.error(event.id, || {
                let name = task_name(trace, event.task);
                format!("comes behind the end of task `{name}`, event {}", label(trace, end))
            });
        }
        let kind = trace.tables().tasks[task].kind;
        let get_missing = kind == TaskKind::Posted && life.begun.is_none();
        if get_missing && event.kind() != EventKind::Get && !life.reported {
            life.reported = true;
            report.error(event.id, || {
                format!("belongs to task `{}` before its get", task_name(trace, event.task))
            });
        }
        match event.kind() {
            EventKind::Post => self.post(event, report),
            EventKind::Cancel => {
                if let Some(life) = self.lives.get_mut(event.operand as usize) {
                    life.cancelled = event.id;
                }
            }
            EventKind::Get => self.get(event, report),
            EventKind::End => life.ended = event.id,
            _ => {}
        }
    }

    fn post(&mut self, event: &Event, report: &mut Report<'_>) {
        let trace = report.trace;
        let posted = TaskId(event.operand);
        let Some(life) = self.lives.get_mut(posted.index()) else {
            report.error(event.id, || "posts no task of the trace".to_owned());
            return;
        };
        if let Some(before) = life.posted.some() {
            report.error(event.id, || {
                let name = task_name(trace, posted);
                format!("posts task `{name}` again, after event {}", label(trace, before))
            });
            return;
        }
        life.posted = event.id;
    }

    fn get(&mut self, event: &Event, report: &mut Report<'_>) {
        let (trace, task, row) = (report.trace, event.task, event.task.index());
        let handler = HandlerId(event.operand);
        let name = || task_name(trace, task);
        let life = &mut self.lives[row];
        if let Some(before) = life.begun.some() {
            report.error(event.id, || {
                format!("begins task `{}` again, after event {}", name(), label(trace, before))
            });
            return;
        }
        life.begun = event.id;
        let (posted, cancelled) = (life.posted, life.cancelled);
        let def = &trace.tables().tasks[row];
        if def.kind != TaskKind::Posted {
            report.error(event.id, || format!("begins `{}`, which is not posted", name()));
            return;
        }
        if !def.handler.is_none() && def.handler != handler {
            report.error_if_watched(event.id, || {
                let (to, on) = (handler_name(trace, def.handler), handler_name(trace, handler));
                format!("begins task `{}` on handler `{on}`, though it is one of `{to}`", name())
            });
        }
        let post = if report.observed { posted } else { trace.span(task).post };
        if post.is_none() {
            report.error_if_watched(event.id, || match trace.span(task).post.some() {
                Some(later) => format!(
                    "begins task `{}` before its post, event {}",
                    name(),
                    label(trace, later)
                ),
                None => format!("begins task `{}`, which was never posted", name()),
            });
        }
        if report.observed {
            self.alone(event, handler, report);
            if let Some(cancel) = cancelled.some() {
                report.error_if_watched(event.id, || {
                    format!("begins task `{}`, cancelled by event {}", name(), label(trace, cancel))
                });
            }
            self.in_order(event, handler, post, report);
        }
    }

    /// A handler runs one task at a time.
    fn alone(&mut self, event: &Event, handler: HandlerId, report: &mut Report<'_>) {
        let trace = report.trace;
        let Some(running) = self.running.get_mut(handler.index()) else {
            report.error(event.id, || "begins a task on no handler of the trace".to_owned());
            return;
        };
        if let Some(before) = running.some() {
            let span = trace.span(before);
            // A task without an end ends with its last event.
            let end = if span.end.is_none() { span.last } else { span.end };
            if !end.is_none() && end > event.id {
                report.error_if_watched(event.id, || {
                    format!(
                        "begins task `{}` while handler `{}` runs task `{}`",
                        task_name(trace, event.task),
                        handler_name(trace, handler),
                        task_name(trace, before)
                    )
                });
            }
        }
        *running = event.task;
    }

    /// A mailbox delivers the tasks of one poster in the order of their posts, except for delays
    /// and posts to the front.
    fn in_order(
        &mut self,
        event: &Event,
        handler: HandlerId,
        post: EventId,
        report: &mut Report<'_>,
    ) {
        let trace = report.trace;
        let def = &trace.tables().tasks[event.task.index()];
        let mailbox = trace.tables().handlers.get(handler.index()).map(|handler| handler.mailbox);
        let ordered = matches!(mailbox, Some(Mailbox::Fifo | Mailbox::Delayed));
        if !ordered || def.delay > 0 || def.position == Position::Front || post.is_none() {
            return;
        }
        let poster = trace.event(post).task;
        let last = self.last_post_begun.entry((poster, handler)).or_insert(post);
        if *last > post {
            let later = *last;
            report.warning(event.id, || {
                format!(
                    "begins task `{}` behind one that the same poster posted later, with event {}",
                    task_name(trace, event.task),
                    label(trace, later)
                )
            });
        } else {
            *last = post;
        }
    }
}
