//! A state in parts, for tests that decide for themselves what it contains.

use crate::machine::Machine;
use crate::program::MailboxKind;
use crate::state::{Origin, State, Status, ThreadBody};
use crate::system::words;
use crate::value::Value;
use anyorder_system::{Place, TaskKey};

/// What a place stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum PlaceSpec {
    /// Whether `init` has run.
    Init,
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
pub struct MessageView {
    /// The number of its post.
    pub uid: u64,
    /// Its mailbox.
    pub queue: usize,
    /// The kind of its mailbox.
    pub kind: MailboxKind,
    /// Its position in the mailbox.
    pub position: usize,
    /// Its task.
    pub task: u16,
    /// Whether it was posted in front of a bag.
    pub front: bool,
    /// Its due time.
    pub due: u64,
    /// Its arguments, packed.
    pub args: Value,
    /// The key of the task that takes it.
    pub key: TaskKey,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct ThreadView {
    /// The number of its creation; 0 for declared ones.
    pub uid: u64,
    /// Its position among the threads of the state.
    pub position: usize,
    /// Its number among the declared threads, if it is one.
    pub declared: Option<u32>,
    /// The slot that it runs in, if any.
    pub slot: Option<u32>,
    /// The event member that it runs, if any.
    pub member: Option<u32>,
    /// The task that it runs, if any, and the mailbox of its message.
    pub task: Option<(u32, u16)>,
    /// The function that it runs, if it was forked.
    pub forked: Option<u16>,
    /// The condition that it waits for, if any.
    pub waits: Option<u32>,
    /// The key of its next step.
    pub key: TaskKey,
}

/// An object.
#[derive(Clone, Debug)]
pub struct ObjectView {
    /// The number of its allocation.
    pub uid: u64,
    /// Its class.
    pub class: u16,
    /// Its fields.
    pub fields: Vec<Value>,
}

/// A state in parts.
#[derive(Clone, Debug)]
pub struct View {
    /// Whether `init` has not run yet.
    pub before_init: bool,
    /// The globals.
    pub globals: Vec<Value>,
    /// The objects.
    pub objects: Vec<ObjectView>,
    /// The messages of all mailboxes.
    pub messages: Vec<MessageView>,
    /// The threads.
    pub threads: Vec<ThreadView>,
    /// For each lock: whether it is held.
    pub locks: Vec<bool>,
    /// For each event member: its event, whether states record its start, whether it has started,
    /// whether it may be enabled or disabled, whether its enabled state differs from its
    /// declaration.
    pub members: Vec<(usize, bool, bool, bool, bool)>,
    /// The kinds of all mailboxes except that of posts to `any`.
    pub mailboxes: Vec<MailboxKind>,
}

impl Machine {
    /// Splits a state into its parts.
    #[doc(hidden)]
    #[must_use]
    pub fn view(&self, state: &State) -> View {
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
        let thread = |(position, thread): (usize, &std::sync::Arc<crate::state::Thread>)| {
            let slot = match thread.origin {
                Origin::Slot(slot) => Some(slot),
                _ => None,
            };
            let pool = layout.pool() as u32;
            ThreadView {
                uid: thread.uid,
                position,
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
            threads: state.threads().iter().enumerate().map(thread).collect(),
            locks: (0..layout.locks as usize).map(|lock| state.lock(lock) != 0).collect(),
            members: (0..).zip(&layout.members).map(member).collect(),
            mailboxes: layout.mailboxes.clone(),
        }
    }

    /// Returns the number of a place.
    #[doc(hidden)]
    #[must_use]
    pub fn place_of(&self, spot: &PlaceSpec) -> Place {
        self.spot(spot)
    }

    /// Returns the name of an event member.
    #[doc(hidden)]
    #[must_use]
    pub fn member_name(&self, member: u32) -> String {
        words::event_name(self, member)
    }

    /// Returns the name of a lock.
    #[doc(hidden)]
    #[must_use]
    pub fn lock_name(&self, lock: u32) -> String {
        words::lock_name(self, lock)
    }

    /// Returns the name of a condition.
    #[doc(hidden)]
    #[must_use]
    pub fn cond_name(&self, cond: u32) -> String {
        words::cond_name(self, cond)
    }

    /// Returns the name of a slot or mailbox.
    #[doc(hidden)]
    #[must_use]
    pub fn slot_name(&self, slot: u32) -> String {
        words::slot_name(self, slot)
    }

    /// Returns the name of a declared thread.
    #[doc(hidden)]
    #[must_use]
    pub fn thread_name(&self, member: u32) -> String {
        words::thread_name(self, member)
    }
}
