//! Types as written.

use super::{Expr, Ident, NodeId};
use crate::source::Span;

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Key.
    pub id: NodeId,
    /// Its place.
    pub span: Span,
    /// Its form.
    pub kind: TypeKind,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `int`, `bool`, `str`, `any`, `task`, `thread`, or the name of an enum, record or class.
    Named(Ident),
    /// `list<T>`.
    List(Box<TypeExpr>),
    /// `set<T>`.
    Set(Box<TypeExpr>),
    /// `map<K, V>`.
    Map(Box<TypeExpr>, Box<TypeExpr>),
    /// `T?`: a value of `T` or `null`.
    Nullable(Box<TypeExpr>),
    /// `[T; N]`: a list that starts with `N` default values; otherwise the same as `list<T>`.
    Array(Box<TypeExpr>, Box<Expr>),
    /// `fn(T, U) -> V`; without `->` it returns nothing.
    Fn(Vec<TypeExpr>, Option<Box<TypeExpr>>),
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}
