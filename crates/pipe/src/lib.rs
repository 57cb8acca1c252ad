//! A task system in a child process, over its standard input and output: one JSON object per line.
//!
//! It allows checking a program in any language, if its scheduler answers the requests of
//! `docs/pipe-protocol.md`. This crate is a front end: it starts processes and reads the clock. It
//! searches nothing.
//!
//! Guarantee: a child that dies, hangs, floods, sends wrong numbers or invalid JSON causes a
//! [`RunError`](anyorder_system::RunError), never a panic or an endless wait. The system is usable
//! again after [`reset`](anyorder_system::TaskSystem::reset), which starts another child. No
//! process is left behind. Not guaranteed: that the child reports its accesses and enabled tasks
//! correctly.
//!
//! The main types: [`PipeSystem`], the task system; [`ChildCommand`], the command to start;
//! [`PipeOptions`], time-outs and sizes; [`Retrying`], which repeats requests that an unreliable
//! system lost.
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

#![forbid(unsafe_code)]

pub use child::{ChildCommand, START_VARIABLE};
pub use descendants::adopt_orphans;
pub use options::PipeOptions;
pub use process::end_all_children;
pub use protocol::{PROTOCOL_VERSION, value_of_text};
pub use retry::Retrying;
pub use system::{PipeFactory, PipeSystem};
pub use transport::{Connector, Received, Transport};

mod bounded;
mod child;
mod conversation;
mod convert;
#[cfg_attr(not(target_os = "linux"), path = "no_descendants.rs")]
mod descendants;
mod lines;
mod options;
mod process;
mod protocol;
mod retry;
mod roles;
mod system;
mod transport;
