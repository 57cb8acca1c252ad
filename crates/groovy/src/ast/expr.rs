//! Expressions.

use super::{Annotation, Block, Class, Declaration, Number, Parameter, TypeName};
use anyorder_common::source::Span;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string without parts to insert.
    Text(String),
    /// A string with parts to insert, `"a ${b} c"`.
    Parts(TextParts),
    /// A name; also `this`, `super`, and a primitive type as a value.
    Name(String),
    /// `(e)`
    Paren(Box<Expr>),
    /// `[a, b]`, and a map `[a: 1]` if an entry has a key.
    List(Vec<Arg>),
    /// `[:]`
    EmptyMap,
    /// `{ ... }`
    Closure(Closure),
    /// `a.b`, `a?.b`, `a*.b`, `a.@b`, `a.&b`
    Member(Member),
    /// `a[b, c]`
    Index(Box<Expr>, Vec<Arg>),
    /// `f(a, b: c) { ... }`; closures behind the parentheses are the last arguments.
    Call(Box<Expr>, Vec<Arg>),
    /// `new T(a)`, perhaps with a body
    New(TypeName, Vec<Arg>, Option<Box<Class>>),
    /// `new T[a][]`: the given sizes, and how many more brackets are empty.
    NewArray(TypeName, Vec<Expr>, u32),
    /// `-e`, `!e`, ...
    Unary(UnaryOp, Box<Expr>),
    /// `++e`, `--e`
    Prefix(IncDec, Box<Expr>),
    /// `e++`, `e--`
    Postfix(IncDec, Box<Expr>),
    /// `a + b`, ...
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a = b`, and `a += b` with its operator.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `(a, b) = c`
    AssignMany(Vec<Expr>, Box<Expr>),
    /// `a ? b : c`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`
    Elvis(Box<Expr>, Box<Expr>),
    /// `(T) e`
    Cast(TypeName, Box<Expr>),
    /// `e as T`
    As(Box<Expr>, TypeName),
    /// `e instanceof T`
    InstanceOf(Box<Expr>, TypeName),
    /// A declaration in the place of an expression, `while (String x = next())`.
    Declare(Box<Declaration>),
    /// An annotation as a value of another one.
    Annotation(Box<Annotation>),
    /// What could not be read; an error was reported.
    Error,
}

/// A string with parts to insert: one text more than values.
#[derive(Clone, Debug)]
pub struct TextParts {
    /// The texts before, between and behind the values.
    pub texts: Vec<String>,
    /// The inserted expressions. A block of several statements is a closure.
    pub values: Vec<Expr>,
}

/// An argument of a call, or an entry of a list or map.
#[derive(Clone, Debug)]
pub enum Arg {
    /// `e`
    Plain(Expr),
    /// `key: e`
    Named(Key, Expr),
    /// `*e`
    Spread(Expr),
    /// `*: e`
    SpreadMap(Expr),
}

impl Arg {
    /// Returns the expression of the argument, without its key.
    pub fn value(&self) -> &Expr {
        match self {
            Arg::Plain(e) | Arg::Named(_, e) | Arg::Spread(e) | Arg::SpreadMap(e) => e,
        }
    }

    /// Returns whether the argument is an entry of a map.
    pub fn is_entry(&self) -> bool {
        matches!(self, Arg::Named(..) | Arg::SpreadMap(_))
    }
}

/// The key of an entry.
#[derive(Clone, Debug)]
pub enum Key {
    /// A name or reserved word, which stands for its own text.
    Name(String, Span),
    /// A string, a number, a string with parts, or an expression in parentheses.
    Expr(Expr),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub struct Member {
    /// The object.
    pub object: Box<Expr>,
    /// How it is reached.
    pub access: Access,
    /// `true` for `.@name`: the field itself.
    pub is_field: bool,
    /// Its name.
    pub name: MemberName,
    /// The place of the name.
    pub name_span: Span,
}

/// How a member is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// `.`
    Dot,
    /// `?.`: null if the object is null
    Safe,
    /// `*.`: of each item of a list
    Spread,
    /// `.&`: the method as a closure
    Pointer,
}

