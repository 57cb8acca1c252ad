//! Types for checks at run time.

use crate::ids::{ClassId, EnumId, RecordId};

/// A type for a check at run time. The check does not read the elements of containers. An entry of
/// `Program::types` says whether null is allowed, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// Any value.
    Any,
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A string.
    Str,
    /// A list.
    List,
    /// A set.
    Set,
    /// A map.
    Map,
    /// A function.
    Func,
    /// A handle of a task or thread.
    Handle,
    /// A value of the index type of this number.
    Index(u16),
    /// A value of this enum.
    Enum(EnumId),
    /// A value of this record type.
    Record(RecordId),
    /// An object of this class.
    Object(ClassId),
}
