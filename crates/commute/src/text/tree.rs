//! What a text says, before it means anything: names are still names.

use std::ops::Range;

/// A word and its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// `add(a)/r`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Name,
    pub(crate) arguments: Vec<Name>,
    pub(crate) result: Option<Name>,
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Value(crate::value::Value),
    Name(String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(crate::expr::Operator, Box<Node>, Box<Node>),
    /// `name.function(arguments)`
    Method(Name, Name, Vec<Node>),
}

/// `call ~ call when condition;`, or with a word for how in `comm`: `last call -> call when condition;`.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// How the second call observes the first.
    pub(crate) mode: Option<Name>,
    pub(crate) left: Call,
    pub(crate) right: Call,
    pub(crate) when: Option<Node>,
    pub(crate) span: Range<usize>,
}

/// `spec name { clauses }` or `comm name { clauses }`.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) name: Name,
    pub(crate) is_comm: bool,
    pub(crate) clauses: Vec<Clause>,
}
