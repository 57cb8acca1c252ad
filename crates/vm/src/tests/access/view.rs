//! A state in parts, for tests that decide for themselves what it contains.

use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::state::{Origin, State, Status, ThreadBody};
use crate::system::words;
use crate::value::Value;
use anyorder_system::{Place, TaskKey};

/// What a place stands for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PlaceSpec {
    /// The virtual time.
    Now,
    /// A global.
    Global(usize),
    /// An element of the container in a global.
    Element(usize, Value),
    /// A field, of all objects of a class.
    Field(u16, u16),
    /// An element of the container in a field.
    FieldElement(u16, u16, Value),
    /// A lock.
    Lock(u32),
    /// A condition.
    Cond(u32),
    /// Whether an event member has begun.
    Started(u32),
    /// Whether an event member was enabled or disabled.
    Toggled(u32),
    /// Whether something runs in a slot.
    Busy(u32),
    /// The next message of a mailbox.
    Head(usize),
    /// The last message of a mailbox.
    Tail(usize),
    /// The positions of the messages and threads of a key.
    Standing(TaskKey),
    /// The lifecycle of a mailbox's posted tasks that handles may refer to.
    Posted(u32, u16),
    /// Which forked threads of a function have ended.
    Forked(u16),
}

/// A message.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "a test that fails shows all of it")]
pub(crate) struct MessageView {
    /// The number of its post.
    pub(crate) uid: u64,
    /// Its mailbox.
    pub(crate) queue: usize,
    /// The kind of its mailbox.
    pub(crate) kind: MailboxKind,
    /// Its position in the mailbox.
    pub(crate) position: usize,
    /// Its task.
    pub(crate) task: u16,
    /// Whether it was posted in front of a bag.
    pub(crate) front: bool,
    /// Its due time.
    pub(crate) due: u64,
    /// Its arguments, packed.
    pub(crate) args: Value,
    /// The key of the task that takes it.
    pub(crate) key: TaskKey,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadView {
    /// The number of its creation; 0 for declared ones.
    pub(crate) uid: u64,
    /// Its number among the declared threads, if it is one.
    pub(crate) declared: Option<u32>,
    /// The slot that it runs in, if any.
    pub(crate) slot: Option<u32>,
    /// The event member that it runs, if any.
    pub(crate) member: Option<u32>,
    /// The task that it runs, if any, and the mailbox of its message.
    pub(crate) task: Option<(u32, u16)>,
    /// The function that it runs, if it was forked.
    pub(crate) forked: Option<u16>,
    /// The condition that it waits for, if any.
    pub(crate) waits: Option<u32>,
    /// The key of its next step.
    pub(crate) key: TaskKey,
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct ObjectView {
    /// The number of its allocation.
    pub(crate) uid: u64,
    /// Its class.
    pub(crate) class: u16,
    /// Its fields.
    pub(crate) fields: Vec<Value>,
}

/// A state in parts.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Whether `init` has not run yet.
    pub(crate) before_init: bool,
    /// The globals.
    pub(crate) globals: Vec<Value>,
    /// The objects.
    pub(crate) objects: Vec<ObjectView>,
    /// The messages of all mailboxes.
    pub(crate) messages: Vec<MessageView>,
    /// The threads.
    pub(crate) threads: Vec<ThreadView>,
    /// For each lock: whether it is held.
    pub(crate) locks: Vec<bool>,
    /// For each event member: its event, whether states record its start, whether it has started,
    /// whether it may be enabled or disabled, whether its enabled state differs from its
    /// declaration.
    pub(crate) members: Vec<(usize, bool, bool, bool, bool)>,
}

impl Machine {
    /// Splits a state into its parts.
    pub(crate) fn view(&self, state: &State) -> View {
        let layout = &self.layout;
        let mut messages = Vec::new();
        for (queue, list) in state.queues() {
            for (position, message) in list.iter().enumerate() {
                let kind = layout.mailbox(queue);
                messages.push(MessageView {
                    uid: message.uid,
                    queue,
                    kind,
                    position,
                    task: message.task,
                    front: message.front,
                    due: message.due,
                    args: message.args.clone(),
                    key: self.message_key(message),
                });
            }
        }
        let thread = |thread: &std::sync::Arc<crate::state::Thread>| {
            let slot = match thread.origin {
                Origin::Slot(slot) => Some(slot),
                _ => None,
            };
            let pool = layout.pool() as u32;
            ThreadView {
                uid: thread.uid,
                declared: match thread.origin {
                    Origin::Declared(member) => Some(member),
                    _ => None,
                },
                slot,
                member: match thread.body {
                    ThreadBody::Event(member) => Some(member),
                    _ => None,
                },
                task: match thread.body {
                    ThreadBody::Task(task) => Some((slot.unwrap_or(pool), task)),
                    _ => None,
                },
                forked: match thread.body {
                    ThreadBody::Func(func) => Some(func),
                    _ => None,
                },
                waits: match thread.status {
                    Status::Waiting { cond, .. } => Some(cond),
                    _ => None,
                },
                key: self.thread_key(thread),
            }
        };
        let member = |(member, (event, _)): (u32, &(u16, i64))| {
            let event = usize::from(*event);
            (
                event,
                layout.keep_started[event],
                state.flag(layout.started_flag(member)),
                layout.toggled[event],
                state.flag(layout.toggled_flag(member)),
            )
        };
        View {
            before_init: state.flag(crate::machine::INIT_FLAG),
            globals: (0..state.globals().len()).map(|i| state.global(i).clone()).collect(),
            objects: state
                .heap()
                .iter()
                .map(|o| ObjectView { uid: o.uid, class: o.class, fields: o.fields.clone() })
                .collect(),
            messages,
            threads: state.threads().iter().map(thread).collect(),
            locks: (0..layout.locks as usize).map(|lock| state.lock(lock) != 0).collect(),
            members: (0..).zip(&layout.members).map(member).collect(),
        }
    }

    /// Returns the number of a place.
    pub(crate) fn place_of(&self, spot: &PlaceSpec) -> Place {
        self.spot(spot)
    }

    /// Returns the name of an event member.
    pub(crate) fn member_name(&self, member: u32) -> String {
        words::event_name(self, member).to_string()
    }

    /// Returns the name of a lock.
    pub(crate) fn lock_name(&self, lock: u32) -> String {
        words::lock_name(self, lock).to_string()
    }

    /// Returns the name of a condition.
    pub(crate) fn cond_name(&self, cond: u32) -> String {
        words::cond_name(self, cond).to_string()
    }

    /// Returns the name of a slot or mailbox.
    pub(crate) fn slot_name(&self, slot: u32) -> String {
        words::slot_name(self, slot).to_string()
    }

    /// Returns the name of a declared thread.
    pub(crate) fn thread_name(&self, member: u32) -> String {
        words::thread_name(self, member).to_string()
    }
}
