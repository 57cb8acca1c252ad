//! Models as instructions for the interpreter: bodies with all calls put in place.

use crate::ast::{Operator, Order, VarKind};
use crate::machine::Runs;
use crate::mutants::Mutant;

/// A register of a body.
pub(crate) type Register = usize;

/// The place in the text of something that may fail: the address of its node.
pub(crate) type Position = usize;

/// A shared location that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shared {
    Var(usize),
    Element(usize, Register),
}

/// Where a posted task goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    Own,
    Handler(usize),
    /// An element of an array of two.
    Element(usize, Register),
}

/// An instruction. The first group is visible: each is a step of its own.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Read(Shared, Register, Position),
    Write(Shared, Register, Position),
    Post {
        code: usize,
        argument: Option<Register>,
        goal: Goal,
        delay: Option<Register>,
        front: bool,
        handle: Register,
        at: Position,
    },
    Cancel(Register),
    Enable(Vec<usize>, bool),
    Enabled(Vec<usize>, Register),
    Acquire(usize, Position),
    Release(usize, Position),
    Choose(i64, Register),
    Yield,
    AtomicBegin,
    // Invisible.
    AtomicEnd,
    Int(Register, i64),
    Copy(Register, Register),
    Parameter(Register),
    Binary(Register, Operator, Register, Register, Position),
    Not(Register, Register),
    Push(Register, Register),
    Pop(Register, Position),
    Whole(Register),
    Unless(Register, usize),
    Jump(usize),
    Assert(Register, Position),
    Assume(Register),
    Fail(Position),
    Clear(Register, Register),
}

impl Program {
    pub(crate) fn body(&self, runs: Runs) -> &Body {
        match runs {
            Runs::Init => &self.init,
            Runs::Member(member) => &self.members[member].body,
            Runs::Code(code) => &self.codes[code],
        }
    }
}

impl Op {
    pub(crate) fn is_visible(&self) -> bool {
        matches!(
            self,
            Op::Read(..)
                | Op::Write(..)
                | Op::Post { .. }
                | Op::Cancel(_)
                | Op::Enable(..)
                | Op::Enabled(..)
                | Op::Acquire(..)
                | Op::Release(..)
                | Op::Choose(..)
                | Op::Yield
                | Op::AtomicBegin
        )
    }
}

/// The instructions of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) ops: Vec<Op>,
    /// The place in the text of each instruction.
    pub(crate) places: Vec<Position>,
    pub(crate) registers: usize,
}

/// A handler, or an element of an array of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mailbox {
    pub(crate) order: Order,
    pub(crate) daemon: bool,
}

/// An event, or a member of a family.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) event: usize,
    pub(crate) mailbox: Option<usize>,
    pub(crate) once: bool,
    pub(crate) disabled: bool,
    pub(crate) daemon: bool,
    pub(crate) parameter: Option<i64>,
    pub(crate) guard: Option<Body>,
    pub(crate) body: Body,
    /// Members that must have started and not be running.
    pub(crate) after: Vec<usize>,
    /// Members that must have started: those before it in the driver.
    pub(crate) started: Vec<usize>,
}

/// A model for the interpreter.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) vars: Vec<VarKind>,
    pub(crate) locks: usize,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) codes: Vec<Body>,
    /// Which of them may wait for ever.
    pub(crate) daemons: Vec<bool>,
    pub(crate) members: Vec<Member>,
    pub(crate) init: Body,
    /// A rule that brute force gets wrong, on purpose.
    pub(crate) mutant: Option<Mutant>,
}
