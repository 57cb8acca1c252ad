//! Patterns of `match`.

use super::{Ident, NodeId};
use crate::source::Span;

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Key.
    pub id: NodeId,
    /// Its place.
    pub span: Span,
    /// Its form.
    pub kind: PatternKind,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `3`, `-3`.
    Int(i64),
    /// `true`, `false`.
    Bool(bool),
    /// `"a"`.
    Str(String),
    /// `null`.
    Null,
    /// `Phase.Busy(n)`; `args` is empty for a variant without values.
    Variant {
        /// The enum.
        enum_name: Ident,
        /// The variant.
        variant: Ident,
        /// Patterns of the payload, in order.
        args: Vec<Pattern>,
    },
    /// `n`: matches everything and names it. The name is a new local of the arm.
    Binding(Ident),
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}
