//! Jobs on programs given as tasks: vary a run, replay one, shrink one.
//!
//! A front end gives a [`TaskProgram`]: a task system, made anew for each worker, and its words
//! where it has better ones than the names of tasks. Everything after is shared. [`Started`] is the
//! door for a factory without words of its own; a pipe is one of them:
//!
//! ```no_run
//! use anyorder_drive::explore::{ExploreOptions, explore, pipe_program};
//! use anyorder_system::Control;
//!
//! let program = pipe_program("node app.js")?;
//! let found = explore(&program, &ExploreOptions::default(), &Control::default())?;
//! for reported in &found.findings {
//!     println!("{}", reported.finding.title);
//! }
//! # Ok::<(), anyorder_drive::Failure>(())
//! ```

pub use anyorder_explore::r4::{Options as ReversalOptions, Order, Sleep, UserEvents};
pub use anyorder_explore::shrink::{Options as ShrinkOptions, Shrunk};
pub use command::pipe_program;
pub use program::{Repeats, ShownRun, Started, TaskProgram};
pub use replay::replay_run;
pub use shrink::shrink;
pub use vary::{ExploreOptions, explore};

pub(crate) use program::END;

// The door.
mod command;
mod program;

// The jobs.
mod replay;
mod shrink;
mod vary;

// What they share.
mod findings;
mod races;
mod rerun;
mod trim;
