//! Statements.

use super::{Class, Declaration, Expr, Import, Method, Parameter};
use anyorder_common::source::Span;

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Its statements, methods, classes and imports in their order.
    pub statements: Vec<Stmt>,
}

/// Statements in braces.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The place, with the braces.
    pub span: Span,
    /// The statements.
    pub statements: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its place.
    pub span: Span,
    /// The labels before it.
    pub labels: Vec<String>,
    /// What it is.
    pub kind: StmtKind,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Nothing: the body of `while (x);`.
    Empty,
    /// `package a.b`
    Package(String),
    /// `import ...`
    Import(Import),
    /// A class, interface, enum or trait.
    Class(Box<Class>),
    /// A method of the script.
    Method(Box<Method>),
    /// Variables.
    Declare(Declaration),
    /// An expression.
    Expr(Expr),
    /// A block with a label, or the body of another statement.
    Block(Block),
    /// `if (c) a else b`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while (c) a`
    While(Expr, Box<Stmt>),
    /// `for (...) a`
    For(Box<ForHead>, Box<Stmt>),
    /// `switch (e) { ... }`
    Switch(Expr, Vec<Case>),
    /// `try { } catch (E e) { } finally { }`
    Try(Block, Vec<Catch>, Option<Block>),
    /// `synchronized (e) { }`
    Synchronized(Expr, Block),
    /// `return e`
    Return(Option<Expr>),
    /// `break label`
    Break(Option<String>),
    /// `continue label`
    Continue(Option<String>),
    /// `throw e`
    Throw(Expr),
    /// `assert c : e`
    Assert(Expr, Option<Expr>),
    /// What could not be read; an error was reported.
    Error,
}

/// The head of a `for`.
#[derive(Clone, Debug)]
pub enum ForHead {
    /// `for (x in e)`, and `for (T x : e)`
    Each(Parameter, Expr),
    /// `for (a; b; c)`
    Classic(Option<Expr>, Option<Expr>, Option<Expr>),
}

/// A case of a `switch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The place of the label.
    pub span: Span,
    /// The value; `None` for `default`.
    pub value: Option<Expr>,
    /// The statements. None: the next case goes on.
    pub body: Vec<Stmt>,
}

/// A `catch`.
#[derive(Clone, Debug)]
pub struct Catch {
    /// Its place.
    pub span: Span,
    /// The types that it takes; none: `Exception`.
    pub types: Vec<super::TypeName>,
    /// The variable.
    pub name: String,
    /// The body.
    pub body: Block,
}

impl Stmt {
    /// Returns a statement without a label.
    pub fn new(span: Span, kind: StmtKind) -> Stmt {
        Stmt { span, labels: vec![], kind }
    }
}