impl Access {
    /// Returns the operator.
    pub fn text(self) -> &'static str {
        match self {
            Access::Dot => ".",
            Access::Safe => "?.",
            Access::Spread => "*.",
            Access::Pointer => ".&",
        }
    }
}

/// The name of a member.
#[derive(Clone, Debug)]
pub enum MemberName {
    /// A name, reserved word, or plain string.
    Fixed(String),
    /// A string with parts, or an expression in parentheses: known only when the program runs.
    Computed(Box<Expr>),
}

/// A closure.
#[derive(Clone, Debug)]
pub struct Closure {
    /// The parameters; `None` without an arrow, where the one parameter is `it`.
    pub parameters: Option<Vec<Parameter>>,
    /// The body.
    pub body: Block,
}

/// `++` or `--`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncDec {
    /// `++`
    Increment,
    /// `--`
    Decrement,
}

impl IncDec {
    /// Returns the operator.
    pub fn text(self) -> &'static str {
        match self {
            IncDec::Increment => "++",
            IncDec::Decrement => "--",
        }
    }
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

impl UnaryOp {
    /// Returns the operator.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Minus => "-",
            UnaryOp::Plus => "+",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        }
    }
}

macro_rules! binary_operators {
    ($($(#[$doc:meta])* $name:ident $text:literal $level:literal;)*) => {
        /// An operator between two operands.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum BinaryOp {
            $($(#[$doc])* $name,)*
        }

        impl BinaryOp {
            /// All operators.
            pub const ALL: &[BinaryOp] = &[$(BinaryOp::$name),*];

            /// Returns the operator as it is written.
            pub fn text(self) -> &'static str {
                match self { $(BinaryOp::$name => $text,)* }
            }

            /// Returns how tightly it binds; a greater number binds tighter.
            pub fn level(self) -> u8 {
                match self { $(BinaryOp::$name => $level,)* }
            }
        }
    };
}

binary_operators! {
    /// `||`
    Or "||" 1;
    /// `&&`
    And "&&" 2;
    /// `|`
    BitOr "|" 3;
    /// `^`
    BitXor "^" 4;
    /// `&`
    BitAnd "&" 5;
    /// `=~`
    Find "=~" 6;
    /// `==~`
    Match "==~" 6;
    /// `==`
    Equal "==" 7;
    /// `!=`
    NotEqual "!=" 7;
    /// `===`, which Groovy 2.4 reads but does not compile
    Identical "===" 7;
    /// `!==`, which Groovy 2.4 reads but does not compile
    NotIdentical "!==" 7;
    /// `<=>`
    Compare "<=>" 7;
    /// `<`
    Less "<" 8;
    /// `<=`
    LessEqual "<=" 8;
    /// `>`
    Greater ">" 8;
    /// `>=`
    GreaterEqual ">=" 8;
    /// `in`
    In "in" 8;
    /// `<<`
    ShiftLeft "<<" 9;
    /// `>>`
    ShiftRight ">>" 9;
    /// `>>>`
    ShiftRightUnsigned ">>>" 9;
    /// `..`
    Range ".." 9;
    /// `..<`
    RangeExclusive "..<" 9;
    /// `+`
    Add "+" 10;
    /// `-`
    Subtract "-" 10;
    /// `*`
    Multiply "*" 11;
    /// `/`
    Divide "/" 11;
    /// `%`
    Remainder "%" 11;
    /// `**`
    Power "**" 12;
}

impl BinaryOp {
    /// Returns the operator that is written so.
    pub fn from_text(text: &str) -> Option<BinaryOp> {
        BinaryOp::ALL.iter().copied().find(|op| op.text() == text)
    }
}

impl Expr {
    /// Returns an expression at a place.
    pub fn new(span: Span, kind: ExprKind) -> Expr {
        Expr { span, kind }
    }

    /// Returns the expression inside all parentheses around it.
    pub fn bare(&self) -> &Expr {
        let mut at = self;
        while let ExprKind::Paren(inner) = &at.kind {
            at = inner;
        }
        at
    }
}
