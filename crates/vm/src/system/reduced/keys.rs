//! Tasks as numbers that mean the same in every state.
//!
//! The numbers of objects, handles and threads depend on the state. So keys leave them out.
//! Messages that differ only in them share one key, and run together.

use crate::machine::{INIT_FLAG, Machine};
use crate::state::{Message, State, Status, StepId, Thread, threads, word};
use crate::transitions::{event_is_open, open_messages};
use crate::value::{lasting, mix};
use anyorder_system::TaskKey;

/// `init`, where it is a step.
pub(super) const INIT: TaskKey = TaskKey(0);
/// The first event member.
pub(super) const EVENTS: u64 = 1;

const MESSAGE: u64 = 1 << 62;
const THREAD: u64 = 2 << 62;

/// The key of an event member.
pub(super) fn event(member: u32) -> TaskKey {
    TaskKey(EVENTS + u64::from(member))
}

/// The kind of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyKind {
    Init,
    Event(u32),
    /// Mailbox and task.
    Message(u32, u16),
    Thread,
}

/// The number of mailbox numbers in keys. Further mailboxes share them.
const QUEUES: u32 = 1 << 13;

/// Returns the kind of a key.
pub(super) fn kind(key: TaskKey) -> KeyKind {
    match key.0 {
        0 => KeyKind::Init,
        event if event < TaskKey::DENSE << 2 => KeyKind::Event((event - EVENTS) as u32),
        message if message < THREAD => {
            KeyKind::Message((message >> 48) as u32 & (QUEUES - 1), (message >> 32) as u16)
        }
        _ => KeyKind::Thread,
    }
}

/// The key of a message.
pub(super) fn message(machine: &Machine, message: &Message) -> TaskKey {
    // The key must stay the same when the tasks of its handles end.
    let args = if machine.needs_numbering { lasting(&message.args) } else { message.args_hash() };
    let hash = mix::mix(u64::from(message.front), args);
    let (queue, task) = (u64::from(message.queue % QUEUES), u64::from(message.task));
    TaskKey(MESSAGE | (queue << 48) | (task << 32) | u64::from(hash as u32))
}

/// The key of a thread at its position.
pub(super) fn thread(thread: &Thread) -> TaskKey {
    let (origin, body) = (word(thread.origin.code()), word(thread.body.code()));
    let status = match thread.status {
        Status::Ready => 0,
        Status::Waiting { cond, .. } => word((1, cond)),
        Status::Woken { lock } => word((2, lock)),
    };
    let mut hash = mix::mix(origin, mix::number(body, status));
    for frame in &thread.frames {
        hash = mix::mix((u64::from(frame.func) << 32) | u64::from(frame.pc), hash);
    }
    TaskKey(THREAD | (hash as u64 & (MESSAGE - 1)))
}

/// The key of what takes a step in a state.
pub(super) fn of_step(machine: &Machine, state: &State, step: StepId) -> Option<TaskKey> {
    match step {
        StepId::Init => Some(INIT),
        StepId::Event(member) => Some(event(member)),
        StepId::Message { .. } => step.message(state).map(|one| message(machine, one)),
        StepId::Thread { .. } => step.thread(state).map(|one| thread(one)),
    }
}

/// Calls `each` with the key and the step of everything that may be able to run. Keys may repeat.
pub(super) fn each_ready(machine: &Machine, state: &State, mut each: impl FnMut(TaskKey, StepId)) {
    if state.flag(INIT_FLAG) {
        each(INIT, StepId::Init);
        return;
    }
    for member in 0..machine.layout.members.len() as u32 {
        if event_is_open(machine, state, member) {
            each(event(member), StepId::Event(member));
        }
    }
    let all = |_| true;
    open_messages(machine, state, true, all, |step, one| each(message(machine, one), step));
    each_thread(state, each);
}

/// Calls `each` with the key and the step of every message that may be able to run, of the
/// mailboxes that have one number in keys.
pub(super) fn each_message(
    machine: &Machine,
    state: &State,
    only: u32,
    mut each: impl FnMut(TaskKey, StepId),
) {
    let wanted = |queue: usize| queue as u32 % QUEUES == only;
    open_messages(machine, state, true, wanted, |step, one| each(message(machine, one), step));
}

/// Calls `each` with the key and the step of every thread that does not wait.
pub(super) fn each_thread(state: &State, mut each: impl FnMut(TaskKey, StepId)) {
    for (one, step) in threads(state) {
        if !matches!(one.status, Status::Waiting { .. }) {
            each(thread(one), step);
        }
    }
}
