//! Jobs on programs given as tasks: vary a run, replay one, shrink one.
//!
//! A front end implements [`TaskProgram`]: a task system, created for each worker, and descriptions
//! that replace the names of tasks. The jobs are shared by all front ends. [`Started`] wraps a
//! factory without descriptions, such as a pipe:
//!
//! ```no_run
//! use anyorder_drive::JobControl;
//! use anyorder_drive::explore::{ExploreOptions, explore, pipe_program};
//!
//! let program = pipe_program("node app.js")?;
//! let found = explore(&program, &ExploreOptions::default(), &JobControl::default())?;
//! for reported in &found.findings {
//!     println!("{}", reported.finding.title);
//! }
//! # Ok::<(), anyorder_drive::Failure>(())
//! ```

pub use anyorder_explore::r4::{Order, ReversalOptions, Sleep, Swaps, UserEvents};
pub use anyorder_explore::shrink::{ShrinkOptions, Shrunk};
pub use command::{
    PipeProgram, adopt_orphans, end_programs, explore_program, pipe_program, program_file,
    replay_program, shrink_program,
};
pub use program::{Repeats, ShownRun, Started, TaskProgram, WrongEnd, WrongRest};
pub use replay::replay_run;
pub use shrink::shrink;
pub use task_words::{Effect, PlainWords, TaskWords};
pub use vary::{Deepening, ExploreOptions, explore};

pub(crate) use program::cannot_start;

// The interface for front ends.
mod command;
mod program;
mod task_words;

// The jobs.
mod replay;
mod shrink;
mod vary;

// Shared by the jobs.
mod findings;
mod group;
mod races;
mod rerun;
mod rounds;
mod so_far;
mod sums;
mod trim;
