//! The syntax tree: plain owned data, as written. Every node has a span; nodes that the checker says something about
//! have a [`NodeId`], the key of its side tables. Names are not resolved here.

mod expr;
mod item;
mod pattern;
mod stmt;
mod ty;

pub use expr::{
    BinaryOp, Closure, ClosureBody, Expr, ExprKind, FieldInit, Fork, If, IfElse, Post, PostTarget,
    UnaryOp,
};
pub use item::{
    ClassDecl, ClassField, ClassMember, ConstDecl, EnumDecl, EventDecl, Family, FnDecl,
    HandlerDecl, IndexDecl, Item, ItemKind, Mailbox, Param, RecordDecl, RecordField, ResponseDecl,
    SettingDecl, SettingValue, SizedName, SpecCall, SpecClause, SpecDecl, TaskDecl, ThreadDecl,
    VarDecl, Variant,
};
pub use pattern::{Pattern, PatternKind};
pub use stmt::{Alternative, Arm, ArmBody, AssignOp, Block, Match, Stmt, StmtKind};
pub use ty::{TypeExpr, TypeKind};

use crate::source::Span;

/// Number of a node within its model: dense, from 0, below [`Model::node_count`]. Key of the side tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeId(pub u32);

/// Printed as `#7`.
impl std::fmt::Debug for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl NodeId {
    /// The number as an index into a side table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name after `model`; `None` only when the header is missing (a diagnostic says so).
    pub name: Option<Ident>,
    /// Declarations in the order of the file.
    pub items: Vec<Item>,
    /// Number of node ids handed out: the length of a side table.
    pub node_count: u32,
}

/// A name where it is declared or used.
#[derive(Clone, Debug)]
pub struct Ident {
    /// Key of this occurrence.
    pub id: NodeId,
    /// The name; empty when recovery had to make one up.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// The name of a declared thing of which there may be an array, with the index if one is written: `m`, `ms[i]`.
/// Used for handlers, locks, conditions and events.
#[derive(Clone, Debug)]
pub struct Ref {
    /// The declared name.
    pub name: Ident,
    /// The element.
    pub index: Option<Box<Expr>>,
    /// Name and index.
    pub span: Span,
}

/// A string literal in a place where only a literal may stand (messages, labels).
#[derive(Clone, Debug)]
pub struct Text {
    /// The characters, escapes resolved.
    pub value: String,
    /// With the quotes.
    pub span: Span,
}
