//! Values known before the program runs.

use crate::ids::{EnumId, RecordId};

/// A constant value. The validator refuses one that nests deeper than [`Literal::DEPTH_MAX`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Literal {
    /// `null`.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A value of an index type: the type and which of its values.
    Index(u16, u16),
    /// A string.
    Str(String),
    /// A value of an enum: its type, the variant's number, the payload.
    Enum(EnumId, u16, Vec<Literal>),
    /// A list.
    List(Vec<Literal>),
    /// A list whose elements an index type numbers: as many as it has values.
    Array(u16, Vec<Literal>),
    /// A set; duplicates count once.
    Set(Vec<Literal>),
    /// A map; of equal keys the last one counts.
    Map(Vec<(Literal, Literal)>),
    /// A record: its type and all its fields in order of declaration.
    Record(RecordId, Vec<Literal>),
}

impl Literal {
    /// How deep a constant may nest.
    pub const DEPTH_MAX: usize = 64;
}
