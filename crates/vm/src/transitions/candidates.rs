//! The candidate steps of a state: possible except for guards, locks and choices.

use crate::machine::{INIT_FLAG, Machine};
use crate::state::{Message, Origin, State, Status, StepId, ThreadBody, threads};

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
    open_messages(machine, state, merge, |_| true, |step, _| each(step));
    for (thread, step) in threads(state) {
        match thread.status {
            Status::Ready => each(step),
            Status::Woken { lock } if state.lock(lock as usize) == 0 => each(step),
            _ => {}
        }
    }
}

/// Calls `each` with every message of the wanted mailboxes that may be taken, and with its step.
/// With `merge`, equal messages of a bag count once.
pub(crate) fn open_messages(
    machine: &Machine,
    state: &State,
    merge: bool,
    wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(StepId, &Message),
) {
    for (i, queue) in state.queues().filter(|(i, _)| wanted(*i)) {
        if i < machine.layout.pool() && is_busy(machine, state, i as u32) {
            continue;
        }
        let any = machine.layout.is_bag(i) && !queue[0].front;
        let count = if any { queue.len() } else { 1 };
        for (position, message) in queue[..count].iter().enumerate() {
            if merge && position > 0 && *message == queue[position - 1] {
                continue;
            }
            let (queue, position) = (i as u32, position as u32);
            each(StepId::Message { queue, position, task: message.task }, message);
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
    if machine.is_unbound() {
        return true;
    }
    let started = |member: u32| state.flag(layout.started_flag(member));
    let runs = |member: u32| state.threads().iter().any(|t| t.body == ThreadBody::Event(member));
    event.started.iter().all(|other| layout.members_of(other.index()).all(started))
        && event
            .after
            .iter()
            .all(|other| layout.members_of(other.index()).all(|m| started(m) && !runs(m)))
}
