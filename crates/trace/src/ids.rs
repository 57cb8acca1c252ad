//! Typed indices: every table has its own.

use std::fmt;

/// Declares a `u32` index type with a `NONE` value for "absent".
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The value that stands for "absent" in compact columns.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the index as a `usize`, to index the table it belongs to.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Makes an id from a table position.
            ///
            /// # Panics
            ///
            /// Panics when `index` does not fit below [`Self::NONE`]; builders refuse such tables
            /// first.
            #[inline]
            #[must_use]
            pub fn from_index(index: usize) -> $name {
                assert!(index < u32::MAX as usize, concat!(stringify!($name), " out of range"));
                $name(index as u32)
            }

            /// Returns whether this is [`Self::NONE`].
            #[inline]
            #[must_use]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            /// Returns `None` for [`Self::NONE`], and the id itself otherwise.
            #[inline]
            #[must_use]
            pub const fn some(self) -> Option<$name> {
                if self.0 == u32::MAX { None } else { Some(self) }
            }
        }

        impl From<Option<$name>> for $name {
            fn from(id: Option<$name>) -> $name {
                id.unwrap_or($name::NONE)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.is_none() {
                    write!(f, "{}(none)", stringify!($name))
                } else {
                    write!(f, "{}({})", stringify!($name), self.0)
                }
            }
        }
    };
}

define_id!(
    /// An event of one in-memory trace: its position in trace order, from 0.
    EventId
);
define_id!(
    /// A task: one run-to-completion execution of a handler's code, or a handler's initial code.
    TaskId
);
define_id!(
    /// A handler: runs tasks one after another. A plain thread is a handler that nobody posts to.
    HandlerId
);
define_id!(
    /// A memory location.
    LocationId
);
define_id!(
    /// A lock.
    LockId
);
define_id!(
    /// A condition variable, a barrier, or another object that is signalled.
    ConditionId
);
define_id!(
    /// An input event that can be enabled, disabled and triggered.
    InputId
);
define_id!(
    /// A source position.
    SiteId
);
define_id!(
    /// A call stack: a list of source positions.
    StackId
);
define_id!(
    /// An invocation of a method of an object, with its values.
    InvocationId
);
define_id!(
    /// An interned string. The empty string is always `NameId(0)`.
    NameId
);

impl NameId {
    /// The empty string.
    pub const EMPTY: NameId = NameId(0);
}

impl SiteId {
    /// No known source position; the first entry of every site table.
    pub const UNKNOWN: SiteId = SiteId(0);
}

impl Default for NameId {
    fn default() -> NameId {
        NameId::EMPTY
    }
}
