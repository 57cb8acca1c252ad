//! A task system that is a child process, spoken to over its standard input and output: one JSON
//! object a line.
//!
//! With it a program in any language can be checked, if its scheduler answers the requests of
//! `docs/pipe-protocol.md`. This crate is a front end: it starts processes and reads the clock. It
//! searches nothing.
//!
//! What it promises: a child that dies, hangs, floods, lies about numbers or speaks no JSON becomes
//! a [`RunError`](anyorder_system::RunError), never a panic or a wait without end, and the system
//! is usable again after [`reset`](anyorder_system::TaskSystem::reset), which starts another child.
//! No process is left behind. What it cannot promise: that the child tells the truth about its
//! accesses and enabled tasks.
//!
//! The types to know: [`PipeSystem`], the task system; [`ChildCommand`], what to start;
//! [`PipeOptions`], time-outs and sizes; [`Retrying`], which repeats what an unreliable system
//! lost.
//!
//! ```no_run
//! use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem};
//! use anyorder_system::{Choice, TaskSystem};
//!
//! let command = ChildCommand::new("python3").argument("examples/pipe/python/double_submit.py");
//! let mut system = PipeSystem::spawn(command, PipeOptions::default())?;
//! while let Some(next) = system.enabled()?.into_iter().next() {
//!     let step = system.execute(&Choice::of(next.task))?;
//!     println!("{} posted {} tasks", step.task, step.posted.len());
//! }
//! # Ok::<(), anyorder_system::RunError>(())
//! ```

pub use child::{ChildCommand, START_VARIABLE};
pub use options::PipeOptions;
pub use protocol::{PROTOCOL_VERSION, value_of_text};
pub use retry::Retrying;
pub use system::{PipeFactory, PipeSystem};
pub use transport::{Connector, Received, Transport};

mod bounded;
mod child;
mod conversation;
mod convert;
mod lines;
mod options;
mod process;
mod protocol;
mod retry;
mod roles;
mod system;
mod transport;
