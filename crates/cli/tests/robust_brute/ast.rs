//! Random models as trees. `print` writes them as text, `code` for the interpreter.

/// A sequence of statements.
pub(crate) type Block = Vec<Stmt>;

/// What a global holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VarKind {
    /// An int.
    Int(i64),
    /// An array of two ints.
    Array,
    /// A list of ints.
    List,
    /// The handle of a task, or none yet.
    Handle,
}

/// The order of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Order {
    Fifo,
    Bag,
    Delayed,
}

/// A handler, or the element of an array of handlers.
pub(crate) type Lane = (usize, usize);

/// A declared handler.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub(crate) name: String,
    pub(crate) order: Order,
    /// Whether it is an array of two.
    pub(crate) array: bool,
    pub(crate) daemon: bool,
    /// Whether the text declares it: `main` need not be declared.
    pub(crate) declared: bool,
}

/// A task, a procedure or a function.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) word: Word,
    /// Where posts without a target go.
    pub(crate) home: Option<Lane>,
    /// Whether it has the parameter `i`.
    pub(crate) parameter: bool,
    pub(crate) daemon: bool,
    pub(crate) body: Block,
}

/// How code is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// It can be posted.
    Task,
    /// It can be posted and called.
    Procedure,
    /// It can be called.
    Function,
}

/// An external event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) home: Option<Lane>,
    pub(crate) once: bool,
    pub(crate) disabled: bool,
    /// Whether it is a family of two, with the parameter `i`.
    pub(crate) family: bool,
    pub(crate) guard: Option<Expr>,
    pub(crate) after: Vec<usize>,
    pub(crate) unfair: bool,
    pub(crate) daemon: bool,
    pub(crate) body: Block,
}

/// A model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) vars: Vec<VarKind>,
    pub(crate) locks: usize,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) codes: Vec<Code>,
    pub(crate) events: Vec<Event>,
    pub(crate) init: Block,
    /// Events, and which member of a family.
    pub(crate) driver: Vec<(usize, Option<i64>)>,
    /// Declarations that say nothing about what happens.
    pub(crate) idle: Vec<String>,
}

/// A part of the shared memory that can be assigned to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Var(usize),
    Element(usize, Box<Expr>),
    Local(usize),
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expr {
    Int(i64),
    Place(Place),
    /// The number of elements of a list, the sum of those of an array.
    Whole(usize),
    /// The parameter `i`.
    Parameter,
    Binary(Operator, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Enabled(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Divide,
    Equal,
    Unequal,
    Less,
    And,
    Or,
}

/// Where a post goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Where the declaration says.
    Home,
    /// `to` a handler, an element of an array by index.
    To(usize, Option<Expr>),
    /// `async[main]`.
    AsyncMain,
    /// `async[any]`.
    AsyncAny,
    /// `post any`.
    Any,
}

/// What happens to the handle of a post.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    No,
    Local(usize),
    Var(usize),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Post {
    pub(crate) code: usize,
    pub(crate) argument: Option<Expr>,
    pub(crate) target: Target,
    pub(crate) after: Option<Expr>,
    pub(crate) front: bool,
    pub(crate) kept: Kept,
}

/// A statement. Statements that may fail have a number, which is their place in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stmt {
    Assign(Place, Expr),
    Add(Place, Expr),
    Increment(Place),
    Push(usize, Expr),
    Pop(usize),
    Let(usize, Expr),
    If(Expr, Block, Option<Block>),
    Match(Expr, Vec<(i64, Block)>, Block),
    While(Expr, Block),
    Loop(Block),
    For(usize, i64, Block),
    Break,
    Continue,
    Return,
    Assert(Expr, bool),
    Fail,
    Assume(Expr),
    Post(Post),
    Cancel(Place),
    /// The word `call` is optional.
    Call(usize, Option<Expr>, bool),
    /// On, and the member of a family.
    Enable(usize, Option<i64>, bool),
    Acquire(usize),
    Release(usize),
    With(usize, Block),
    Choose(Vec<Block>, bool),
    LetChoose(usize, i64),
    Atomic(Block),
    Yield,
}
