//! Messages that leave their mailboxes, and the virtual time that passes with delayed ones.

use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::state::{Message, State};

/// Takes a message out of its mailbox.
pub(super) fn take_message(
    machine: &Machine,
    state: &mut State,
    queue: u32,
    position: u32,
    message: &Message,
) {
    let queue = queue as usize;
    state.change_queue(queue, |queue| queue.remove(position as usize));
    if machine.layout.mailbox(queue) == MailboxKind::Delayed {
        advance_time(machine, state, message.due);
    }
}

/// Advances the virtual time.
fn advance_time(machine: &Machine, state: &mut State, by: u64) {
    if by == 0 {
        return;
    }
    for (i, kind) in machine.layout.mailboxes.iter().enumerate() {
        if *kind == MailboxKind::Delayed && !state.queue(i).is_empty() {
            state.change_queue(i, |queue| {
                for message in queue {
                    message.change(|body| body.due = body.due.saturating_sub(by));
                }
            });
        }
    }
}
