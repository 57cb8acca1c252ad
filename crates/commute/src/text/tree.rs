//! The syntax tree of a text: names are not resolved.

use std::ops::Range;

/// A word and its position.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// `add(a)/r`.
pub(crate) struct Call {
    pub(crate) method: Name,
    pub(crate) arguments: Vec<Name>,
    pub(crate) result: Option<Name>,
}

/// An expression and its position.
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Range<usize>,
}

pub(crate) enum NodeKind {
    Value(crate::value::Value),
    Name(String),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(crate::expr::Operator, Box<Node>, Box<Node>),
    /// `name.function(arguments)`
    Method(Name, Name, Vec<Node>),
}

/// `call ~ call when condition;`, or with a mode in `comm`: `last call -> call when condition;`.
pub(crate) struct Clause {
    /// How the second call observes the first.
    pub(crate) mode: Option<Name>,
    pub(crate) left: Call,
    pub(crate) right: Call,
    pub(crate) when: Option<Node>,
    pub(crate) span: Range<usize>,
}

/// An argument of a call in a `waits` item.
pub(crate) enum PatternArgument {
    Any,
    Name(Name),
    Value(crate::value::Value, Range<usize>),
}

/// A call in a `waits` item: `try_take()/true`.
pub(crate) struct PatternCall {
    pub(crate) method: Name,
    pub(crate) arguments: Vec<PatternArgument>,
    pub(crate) result: Option<(crate::value::Value, Range<usize>)>,
}

/// A part of a sum.
pub(crate) enum TermNode {
    Int(i64),
    /// The number left open.
    Open(Name),
    /// The number of such earlier calls.
    Count(PatternCall),
}

/// Terms, each with its sign.
pub(crate) type SumNode = Vec<(i64, TermNode)>;

/// The condition that a call waits for.
pub(crate) enum WaitNode {
    All(Vec<WaitNode>),
    Any(Vec<WaitNode>),
    Compare(crate::expr::Operator, SumNode, SumNode, Range<usize>),
    Observed(Range<usize>),
}

/// `call until condition;` or `call ~ call;`.
pub(crate) enum WaitsClause {
    Until(PatternCall, WaitNode),
    Settled(PatternCall, PatternCall),
}

/// The kind of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ItemKind {
    Spec,
    Comm,
    Waits,
}

/// `spec name { clauses }`, `comm name { clauses }` or `waits name { clauses }`.
pub(crate) struct Item {
    pub(crate) name: Name,
    pub(crate) kind: ItemKind,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) waits: Vec<WaitsClause>,
}
