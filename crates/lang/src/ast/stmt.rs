//! Statements and patterns.

use super::{Expr, Ident, If, NodeId, Ref, Text, TypeExpr};
use crate::source::Span;

/// Statements in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// An expression without `;` at the end: the value of the block. Only in bodies of functions
    /// and closures, which return it, and in the branches of `if` and `match` used as expressions.
    pub value: Option<Box<Expr>>,
    /// The place, with the braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Key.
    pub id: NodeId,
    /// The place, with the `;`.
    pub span: Span,
    /// Its form.
    pub kind: StmtKind,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let a: T = e;` (the initialiser may be `post`, `fork` or `choose`).
    Let {
        /// The new local.
        name: Ident,
        /// Its type, if written.
        ty: Option<TypeExpr>,
        /// Its first value.
        value: Expr,
    },
    /// `place = e;`, `place += e;` (with `=`, the value may be `post`, `fork` or `choose`).
    Assign {
        /// Local, global, field or element.
        place: Expr,
        /// `=` or a combined form.
        op: AssignOp,
        /// The right side.
        value: Expr,
    },
    /// `place++;` and `place--;`.
    Step {
        /// Local, global, field or element.
        place: Expr,
        /// Whether it is `++` rather than `--`.
        up: bool,
    },
    /// `e;`: a call, or `post`, `fork`, `choose` whose result is dropped.
    Expr(Expr),
    /// `call f(..);`: the same as the call itself.
    Call(Expr),
    /// `if c {} else if d {} else {}`.
    If(If),
    /// `match e { .. }`.
    Match(Match),
    /// `while c {}`.
    While {
        /// Condition.
        cond: Expr,
        /// Body.
        body: Block,
    },
    /// `loop {}`.
    Loop(Block),
    /// `for v in e {}`: over the elements of a list or a set, or the keys of a map, as it was at
    /// the start.
    For {
        /// The element, a new local of each round.
        var: Ident,
        /// List, set, map or range.
        iter: Expr,
        /// Body.
        body: Block,
    },
    /// `break;`.
    Break,
    /// `continue;`.
    Continue,
    /// `return;`, `return e;`.
    Return(Option<Expr>),
    /// `{ .. }`: a scope.
    Block(Block),
    /// `assert c;`, `assert c, "message";`.
    Assert {
        /// The condition, which must be true.
        cond: Expr,
        /// Text of the failure.
        message: Option<Text>,
    },
    /// `assume c;`.
    Assume(Expr),
    /// `fail "message";`.
    Fail(Text),
    /// `cancel p;`.
    Cancel(Expr),
    /// `enable e4;`, `enable rm[2];`, `disable ..`.
    Enable {
        /// The event.
        event: Ref,
        /// Whether it is `enable` rather than `disable`.
        on: bool,
    },
    /// `acquire m;`.
    Acquire(Ref),
    /// `release m;`.
    Release(Ref),
    /// `with m { .. }`: acquire, body, release (also on `break`, `continue`, `return`).
    With {
        /// The lock.
        lock: Ref,
        /// Body.
        body: Block,
    },
    /// `wait c with m;`.
    Wait {
        /// The condition.
        cond: Ref,
        /// The lock, released while waiting.
        lock: Ref,
    },
    /// `notify c;`, `notify_all c;`.
    Notify {
        /// The condition.
        cond: Ref,
        /// Whether it is `notify_all`.
        all: bool,
    },
    /// `join h;`.
    Join(Expr),
    /// `choose { "lost" { .. } "ok" { .. } }`: labelled alternatives.
    Choose(Vec<Alternative>),
    /// `atomic { .. }`.
    Atomic(Block),
    /// `yield;`.
    Yield,
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}

/// `=` and the combined assignments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssignOp {
    /// `=`.
    Set,
    /// `+=`: also joins strings and lists.
    Add,
    /// `-=`.
    Sub,
    /// `*=`.
    Mul,
    /// `/=`.
    Div,
    /// `%=`.
    Rem,
}

impl AssignOp {
    /// Returns the operator as written.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            AssignOp::Set => "=",
            AssignOp::Add => "+=",
            AssignOp::Sub => "-=",
            AssignOp::Mul => "*=",
            AssignOp::Div => "/=",
            AssignOp::Rem => "%=",
        }
    }
}

/// One alternative of `choose { .. }`.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// `"lost" =>`.
    pub label: Option<Text>,
    /// Its body.
    pub body: Block,
}

/// `match e { .. }`, as a statement or an expression.
#[derive(Clone, Debug)]
pub struct Match {
    /// The matched value.
    pub subject: Box<Expr>,
    /// Its arms, tried in order.
    pub arms: Vec<Arm>,
}

/// One arm of a `match`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Pattern.
    pub pattern: Pattern,
    /// The part after `=>`.
    pub body: ArmBody,
    /// The place of the whole arm, without the comma.
    pub span: Span,
}

/// The body of an arm, after `=>`.
#[derive(Clone, Debug)]
pub enum ArmBody {
    /// `{ .. }`.
    Block(Block),
    /// An expression. In a statement-`match`, its value is dropped.
    Expr(Expr),
}

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
