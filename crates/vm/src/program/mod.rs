//! What a compiler produces: declarations and register bytecode.
//!
//! A [`Program`] is plain data. [`ProgramBuilder`] and [`FunctionBuilder`] make one piece by piece;
//! [`Program::validate`] checks it, so that no program can make the machine panic.
//!
//! `whole` has the program, `declare` its declarations, `function` and `op` its code, and `operand`
//! what an instruction reads, writes and refers to.

pub use self::build::ProgramBuilder;
pub use self::builtin::Builtin;
pub use self::declare::{
    Choice, Class, Component, Cond, Daemons, Enum, Event, Family, Global, Handler, Invariant, Lock,
    MailboxKind, Post, PostTarget, Record, Response, Symmetry, Task, Thread, Variant,
};
pub use self::function::{Function, SourceSite};
pub use self::function_build::{FunctionBuilder, Label};
pub use self::ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, HandlerId, LockId,
    NameId, PostId, RecordId, Reg, SiteId, TaskId, ThreadId, TypeId,
};
pub use self::literal::Literal;
pub use self::op::Op;
pub use self::types::Type;
pub use self::validate::ProgramError;
pub use self::whole::{Granularity, Program, Settings};

mod build;
mod builtin;
mod declare;
mod function;
mod function_build;
mod ids;
mod literal;
mod op;
mod operand;
mod types;
mod validate;
mod whole;
