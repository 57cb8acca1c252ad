//! Typed indices: every table has its own.

use std::fmt;

/// Declares a `u32` index type with a `NONE` value for "absent", and its default.
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident $default:literal) => {
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

        impl Default for $name {
            fn default() -> $name {
                $name($default)
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
    EventId 0xffff_ffff
);
define_id!(
    /// A task: one run-to-completion execution of a handler's code, or a handler's initial code.
    TaskId 0xffff_ffff
);
define_id!(
    /// A handler: runs tasks one after another. A plain thread is a handler that nobody posts to.
    HandlerId 0xffff_ffff
);
define_id!(
    /// A memory location.
    LocationId 0xffff_ffff
);
define_id!(
    /// A lock.
    LockId 0xffff_ffff
);
define_id!(
    /// A condition variable, a barrier, or another object that is signalled.
    ConditionId 0xffff_ffff
);
define_id!(
    /// An input event that can be enabled, disabled and triggered.
    InputId 0xffff_ffff
);
define_id!(
    /// A source position.
    SiteId 0xffff_ffff
);
define_id!(
    /// A call stack: a list of source positions.
    StackId 0xffff_ffff
);
define_id!(
    /// An invocation of a method of an object, with its values.
    InvocationId 0xffff_ffff
);
define_id!(
    /// An interned string. The empty string is always `NameId(0)`.
    NameId 0
);

impl NameId {
    /// The empty string.
    pub const EMPTY: NameId = NameId(0);
}

impl SiteId {
    /// No known source position; the first entry of every site table.
    pub const UNKNOWN: SiteId = SiteId(0);
}
