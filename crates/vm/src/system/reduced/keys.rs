//! Tasks and places as numbers that mean the same in every state.
//!
//! The numbers of objects, handles and threads depend on the state. So keys leave them out.
//! Messages that differ only in them share one key, and run together.

use super::lifecycles::Lifecycles;
use crate::machine::{INIT_FLAG, Machine};
use crate::state::{Message, State, Status, Thread, word};
use crate::transitions::{StepId, event_is_open, open_messages, threads};
use crate::value::{Value, mix};
use anyorder_system::{Place, TaskKey};

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

/// Returns the hash of a value without objects and handles. It stays the same when tasks end.
pub(super) fn lasting(value: &Value) -> u128 {
    if !value.holds_refs() {
        return value.hash();
    }
    let all = |tag: u64, items: &[Value]| {
        let parts = items.iter().map(lasting);
        parts.fold(mix::number(tag, items.len() as u64), |hash, item| mix::mix(hash as u64, item))
    };
    match value {
        Value::List(seq) => all(1, seq.items()),
        Value::Record(seq) => all(2 | (u64::from(seq.ty) << 8), seq.items()),
        Value::VariantOf(seq) => {
            all(3 | (u64::from(seq.ty) << 8) | (u64::from(seq.variant) << 24), seq.items())
        }
        Value::Func(seq) => all(4 | (u64::from(seq.ty) << 8), seq.items()),
        // The order of sets and maps depends on the numbers that are left out.
        _ => mix::number(5, 0),
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

/// The kinds of places that are numbered by the program, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Global,
    Lock,
    Cond,
    /// Whether an event member has begun (and, for those after it, does not run).
    Started,
    /// Whether an event member was enabled or disabled.
    Toggled,
    /// Whether something runs in a slot.
    Busy,
    /// The next message of a mailbox.
    Head,
    /// The last message of a mailbox.
    Tail,
    /// The lifecycle of the tasks of one post, or the threads of one fork: see [`Lifecycles`].
    Lifecycle,
}

impl Kind {
    pub(super) const ALL: [Kind; 9] = [
        Kind::Global,
        Kind::Lock,
        Kind::Cond,
        Kind::Started,
        Kind::Toggled,
        Kind::Busy,
        Kind::Head,
        Kind::Tail,
        Kind::Lifecycle,
    ];
}

/// Where the numbers of each kind begin.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    first: [u64; 10],
    /// Whether `init` is a step.
    pub(super) init: bool,
    /// Whether something posts in front of all others.
    pub(super) fronts: bool,
}

impl Places {
    /// Whether `init` has run.
    pub(super) const INIT: Place = Place(0);
    /// The virtual time.
    pub(super) const NOW: Place = Place(1);
    /// The first place of the program's own.
    const FIRST: u64 = 2;

    pub(crate) fn of(machine: &Machine, init: bool, lifecycles: &Lifecycles) -> Places {
        let layout = &machine.layout;
        let (members, slots) = (layout.members.len() as u64, u64::from(layout.slots));
        let queues = layout.mailboxes.len() as u64 + 1;
        let counts = [
            machine.program.globals.len() as u64,
            u64::from(layout.locks),
            u64::from(layout.conds),
            members,
            members,
            slots + 1,
            queues,
            queues,
            lifecycles.count(),
        ];
        let mut first = [Places::FIRST; 10];
        for (i, count) in counts.iter().enumerate() {
            first[i + 1] = first[i] + count;
        }
        let fronts = machine.program.posts.iter().any(|post| post.front);
        Places { first, init, fronts }
    }

    pub(super) fn at(&self, kind: Kind, index: u64) -> Place {
        Place(self.first[kind as usize] + index)
    }

    /// Returns the meaning of a number; `None` for hashed and fixed ones.
    pub(super) fn meaning(&self, place: Place) -> Option<(Kind, usize)> {
        let kind = Kind::ALL.into_iter().find(|kind| {
            (self.first[*kind as usize]..self.first[*kind as usize + 1]).contains(&place.0)
        })?;
        Some((kind, (place.0 - self.first[kind as usize]) as usize))
    }

    /// The positions of the threads and messages of a key.
    pub(super) fn standing(key: TaskKey) -> Place {
        hashed(7, u128::from(key.0))
    }

    /// An element of a container.
    pub(super) fn element(container: Place, element: &Value) -> Place {
        hashed(container.0, lasting(element))
    }

    /// A field, of all objects of a class.
    pub(super) fn field(class: u16, field: u16) -> Place {
        hashed(9, u128::from(class) << 16 | u128::from(field))
    }
}

fn hashed(tag: u64, rest: u128) -> Place {
    Place(mix::mix(tag, rest) as u64 | (1 << 63))
}
