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
    /// A lock.
    Lock(u32),
    /// A condition.
    Cond(u32),
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
    /// Posts that were cancelled.
    pub(crate) cancelled: Vec<u64>,
    /// Objects that were allocated.
    pub(crate) allocated: Vec<u64>,
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
