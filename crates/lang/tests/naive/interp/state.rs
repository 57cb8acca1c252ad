//! States: semantics.md, section 2. Plain owned values, cloned whole.

use super::value::Value;
use anyorder_lang::ast::{Block, Expr, If, Match, NodeId, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// An element of a declared array: the declaration's number, and the index (0 for what is no
/// array).
pub type Key = (usize, i64);

/// A process (S2), in the order of T10.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pid {
    Init,
    Thread(Key),
    Handler(Key),
    Event(Key),
    Any(u64),
    Fork(u64),
}

#[derive(Clone, Debug)]
pub struct State {
    pub globals: BTreeMap<String, Value>,
    /// Class and fields.
    pub objects: BTreeMap<u64, (usize, Vec<Value>)>,
    /// Taken locks and their holders.
    pub locks: BTreeMap<Key, Pid>,
    pub waiting: BTreeMap<Pid, Waiting>,
    pub mailboxes: BTreeMap<Key, Mailbox>,
    /// Pending tasks posted to `any`.
    pub pool: Vec<Message>,
    /// Threads that have not ended, and running bodies.
    pub running: BTreeMap<Pid, Control>,
    pub events: BTreeMap<Key, Flags>,
    pub time: i64,
    /// The next number of an object or handle.
    pub fresh: u64,
    /// Handles of what is pending or running.
    pub alive: BTreeSet<u64>,
    /// S4: nothing has happened yet, and only `init` can.
    pub before_init: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    pub cond: Key,
    pub lock: Key,
    pub notified: bool,
}

#[derive(Clone, Default, Debug)]
pub struct Mailbox {
    /// Posted with `front`, latest first.
    pub front: Vec<Message>,
    /// The others in the order of their posts.
    pub rest: Vec<Message>,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub task: usize,
    pub args: Vec<Value>,
    pub due: i64,
    pub handle: u64,
    /// U4: the component.
    pub created_for: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    pub on: bool,
    pub started: bool,
}

/// A body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Body {
    Thread(usize),
    Event(usize),
    Task(usize),
    Fn(usize),
}

/// Where a body stands (S3): how it began, and what it has learnt from the world since. Running it
/// again on the same answers leads to the same place; `stack` and `frames` describe that place for
/// the canonical form.
#[derive(Clone, Debug)]
pub struct Control {
    pub body: Body,
    pub args: Vec<Value>,
    pub begun: bool,
    pub log: Vec<Value>,
    pub stack: Vec<Context>,
    pub frames: Vec<BTreeMap<String, Value>>,
    pub handle: Option<u64>,
    pub event: Option<Key>,
    /// U4: the component.
    pub created_for: Option<usize>,
}

/// What surrounds the place where a body stands, outermost first.
#[derive(Clone, Debug)]
pub enum Context {
    /// A call, by the number of its frame.
    Frame(usize),
    /// Statements that follow, from this one.
    Block(&'static Block, usize),
    /// The local will be assigned.
    Kill(String),
    /// The value is not used.
    Drop,
    /// An operation: operands computed so far that are used later, and those that follow.
    Operands {
        id: NodeId,
        phase: usize,
        temps: Vec<Value>,
        rest: Vec<&'static Expr>,
    },
    IfCond(&'static If),
    Subject(&'static Match),
    WhileCond(&'static Stmt),
    Loop(&'static Stmt),
    /// Elements, and the position of the next.
    For(&'static Stmt, Vec<Value>, usize),
    /// The elements of a `for` are being computed.
    ForIter(&'static Stmt),
    /// One of the alternatives follows.
    Alternatives(&'static Stmt),
    /// A block follows.
    Body(&'static Block),
    /// With the index of the lock.
    With(Option<Value>),
    /// A `with` is left by `break` (1), `continue` (2) or `return` (3).
    Leave(u8),
}
