//! Jobs on programs given as tasks: vary a run, replay one, shrink one.
//!
//! A front end gives a [`TaskProgram`]: a task system, made anew for each worker, and its words where it has better ones than the names of tasks.
//! Everything after is shared.

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
