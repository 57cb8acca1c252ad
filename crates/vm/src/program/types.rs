//! Types for checks at run time.

use super::ids::{ClassId, EnumId, RecordId};

/// A type for a check at run time. The check does not read the elements of containers.
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
    /// An integer or `null`.
    NullOrInt,
    /// A boolean or `null`.
    NullOrBool,
    /// A string or `null`.
    NullOrStr,
    /// A list or `null`.
    NullOrList,
    /// A set or `null`.
    NullOrSet,
    /// A map or `null`.
    NullOrMap,
    /// A function or `null`.
    NullOrFunc,
    /// A handle or `null`.
    NullOrHandle,
    /// A value of the index type of this number, or `null`.
    NullOrIndex(u16),
    /// A value of this enum, or `null`.
    NullOrEnum(EnumId),
    /// A value of this record type, or `null`.
    NullOrRecord(RecordId),
    /// An object of this class, or `null`.
    NullOrObject(ClassId),
}
