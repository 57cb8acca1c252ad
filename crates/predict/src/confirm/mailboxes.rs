//! Tasks that wait in mailboxes during the replay of an order of events.

use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::units::{get_of, goes_first, mailbox_of, post_of};
use anyorder_trace::{EventId, EventKind, TaskId, Trace};
use std::collections::HashMap;

/// The most clauses from one `get`.
const FROM_ONE: usize = 32;

/// By mailbox: the tasks that were posted and not taken, in the order of the posts.
#[derive(Clone, Debug, Default)]
pub(super) struct Mailboxes {
    pending: HashMap<u32, Vec<TaskId>>,
    /// The position of the trace that the pending entries belong to.
    at: Option<u32>,
    pending_at: HashMap<u32, Vec<TaskId>>,
    /// The cancels of tasks that ran.
    cancels: HashMap<u32, Vec<u32>>,
}

impl Mailboxes {
    pub(super) fn new(trace: &Trace) -> Mailboxes {
        let mut mailboxes = Mailboxes::default();
        for event in trace.events() {
            let task = TaskId(event.operand);
            if event.kind() == EventKind::Cancel && get_of(trace, task).is_some() {
                mailboxes.cancels.entry(task.0).or_default().push(event.id.0);
            }
        }
        mailboxes
    }

    /// Returns to a position of the trace.
    pub(super) fn begin(&mut self, trace: &Trace, start: u32) {
        if self.at != Some(start) {
            self.at = Some(start);
            self.pending_at.clear();
            let mut tasks: Vec<(u32, TaskId)> = Vec::new();
            for task in trace.task_ids() {
                if let Some(post) = post_of(trace, task).filter(|post| *post < start)
                    && get_of(trace, task).is_some_and(|get| get >= start)
                    && !self.is_cancelled(task, post, start)
                {
                    tasks.push((post, task));
                }
            }
            tasks.sort_unstable();
            for (_, task) in tasks {
                if let Some(to) = mailbox_of(trace, task) {
                    self.pending_at.entry(to.0).or_default().push(task);
                }
            }
        }
        self.pending.clone_from(&self.pending_at);
    }

    fn is_cancelled(&self, task: TaskId, from: u32, to: u32) -> bool {
        let cancels = self.cancels.get(&task.0).into_iter().flatten();
        cancels.into_iter().any(|cancel| (from..to).contains(cancel))
    }

    /// Processes the next event of the order.
    pub(super) fn take(&mut self, trace: &Trace, event: u32, broken: &mut Vec<Clause>) {
        let whole = trace.event(EventId(event));
        match whole.kind() {
            EventKind::Post => {
                let task = TaskId(whole.operand);
                if post_of(trace, task) == Some(event)
                    && let Some(to) = mailbox_of(trace, task)
                {
                    self.pending.entry(to.0).or_default().push(task);
                }
            }
            EventKind::Cancel => {
                let task = TaskId(whole.operand);
                if get_of(trace, task).is_some()
                    && let Some(to) = mailbox_of(trace, task)
                    && let Some(pending) = self.pending.get_mut(&to.0)
                {
                    pending.retain(|other| *other != task);
                }
            }
            EventKind::Get if get_of(trace, whole.task) == Some(event) => {
                let Some(to) = mailbox_of(trace, whole.task) else { return };
                let Some(pending) = self.pending.get_mut(&to.0) else { return };
                let before = pending.iter().take_while(|other| **other != whole.task);
                let first = before.filter(|other| goes_first(trace, **other, whole.task));
                for other in first.take(FROM_ONE) {
                    let post = |task| post_of(trace, task).unwrap_or(NONE);
                    let mut clause = vec![
                        Atom::Before(get_of(trace, *other).unwrap_or(NONE), event),
                        Atom::Before(post(whole.task), post(*other)),
                        Atom::Out(event),
                    ];
                    let cancels = self.cancels.get(&other.0).into_iter().flatten();
                    clause.extend(cancels.map(|cancel| Atom::Before(*cancel, event)));
                    broken.push(clause);
                }
                pending.retain(|other| *other != whole.task);
            }
            _ => {}
        }
    }
}
