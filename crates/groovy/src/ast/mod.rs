//! The syntax tree. Every node has its place in the text.
//!
//! The tree keeps what the text says: parentheses are nodes, and a command without parentheses is a
//! call like any other. [`crate::print::show`] gives the tree that a Groovy compiler would see.

mod expr;
mod item;
mod number;
mod stmt;
mod walk;

pub use expr::{
    Access, Arg, BinaryOp, Closure, Expr, ExprKind, IncDec, Key, Member, MemberName, TextParts,
    UnaryOp,
};
pub use item::{
    Annotation, Class, ClassKind, Declaration, EnumConstant, Import, Item, Method, Modifiers,
    Parameter, TypeName, TypeParameter, Variable,
};
pub use number::{Decimal, Number};
pub use stmt::{Block, Case, Catch, ForHead, Script, Stmt, StmtKind};
pub use walk::{Visitor, walk_block, walk_expr, walk_stmt};
