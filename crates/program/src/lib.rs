//! What a compiler produces: declarations and register bytecode.
//!
//! The crate holds the form of a program that compilers and the machine (`anyorder-vm`) agree on.
//! It runs nothing, and knows neither a language nor a state.
//!
//! A [`Program`] is plain data. [`ProgramBuilder`] and [`FunctionBuilder`] make one piece by piece;
//! [`Program::validate`] checks it, so that no program can make the machine panic.
//!
//! `whole` has the program, `declare` its declarations, `function` and `op` its code, and `operand`
//! what an instruction reads, writes and refers to.

#![forbid(unsafe_code)]

pub use build::ProgramBuilder;
pub use builtin::Builtin;
pub use declare::{
    Choice, Class, Commuting, Component, Cond, Daemons, Enum, Event, Family, Global, Handler,
    Invariant, Lock, MailboxKind, Post, PostTarget, Record, Response, Symmetry, Task, Thread,
    Variant,
};
pub use function::{Function, SourceSite};
pub use function_build::{FunctionBuilder, Label};
pub use ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, HandlerId, LockId,
    NameId, NativeId, PostId, RecordId, Reg, SiteId, TaskId, ThreadId, TypeId,
};
pub use literal::Literal;
pub use native::{Native, NativeCode};
pub use op::Op;
pub use types::Type;
pub use validate::ProgramError;
pub use whole::{Granularity, Program, Settings};

mod build;
mod builtin;
mod declare;
mod function;
mod function_build;
mod ids;
mod literal;
mod native;
mod op;
mod operand;
mod types;
mod validate;
mod whole;
