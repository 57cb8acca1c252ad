//! The order that a mailbox keeps, and how long each message waits in it.

use anyorder_trace::{Action, InputFamily, Mailbox, Position, TaskId, TaskKind, Trace};

/// The order in which the mailboxes of all handlers run messages.
///
/// A mailbox *keeps the order* of messages `x` and `y` when `x` posted before `y` implies that `x`
/// runs before `y`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum MailboxRule {
    /// Keeps the order of any two messages, whatever their delays and positions.
    #[default]
    Fifo,
    /// Keeps no order.
    Bag,
    /// Keeps the order of `x` and `y` when `y` was not posted to the front, neither is the run of
    /// an idle handler, and `x` was posted to the front or has no greater delay than `y`.
    Delayed,
}

impl MailboxRule {
    /// All rules.
    pub const ALL: [MailboxRule; 3] = [MailboxRule::Fifo, MailboxRule::Bag, MailboxRule::Delayed];

    /// Returns its word, as in the option `--mailbox`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MailboxRule::Fifo => "fifo",
            MailboxRule::Bag => "bag",
            MailboxRule::Delayed => "delayed",
        }
    }

    /// Returns the rule that a trace records for the mailboxes that ran posted tasks: the weakest
    /// of bag (one of them is a bag), delayed (one is, or ran a task posted with a delay, to the
    /// front or for idle time) and fifo. O(events).
    #[must_use]
    pub fn recorded(trace: &Trace) -> MailboxRule {
        let tables = trace.tables();
        let delayed = dues(trace, MailboxRule::Delayed);
        let mut rule = MailboxRule::Fifo;
        for (task, def) in trace.task_ids().zip(&tables.tasks) {
            let span = trace.span(task);
            if def.kind != TaskKind::Posted || span.first.is_none() {
                continue;
            }
            match tables.handlers.get(span.handler.index()).map(|handler| handler.mailbox) {
                Some(Mailbox::Bag) => return MailboxRule::Bag,
                Some(Mailbox::Delayed) => rule = MailboxRule::Delayed,
                _ if def.delay > 0 || delayed[task.index()] != Due::After(0) => {
                    rule = MailboxRule::Delayed;
                }
                _ => {}
            }
        }
        rule
    }
}

/// How a message waits in its mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// With a delay, 0 for none.
    After(u64),
    /// Before the plain ones.
    Front,
    /// Unordered with all others.
    Free,
}

impl Due {
    /// Returns whether the mailbox keeps the order of two messages that wait so.
    pub(super) fn keeps_order(self, later: Due) -> bool {
        match (self, later) {
            (Due::After(delay), Due::After(later)) => delay <= later,
            (Due::Front, Due::After(_)) => true,
            (_, Due::Front) | (Due::Free, _) | (_, Due::Free) => false,
        }
    }
}

/// Returns how each task waits under a rule: one pass over the trace.
pub(super) fn dues(trace: &Trace, rule: MailboxRule) -> Vec<Due> {
    let tasks = &trace.tables().tasks;
    let mut dues: Vec<Due> = match rule {
        MailboxRule::Fifo => return vec![Due::After(0); tasks.len()],
        MailboxRule::Bag => return vec![Due::Free; tasks.len()],
        MailboxRule::Delayed => tasks
            .iter()
            .map(|task| match task.position {
                Position::Front => Due::Front,
                Position::Back => Due::After(task.delay),
            })
            .collect(),
    };
    for event in trace.events() {
        let Action::Trigger(input) = event.action() else { continue };
        let input = trace.tables().inputs.get(input.index());
        let TaskId(task) = event.task;
        if input.is_some_and(|input| input.family == InputFamily::Idle)
            && tasks.get(task as usize).is_some_and(|task| task.kind == TaskKind::Posted)
        {
            dues[task as usize] = Due::Free;
        }
    }
    dues
}
