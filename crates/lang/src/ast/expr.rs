//! Expressions.

use super::{Block, Ident, Match, NodeId, Param, Ref, TypeExpr};
use crate::source::Span;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Key of its type and of the meaning of its name.
    pub id: NodeId,
    /// Its place.
    pub span: Span,
    /// Its form.
    pub kind: ExprKind,
}

impl Expr {
    /// Returns the expression without the parentheses around it.
    pub(crate) fn unwrapped(&self) -> &Expr {
        let mut e = self;
        while let ExprKind::Paren(inner) = &e.kind {
            e = inner;
        }
        e
    }

    /// Returns the bounds of a range, if the expression is written as one.
    pub(crate) fn as_range(&self) -> Option<(&Expr, &Expr)> {
        match &self.unwrapped().kind {
            ExprKind::Binary { op: BinaryOp::Range, left, right, .. } => Some((left, right)),
            _ => None,
        }
    }
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `3`.
    Int(i64),
    /// `true`, `false`.
    Bool(bool),
    /// `"a"`, escapes resolved.
    Str(String),
    /// `null`.
    Null,
    /// A local, global, constant or function; also the enum before a `.`.
    Name(String),
    /// `self` in a method.
    SelfRef,
    /// `(e)`: kept for the formatter.
    Paren(Box<Expr>),
    /// `[1, 2]`.
    List(Vec<Expr>),
    /// `[e; n]`: a list with the same value `n` times.
    Repeat(Box<Expr>, Box<Expr>),
    /// `set[1, 2]`.
    Set(Vec<Expr>),
    /// `map[1: "a"]`.
    Map(Vec<(Expr, Expr)>),
    /// `Item { id: 1, name: "x" }`, `Item { id: 2, ..old }`.
    Record {
        /// The record type.
        name: Ident,
        /// Fields, in the order written.
        fields: Vec<FieldInit>,
        /// The source of the other fields.
        base: Option<Box<Expr>>,
    },
    /// `new Node()`, `new Node { v: 3 }`.
    New {
        /// The class.
        class: Ident,
        /// Fields that differ from their initialisers.
        fields: Vec<FieldInit>,
    },
    /// `fn(x) x + 1`, `fn(x) { .. }`.
    Closure(Box<Closure>),
    /// `if` with a value: all branches present, each block has a value.
    If(Box<If>),
    /// `match` with a value.
    Match(Box<Match>),
    /// `!a`, `-a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary {
        /// Operator.
        op: BinaryOp,
        /// Place of the operator.
        op_span: Span,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a.b`: a field, or a variant without values (`Phase.Idle`).
    Field {
        /// Left of the dot.
        base: Box<Expr>,
        /// Right of the dot.
        name: Ident,
    },
    /// `a[i]`.
    Index {
        /// The list or map.
        base: Box<Expr>,
        /// Position or key.
        index: Box<Expr>,
    },
    /// `f(a)`: a function, procedure or closure value.
    Call {
        /// The callee.
        callee: Box<Expr>,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `a.b(c)`: a built-in method, a method of a class, a variant with values (`Phase.Busy(3)`),
    /// or a closure in a field.
    Method {
        /// Left of the dot.
        receiver: Box<Expr>,
        /// Right of the dot.
        name: Ident,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `enabled(e)`: tests whether the event is enabled.
    Enabled(Ref),
    /// `post t(args) ..`: only as a statement, initialiser or right side of `=`; its value is a
    /// handle.
    Post(Box<Post>),
    /// `fork f(args)`: allowed where `post` is; its value is a handle of the thread.
    Fork(Box<Fork>),
    /// `choose e`: allowed where `post` is; an element of a list, set or range.
    Choose(Box<Expr>),
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}

/// `name: value` in a record or object expression.
#[derive(Clone, Debug)]
pub struct FieldInit {
    /// Field.
    pub name: Ident,
    /// Value.
    pub value: Expr,
}

/// A function value.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Parameters; their types are optional.
    pub params: Vec<Param>,
    /// Type of the result, if written.
    pub result: Option<TypeExpr>,
    /// Body.
    pub body: ClosureBody,
}

/// The body of a function value.
#[derive(Clone, Debug)]
pub enum ClosureBody {
    /// `fn(x) x + 1`.
    Expr(Expr),
    /// `fn(x) { .. }`.
    Block(Block),
}

/// `if`, as a statement or an expression.
#[derive(Clone, Debug)]
pub struct If {
    /// Condition.
    pub cond: Box<Expr>,
    /// The branch taken if the condition holds.
    pub then: Block,
    /// The other branch.
    pub otherwise: Option<IfElse>,
}

impl If {
    /// The branches in order, each with its condition. `else` has none.
    pub(crate) fn branches(&self) -> impl Iterator<Item = (Option<&Expr>, &Block)> {
        let nodes = std::iter::successors(Some(self), |node| match &node.otherwise {
            Some(IfElse::If(inner)) => Some(&**inner),
            _ => None,
        });
        nodes.flat_map(|node| {
            let last = match &node.otherwise {
                Some(IfElse::Block(block)) => Some((None, block)),
                _ => None,
            };
            std::iter::once((Some(&*node.cond), &node.then)).chain(last)
        })
    }
}

/// What follows `else`.
#[derive(Clone, Debug)]
pub enum IfElse {
    /// `else { .. }`.
    Block(Block),
    /// `else if ..`.
    If(Box<If>),
}

/// `post t(args) to h[i] after 5 front`.
#[derive(Clone, Debug)]
pub struct Post {
    /// The task or procedure.
    pub task: Ident,
    /// Arguments.
    pub args: Vec<Expr>,
    /// The handler that it goes to.
    pub target: PostTarget,
    /// Delay in units of virtual time.
    pub after: Option<Expr>,
    /// `front`: before all other messages of the mailbox.
    pub front: bool,
    /// Whether it is written `async[main]` or `async[any]`. The meaning is the same.
    pub async_form: bool,
}

/// The target of a post.
#[derive(Clone, Debug)]
pub enum PostTarget {
    /// The handler after `on` in the declaration of the task.
    Default,
    /// `to h`, `to h[i]`, `async[h]`.
    Handler(Ref),
    /// `post any`: a fresh thread.
    Any,
}

/// `fork f(args)`.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The function.
    pub function: Ident,
    /// Arguments.
    pub args: Vec<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `!`.
    Not,
    /// `-`.
    Neg,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `*`.
    Mul,
    /// `/`, truncating toward zero.
    Div,
    /// `%`, with the sign of the left operand.
    Rem,
    /// `+`: ints, strings, lists.
    Add,
    /// `-`.
    Sub,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `in`: element of a list or set, key of a map, part of a string.
    In,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `&&`, short circuit.
    And,
    /// `||`, short circuit.
    Or,
    /// `..`: the list of the ints from the left operand up to, not including, the right one.
    Range,
}

impl BinaryOp {
    /// Returns the operator as written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::In => "in",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Range => "..",
        }
    }
}
