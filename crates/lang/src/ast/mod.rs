//! The syntax tree: plain owned data, as written. Every node has a span. Nodes with an entry in the
//! checker's tables have a [`NodeId`] as the key into these tables. Names are not resolved here.

mod expr;
mod item;
mod stmt;
mod walk;

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
pub use stmt::{
    Alternative, Arm, ArmBody, AssignOp, Block, Match, Pattern, PatternKind, Stmt, StmtKind,
};

pub(crate) use walk::{Part, walk_expr};

use crate::source::Span;

/// Number of a node within its model: dense, from 0, below [`Model::node_count`]. The key into the
/// checker's tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeId(pub u32);

/// Prints the id as `#7`.
impl std::fmt::Debug for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl NodeId {
    /// Returns the number as an index into a table of the checker.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name after `model`. `None` only if the header is missing; a diagnostic reports that.
    pub name: Option<Ident>,
    /// Declarations in the order of the file.
    pub items: Vec<Item>,
    /// The number of node ids, which is also the length of each table of the checker.
    pub node_count: u32,
}

macro_rules! items {
    ($($(#[$doc:meta])* $name:ident: $kind:ident($decl:ty);)*) => {
        impl Model {
            $($(#[$doc])*
            pub(crate) fn $name(&self) -> impl Iterator<Item = &$decl> {
                self.items.iter().filter_map(|item| match &item.kind {
                    ItemKind::$kind(decl) => Some(decl),
                    _ => None,
                })
            })*
        }
    };
}

items! {
    /// Enums in the order of the file.
    enums: Enum(EnumDecl);
    /// Record types in the order of the file.
    records: Record(RecordDecl);
    /// Classes in the order of the file.
    classes: Class(ClassDecl);
    /// Declarations of locks.
    locks: Lock(Vec<SizedName>);
    /// Declarations of conditions.
    conds: Cond(Vec<SizedName>);
    /// Handlers in the order of the file.
    handlers: Handler(HandlerDecl);
    /// Functions in the order of the file.
    functions: Fn(FnDecl);
    /// Tasks in the order of the file.
    tasks: Task(TaskDecl);
    /// Events in the order of the file.
    events: Event(EventDecl);
    /// Threads in the order of the file.
    threads: Thread(ThreadDecl);
    /// Blocks that run first.
    inits: Init(Block);
    /// Declarations of globals.
    vars: Var(Vec<VarDecl>);
    /// Lists of events in the order in which they happen.
    drivers: Driver(Vec<Ref>);
    /// Conditions under which a run may end in a state.
    finals: Final(Expr);
}

/// A name where it is declared or used.
#[derive(Clone, Debug)]
pub struct Ident {
    /// Key of this occurrence.
    pub id: NodeId,
    /// The name; empty if error recovery made it up.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// The name of a declared item or of an array of items, with the index if one is written: `m`,
/// `ms[i]`. Used for handlers, locks, conditions and events.
#[derive(Clone, Debug)]
pub struct Ref {
    /// The declared name.
    pub name: Ident,
    /// The element.
    pub index: Option<Box<Expr>>,
    /// The place of the name and the index.
    pub span: Span,
}

/// A string literal in a place that only allows literals (messages, labels).
#[derive(Clone, Debug)]
pub struct Text {
    /// The characters, escapes resolved.
    pub value: String,
    /// The place, with the quotes.
    pub span: Span,
}

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
