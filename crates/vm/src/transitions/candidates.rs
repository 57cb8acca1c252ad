//! The candidate steps of a state: possible except for guards, locks and choices.

use super::action::StepId;
use crate::machine::{INIT_FLAG, Machine};
use crate::program::MailboxKind;
use crate::state::{Origin, State, Status, ThreadBody};

/// Calls `each` with every candidate step, in a fixed order: events, messages, threads. A candidate
/// is possible as far as the state shows, without running code. With `merge`, equal messages of a
/// bag count once.
pub(crate) fn candidates(
    machine: &Machine,
    state: &State,
    merge: bool,
    mut each: impl FnMut(StepId),
) {
    if state.flag(INIT_FLAG) {
        each(StepId::Init);
        return;
    }
    for member in 0..machine.layout.members.len() as u32 {
        if event_is_open(machine, state, member) {
            each(StepId::Event(member));
        }
    }
    for (i, queue) in state.queues() {
        if i < machine.layout.pool() && is_busy(machine, state, i as u32) {
            continue;
        }
        let bag = machine.layout.mailboxes.get(i).is_none_or(|kind| *kind == MailboxKind::Bag);
        let count = if bag && !queue[0].front { queue.len() } else { 1 };
        for (position, message) in queue[..count].iter().enumerate() {
            if merge && position > 0 && *message == queue[position - 1] {
                continue;
            }
            each(StepId::Message {
                queue: i as u32,
                position: position as u32,
                task: message.task,
            });
        }
    }
    let mut rank = 0;
    for thread in state.threads() {
        let dynamic = thread.origin == Origin::Dynamic;
        let step = StepId::Thread { origin: thread.origin, rank };
        rank += u32::from(dynamic);
        match thread.status {
            Status::Ready => each(step),
            Status::Woken { lock } if state.lock(lock as usize) == 0 => each(step),
            _ => {}
        }
    }
}

/// Returns whether something runs in a slot between steps.
fn is_busy(machine: &Machine, state: &State, slot: u32) -> bool {
    !machine.atomic && state.threads().iter().any(|thread| thread.origin == Origin::Slot(slot))
}

/// Returns whether an event can start, except for its guard.
#[inline]
pub(crate) fn event_is_open(machine: &Machine, state: &State, member: u32) -> bool {
    let layout = &machine.layout;
    let (event, _) = layout.members[member as usize];
    if machine.layout.guard_only[usize::from(event)] {
        return true;
    }
    let event = &machine.program.events[usize::from(event)];
    if event.once && state.flag(layout.started_flag(member)) {
        return false;
    }
    if state.flag(layout.toggled_flag(member)) != event.disabled {
        return false;
    }
    if is_busy(machine, state, layout.member_slot[member as usize]) {
        return false;
    }
    let started = |member: u32| state.flag(layout.started_flag(member));
    let runs = |member: u32| state.threads().iter().any(|t| t.body == ThreadBody::Event(member));
    event.started.iter().all(|other| layout.members_of(other.index()).all(started))
        && event
            .after
            .iter()
            .all(|other| layout.members_of(other.index()).all(|m| started(m) && !runs(m)))
}
