//! The log of a step, kept on request.

use crate::program::{ChoiceId, SiteId};
use crate::state::{Origin, Thread};
use crate::value::Value;
use anyorder_system::AccessKind;

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LoggedPlace {
    /// A global.
    Global(u16),
    /// A field of an object: allocation, class, field.
    Field { uid: u64, class: u16, field: u16 },
    /// Whether an event member is enabled.
    Enabled(u32),
    /// Which of the posted tasks and forked threads that handles may refer to have begun, and which
    /// have ended. There is one location for all of them, because the handle of an ended task does
    /// not say which task it was.
    Lifecycle,
    /// A lock.
    Lock(u32),
    /// A condition.
    Cond(u32),
    /// A posted task or a dynamic thread, by its creation: whether it exists, and its position.
    Task(u64),
    /// The position of a declared thread in its code.
    Thread(u32),
    /// How often an event member has begun.
    Event(u32),
    /// Whether an event member has begun and is not running, for events that come after it.
    Started(u32),
    /// The next message of a mailbox.
    First(u32),
    /// The last message of an ordered mailbox.
    Last(u32),
    /// Whether something runs in a slot between steps.
    Busy(u32),
    /// The virtual time.
    Now,
    /// Whether any step is possible: not before `init`, not after a failure.
    Failed,
}

/// An access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LoggedAccess {
    pub(crate) place: LoggedPlace,
    /// The element of the container, if only that is accessed.
    pub(crate) element: Option<Value>,
    pub(crate) kind: AccessKind,
    /// The value read or written, if there is one.
    pub(crate) value: Option<Value>,
    pub(crate) site: SiteId,
}

impl LoggedAccess {
    /// Makes an access without a value or a position.
    pub(crate) fn plain(place: LoggedPlace, kind: AccessKind) -> LoggedAccess {
        LoggedAccess { place, element: None, kind, value: None, site: SiteId(0) }
    }
}

impl LoggedPlace {
    /// Returns the position of a thread.
    pub(crate) fn of_thread(thread: &Thread) -> LoggedPlace {
        match thread.origin {
            Origin::Declared(member) => LoggedPlace::Thread(member),
            Origin::Slot(_) | Origin::Dynamic => LoggedPlace::Task(thread.uid),
        }
    }
}

/// The log of a step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Log {
    pub(crate) accesses: Vec<LoggedAccess>,
    /// Tasks and threads that were created, in order.
    pub(crate) created: Vec<Created>,
    /// Posts that were cancelled, with their handles.
    pub(crate) cancelled: Vec<(u64, u32)>,
    /// Tasks that a `cancel` came too late for.
    pub(crate) kept: Vec<u64>,
    /// Objects that were allocated.
    pub(crate) allocated: Vec<u64>,
    /// The number of accesses up to the last position from which the step could still reach a
    /// choice or an assumption. The alternatives of the step may depend on these accesses.
    pub(crate) deciding: usize,
    /// The choices that were made, in order.
    pub(crate) chosen: Vec<Chosen>,
    /// Whether an atomic section began.
    pub(crate) has_section: bool,
    /// Whether a notification was for all that wait.
    pub(crate) for_all: bool,
    /// Whether it joined a thread or task, or would have.
    pub(crate) joins: bool,
}

/// A choice that a step made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Chosen {
    /// An alternative of a `choose` block.
    Alternative(ChoiceId, u32),
    /// An element.
    Value(Value),
}

/// A task or thread that a step created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Created {
    pub(crate) uid: u64,
    /// Whether it is a thread that runs a function; otherwise it is a message of a task.
    pub(crate) fork: bool,
    /// The function or task.
    pub(crate) number: u16,
    /// The mailbox of a task.
    pub(crate) queue: u32,
    /// Whether it goes before all other messages of the mailbox.
    pub(crate) front: bool,
    pub(crate) delay: u64,
}
