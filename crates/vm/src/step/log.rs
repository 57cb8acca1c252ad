//! What a step did, for whoever asks.

use crate::program::SiteId;
use crate::value::Value;
use anyorder_system::AccessKind;

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A global.
    Global(u16),
    /// A field of an object: allocation, class, field.
    Field { uid: u64, class: u16, field: u16 },
    /// Whether an event member is enabled.
    Enabled(u32),
    /// Which of the posted tasks and forked threads that handles may be of have begun, and which have ended. Which one is asked about does
    /// not matter: a handle of what has ended does not tell.
    Fates,
    /// A lock.
    Lock(u32),
    /// A condition.
    Cond(u32),
    /// A posted task or a thread that is not declared, by its creation: whether it is there, and where it stands.
    Task(u64),
    /// Where a declared thread stands.
    Thread(u32),
    /// How often an event member has begun.
    Event(u32),
    /// Whether an event member has begun and does not run, for those that come after it.
    Started(u32),
    /// Which message a mailbox gives next.
    First(u32),
    /// Which message comes last in a mailbox that has an order.
    Last(u32),
    /// Whether something runs in a slot between steps.
    Busy(u32),
    /// The virtual time.
    Now,
    /// Whether steps can be taken at all: not before `init`, not after a failure.
    Failed,
}

/// An access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    pub(crate) place: Place,
    /// The element of the container there, where the access is only to that.
    pub(crate) element: Option<Value>,
    pub(crate) kind: AccessKind,
    /// The value read or written, where there is one.
    pub(crate) value: Option<Value>,
    pub(crate) site: SiteId,
}

/// What a step did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Log {
    pub(crate) touches: Vec<Touch>,
    /// Tasks and threads that were created, in order.
    pub(crate) created: Vec<Created>,
    /// Posts that were cancelled, with their handles.
    pub(crate) cancelled: Vec<(u64, u32)>,
    /// Objects that were allocated.
    pub(crate) allocated: Vec<u64>,
    /// How many of the touches came before the last position from which the step could still come to a choice or an assumption: what
    /// alternatives it has may depend on these.
    pub(crate) decided: usize,
}

/// A task or thread that a step created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Created {
    pub(crate) uid: u64,
    /// Whether it is a thread that runs a function, or else a message of a task.
    pub(crate) fork: bool,
    /// The function or task.
    pub(crate) number: u16,
    /// The mailbox of a task.
    pub(crate) queue: u32,
    pub(crate) delay: u64,
}
